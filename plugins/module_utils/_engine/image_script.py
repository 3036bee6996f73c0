# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The image's own bootstrap script. It can run only once: it replaces placeholders, and keeps what an earlier run wrote.

So the files that it edits are kept before its first run and restored before each later run. On a node that user data has set up the
placeholders have been replaced already, so they are put back. If all values on such a node are those of the plan, the script does not run.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import shlex
from typing import Any, Mapping, Sequence

from .._node import kubeconfig
from .._node.files import Current
from .._node.kubelet_process import KUBECONFIG
from .._node.placeholders import PLACEHOLDERS
from .._node.systemd import Unit
from .._transaction.recovery import Command
from . import service_commands
from .drift import SNAP, Drift
from .file_changes import restore
from .plan import ImageScriptStep, Plan
from .steps import StepContext, WorkBuilder

CONFIG = "/etc/kubernetes/kubelet/kubelet-config.json"
CA = "/etc/kubernetes/pki/ca.crt"
CONTAINERD_CONFIG = "/etc/containerd/config.toml"
CONTAINERD_TEMPLATE = "/etc/eks/containerd/containerd-config.toml"
EXTRA_ARGS = "/etc/systemd/system/kubelet.service.d/30-kubelet-extra-args.conf"

_SCRIPT = "/etc/eks/bootstrap.sh"
_NAME_IN_KUBECONFIG = r"""(["']?-i["']?[\s,]+(?:-\s+)?["']?)%s(?=["'\s,\]])"""
_REGION_IN_KUBECONFIG = re.compile(r"""(["']?--region["']?[\s,]+(?:-\s+)?["']?)[a-z0-9-]+(?=["'\s,\]]|\Z)""")
_SERVER = re.compile(r"""(server["']?[ \t]*:[ \t]*["']?)https?://[^\s"'#,}]+""")
_PAUSE = re.compile(r"""(sandbox_image\s*=\s*["'])[^"']*/eks/pause:[^"']*""")
_EXTRA = re.compile(r"^Environment='KUBELET_EXTRA_ARGS=(.*)'$", re.MULTILINE)
_VARIABLE = re.compile(r"\$\{([A-Z_]+)\}")
_NOT_COMPARABLE = ("--containerd-config-file", "--enable-local-outpost", "--cluster-id", "--container-runtime", "--docker-config-json")
_SNAP_SETTINGS = (
    "address", "anonymous-auth", "args", "authentication-token-webhook", "authorization-mode", "cgroup-driver", "client-ca-file",
    "cloud-provider", "cluster-dns", "cluster-domain", "cni-bin-dir", "cni-conf-dir", "config", "container-runtime",
    "container-runtime-endpoint", "feature-gates", "hostname-override", "image-credential-provider-bin-dir",
    "image-credential-provider-config", "kubeconfig", "network-plugin", "node-ip", "pod-infra-container-image", "register-node",
    "resolv-conf",
)  # fmt: skip
"""The settings that the script of Canonical's images may set."""


def decide(step: ImageScriptStep, context: StepContext, builder: WorkBuilder) -> None:
    """Decide about a step that runs the image's script."""
    kubelet = context.node.units[step.kubelet]
    digest = _digest(step, context.plan)
    last = builder.scripts.get(step.name)
    is_pending = context.is_pending(step)
    has_drifted = any(item.change.path != step.path for item in context.effects(step))
    has_changed = last != digest or has_drifted or is_pending
    if has_changed and last is None and not is_pending and not has_drifted and _has_values_of(step, context):
        builder.record_script(step.name, digest)
        has_changed = False
    found = context.drift_of(step)
    is_due = has_changed or bool(found)
    is_outdated = context.must_restart(step.kubelet)
    if context.hold:
        if is_due or is_outdated:
            builder.postpone(step)
        return
    if is_due:
        builder.record_start()
        builder.record_script(step.name, digest)
        builder.repair(found, has_changed)
        _run(step, context, builder)
        return
    builder.enable_again()
    _enable_kubelet(step, kubelet, builder)
    if is_outdated:
        builder.start([kubelet.name])
        builder.touch([kubelet.name])
        builder.watch_kubelet()


