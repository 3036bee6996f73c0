# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Access entries and their access policies, with the rules of the Amazon EKS User Guide ("Create access entries")."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from .errors import in_use, invalid_parameter, invalid_request, not_found
from .state import Cluster, Request, Response, check_tags, now, page

if TYPE_CHECKING:
    from .eks import Eks

_DNS, _SESSION = "system:node:{{EC2PrivateDNSName}}", "system:node:{{SessionName}}"
NODE_TYPES: dict[str, tuple[str, list[str]]] = {
    "EC2_LINUX": (_DNS, ["system:nodes"]),
    "EC2_WINDOWS": (_DNS, ["system:nodes", "eks:kube-proxy-windows"]),
    "EC2": (_DNS, []),
    "FARGATE_LINUX": (_SESSION, ["system:bootstrappers", "system:nodes", "system:node-proxier"]),
    "HYBRID_LINUX": (_SESSION, ["system:nodes"]),
    "HYPERPOD_LINUX": (_SESSION, ["system:nodes"]),
}
"""Type → the user name and the groups that EKS gives it."""

POLICIES = (
    "AmazonEKSAdminPolicy", "AmazonEKSAdminViewPolicy", "AmazonEKSAutoNodePolicy", "AmazonEKSClusterAdminPolicy", "AmazonEKSEditPolicy",
    "AmazonEKSViewPolicy",
)  # fmt: skip
_POLICY_ARN = "arn:aws:eks::aws:cluster-access-policy/"
_AUTO_NODE = f"{_POLICY_ARN}AmazonEKSAutoNodePolicy"
_PRINCIPAL = re.compile(r"arn:aws(?:-[a-z]+)*:iam::(?P<account>\d{12}):(?P<kind>role|user)/(?P<name>(?:[\x21-\x7e]+/)?[\w+=,.@-]{1,64})")
_RESERVED = ("system:", "eks:", "aws:", "amazon:", "iam:")


def _create(eks: Eks, request: Request) -> Response:
    cluster = _cluster_with_entries(eks, request)
    principal, kind = request["principalArn"], request.get("type", "STANDARD")
    match = _PRINCIPAL.fullmatch(principal)
    if kind != "STANDARD" and kind not in NODE_TYPES:
        raise invalid_parameter(f"The type {kind} is invalid.", clusterName=cluster.name)
    if not match or (eks.principals is not None and principal not in eks.principals):
        raise invalid_parameter("The specified principalArn is invalid: invalid principal.", clusterName=cluster.name)
    if match["name"].startswith("aws-service-role/"):
        raise invalid_parameter("The specified principalArn is invalid: it is a service-linked role.", clusterName=cluster.name)
    if kind != "STANDARD" and (match["kind"] != "role" or match["account"] != eks.account):
        raise invalid_parameter(f"Access entries of type {kind} need a role of the account of the cluster.", clusterName=cluster.name)
    if kind != "STANDARD" and ({"kubernetesGroups", "username"} & set(request)):
        raise invalid_parameter(f"kubernetesGroups and username cannot be specified for the type {kind}.", clusterName=cluster.name)
    _check_names(request, cluster.name)
    check_tags(request.get("tags", {}))
    if principal in cluster.entries:
        raise in_use("The specified access entry resource is already in use on this cluster.", clusterName=cluster.name)
    return {"accessEntry": _add(eks, cluster, principal, kind, request)}


def _add(eks: Eks, cluster: Cluster, principal: str, kind: str, request: Request) -> dict[str, Any]:
    match = _PRINCIPAL.fullmatch(principal)
    assert match
    default = f"arn:aws:sts::{match['account']}:assumed-role/{match['name'].rpartition('/')[2]}/{{{{SessionName}}}}"
    username, groups = NODE_TYPES.get(kind) or (request.get("username", default if match["kind"] == "role" else principal), [])
    moment = now()
    entry = {
        "clusterName": cluster.name,
        "principalArn": principal,
        "kubernetesGroups": [*request.get("kubernetesGroups", groups)],
        "accessEntryArn": eks.arn("access-entry", cluster.name, match["kind"], match["account"], match["name"], str(uuid4())),
        "createdAt": moment,
        "modifiedAt": moment,
        "tags": dict(request.get("tags", {})),
        "username": username,
        "type": kind,
    }
    cluster.entries[principal] = entry
    cluster.policies[principal] = {}
    return entry


def add_own_entry(eks: Eks, cluster: Cluster, role: str, kind: str) -> None:
    """The entry that EKS itself makes for the role of a managed node group or of a Fargate profile."""
    if cluster.mode != "CONFIG_MAP" and role not in cluster.entries:
        _add(eks, cluster, role, kind, {})


