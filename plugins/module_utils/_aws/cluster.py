# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters of EKS: DescribeCluster, and what else a cluster consists of. Only reads. Runs on the controller."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Tuple, Union
from urllib.parse import urlsplit

from . import client
from .api import Api
from .client import AwsError, nearest


def cluster_input(described: Mapping[str, Any], region: str) -> Dict[str, Any]:
    """The input C(cluster) from the C(cluster) of a DescribeCluster response. Missing facts are omitted."""
    network = described.get("kubernetesNetworkConfig") or {}
    local = bool(described.get("outpostConfig"))
    found = {
        "name": described.get("name"),
        "endpoint": described.get("endpoint"),
        "certificate_authority": (described.get("certificateAuthority") or {}).get("data"),
        "service_cidr": network.get("serviceIpv6Cidr" if network.get("ipFamily") == "ipv6" else "serviceIpv4Cidr"),
        "region": region,
        "kubernetes_version": described.get("version"),
        "id": described.get("id") if local else None,
        "outpost": local,
    }
    return {key: value for key, value in found.items() if value}


def authentication_mode(described: Mapping[str, Any]) -> str:
    """The authentication mode of a cluster. Clusters that are older than the modes use aws-auth only."""
    return str((described.get("accessConfig") or {}).get("authenticationMode") or "CONFIG_MAP")


def not_found(eks: Any, name: str) -> str:
    """The error for an unknown cluster. It lists the existing clusters if eks:ListClusters is allowed."""
    text = f'there is no cluster "{name}" in region {eks.meta.region_name}, in the account of these credentials'
    try:
        names = [found for page in eks.get_paginator("list_clusters").paginate() for found in page["clusters"]]
    except (*client.client_error(), *client.no_connection(), *client.not_understood(), KeyError):
        return f"{text}; the names of the existing clusters are not known, because eks:ListClusters failed"
    if not names:
        return f"{text}, and no other either; fix: check region and profile"
    few = ", ".join(sorted(names)[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
    return f"{text}; there are: {few}{nearest(name, names)}"


def refusal(eks: Any, name: str, error: Any) -> str:
    """The message and the fix for an EKS error about the cluster C(name)."""
    code, said = client.parse_error(error)
    if code == "ResourceNotFoundException":
        return not_found(eks, name)
    if client.is_access_denied(code):
        return f'the credentials may not call eks:DescribeCluster for cluster "{name}"; fix: allow it in their policy ({code}: {said})'
    return client.explain_credentials(code, said) or f'EKS refused to describe cluster "{name}" ({code}: {said})'


def describe(options: Dict[str, Any]) -> Tuple[Dict[str, Any], str]:
    """The C(cluster) of the response, and the region of the request. Raises C(AwsError), or an error of botocore if no request was sent."""
    session = client.new_session(options)
    return _describe(session, client.new_client(session, "eks", options), options)


def _describe(session: Any, eks: Any, options: Dict[str, Any]) -> Tuple[Dict[str, Any], str]:
    try:
        answer = eks.describe_cluster(name=options["name"])
    except client.client_error() as error:
        raise AwsError(refusal(eks, options["name"], error)) from None
    except client.no_connection() as error:
        raise AwsError(f"{client.explain_unreachable(eks, session, options['endpoint_url'], 'EKS')} ({type(error).__name__})") from None
    except client.not_understood():
        answer = {}
    if not isinstance(answer.get("cluster"), dict):
        raise AwsError(f"what answers at {urlsplit(eks.meta.endpoint_url).hostname} is not EKS; fix: check endpoint_url")
    return answer["cluster"], eks.meta.region_name


class ClusterReader:
    """Reads a cluster. options: those of C(client.OPTIONS). The methods raise C(AwsError)."""

    def __init__(self, options: Dict[str, Any], name: str) -> None:
        self.api = Api(options)
        self.name = name
        self._options = options

    def cluster(self) -> Tuple[Dict[str, Any], str]:
        """As DescribeCluster returns it, and the region."""
        # The client of all other calls: making another session and client takes longer than the call.
        eks = self.api.client("eks")
        with client.explained_errors(self._options, "EKS"):
            return _describe(self.api.session, eks, {**self._options, "name": self.name})

    def caller(self) -> str:
        """The ARN of the identity of the credentials."""
        return str((self.api.call("sts", "get_caller_identity") or {}).get("Arn") or "")

    def users_of_roles(self) -> List[Tuple[str, str]]:
        """The roles of managed node groups and of Fargate profiles, each with the name of its user."""
        found = []
        groups: List[Any] = self.api.pages("eks", "list_nodegroups", "nodegroups", clusterName=self.name)
        for name in groups:
            group = (self.api.call("eks", "describe_nodegroup", clusterName=self.name, nodegroupName=name) or {}).get("nodegroup", {})
            found.append((str(group.get("nodeRole")), f"node group {name}"))
        for name in self.fargate_profiles():
            answer = self.api.call("eks", "describe_fargate_profile", clusterName=self.name, fargateProfileName=name) or {}
            found.append((str(answer.get("fargateProfile", {}).get("podExecutionRoleArn")), f"Fargate profile {name}"))
        return found

    def fargate_profiles(self) -> List[str]:
        """The names of the Fargate profiles."""
        return [str(name) for name in self.api.pages("eks", "list_fargate_profiles", "fargateProfileNames", clusterName=self.name)]

    def policies_of_role(self, arn: str) -> Union[List[str], str]:
        """The names of the policies that are attached to a role, or why they are not known."""
        try:
            found: List[Any] = self.api.pages("iam", "list_attached_role_policies", "AttachedPolicies", RoleName=arn.rpartition("/")[2])
        except AwsError as error:
            return str(error)
        return [str(policy["PolicyName"]) for policy in found]