def _enable_kubelet(step: ImageScriptStep, kubelet: Unit, builder: WorkBuilder) -> None:
    """Enable a kubelet that would not start at the next boot."""
    if not kubelet.needs_enable or not kubelet.exists:
        return
    if step.snap is None:
        builder.enable([kubelet.name])
        return
    builder.record_enabled([kubelet.name])
    builder.act(f"enable {kubelet.name}")
    builder.run(service_commands.snap_start(step.snap))
    builder.undo_snap(service_commands.snap_disable(step.snap, kubelet.is_running))


def _digest(step: ImageScriptStep, plan: Plan) -> str:
    """The digest of the script and of every file that it reads."""
    digest = hashlib.sha256()
    for file in sorted(plan.files, key=lambda file: file.path):
        if step.name in file.read_by or file.path == step.path:
            digest.update(file.path.encode("utf-8", "surrogateescape") + b"\0" + file.content + b"\0")
    return digest.hexdigest()


def _run(step: ImageScriptStep, context: StepContext, builder: WorkBuilder) -> None:
    kubelet, containerd = context.node.units[step.kubelet], context.node.units[step.containerd]
    _restore_image(step, context, builder)
    if step.snap:
        _restore_snap(step.snap, context.settings(step.snap), context.drift_of(step), builder)
        if not kubelet.is_running:
            builder.undo_snap(service_commands.snap_stop(step.snap, kubelet.needs_enable))
    builder.act(f"run {step.name}")
    if not kubelet.is_running and not step.snap:
        # Between the look at the node and the script, a queued job may start kubelet with the old configuration.
        builder.run(service_commands.stop([kubelet.name])._replace(optional=True))
    # The script asks the network who the node is, so the transaction cannot be finished while the machine boots.
    builder.run(Command((step.path,), undo_at_boot=True))
    enabled = [name for name in (containerd.name, kubelet.name, *step.installed_units) if context.node.units[name].needs_enable]
    builder.record_enabled(enabled)
    # snapd enables the unit of a snap.
    builder.record_enabled_by_script(name for name in enabled if not name.startswith("snap."))
    if not containerd.is_up:
        # Some scripts expect it to run.
        builder.run(service_commands.start([containerd.name]))
    if kubelet.is_running and not step.snap:
        # The script starts kubelet, which has no effect on a kubelet that runs.
        builder.run(service_commands.restart([kubelet.name]))
    builder.touch([containerd.name, kubelet.name])
    builder.will_start(step.installed_units)
    builder.watch_kubelet()


def _restore_image(step: ImageScriptStep, context: StepContext, builder: WorkBuilder) -> None:
    """Restore the files that the script edits to what the image brought."""
    writes = [path for path in step.writes if path not in context.plan.paths]
    originals = builder.originals_of(writes, as_in_image)
    builder.remember(writes, originals)
    changing = {item.change.path for item in context.changes}
    found = [restore(path, original, context.originals, context.read) for path, original in originals.items() if path not in changing]
    restored = [item for item in found if item is not None]
    if restored:
        builder.change(restored)
        builder.act(f"restore {len(restored)} files of the image")


def _restore_snap(name: str, current: Mapping[str, Any], drift: Sequence[Drift], builder: WorkBuilder) -> None:
    """Restore the settings to what they were before the script's first run. Undoing the run sets the current ones again."""
    is_first_run = name not in builder.snap
    before: dict[str, Any] = {key: None for key in _SNAP_SETTINGS}
    before.update(current if is_first_run else {})
    before.update(builder.snap.get(name, {}))
    if is_first_run and "kubeconfig" in current:
        # The script has run already, as user data, and has set them.
        before["args"] = None
    builder.record_snap(name, before)
    # Settings that neither the script nor the image sets.
    others = {item.name: item.recorded for item in drift if item.source == SNAP + name and item.name not in before}
    values = {key: None if old is None else json.dumps(old) for key, old in {**others, **before}.items() if current.get(key) != old}
    if values:
        builder.run(service_commands.snap_set(name, values))
    names = dict.fromkeys([*_SNAP_SETTINGS, *current, *values])
    builder.undo_snap(service_commands.snap_set(name, {key: json.dumps(current[key]) if key in current else None for key in names}))


