# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of EKS in one account and region, and the operations on clusters and tags."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from . import access_entries, node_groups
from .errors import ApiError, in_use, invalid_parameter, not_found
from .state import Cluster, Request, Response, Update, check_tags, now, page

MODES = ("API", "API_AND_CONFIG_MAP", "CONFIG_MAP")
_AUTHORITY = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n").decode()


class Eks:
    """All clusters, and the operations on them.

    principals: the ARNs of all roles and users that exist, or None if every ARN is accepted. EKS refuses entries for others.
    on_describe_update: is called before each DescribeUpdate of an update in progress. The default lets it succeed at the second one.
    """

    def __init__(self, account: str, region: str) -> None:
        self.account = account
        self.region = region
        self.clusters: dict[str, Cluster] = {}
        self.principals: set[str] | None = None
        self.on_describe_update: Callable[[Update], None] = finish_at_the_second_look
        self._tokens: dict[tuple[str, str], tuple[Request, Response]] = {}
        self._operations = {**OPERATIONS, **access_entries.OPERATIONS, **node_groups.OPERATIONS}

    def call(self, operation: str, request: Request) -> Response:
        """The response of an operation. Raises C(ApiError)."""
        if operation not in self._operations:
            raise NotImplementedError(f"the stand-in for EKS does not implement {operation}: see tests/eks_api/__init__.py")
        token = (operation, request.get("clientRequestToken", ""))
        if token in self._tokens:
            before, response = self._tokens[token]
            if before != request:
                raise invalid_parameter("The clientRequestToken was used before with other parameters.")
            return response
        response = self._operations[operation](self, request)
        if token[1]:
            self._tokens[token] = (request, response)
        return response

    # --- for tests ----------------------------------------------------------------------------------------------------------

    def add_cluster(self, name: str, *, authentication_mode: str = "API", version: str = "1.33", **fields: Any) -> Cluster:
        """Add an ACTIVE cluster. fields: members of DescribeCluster that differ, for example C(endpoint) or C(roleArn)."""
        assert authentication_mode in MODES
        ident = f"{len(self.clusters):032X}"
        description = {
            "name": name,
            "arn": f"arn:aws:eks:{self.region}:{self.account}:cluster/{name}",
            "createdAt": now(),
            "version": version,
            "endpoint": f"https://{ident}.gr7.{self.region}.eks.amazonaws.com",
            "roleArn": f"arn:aws:iam::{self.account}:role/cluster",
            "resourcesVpcConfig": {"subnetIds": ["subnet-1", "subnet-2"], "securityGroupIds": [], "vpcId": "vpc-1"},
            "kubernetesNetworkConfig": {"serviceIpv4Cidr": "10.100.0.0/16", "ipFamily": "ipv4"},
            "identity": {"oidc": {"issuer": f"https://oidc.eks.{self.region}.amazonaws.com/id/{ident}"}},
            "status": "ACTIVE",
            "certificateAuthority": {"data": _AUTHORITY},
            "platformVersion": "eks.1",
            "tags": {},
            "accessConfig": {"authenticationMode": authentication_mode},
            **fields,
        }
        self.clusters[name] = Cluster(description)
        return self.clusters[name]

    def add_entry(self, cluster: str, principal: str, kind: str = "STANDARD", **members: Any) -> dict[str, Any]:
        """Add an access entry that another tool made. members: those of CreateAccessEntry."""
        asked = {"clusterName": cluster, "principalArn": principal, "type": kind, **members}
        return dict(self.call("CreateAccessEntry", asked)["accessEntry"])

    def add_node_group(self, cluster: str, name: str, *, role: str, **members: Any) -> dict[str, Any]:
        """Add an ACTIVE managed node group. members: those of CreateNodegroup."""
        asked = {"clusterName": cluster, "nodegroupName": name, "nodeRole": role, "subnets": ["subnet-1"], **members}
        return dict(self.call("CreateNodegroup", asked)["nodegroup"])

    def add_fargate_profile(self, cluster: str, name: str, *, role: str) -> None:
        """Add an ACTIVE Fargate profile, with the access entry that EKS makes for its role."""
        found = self.cluster(cluster)
        found.fargate_profiles[name] = {
            "fargateProfileName": name, "fargateProfileArn": self.arn("fargateprofile", cluster, name, str(uuid4())), "status": "ACTIVE",
            "clusterName": cluster, "createdAt": now(), "podExecutionRoleArn": role, "subnets": ["subnet-1"], "selectors": [], "tags": {},
        }  # fmt: skip
        access_entries.add_own_entry(self, found, role, "FARGATE_LINUX")

    # --- for the operations -----------------------------------------------------------------------------------------------------

    def cluster(self, name: str) -> Cluster:
        """The cluster, or the error of EKS."""
        if name not in self.clusters:
            raise not_found(f"No cluster found for name: {name}.", clusterName=name)
        return self.clusters[name]

    def arn(self, kind: str, *parts: str) -> str:
        return f"arn:aws:eks:{self.region}:{self.account}:{kind}/{'/'.join(parts)}"