def _check_names(request: Request, cluster: str) -> None:
    for group in request.get("kubernetesGroups", []):
        if group.startswith("system:"):
            raise invalid_parameter(f"The kubernetes group name {group} is invalid, it cannot start with system:", clusterName=cluster)
    if request.get("username", "").startswith(_RESERVED):
        raise invalid_parameter(f"The username {request['username']} is invalid.", clusterName=cluster)


def _cluster_with_entries(eks: Eks, request: Request) -> Cluster:
    cluster = eks.cluster(request["clusterName"])
    if cluster.mode == "CONFIG_MAP":
        raise invalid_request(
            "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation.",
            clusterName=cluster.name,
        )
    return cluster


def _find(eks: Eks, request: Request) -> tuple[Cluster, dict[str, Any]]:
    cluster = _cluster_with_entries(eks, request)
    if request["principalArn"] not in cluster.entries:
        raise not_found(
            "The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'.",
            clusterName=cluster.name,
        )
    return cluster, cluster.entries[request["principalArn"]]


def _describe(eks: Eks, request: Request) -> Response:
    return {"accessEntry": _find(eks, request)[1]}


def _update(eks: Eks, request: Request) -> Response:
    cluster, entry = _find(eks, request)
    if entry["type"] != "STANDARD":
        message = 'This operation can only be performed on Access Entries with a type of "STANDARD".'
        raise invalid_parameter(message, clusterName=cluster.name)
    _check_names(request, cluster.name)
    entry.update({name: request[name] for name in ("kubernetesGroups", "username") if name in request}, modifiedAt=now())
    return {"accessEntry": entry}


def _delete(eks: Eks, request: Request) -> Response:
    cluster, entry = _find(eks, request)
    del cluster.entries[entry["principalArn"]], cluster.policies[entry["principalArn"]]
    return {}


def _list(eks: Eks, request: Request) -> Response:
    cluster, policy = _cluster_with_entries(eks, request), request.get("associatedPolicyArn")
    found = [principal for principal in cluster.entries if policy is None or policy in cluster.policies[principal]]
    return page("accessEntries", found, request)


def _associate(eks: Eks, request: Request) -> Response:
    cluster, entry = _find(eks, request)
    policy, scope = request["policyArn"], request["accessScope"]
    if policy not in {f"{_POLICY_ARN}{name}" for name in POLICIES}:
        raise invalid_parameter(f"The policyArn is not valid, or the policy does not exist: {policy}.", clusterName=cluster.name)
    if (entry["type"] != "STANDARD" or policy == _AUTO_NODE) and (entry["type"], policy) != ("EC2", _AUTO_NODE):
        raise invalid_parameter(f"{policy} cannot be associated with an access entry of type {entry['type']}.", clusterName=cluster.name)
    if (scope["type"] == "namespace") != bool(scope.get("namespaces")):
        raise invalid_parameter("namespaces are required for the type namespace, and only for it.", clusterName=cluster.name)
    policies, moment = cluster.policies[entry["principalArn"]], now()
    made = policies.get(policy, {"policyArn": policy, "associatedAt": moment})
    policies[policy] = {**made, "accessScope": {"namespaces": [], **scope}, "modifiedAt": moment}
    return {"clusterName": cluster.name, "principalArn": entry["principalArn"], "associatedAccessPolicy": policies[policy]}


def _disassociate(eks: Eks, request: Request) -> Response:
    cluster, entry = _find(eks, request)
    if cluster.policies[entry["principalArn"]].pop(request["policyArn"], None) is None:
        raise not_found("The specified policyArn is not associated with this access entry.", clusterName=cluster.name)
    return {}


def _list_associated(eks: Eks, request: Request) -> Response:
    cluster, entry = _find(eks, request)
    found = page("associatedAccessPolicies", list(cluster.policies[entry["principalArn"]].values()), request)
    return {"clusterName": cluster.name, "principalArn": entry["principalArn"], **found}


def _list_policies(_eks: Eks, request: Request) -> Response:
    return page("accessPolicies", [{"name": name, "arn": f"{_POLICY_ARN}{name}"} for name in POLICIES], request)


OPERATIONS: dict[str, Callable[[Eks, Request], Response]] = {
    "AssociateAccessPolicy": _associate,
    "CreateAccessEntry": _create,
    "DeleteAccessEntry": _delete,
    "DescribeAccessEntry": _describe,
    "DisassociateAccessPolicy": _disassociate,
    "ListAccessEntries": _list,
    "ListAccessPolicies": _list_policies,
    "ListAssociatedAccessPolicies": _list_associated,
    "UpdateAccessEntry": _update,
}
