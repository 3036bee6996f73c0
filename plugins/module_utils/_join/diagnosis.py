# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From evidence to the one reason why a node does not join. Pure. Standard library, Python 3.7 and newer.

`kubelet_exit_diagnosis` explains a kubelet that exits, `api_diagnosis` the answer of the API server; everything else is here.
"""

from __future__ import annotations

import json
import re

from .._node import nodeadm_files
from .._node.systemd import Unit
from . import api_diagnosis, exit_causes, kubelet_exit_diagnosis
from .model import Evidence, FailedUnit, Finding, Kubelet, NodeObject, quote_log, runs, shorten

_LENIENT = re.compile(
    kubelet_exit_diagnosis.LOG_HEADER.pattern + r"\"Using lenient decoding as strict decoding failed\" err=\"(?P<why>.*)\""
)
_FIELD = re.compile(r"unknown field \\*\"(?P<field>[^\"\\]+)")
_RUNTIME_DECIDES = "Using cgroup driver setting received from the CRI runtime"
_CONTAINERD = "containerd.service"
_NODEADM_UNITS = ("nodeadm-config.service", "nodeadm-run.service")
_CLOCK_TOLERANCE_SECONDS = 2.0
_NODE_IP = re.compile(
    kubelet_exit_diagnosis.LOG_HEADER.pattern
    + r"\"Failed to set some node status fields\" err=\"failed to validate nodeIP: (?P<why>.*?)\" node="
)
_NOT_FOUND = "not found in the host's network interfaces"


def diagnose(evidence: Evidence) -> Finding | None:
    """Why the node is not Ready; None if it is, and has no final problem.

    If several causes apply, the first final one in the order in which a node starts is returned, and without a final one the first.
    """
    findings = []
    for check in _CHECKS:
        finding = check(evidence)
        if finding is not None and finding.final:
            return finding
        if finding is not None:
            findings.append(finding)
    return findings[0] if findings else None


def warnings(evidence: Evidence) -> list[str]:
    """Lines about a node that joined but lacks something."""
    if evidence.has_serving_certificate is not False:
        return []
    return [
        f"kubelet on {evidence.node_name} has no serving certificate, so kubectl logs and kubectl exec fail with 'remote error: "
        "tls: internal error'. The cluster did not sign its request (kubectl get certificatesigningrequests). EKS signs a request only if "
        "its names are the names of the instance"
    ]


def is_registered(evidence: Evidence) -> bool:
    """Whether kubelet runs and the cluster has its Node object."""
    kubelet = evidence.kubelet
    return kubelet is not None and kubelet.is_running and kubelet.exit is None and evidence.node is not None


def is_ready(evidence: Evidence) -> bool:
    """Whether the Node is Ready, and was reported so by the kubelet that runs now."""
    node = evidence.node
    return is_registered(evidence) and node is not None and node.ready == "True" and not _is_outdated(evidence, node)


def _is_outdated(evidence: Evidence, node: NodeObject) -> bool:
    """Whether an earlier kubelet reported the condition. Both times are from the clock of this node."""
    started = evidence.kubelet.process.started if evidence.kubelet is not None else None
    return node.heartbeat is not None and started is not None and node.heartbeat < started - _CLOCK_TOLERANCE_SECONDS


# --- before kubelet runs -----------------------------------------------------------------------------------------------------------


def _check_unit(evidence: Evidence) -> Finding | None:
    kubelet = evidence.kubelet
    if evidence.units is None:
        fix = "check that this is a machine with systemd, that the task runs as root, and that the machine is not overloaded"
        return Finding("kubelet_not_started", "systemd does not answer, so the state of kubelet is unknown", fix)
    if kubelet is None:
        return Finding(
            "kubelet_not_started", "this machine has no kubelet unit",
            "use an image for EKS, or install kubelet; if user data sets the node up, check its log first: journalctl -u cloud-final",
        )  # fmt: skip
    if kubelet.is_running:
        return None
    name, unit = kubelet.unit, evidence.units[kubelet.unit]
    state = f"{name} is {unit.active} ({unit.sub})"
    if unit.load == "masked":
        return Finding("kubelet_not_started", f"{name} is masked and cannot start", f"systemctl unmask {name}", (state,), True)
    if evidence.nodeadm is not None:
        return _explain_nodeadm(evidence.nodeadm)
    return _explain_containerd(evidence, state) or (_explain_not_started(evidence, name, state) if kubelet.exit is None else None)


def _explain_nodeadm(nodeadm: FailedUnit) -> Finding:
    lines = [line for line in nodeadm.lines if re.search(r"error|fatal|failed", line, re.IGNORECASE)] or list(nodeadm.lines)
    message = _nodeadm_message(lines[-1]) if lines else "its log is empty"
    return Finding(
        "nodeadm_failed", f"{nodeadm.unit} failed, and kubelet waits for it: {message}",
        f"correct the NodeConfig in user data or in {nodeadm_files.DIRECTORY}, then run: systemctl restart {nodeadm.unit}",
        quote_log(nodeadm.unit, *lines[-2:]), True,
    )  # fmt: skip


def _nodeadm_message(line: str) -> str:
    """The message in a line of nodeadm's log, which is JSON."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if not isinstance(document, dict):
        return line
    return ": ".join(str(document[key]) for key in ("msg", "error") if document.get(key)) or line