def finish_at_the_second_look(update: Update) -> None:
    if update.checks > 1:
        update.finish()


# --- operations ---------------------------------------------------------------------------------------------------------------------


def _create_cluster(eks: Eks, request: Request) -> Response:
    if request["name"] in eks.clusters:
        raise in_use(f"Cluster already exists with name: {request['name']}", clusterName=request["name"])
    mode = request.get("accessConfig", {}).get("authenticationMode", "CONFIG_MAP")
    network = {"serviceIpv4Cidr": "10.100.0.0/16", "ipFamily": "ipv4", **request.get("kubernetesNetworkConfig", {})}
    members = {key: request[key] for key in ("roleArn", "resourcesVpcConfig", "tags") if key in request}
    made = eks.add_cluster(
        request["name"], authentication_mode=mode, version=request.get("version", "1.33"), kubernetesNetworkConfig=network, **members
    )
    return {"cluster": made.description}


def _describe_cluster(eks: Eks, request: Request) -> Response:
    return {"cluster": eks.cluster(request["name"]).description}


def _list_clusters(eks: Eks, request: Request) -> Response:
    return page("clusters", list(eks.clusters), request)


def _delete_cluster(eks: Eks, request: Request) -> Response:
    found = eks.cluster(request["name"])
    if found.node_groups:
        raise in_use("Cluster has nodegroups attached", clusterName=found.name)
    del eks.clusters[found.name]
    return {"cluster": {**found.description, "status": "DELETING"}}


def _list_fargate_profiles(eks: Eks, request: Request) -> Response:
    return page("fargateProfileNames", list(eks.cluster(request["clusterName"]).fargate_profiles), request)


def _describe_fargate_profile(eks: Eks, request: Request) -> Response:
    profiles, name = eks.cluster(request["clusterName"]).fargate_profiles, request["fargateProfileName"]
    if name not in profiles:
        raise not_found(f"No Fargate Profile found with name: {name}.", clusterName=request["clusterName"], fargateProfileName=name)
    return {"fargateProfile": profiles[name]}


def _tags(eks: Eks, arn: str) -> dict[str, str]:
    """The tags of a cluster, a node group, a Fargate profile or an access entry."""
    for cluster in eks.clusters.values():
        owners = [cluster.description, *cluster.node_groups.values(), *cluster.fargate_profiles.values(), *cluster.entries.values()]
        for owner in owners:
            if arn in (owner.get(name) for name in ("arn", "nodegroupArn", "fargateProfileArn", "accessEntryArn")):
                tags: dict[str, str] = owner.setdefault("tags", {})
                return tags
    raise ApiError("NotFoundException", f"Resource not found: {arn}", 404)


def _tag_resource(eks: Eks, request: Request) -> Response:
    tags = _tags(eks, request["resourceArn"])
    if len(tags | request["tags"]) > 50:
        raise ApiError("BadRequestException", "The resource has too many tags.")
    check_tags(request["tags"], "BadRequestException")
    tags.update(request["tags"])
    return {}


def _untag_resource(eks: Eks, request: Request) -> Response:
    tags = _tags(eks, request["resourceArn"])
    for key in request["tagKeys"]:
        tags.pop(key, None)
    return {}


def _list_tags(eks: Eks, request: Request) -> Response:
    return {"tags": _tags(eks, request["resourceArn"])}


OPERATIONS: dict[str, Callable[[Eks, Request], Response]] = {
    "CreateCluster": _create_cluster,
    "DeleteCluster": _delete_cluster,
    "DescribeCluster": _describe_cluster,
    "DescribeFargateProfile": _describe_fargate_profile,
    "ListClusters": _list_clusters,
    "ListFargateProfiles": _list_fargate_profiles,
    "ListTagsForResource": _list_tags,
    "TagResource": _tag_resource,
    "UntagResource": _untag_resource,
}
