# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The image's own bootstrap script, which can only be run once: it replaces placeholders, and leaves what an earlier run wrote.

So what it finds is kept before its first run, and put back before each later one. A node that user data set up already has lost its
placeholders; they are put in again. And where all of its values are those of the plan, nothing runs.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import shlex

from .._node import processes, snapd
from .._node.placeholders import PLACEHOLDERS
from .._transaction.operation_log import Command
from . import file_changes, preflight, service_commands

KUBECONFIG = "/var/lib/kubelet/kubeconfig"
CONFIG = "/etc/kubernetes/kubelet/kubelet-config.json"
CA = "/etc/kubernetes/pki/ca.crt"
CONTAINERD_TEMPLATE = "/etc/eks/containerd/containerd-config.toml"
EXTRA_ARGS = "/etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf"

_SCRIPT = "/etc/eks/bootstrap.sh"
_NAME_IN_KUBECONFIG = r"""(["']?-i["']?[\s,]+(?:-\s+)?["']?)%s(?=["'\s,\]])"""
_REGION_IN_KUBECONFIG = re.compile(r"""(["']?--region["']?[\s,]+(?:-\s+)?["']?)[a-z0-9-]+(?=["'\s,\]]|\Z)""")
_SERVER = re.compile(r"""(server["']?[ \t]*:[ \t]*["']?)https?://[^\s"'#,}]+""")
_PAUSE = re.compile(r"""(sandbox_image\s*=\s*["'])[^"']*/eks/pause:[^"']*""")
_EXTRA = re.compile(r"^Environment='KUBELET_EXTRA_ARGS=(.*)'$", re.MULTILINE)
_VARIABLE = re.compile(r"\$\{([A-Z_]+)\}")
_UNDECIDABLE = ("--containerd-config-file", "--enable-local-outpost", "--cluster-id", "--container-runtime", "--docker-config-json")
_SNAP_SETTINGS = (
    "address", "anonymous-auth", "args", "authentication-token-webhook", "authorization-mode", "cgroup-driver", "client-ca-file",
    "cloud-provider", "cluster-dns", "cluster-domain", "cni-bin-dir", "cni-conf-dir", "config", "container-runtime",
    "container-runtime-endpoint", "feature-gates", "hostname-override", "image-credential-provider-bin-dir",
    "image-credential-provider-config", "kubeconfig", "network-plugin", "node-ip", "pod-infra-container-image", "register-node",
    "resolv-conf",
)  # fmt: skip
"""What the script of Canonical's images may set."""


def image_script(step, situation, work, laid):
    """Decide about a step that runs the image's script. C(laid): the services that the script lays down."""
    kubelet = situation.units[step["kubelet"]]
    digest = _digest(step, situation.plan)
    done = work.scripts.get(step["name"])
    drift = [item for item in situation.effects(step) if item.change.path != step["path"]]
    due = done != digest or bool(drift) or situation.pending(step)
    if due and done is None and not situation.pending(step) and not drift and _agrees(step, situation):
        work.scripts[step["name"]] = digest
        due = False
    if situation.hold:
        work.pending += [step["name"]] if due else []
        return
    if due:
        work.has_run.add(step["name"])
        work.scripts[step["name"]] = digest
        _run(step, situation, work, kubelet, laid)
    elif not kubelet.is_up:
        work.start([kubelet.name])
        work.touch([kubelet.name])
        work.watch = True


def _digest(step, plan):
    found = hashlib.sha256()
    for file in sorted(plan["files"], key=lambda file: file["path"]):
        if step["name"] in file["read_by"] or file["path"] == step["path"]:
            for text in (file["path"], file["content"]):
                found.update(text.encode("utf-8", "surrogateescape") + b"\0")
    return found.hexdigest()


def _run(step, situation, work, kubelet, laid):
    ours = {file["path"] for file in situation.plan["files"]}
    moving = {item.change.path for item in situation.items}
    writes = [path for path in step["writes"] if path not in ours]
    originals = work.remember(writes, situation, as_image_brought)
    back = [
        file_changes.put_back(path, entry, situation.originals, situation.read) for path, entry in originals.items() if path not in moving
    ]
    restored = [item for item in back if item is not None]
    if restored:
        work.items += restored
        work.actions.append(f"restore {len(restored)} files of the image")
    work.snapshots += writes
    if step["snap"]:
        _prepare_snap(step, work)
        work.snap_back(service_commands.snap_stop(step["snap"], kubelet.needs_enable)) if not kubelet.is_running else None
    work.actions.append(f"run {step['name']}")
    # It asks the network who the node is, so it cannot be finished while the machine boots.
    work.forward.append(Command((step["path"],), undo_at_boot=True))
    units = [step["containerd"], kubelet.name]
    wanting = [name for name in units + laid if situation.units[name].needs_enable]
    work.enabled += [name for name in wanting if name not in work.enabled]
    # A snap's unit is enabled through snapd.
    work.enabled_by_script += [name for name in wanting if not name.startswith("snap.")]
    runtime = situation.units[step["containerd"]]
    if not runtime.is_up:
        # Some scripts count on it.
        work.forward.append(service_commands.start([runtime.name]))
    if kubelet.is_running and not step["snap"]:
        # The script starts kubelet, which does nothing where it runs.
        work.forward.append(service_commands.restart([kubelet.name]))
    work.touch(units)
    work.watch = True


