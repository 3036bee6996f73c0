# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of your own user data or your own specification in the running lab, and what join_check says about them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems, SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.compression import unpack
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render

from .api import ApiError, Object
from .binaries import KUBELETS
from .fail_play import Ended, check_containers
from .joining import LAB_ONLY
from .lab import Lab
from .node import KINDS, is_ready
from .progress import LabError, docker, engine, say

#: The kubelet of a node that asks for none, and the one that the real nodeadm of February 2024 starts.
DEFAULT_KUBELET = "1.30"
NODECONFIG = "node.eks.aws/"


class Input(NamedTuple):
    """What a node boots with: a family of the lab, user data, and the minor version of kubelet."""

    family: str
    user_data: str
    kubelet: str


class Report(NamedTuple):
    """How a node does in the cluster. C(node) is its Node object, C(check) the result of module join_check."""

    name: str
    node: Object | None
    check: Ended

    @property
    def joined(self) -> bool:
        return self.node is not None and is_ready(self.node) and not self.check.failed


# --- input ------------------------------------------------------------------------------------------------------------------


def read_user_data(path: Path, family: str = "", kubelet: str = "") -> Input:
    """User data as a file has it: plain, base64 or gzip. A NodeConfig in it means al2023; otherwise the family must be named."""
    problems = Problems()
    text = unpack(path.read_bytes(), str(path), problems)
    _raise(problems)
    found = family or ("al2023" if NODECONFIG in text else "")
    if not found:
        raise LabError(f"{path}: name the family of the node: --family {' | '.join(KINDS)}")
    return _complete(found, text, kubelet)


def read_spec(path: Path, lab: Lab, kubelet: str = "", *, as_written: bool = False) -> Input:
    """A YAML mapping with a cluster and a node group, rendered for the lab's cluster.

    The lab supplies name, endpoint, certificate authority and networks of the cluster. With C(as_written), fields of the file replace
    those of the lab, so that the node shows how a wrong one is diagnosed.
    """
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content = content if isinstance(content, Mapping) else {}
    group = next((content[key] for key in ("node_group", "eks_node_group") if key in content), None)
    groups = content.get("eks_node_groups")
    if group is None and isinstance(groups, list) and len(groups) == 1:
        [group] = groups
    cluster = content.get("cluster", content.get("eks_node_cluster")) or {}
    if not isinstance(group, Mapping) or not isinstance(cluster, Mapping):
        raise LabError(
            f"{path}: the file must hold a mapping with node_group, and may hold cluster (eks_node_group and eks_node_cluster work too)"
        )
    version = str(cluster.get("kubernetes_version"))
    minor = kubelet or (version if version in KUBELETS else DEFAULT_KUBELET)
    _check_kubelet(minor)
    own = lab.cluster(minor)
    try:
        rendered = render({**own, **cluster} if as_written else {**cluster, **own}, with_lab_settings(group, minor))
    except SpecError as error:
        raise LabError(f"{path}:\n{error}") from None
    return _complete(rendered.spec.family, rendered.document.text, minor)


def with_lab_settings(group: Mapping[str, Any], minor: str) -> dict[str, Any]:
    """A node group with the kubelet configuration that a machine with swap or cgroup v1 needs, except where the group has its own."""
    kubelet = group.get("kubelet") or {}
    if not isinstance(kubelet, Mapping) or not isinstance(kubelet.get("config") or {}, Mapping):
        return dict(group)
    return {**group, "kubelet": {**kubelet, "config": {**LAB_ONLY[minor], **(kubelet.get("config") or {})}}}


def _complete(family: str, text: str, kubelet: str) -> Input:
    if family not in KINDS:
        raise LabError(f"the lab has no nodes of the family {family}; allowed: {', '.join(KINDS)}")
    _check_kubelet(kubelet or DEFAULT_KUBELET)
    return Input(family, text, kubelet or DEFAULT_KUBELET)


def _check_kubelet(minor: str) -> None:
    if minor not in KUBELETS:
        raise LabError(f"the lab has no kubelet {minor}; allowed: {', '.join(KUBELETS)}")


def _raise(problems: Problems) -> None:
    try:
        problems.raise_any()
    except SpecError as error:
        raise LabError(str(error)) from None


# --- nodes ------------------------------------------------------------------------------------------------------------------


