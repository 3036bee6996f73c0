# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What else Windows nodes need of a cluster. Each need is checked, and the result is said, also if it cannot be checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Problems
from .desired import WINDOWS, NodeRole
from .observed import TAG

NAME, NAMESPACE = "amazon-vpc-cni", "kube-system"
PATH = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
KEY, VALUE = "enable-windows-ipam", "true"
CLUSTER_POLICY = "AmazonEKSVPCResourceController"

OK, CHANGED, WARNING, UNKNOWN = "ok", "change", "missing", "unknown"
_LINUX_NODE, _CLUSTER_POLICY, _IPAM = "Linux node", "policy of the cluster role", f"{KEY} in {NAMESPACE}/{NAME}"

RULES = {_LINUX_NODE: "access.no_linux_node", _CLUSTER_POLICY: "access.no_cluster_policy"}
"""The rule of a need that is missing."""


@dataclass(frozen=True)
class Facts:
    """What is known. A text in place of a value: why it is not known.

    config_map: amazon-vpc-cni, {} if there is none. linux_nodes: how many nodes run Linux. fargate_profiles: their number.
    policies: the names of the policies of the role of the cluster. family: of its addresses.
    """

    config_map: Mapping[str, Any] | str
    linux_nodes: int | str
    policies: Sequence[str] | str
    family: str = "ipv4"
    fargate_profiles: int = 0
    cluster_role: str = ""


@dataclass(frozen=True)
class Check:
    """One need. state: C(ok), C(change), C(missing) or C(unknown)."""

    name: str
    state: str
    message: str

    def plain(self) -> dict[str, str]:
        return {"name": self.name, "state": self.state, "message": self.message}


@dataclass(frozen=True)
class WindowsPlan:
    """checks: of all needs. body: the request for amazon-vpc-cni, None if nothing changes. is_new: it does not exist yet."""

    checks: tuple[Check, ...] = ()
    body: dict[str, Any] | None = None
    is_new: bool = False
    before: str = ""


def has_windows(roles: Sequence[NodeRole]) -> bool:
    """Whether a role is one of Windows nodes."""
    return any(WINDOWS in role.kinds for role in roles)


def plan_windows(facts: Facts, problems: Problems) -> WindowsPlan:
    """The checks, and the change that enables IPAM. Missing needs are reported as warnings, an IPv6 cluster as an error."""
    if facts.family == "ipv6":
        problems.add("access.windows_ipv6", "cluster", "has IPv6 addresses for pods, which Windows nodes do not support")
    ipam = _ipam(facts.config_map)
    checks = (ipam.checks[0], _linux(facts), _policy(facts))
    for check in checks:
        if check.state == UNKNOWN:
            problems.add("access.not_checked", "cluster", check.message)
        elif check.state == WARNING:
            name = check.name
            problems.add(RULES[name], "cluster", check.message)
    return WindowsPlan(checks, ipam.body, ipam.is_new, ipam.before)


def _ipam(found: Mapping[str, Any] | str) -> WindowsPlan:
    if isinstance(found, str):
        return WindowsPlan((Check(_IPAM, UNKNOWN, f"whether {_IPAM} is {VALUE} is not known: {found}"),))
    value = (found.get("data") or {}).get(KEY)
    if value == VALUE:
        return WindowsPlan((Check(_IPAM, OK, f"{_IPAM} is {VALUE}"),))
    was = f"is {value}" if value is not None else "is not set"
    check = Check(_IPAM, CHANGED, f"{_IPAM} {was}: set it to {VALUE}")
    if not found:
        metadata = {"name": NAME, "namespace": NAMESPACE, "annotations": {TAG: VALUE}}
        return WindowsPlan((check,), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {KEY: VALUE}}, is_new=True)
    version = (found.get("metadata") or {}).get("resourceVersion")
    before = "" if value is None else f'{KEY}: "{value}"\n'
    return WindowsPlan((check,), {"metadata": {"resourceVersion": version}, "data": {KEY: VALUE}}, before=before)


def _linux(facts: Facts) -> Check:
    name = _LINUX_NODE
    if isinstance(facts.linux_nodes, str):
        reason = ", for the same reason" if facts.linux_nodes == facts.config_map else f": {facts.linux_nodes}"
        return Check(name, UNKNOWN, f"whether a Linux node exists is not known{reason}")
    if facts.linux_nodes:
        return Check(name, OK, "there is a Linux node for CoreDNS")
    if facts.fargate_profiles:
        return Check(name, OK, "there is no Linux node, but a Fargate profile, on which CoreDNS can run")
    return Check(name, WARNING, "there is no Linux node, so CoreDNS cannot run: add one, or a Fargate profile for CoreDNS")


def _policy(facts: Facts) -> Check:
    name, role = _CLUSTER_POLICY, facts.cluster_role.rpartition("/")[2] or "the role of the cluster"
    if isinstance(facts.policies, str):
        return Check(name, UNKNOWN, f"whether {role} has the policy {CLUSTER_POLICY} is not known: {facts.policies}")
    if CLUSTER_POLICY in facts.policies:
        return Check(name, OK, f"{role} has the policy {CLUSTER_POLICY}")
    return Check(name, WARNING, f"{role} does not have the policy {CLUSTER_POLICY}: attach it")