def as_in_image(path: str, current: Current | None) -> Current | None:
    """What a file of the image was before the image's script ran; unchanged if the script has not run."""
    if current is None or path == EXTRA_ARGS:
        return None
    text = current.content.decode("utf-8", "surrogateescape")
    if path == KUBECONFIG and _SERVER.search(text):
        text = _SERVER.sub(r"\1MASTER_ENDPOINT", text)
        text = re.sub(_NAME_IN_KUBECONFIG % r"[^\s\"',\]]+", r"\1CLUSTER_NAME", text)
        text = _REGION_IN_KUBECONFIG.sub(r"\1AWS_REGION", text)
    elif path == CONTAINERD_TEMPLATE:
        text = _PAUSE.sub(r"\1SANDBOX_IMAGE", text)
    elif path == CONFIG:
        text = _without_computed(text)
    return current._replace(content=text.encode("utf-8", "surrogateescape"))


def _without_computed(text: str) -> str:
    """kubelet's configuration without the fields that the script computes, and would keep if it had no value for them."""
    try:
        config = json.loads(text)
    except ValueError:
        return text
    computed = ("maxPods", "systemReservedCgroup", "kubeReservedCgroup")
    if not isinstance(config, dict) or not any(key in config for key in computed):
        return text
    return json.dumps({key: value for key, value in config.items() if key not in computed}, indent=2) + "\n"


# --- a node that user data has set up ------------------------------------------------------------------------------------------------


def _has_values_of(step: ImageScriptStep, context: StepContext) -> bool:
    """Whether a running node is what the script would make of it, as far as that can be compared; False when in doubt."""
    if not context.node.units[step.kubelet].is_up:
        return False
    script = next((file.content.decode("utf-8", "surrogateescape") for file in context.plan.files if file.path == step.path), "")
    words = script_call(script)
    if words is None or any(word in _NOT_COMPARABLE for word in words):
        return False
    wanted = dict(zip(words[2::2], words[3::2]))
    contents = {path: context.read(path) for path in (KUBECONFIG, CA, CONFIG, EXTRA_ARGS, CONTAINERD_CONFIG)}
    texts = {path: current.content.decode("utf-8", "replace") if current else "" for path, current in contents.items()}
    settings = context.settings(step.snap) if step.snap else None
    return (
        kubeconfig.find_server(texts[KUBECONFIG]) == wanted.get("--apiserver-endpoint")
        and re.search(_NAME_IN_KUBECONFIG % re.escape(words[1]), texts[KUBECONFIG]) is not None
        and _decoded(wanted.get("--b64-cluster-ca", "")) == texts[CA]
        and _has_dns(wanted.get("--dns-cluster-ip"), texts[CONFIG], settings)
        and _has_pause(wanted, texts[CONTAINERD_CONFIG])
        and _has_extra_args(wanted.get("--kubelet-extra-args", ""), texts[EXTRA_ARGS], settings, context.node.kubelet_argv)
    )


def script_call(script: str) -> list[str] | None:
    """The arguments of the one call of the image's script, program first; None if there is no such call."""
    lines = [line for line in script.splitlines() if line.startswith(_SCRIPT + " ")]
    try:
        words = shlex.split(lines[0]) if len(lines) == 1 else []
    except ValueError:
        return None
    return words if len(words) >= 2 and len(words) % 2 == 0 else None


def _decoded(text: str) -> str | None:
    try:
        return base64.b64decode(text).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return None


def _has_dns(wanted: str | None, config: str, settings: Mapping[str, Any] | None) -> bool:
    if wanted is None:
        return False
    if settings is not None:
        return bool(settings.get("cluster-dns") == wanted)
    try:
        return bool(json.loads(config).get("clusterDNS") == wanted.split(","))
    except (ValueError, AttributeError):
        return False


def _has_pause(wanted: Mapping[str, str], containerd: str) -> bool:
    account, version = wanted.get("--pause-container-account"), wanted.get("--pause-container-version")
    return version is None or re.search(rf"""["']{account}\.[^"']*/eks/pause:{re.escape(version)}["']""", containerd) is not None


def _has_extra_args(wanted: str, drop_in: str, settings: Mapping[str, Any] | None, kubelet_argv: Sequence[str]) -> bool:
    """Whether the image keeps these extra arguments, and the running kubelet's command line ends with them."""
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
    return list(kubelet_argv[len(kubelet_argv) - len(words) :]) == words