def add(lab: Lab, wanted: Input, seconds: float) -> Report:
    """Boot a node that stays, and wait until it is Ready or join_check names a cause that does not go away."""
    real_nodeadm = wanted.kubelet == DEFAULT_KUBELET
    node = lab.node(wanted.family, user_data=wanted.user_data, kubelet=wanted.kubelet, real_nodeadm=real_nodeadm)
    try:
        docker("rename", node.container, node.name)
        say(f"{node.name} boots; follow it: docker exec -it {node.name} journalctl -f")
        node.wait_boot()
    except BaseException:
        node.stop()
        raise
    node.leave()
    return report(lab, node.name, seconds)


def report(lab: Lab, name: str, seconds: float = 0) -> Report:
    """Run join_check on a node and read its Node object. C(seconds) is how long join_check waits."""
    _need(lab, name)
    ended = check_containers({name: name}, wait_timeout=seconds).ended(name)
    try:
        return Report(name, lab.node_object(name), ended)
    except ApiError as error:
        if error.status != 404:
            raise
        return Report(name, None, ended)


def remove(lab: Lab, name: str) -> None:
    """Remove a node: the container, the Node object and the instance."""
    _need(lab, name)
    docker("rm", "-f", "-v", name)
    with suppress(ApiError):
        lab.api.call("DELETE", f"/api/v1/nodes/{name}")
    instance = lab.ec2.find(name)
    if instance is not None:
        lab.ec2.terminate(instance["id"])


def names(lab: Lab) -> list[str]:
    """The nodes that were added to the lab, by the name of container and Node."""
    listed = docker("ps", "-a", "--filter", f"label={engine.RUN}={lab.owner}", "--format", "{{.Names}}").stdout.decode().split()
    return sorted(name for name in listed if "." in name)


def _need(lab: Lab, name: str) -> None:
    known = names(lab)
    if name not in known:
        raise LabError(f"{name} is not a node of the lab; its nodes: {', '.join(known) or 'none'}")


# --- output -----------------------------------------------------------------------------------------------------------------


def describe(found: Report) -> str:
    """A node as `kubectl get` and `kubectl describe` show it, and what join_check says."""
    lines = _describe_node(found.name, found.node) if found.node is not None else [f"{found.name} is not registered"]
    lines += ["", "join_check: the node has joined" if not found.check.failed else "join_check failed"]
    if found.check.failed:
        result = found.check.result
        known = [(key, result[key]) for key in ("cause", "message", "fix") if result.get(key)]
        lines += [f"  {key + ':':<10}{value}" for key, value in known or [("message", found.check.message)]]
        lines += [f"  {'evidence:' if not number else '':<10}{line}" for number, line in enumerate(result.get("evidence") or [])]
        failed = docker("exec", found.name, "systemctl", "--failed", "--no-legend", "--plain", check=False).stdout.decode(errors="replace")
        lines += [f"  failed unit: {line.split()[0]}" for line in failed.splitlines() if line.strip()]
        lines += ["", f"look around: docker exec -it {found.name} bash"]
    return "\n".join(lines)


def _describe_node(name: str, node: Object) -> list[str]:
    info, metadata = node["status"]["nodeInfo"], node["metadata"]
    addresses = [each["address"] for each in node["status"].get("addresses", []) if each["type"] == "InternalIP"]
    widths = max(len(name), 4) + 2
    lines = [
        f"{'NAME':<{widths}}{'STATUS':<10}{'VERSION':<12}INTERNAL-IP",
        f"{name:<{widths}}{'Ready' if is_ready(node) else 'NotReady':<10}{info['kubeletVersion']:<12}{', '.join(addresses)}",
        "",
        "Labels:",
        *(f"  {key}={value}" for key, value in sorted((metadata.get("labels") or {}).items())),
        "Taints:",
        *([f"  {_taint(taint)}" for taint in node["spec"].get("taints") or []] or ["  <none>"]),
        "Allocatable:",
        *(f"  {key}: {value}" for key, value in sorted(node["status"].get("allocatable", {}).items())),
        "Conditions:",
        f"  {'TYPE':<18}{'STATUS':<9}{'REASON':<30}MESSAGE",
    ]
    for condition in node["status"].get("conditions", []):
        reason, message = condition.get("reason", ""), condition.get("message", "")
        lines.append(f"  {condition['type']:<18}{condition['status']:<9}{reason:<30}{message}")
    return lines


def _taint(taint: Mapping[str, str]) -> str:
    return f"{taint['key']}{'=' + taint['value'] if taint.get('value') else ''}:{taint['effect']}"
