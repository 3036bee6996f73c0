# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is missing in a cluster that does not accept the role of a node: its access entries and aws-auth, read from the controller.

Reads only, through the functions of C(Cluster). The node itself cannot see this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ..access import aws_auth
from ..access.aws_auth import AwsAuth, BrokenAwsAuth
from ..access.map_roles import USERNAME
from ..access.observed import BOTH, CONFIG_MAP, ENTRIES
from ..model.role_arn import RoleArn, find_role

PLAYBOOK = "the playbook nodebootstrap.eks.access"
_NODE_TYPES = ("EC2_LINUX", "EC2", "HYBRID_LINUX", "HYPERPOD_LINUX")
_AGAIN = "with --check it shows the plan"


class Cluster(Protocol):
    """Reads EKS."""

    def cluster(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The answer of DescribeCluster, and the input C(cluster) from it."""

    def principals(self) -> Sequence[str]: ...

    def find(self, principal: str) -> Mapping[str, Any] | None: ...


class ConfigMaps(Protocol):
    """Reads the API server. C(unreachable) says why there is no connection."""

    unreachable: str

    def find(self, namespace: str, name: str) -> Mapping[str, Any]: ...


def look_up(identity: Mapping[str, Any], cluster: Cluster, connect: Callable[[Mapping[str, Any]], ConfigMaps]) -> dict[str, Any]:
    """The parts of a result of C(join_check) that are known better now: C(message), C(fix), and lines for C(evidence)."""
    described, known = cluster.cluster()
    server, endpoint = str(identity.get("server") or ""), str(described.get("endpoint") or "")
    name = str(identity["cluster"])
    if server and not _is_same(server, endpoint):
        return _unknown(f"the cluster {name} of the credentials on the controller is another one: its endpoint is {endpoint}")
    mode = str((described.get("accessConfig") or {}).get("authenticationMode") or CONFIG_MAP)
    account = str(identity.get("account") or "".join(str(described.get("arn") or "").split(":")[4:5]))
    role = RoleArn("aws", account, "", str(identity["role"]))
    where = f"the cluster {name} (authentication mode {mode})"
    if mode != CONFIG_MAP:
        entry = _entry(role, cluster)
        if entry is not None:
            return _of_entry(entry, role, where)
    if mode == ENTRIES:
        return _missing(f"{where} has no access entry of the role {role.name}", role)
    return _of_aws_auth(role, where, mode, connect(known))


def _is_same(server: str, endpoint: str) -> bool:
    return server.rstrip("/").lower().removesuffix(":443") == endpoint.rstrip("/").lower().removesuffix(":443")


def _entry(role: RoleArn, cluster: Cluster) -> Mapping[str, Any] | None:
    """The access entry of a role, whose path a node does not know."""
    for principal in cluster.principals():
        found = find_role(principal)
        if found is not None and found.key == role.key:
            return cluster.find(principal)
    return None


def _of_entry(entry: Mapping[str, Any], role: RoleArn, where: str) -> dict[str, Any]:
    kind, principal = str(entry.get("type")), str(entry.get("principalArn"))
    if kind not in _NODE_TYPES:
        message = f"{where} has an access entry of the role {role.name} with the type {kind}, but nodes need EC2_LINUX"
        fix = f"run {PLAYBOOK} with role_arn: {principal} for this node group and eks_cluster_access_recreate: true"
        return _found(message, fix)
    message = f"the API server rejects the credentials of this node, although {where} has an access entry {kind} of the role {role.name}"
    fix = f"if the role was deleted and created again, its access entry does not count any more: delete it, and run {PLAYBOOK}"
    return _found(message, fix)


def _of_aws_auth(role: RoleArn, where: str, mode: str, config_maps: ConfigMaps) -> dict[str, Any]:
    place = f"{aws_auth.NAMESPACE}/{aws_auth.NAME}"
    if config_maps.unreachable:
        return _unknown(f"{place} could not be read: {config_maps.unreachable}")
    try:
        found = aws_auth.read_config_map(config_maps.find(aws_auth.NAMESPACE, aws_auth.NAME))
    except BrokenAwsAuth as broken:
        message = f"mapRoles in {place} is not valid YAML, so {where} ignores all of its items: {broken}"
        return _found(message, f"correct it with kubectl -n {aws_auth.NAMESPACE} edit configmap {aws_auth.NAME}")
    item = found.find(role)
    if item is None:
        return _no_item(found, role, where, mode, place)
    number, mapped = item
    missing = [group for group in ("system:nodes",) if group not in mapped.groups]
    if missing or not mapped.username.startswith("system:node:"):
        wrong = f"does not have the group {missing[0]}" if missing else f"has the user name {mapped.username}, not {USERNAME}"
        message = f"item {number + 1} of mapRoles in {place} maps the role {role.name}, but {wrong}"
        return _missing(message, role, " and eks_cluster_access_force: true")
    message = f"the API server rejects the credentials of this node, although {place} of {where} maps the role {role.name}"
    return _found(message, "look for the reason in the log of the authenticator, which EKS can send to CloudWatch")


def _no_item(found: AwsAuth, role: RoleArn, where: str, mode: str, place: str) -> dict[str, Any]:
    with_path = found.with_path(role)
    if with_path is not None:
        return _missing(f"item {with_path + 1} of mapRoles in {place} has the path of the role {role.name}, and no effect", role)
    entries = "no access entry and " if mode == BOTH else ""
    return _missing(f"{where} has {entries}no item in {place} of the role {role.name}", role)


def _missing(message: str, role: RoleArn, more: str = "") -> dict[str, Any]:
    return _found(message, f"run {PLAYBOOK} with the ARN of the role {role.name} as role_arn of this node group{more}; {_AGAIN}")


def _found(message: str, fix: str) -> dict[str, Any]:
    return {"message": message, "fix": fix, "evidence": []}


def _unknown(reason: str) -> dict[str, Any]:
    return {"evidence": [f"the access of the role was not checked: {reason}"]}


def not_checked(reason: object) -> dict[str, Any]:
    """The same for a controller without credentials."""
    return _unknown(" ".join(str(reason).split()))