def _explain_containerd(evidence: Evidence, kubelet_state: str) -> Finding | None:
    """Without containerd kubelet does not start, or exits."""
    unit = evidence.unit(_CONTAINERD)
    if unit is None or runs(unit):
        return None
    if unit.load == "masked":
        fix = "systemctl unmask containerd, then run: systemctl restart containerd kubelet"
        return Finding("no_container_runtime", "containerd is masked and cannot start", fix, (kubelet_state,), True)
    if _was_stopped(unit):
        return None
    lines = evidence.containerd.lines if evidence.containerd is not None else ()
    message = f": {lines[-1]}" if lines else ""
    state = f"{_CONTAINERD} is {unit.active} ({unit.sub})"
    if any("no space left on device" in line for line in lines[-3:]):
        disks = evidence.containerd.full_disks if evidence.containerd is not None else ()
        full = exit_causes.explain_full_disk("containerd does not start", lines[-1], disks, "containerd kubelet")
        return Finding("disk_full", full.message, full.fix, (*quote_log(_CONTAINERD, *lines[-2:]), *full.evidence, state), True)
    return Finding(
        "no_container_runtime", f"containerd is not running{message}",
        "correct the configuration of containerd, then run: systemctl restart containerd kubelet",
        (*quote_log(_CONTAINERD, *lines[-2:]), state, kubelet_state), unit.active == "failed",
    )  # fmt: skip


def _was_stopped(unit: Unit) -> bool:
    """Whether the unit does not run and did not fail."""
    return unit.active == "inactive" and unit.result in ("success", "")


def _explain_not_started(evidence: Evidence, name: str, state: str) -> Finding:
    for other in _NODEADM_UNITS:
        unit = evidence.unit(other)
        if unit is not None and unit.active == "activating":
            return Finding(
                "kubelet_not_started", f"kubelet has not started yet, because {other} is still running",
                f"wait until it is done, or follow its log: journalctl -f -u {other}", (state,),
            )  # fmt: skip
    return Finding(
        "kubelet_not_started", f"kubelet is not running: {state}",
        f"systemctl start {name}; if user data sets the node up, check its log first: journalctl -u cloud-final", (state,),
    )  # fmt: skip


def _check_exit(evidence: Evidence) -> Finding | None:
    kubelet = evidence.kubelet
    if kubelet is None or kubelet.exit is None:
        return None
    return kubelet_exit_diagnosis.diagnose(kubelet.unit, evidence.unit(kubelet.unit), kubelet.exit)


# --- while kubelet runs ------------------------------------------------------------------------------------------------------------


def _check_cgroup_driver(evidence: Evidence) -> Finding | None:
    kubelet, containerd = evidence.kubelet, evidence.containerd
    if kubelet is None or not kubelet.is_running or containerd is None or containerd.uses_systemd_cgroup is None:
        return None
    own, runtime = kubelet.process.cgroup_driver, "systemd" if containerd.uses_systemd_cgroup else "cgroupfs"
    # If the runtime tells kubelet its driver, kubelet uses it whatever its own configuration says, and logs that once, at its start.
    if own is None or own == runtime or not kubelet.has_first_lines or any(_RUNTIME_DECIDES in line for line in kubelet.lines):
        return None
    explanation = exit_causes.explain_cgroup_drivers(own, runtime)
    source = ", ".join(kubelet.process.config_files) or "the default of kubelet"
    shown = (f"cgroupDriver of kubelet: {own} ({source})", f"SystemdCgroup of containerd: {str(containerd.uses_systemd_cgroup).lower()}")
    return Finding("cgroup_driver_mismatch", explanation.message, explanation.fix, shown, explanation.final)


def _check_config_fields(evidence: Evidence) -> Finding | None:
    """kubelet logs an unknown field of its main configuration file once, at its start, and runs without the field."""
    kubelet = evidence.kubelet
    if kubelet is None or not kubelet.is_running:
        return None
    for line in reversed(kubelet.lines):
        match = _LENIENT.match(line)
        fields = _FIELD.findall(match.group("why")) if match else []
        if fields:
            names = ", ".join(dict.fromkeys(fields))
            file = kubelet.process.config_files[0] if kubelet.process.config_files else "the file of --config"
            return Finding(
                "unknown_config_field", f"kubelet does not know {names} in its configuration and ignores it",
                f"correct {names} in {file}, then run: systemctl restart {kubelet.unit}", quote_log(kubelet.unit, line), True,
            )  # fmt: skip
    return None


