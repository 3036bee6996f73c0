# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The output of `aws eks describe-cluster` as the input `cluster`."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.modules.cluster_info import cluster_input
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.importers.eksctl import from_eksctl
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.described_cluster import check_cluster
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_plan import removal_plan
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.outputs import HEAD
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import CA, COMPLETE

RESPONSE: dict[str, Any] = {
    "name": "demo",
    "arn": "arn:aws:eks:eu-west-1:111122223333:cluster/demo",
    "createdAt": datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc),
    "version": "1.32",
    "endpoint": COMPLETE["endpoint"],
    "roleArn": "arn:aws:iam::111122223333:role/eks",
    "resourcesVpcConfig": {"subnetIds": ["subnet-1"], "endpointPublicAccess": True},
    "kubernetesNetworkConfig": {"serviceIpv4Cidr": "10.100.0.0/16", "ipFamily": "ipv4", "elasticLoadBalancing": {"enabled": False}},
    "status": "ACTIVE",
    "certificateAuthority": {"data": CA},
    "platformVersion": "eks.9",
    "tags": {},
    "accessConfig": {"authenticationMode": "API"},
    "aFieldOfTomorrow": {"x": 1},
}
IPV6 = RESPONSE | {"kubernetesNetworkConfig": {"serviceIpv6Cidr": "fd30:1::/108", "ipFamily": "ipv6"}}
LOCAL = RESPONSE | {"id": "0123", "outpostConfig": {"outpostArns": ["arn:aws:outposts:eu-west-1:111122223333:outpost/op-1"]}}
SNAKE_CASE = {
    "name": "demo",
    "arn": RESPONSE["arn"],
    "endpoint": COMPLETE["endpoint"],
    "certificate_authority": {"data": CA},
    "kubernetes_network_config": {"service_ipv4_cidr": "10.100.0.0/16"},
    "version": "1.32",
}


def checked(cluster: Any) -> tuple[Any, list[tuple[str, str]]]:
    problems = Problems()
    facts = check_cluster(cluster, problems)
    return facts, [(problem.rule, problem.path) for problem in problems]


@pytest.mark.parametrize("response", [RESPONSE, {"cluster": RESPONSE}, {"cluster": RESPONSE, "ResponseMetadata": {}}, SNAKE_CASE])
def test_a_response_is_the_cluster(response: dict[str, Any]) -> None:
    assert checked(response) == (COMPLETE, [])
    group = {"family": "al2023"}
    assert render(response, group).text == render(COMPLETE, group).text


@pytest.mark.parametrize("response", [RESPONSE, IPV6, LOCAL])
def test_it_means_what_cluster_info_returns(response: dict[str, Any]) -> None:
    facts, problems = checked(response)
    assert problems == []
    assert facts == cluster_input(response, "eu-west-1")


def test_own_fields_win_over_the_response() -> None:
    for response in (RESPONSE | {"dns_ips": ["169.254.20.10"]}, {"cluster": RESPONSE, "dns_ips": ["169.254.20.10"]}):
        assert checked(response) == (COMPLETE | {"dns_ips": ["169.254.20.10"]}, [])


@pytest.mark.parametrize(
    ("cluster", "expected"),
    [
        (RESPONSE | {"dns_ipz": ["169.254.20.10"]}, [("input.unknown_field", "cluster.dns_ipz")]),
        (RESPONSE | {"endpoint": "http://x"}, [("input.invalid_text", "cluster.endpoint")]),
        (RESPONSE | {"certificateAuthority": {"data": "?"}}, [("cluster.invalid_certificate_authority", "cluster.certificate_authority")]),
        (COMPLETE | {"kubernetesNetworkConfig": {}}, [("input.unknown_field", "cluster.kubernetesNetworkConfig")]),
        ({"cluster": COMPLETE}, [("input.unknown_field", "cluster.cluster")]),
        (RESPONSE | {1: "x"}, [("input.key_not_text", "cluster.1")]),
    ],
)
def test_nothing_of_the_user_is_dropped(cluster: Any, expected: list[tuple[str, str]]) -> None:
    assert checked(cluster)[1] == expected


def test_every_reader_of_a_cluster_understands_it() -> None:
    assert removal_plan(RESPONSE, {"family": "al2023"}).cluster_name == "demo"
    assert from_eksctl(HEAD, RESPONSE)["cluster"] == COMPLETE