def _prepare_snap(step, work):
    """Settings go back to what they were before the first run; afterwards all that the script may set is undone in the same way."""
    name = step["snap"]
    now = snapd.read_settings(name)
    first = name not in work.snap
    before = {key: None for key in _SNAP_SETTINGS}
    before.update(now if first else {})
    before.update(work.snap.get(name, {}))
    if first:
        before["args"] = None if _used(now) else before["args"]
    work.snap[name] = before
    values = {key: None if old is None else json.dumps(old) for key, old in before.items() if now.get(key) != old}
    if values:
        work.forward.append(service_commands.snap_set(name, values))
    undo = {key: json.dumps(now[key]) if key in now else None for key in dict.fromkeys(list(_SNAP_SETTINGS) + list(now) + list(values))}
    work.snap_back(service_commands.snap_set(name, undo))


def _used(settings):
    return "kubeconfig" in settings


def as_image_brought(path, current):
    """What a file of the image was before the image's script ran; the same Current where the script has not run."""
    if current is None:
        return None
    text = current.content.decode("utf-8", "surrogateescape")
    if path == EXTRA_ARGS:
        return None
    if path == KUBECONFIG and _SERVER.search(text):
        text = _SERVER.sub(r"\1MASTER_ENDPOINT", text)
        text = re.sub(_NAME_IN_KUBECONFIG % r"[^\s\"',\]]+", r"\1CLUSTER_NAME", text)
        text = _REGION_IN_KUBECONFIG.sub(r"\1AWS_REGION", text)
    elif path == CONTAINERD_TEMPLATE:
        text = _PAUSE.sub(r"\1SANDBOX_IMAGE", text)
    elif path == CONFIG:
        text = _without_computed(text)
    return current._replace(content=text.encode("utf-8", "surrogateescape"))


def _without_computed(text):
    """kubelet's configuration without what the script would leave when it has no value for it."""
    try:
        config = json.loads(text)
    except ValueError:
        return text
    computed = ("maxPods", "systemReservedCgroup", "kubeReservedCgroup")
    if not isinstance(config, dict) or not any(key in config for key in computed):
        return text
    return json.dumps({key: value for key, value in config.items() if key not in computed}, indent=2) + "\n"


# --- a node that user data set up ------------------------------------------------------------------------------------------------


def _agrees(step, situation):
    """Whether a running node is what the script would make of it, as far as that can be told; False when in doubt."""
    if not situation.units[step["kubelet"]].is_up:
        return False
    words = _call(next((file["content"] for file in situation.plan["files"] if file["path"] == step["path"]), ""))
    if words is None or any(word in _UNDECIDABLE for word in words):
        return False
    given = dict(zip(words[2::2], words[3::2]))
    texts = {path: situation.read(path) for path in (KUBECONFIG, CA, CONFIG, EXTRA_ARGS, "/etc/containerd/config.toml")}
    texts = {path: current.content.decode("utf-8", "replace") if current else "" for path, current in texts.items()}
    kubelet = processes.command_line(situation.units[step["kubelet"]].pid)
    settings = snapd.read_settings(step["snap"]) if step["snap"] else None
    return (
        preflight.server_of(texts[KUBECONFIG].encode()) == given.get("--apiserver-endpoint")
        and re.search(_NAME_IN_KUBECONFIG % re.escape(words[1]), texts[KUBECONFIG]) is not None
        and _decoded(given.get("--b64-cluster-ca", "")) == texts[CA]
        and _same_dns(given.get("--dns-cluster-ip"), texts[CONFIG], settings)
        and _same_pause(given, texts["/etc/containerd/config.toml"])
        and _same_extra(given.get("--kubelet-extra-args", ""), texts[EXTRA_ARGS], settings, kubelet)
    )


def _call(script):
    """The words of the script's one call of the image's, name first; None where there is no such call."""
    lines = [line for line in script.splitlines() if line.startswith(_SCRIPT + " ")]
    try:
        words = shlex.split(lines[0]) if len(lines) == 1 else []
    except ValueError:
        return None
    return words if len(words) >= 2 and len(words) % 2 == 0 else None


def _decoded(text):
    try:
        return base64.b64decode(text).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return None


def _same_dns(wanted, config, settings):
    if wanted is None:
        return False
    if settings is not None:
        return settings.get("cluster-dns") == wanted
    try:
        return json.loads(config).get("clusterDNS") == wanted.split(",")
    except (ValueError, AttributeError):
        return False


def _same_pause(given, containerd):
    account, version = given.get("--pause-container-account"), given.get("--pause-container-version")
    return version is None or re.search(rf"""["']{account}\.[^"']*/eks/pause:{re.escape(version)}["']""", containerd) is not None


def _same_extra(wanted, drop_in, settings, kubelet):
    """The text that the image keeps kubelet's extra arguments in, and the last words of the kubelet that runs."""
    match = _EXTRA.search(drop_in)
    found = settings.get("args", "") if settings is not None else match.group(1) if match else ""
    if not isinstance(found, str):
        return False
    parts = _VARIABLE.split(wanted)
    forms = dict(PLACEHOLDERS.values())
    pattern = "".join(forms.get(part, "[^ ]+") if index % 2 else re.escape(part) for index, part in enumerate(parts))
    if re.match(pattern + r"\Z", found) is None:
        return False
    if settings is not None:
        words = found.split()
    else:
        try:
            words = shlex.split(found)
        except ValueError:
            return False
    return kubelet[len(kubelet) - len(words) :] == words