def _check_node_address(evidence: Evidence) -> Finding | None:
    """kubelet runs with an address that it cannot use, but the Node then has no address, and the API server cannot reach kubelet."""
    kubelet = evidence.kubelet
    if kubelet is None or not kubelet.is_running:
        return None
    missing = kubelet.process.missing_addresses
    line, why = next(
        ((line, match.group("why")) for line in reversed(kubelet.lines) for match in [_NODE_IP.match(line)] if match), ("", "")
    )
    if not missing and (not why or _NOT_FOUND in why):
        # Without an address that is missing now, an old line about one is outdated.
        return None
    shown = quote_log(kubelet.unit, line) if line else ()
    names = ", ".join(missing)
    problem = f"no network interface of this machine has the address {names}" if missing else why.replace('\\"', '"').strip('"')
    usual = (f"the flags of kubelet (to find where they are set: systemctl cat {kubelet.unit})", f"systemctl restart {kubelet.unit}")
    where, then = kubelet.process.address_place or usual
    return Finding(
        "wrong_node_ip", f"kubelet cannot use the address of --node-ip, so its Node gets no address: {problem}",
        f"remove --node-ip from {where}, or set it to an address of this machine (ip -brief address). Then: {then}",
        (*shown, *(f"--node-ip of kubelet: {address}" for address in missing)), True,
    )  # fmt: skip


def _check_ready(evidence: Evidence) -> Finding | None:
    node, kubelet = evidence.node, evidence.kubelet
    if node is None or kubelet is None or is_ready(evidence):
        return None
    if node.ready is None:
        return Finding("not_ready", "the Node has no condition Ready yet", "wait: kubelet reports it in its first seconds")
    return _explain_not_ready(evidence, node, kubelet)


def _explain_not_ready(evidence: Evidence, node: NodeObject, kubelet: Kubelet) -> Finding:
    shown = shorten([f"Node {evidence.node_name}: Ready is {node.ready} ({node.reason}): {node.message}"])
    check_log = f"check the kubelet log: journalctl -u {kubelet.unit}"
    if _is_outdated(evidence, node):
        message = f"this kubelet has not reported to the cluster yet: an earlier kubelet reported that Ready is {node.ready}"
        return Finding("not_ready", message, check_log, shown)
    if node.lacks_network:
        return _explain_network(evidence, shown)
    if node.ready == "Unknown":
        return Finding("not_ready", "the cluster no longer receives reports from kubelet on this node", check_log, shown)
    return Finding("not_ready", f"the node is registered but not Ready: {node.message or node.reason}", check_log, shown)


def _explain_network(evidence: Evidence, shown: tuple[str, ...]) -> Finding:
    network = evidence.network
    plugin = "the pod of the network plugin on this node (aws-node for the Amazon VPC CNI): kubectl -n kube-system get pods -o wide"
    if network is not None and network.file is not None and network.problem is not None:
        return Finding(
            "invalid_cni_config", f"containerd cannot load the CNI configuration {network.file}: {network.problem}",
            f"correct or remove {network.file}; containerd reads it again at once. If the network plugin writes that file, check {plugin}",
            (*quote_log(_CONTAINERD, *network.lines[-1:]), *shown),
        )  # fmt: skip
    where = f" in {network.directory}" if network is not None else ""
    if network is not None and network.file is not None:
        message = f"the node is registered, but containerd has not loaded its network yet, although {network.file} exists"
        return Finding("no_network_plugin", message, f"check {plugin}", (*quote_log(_CONTAINERD, *network.lines[-1:]), *shown))
    message = f"the node is registered but has no network plugin: there is no CNI configuration{where} yet"
    return Finding("no_network_plugin", message, f"check {plugin}", shown)


_PRESSURE_FIXES = {
    "DiskPressure": "free space on the file systems of kubelet and containerd (df -h /var/lib/kubelet /var/lib/containerd; "
    "crictl rmi --prune), or use a larger volume",
    "MemoryPressure": "find what uses the memory (systemd-cgtop -m), reserve memory for the system, or use a larger instance type",
    "PIDPressure": "find what runs so many processes (systemd-cgtop), or raise kernel.pid_max",
}


def _check_pressure(evidence: Evidence) -> Finding | None:
    """A Node under pressure is Ready, but gets no new pods, and kubelet evicts pods."""
    node, kubelet = evidence.node, evidence.kubelet
    if node is None or kubelet is None or not node.pressures or not is_ready(evidence):
        return None
    names = [name for name, _message in node.pressures]
    fixes = "; ".join(_PRESSURE_FIXES.get(name, f"check {name}") for name in names)
    thresholds = ". The thresholds are evictionHard and evictionSoft of the kubelet configuration" if kubelet.process.eviction else ""
    shown = [f"Node {evidence.node_name}: {name} is True: {message}" for name, message in node.pressures]
    shown += [f"taint of the Node: {taint}" for taint in node.taints if "pressure" in taint]
    return Finding(
        "under_pressure", f"the cluster places no pods on it: kubelet reports {' and '.join(names)}",
        f"{fixes}{thresholds}. kubelet ends the state some minutes after that (evictionPressureTransitionPeriod)",
        shorten([*shown, *kubelet.process.eviction]),
    )  # fmt: skip


_CHECKS = (
    _check_unit, _check_exit, api_diagnosis.diagnose, _check_cgroup_driver, _check_config_fields, _check_node_address, _check_ready,
    _check_pressure,
)  # fmt: skip
"""In the order in which a node starts."""
