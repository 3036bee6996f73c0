# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From evidence to the one reason why a node does not join. Pure. Standard library, Python 3.7 and newer.

C(seen) is a mapping that JSON can hold; all its texts are printable and without secrets. Null is what was not looked at or is not known.

  time       seconds since 1970 by the node's clock
  name       of the Node object, as the kubelet that runs calls it
  hostname   of the machine
  units      null when systemd does not answer, or {unit: load, state, sub, result, enabled, restarts, status (of the main process),
             pid, running, since (monotonic seconds)}
  kubelet    unit, running, exit (lines and systemd's own of a start that failed, whole), lines (of the one that runs); of a process
             beside it whole, started, registers, bootstraps, cgroup_driver, config (paths). whole: whether the lines go back to its start
  nodeadm    unit that failed, and its lines
  containerd lines of one that does not run, or systemd_cgroup of its default runtime
  api        kind (how far the question got; see _join_answers), final (of standalone alone), kubeconfig, and as far as it got server,
             host, proxy, user, credentials, expires, authority, said, names, how, skew (seconds by which this node's clock is ahead),
             status, kubernetes
  node       ready (text of the condition), reason, message, heartbeat (seconds since 1970), taints
  serves     whether kubelet has a certificate to serve with; looked at only on a node that is Ready, and not in its first minute
  instance   clusters ({tag: name}), role, account, instance, region; asked for only after a 401
"""

from __future__ import annotations

import json
import re

from . import api_answers as answers
from . import kubelet_exits as exits
from .model import Finding, quoted, shortened

_LENIENT = re.compile(exits.HEAD.pattern + r"\"Using lenient decoding as strict decoding failed\" err=\"(?P<why>.*)\"")
_FIELD = re.compile(r"unknown field \\*\"(?P<field>[^\"\\]+)")
_OF_THE_RUNTIME = "Using cgroup driver setting received from the CRI runtime"
_TOLERANCE = 2.0


def diagnose(seen):
    """The Finding that explains why the node of C(seen) is not Ready; None when it is, and nothing that lasts speaks against it.

    Of several reasons the first final one counts, in the order in which a node comes up; without one the first.
    """
    found = []
    for look in (_unit, _exit, answers.diagnose, _cgroup_driver, _unknown_field, _ready):
        finding = look(seen)
        if finding is not None and finding.final:
            return finding
        if finding is not None:
            found.append(finding)
    return found[0] if found else None


def warnings(seen):
    """Lines about a node that has joined, and still lacks something."""
    if seen.get("serves") is not False:
        return []
    return [
        f"kubelet of {seen['name']} has no serving certificate: kubectl logs and exec fail with 'remote error: tls: internal error'. The "
        "cluster has not signed its request: kubectl get certificatesigningrequests. EKS signs one whose names are the instance's"
    ]


def standing(seen):
    """(whether the cluster has the Node, whether kubelet runs and the Node is Ready through it)."""
    kubelet, node = seen["kubelet"], seen["node"]
    runs = kubelet is not None and kubelet["running"] and kubelet["exit"] is None
    return runs and node is not None, runs and node is not None and node["ready"] == "True" and not _stale(seen)


def _stale(seen):
    """Whether the Node says what an earlier kubelet told; both moments are of this node's clock."""
    heartbeat, started = seen["node"]["heartbeat"], seen["kubelet"].get("started")
    return heartbeat is not None and started is not None and heartbeat < started - _TOLERANCE


# --- before kubelet runs -----------------------------------------------------------------------------------------------------------


def _unit(seen):
    kubelet = seen["kubelet"]
    if seen["units"] is None:
        fix = "run this as root on a machine with systemd, and look at the machine's load"
        return Finding("kubelet_not_started", "systemd does not say whether kubelet runs", fix)
    if kubelet is None:
        return Finding(
            "kubelet_not_started",
            "this machine has no unit that runs kubelet",
            "use one of the images for EKS, or install kubelet; on a node that bootstraps itself look at user data first: journalctl -u "
            "cloud-final",
        )
    if kubelet["running"]:
        return None
    name, unit = kubelet["unit"], seen["units"][kubelet["unit"]]
    state = f"{name} is {unit['state']} ({unit['sub']})"
    if unit["load"] == "masked":
        return Finding("kubelet_not_started", f"{name} is masked, so it cannot be started", f"systemctl unmask {name}", (state,), True)
    if seen["nodeadm"] is not None:
        return _nodeadm(seen["nodeadm"])
    return _containerd(seen, state) or (_not_started(seen, name, state) if kubelet["exit"] is None else None)


def _nodeadm(nodeadm):
    said = [line for line in nodeadm["lines"] if re.search(r"error|fatal|failed", line, re.IGNORECASE)] or nodeadm["lines"]
    told = _of_nodeadm(said[-1]) if said else "it says nothing"
    return Finding(
        "nodeadm_failed", f"{nodeadm['unit']} failed, and kubelet waits for it: {told[:300]}",
        f"correct the NodeConfig in user data or /etc/eks/nodeadm.d, then systemctl restart {nodeadm['unit']}",
        tuple(quoted(nodeadm["unit"], line) for line in said[-2:]), True,
    )  # fmt: skip


def _of_nodeadm(line):
    """What nodeadm says in its line of JSON."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if not isinstance(document, dict):
        return line
    return ": ".join(str(document[key]) for key in ("msg", "error") if document.get(key)) or line


def _containerd(seen, state):
    """containerd that fails keeps kubelet down, whether systemd or kubelet itself notices."""
    unit = seen["units"].get("containerd.service")
    if unit is None or unit["running"]:
        return None
    if unit["load"] == "masked":
        fix = "systemctl unmask containerd, then systemctl restart containerd kubelet"
        return Finding("no_container_runtime", "containerd is masked, so it cannot be started", fix, (state,), True)
    if unit["state"] == "inactive" and unit["result"] in ("success", ""):
        return None
    lines = seen["containerd"]["lines"] if seen["containerd"] else []
    said = f": {lines[-1][:200]}" if lines else ""
    return Finding(
        "no_container_runtime", f"containerd does not run{said}", "correct its configuration, then systemctl restart containerd kubelet",
        (*(quoted("containerd.service", line) for line in lines[-2:]), f"containerd.service is {unit['state']} ({unit['sub']})", state),
        unit["state"] == "failed",
    )  # fmt: skip


def _not_started(seen, name, state):
    for other in ("nodeadm-config.service", "nodeadm-run.service"):
        if seen["units"].get(other, {}).get("state") == "activating":
            return Finding("kubelet_not_started", f"kubelet is not started yet: {other} is at work", f"journalctl -u {other}", (state,))
    return Finding(
        "kubelet_not_started", f"kubelet does not run: {state}",
        f"systemctl start {name}; on a node that bootstraps itself look at user data first: journalctl -u cloud-final", (state,),
    )  # fmt: skip


def _exit(seen):
    kubelet = seen["kubelet"]
    if kubelet is None or kubelet["exit"] is None:
        return None
    return exits.diagnose(kubelet["unit"], seen["units"][kubelet["unit"]], kubelet["exit"])


# --- while it runs -----------------------------------------------------------------------------------------------------------------


def _cgroup_driver(seen):
    kubelet, containerd = seen["kubelet"], seen["containerd"]
    if not kubelet or not kubelet["running"] or containerd is None or containerd["systemd_cgroup"] is None:
        return None
    own, runtime = kubelet["cgroup_driver"], "systemd" if containerd["systemd_cgroup"] else "cgroupfs"
    # A runtime that tells kubelet its driver is obeyed, whatever kubelet's configuration says, and kubelet says so once, at its start.
    if own is None or own == runtime or not kubelet["whole"] or any(_OF_THE_RUNTIME in line for line in kubelet["lines"]):
        return None
    message, fix, final = exits.driver_words(own, runtime)
    where = ", ".join(kubelet["config"]) or "kubelet's default"
    evidence = (f"cgroupDriver of kubelet: {own} ({where})", f"SystemdCgroup of containerd: {str(containerd['systemd_cgroup']).lower()}")
    return Finding("cgroup_driver_mismatch", message, fix, evidence, final)


def _unknown_field(seen):
    """kubelet says it of the file of --config alone, once, and goes on without the field."""
    kubelet = seen["kubelet"]
    for line in reversed(kubelet["lines"] if kubelet and kubelet["running"] else []):
        match = _LENIENT.match(line)
        fields = _FIELD.findall(match.group("why")) if match else []
        if fields:
            names = ", ".join(dict.fromkeys(fields))
            return Finding(
                "unknown_config_field", f"kubelet does not know {names} in its configuration, and runs without it",
                f"correct {names} in {kubelet['config'][0] if kubelet['config'] else 'the file of --config'}, and restart kubelet",
                (quoted(kubelet["unit"], line),), True,
            )  # fmt: skip
    return None


def _ready(seen):
    node = seen["node"]
    if node is None or standing(seen)[1]:
        return None
    told = f"Node {seen['name']}: Ready is {node['ready']} ({node['reason']}): {node['message']}"
    if node["ready"] is None:
        return Finding("not_ready", "the Node has no condition Ready yet", "wait: kubelet reports it in its first seconds", ())
    if _stale(seen):
        return Finding(
            "not_ready", f"the cluster has not heard from this kubelet yet: that Ready is {node['ready']} was said by an earlier one",
            f"read what kubelet says: journalctl -u {seen['kubelet']['unit']}", (shortened(told),),
        )  # fmt: skip
    if "NetworkPluginNotReady" in node["message"] or "cni" in node["message"].lower():
        return Finding(
            "no_network_plugin", "the node is registered, but has no network plugin: nothing has written a CNI configuration yet",
            "look at the network plugin's pod on this node: kubectl -n kube-system get pods -o wide (aws-node, for Amazon's VPC CNI)",
            (shortened(told),),
        )  # fmt: skip
    if node["ready"] == "Unknown":
        return Finding(
            "not_ready", "the cluster has lost sight of this node: kubelet's reports do not arrive",
            f"read what kubelet says: journalctl -u {seen['kubelet']['unit']}", (shortened(told),),
        )  # fmt: skip
    return Finding(
        "not_ready", f"the node is registered, but not Ready: {node['message'][:300] or node['reason']}",
        f"read what kubelet says: journalctl -u {seen['kubelet']['unit']}", (shortened(told),),
    )  # fmt: skip
