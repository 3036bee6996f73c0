# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filters as Ansible calls them: tagged values in, plain data out, every problem in one error."""

from __future__ import annotations

import base64
import gzip
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.nodebootstrap.eks.plugins.filter import (
    aws_auth_map_roles,
    cluster_dns_ips,
    from_eksctl,
    kube_reserved,
    max_pods,
    node_config,
    node_files,
    node_spec,
    user_data,
)
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
CLUSTER = {"name": "demo", "endpoint": "https://abc.example.com", "certificate_authority": CA, "service_cidr": "10.100.0.0/16"}
GROUP = {"name": "workers", "family": "al2023", "labels": {"role": "worker"}}


def filters(module: Any) -> dict[str, Any]:
    return module.FilterModule().filters()


@pytest.mark.parametrize(
    ("args", "options"),
    [
        ((), {}),
        ((), {"clustr": CLUSTER}),
        ((CLUSTER,), {"encodin": "base64", "colour": "blue"}),
        ((CLUSTER,), {"cluster": CLUSTER}),
        ((CLUSTER, "plain", "more"), {}),
    ],
    ids=["missing", "misspelt", "unknown", "twice", "too many"],
)
def test_arguments_of_a_filter(args: Any, options: dict[str, Any], golden_message: GoldenMessages) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        filters(user_data)["user_data"](GROUP, *args, **options)
    golden_message(caught.value)


def test_a_file_that_a_filter_cannot_read(golden_message: GoldenMessages) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        filters(user_data)["user_data"](GROUP | {"user_data_files": ["/nowhere/a.sh"]}, CLUSTER)
    golden_message(caught.value)


def test_user_data_in_every_encoding() -> None:
    render = filters(user_data)["user_data"]
    plain = render(GROUP, CLUSTER)
    assert "--node-labels=role=worker" in plain
    assert base64.b64decode(render(GROUP, CLUSTER, encoding="base64")).decode() == plain
    assert gzip.decompress(base64.b64decode(render(GROUP, CLUSTER, "gzip_base64"))).decode() == plain


def test_user_data_reports_every_problem_at_once() -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        filters(user_data)["user_data"]({"family": "al2023", "max_pods": 0, "lables": {}}, CLUSTER)
    text = str(caught.value)
    assert "user_data: 2 problems" in text
    assert "node_group.lables: is not a field" in text
    assert "fix: rename it to labels" in text
    assert "node_group.max_pods: with 0, no pod can run" in text


@pytest.mark.parametrize("encoding", ["gzip", "rot13", 5, None])
def test_user_data_refuses_other_encodings(encoding: Any, golden_message: GoldenMessages) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        filters(user_data)["user_data"](GROUP, CLUSTER, encoding)
    golden_message(caught.value)


def test_a_value_that_contains_itself_is_an_error(golden_message: GoldenMessages) -> None:
    group: dict[str, Any] = dict(GROUP)
    group["labels"] = group
    with pytest.raises(AnsibleFilterError) as caught:
        filters(user_data)["user_data"](group, CLUSTER)
    golden_message(caught.value)


def test_node_files() -> None:
    files = filters(node_files)["node_files"](GROUP, CLUSTER)
    assert [set(file) for file in files] == [{"path", "content", "mode", "owner", "group"}] * 2


def test_node_spec() -> None:
    spec = filters(node_spec)["node_spec"](GROUP, CLUSTER)
    assert spec["dns_ips"] == ["10.100.0.10"]
    assert spec["node_group"]["mode"] == "self_managed"


def test_node_config(golden_message: GoldenMessages) -> None:
    configs = filters(node_config)["node_config"](GROUP, CLUSTER)
    assert configs[0]["spec"]["kubelet"]["flags"] == ["--node-labels=role=worker"]
    with pytest.raises(AnsibleFilterError) as caught:
        filters(node_config)["node_config"](GROUP | {"family": "bottlerocket"}, CLUSTER)
    golden_message(caught.value)


def test_max_pods_and_kube_reserved(golden_message: GoldenMessages) -> None:
    assert filters(max_pods)["max_pods"]("m5.large") == 29
    assert filters(max_pods)["max_pods"]("m5.large", "prefix", ceiling=True) == 110
    assert filters(max_pods)["max_pods"]("new.type", max_enis=3, ips_per_eni=10) == 29
    with pytest.raises(AnsibleFilterError) as caught:
        filters(max_pods)["max_pods"]("m5.lage")
    golden_message(caught.value)
    # Templates yield text before ansible-core 2.19.
    assert filters(max_pods)["max_pods"](None, max_enis="3", ips_per_eni="10", reserved_enis="1") == 20
    assert filters(kube_reserved)["kube_reserved"]("29", "2") == filters(kube_reserved)["kube_reserved"](29, 2)
    assert filters(kube_reserved)["kube_reserved"](29, 2) == {"cpu": "70m", "memory": "574Mi", "ephemeral-storage": "1Gi"}
    with pytest.raises(AnsibleFilterError):
        filters(kube_reserved)["kube_reserved"]("many", 2)


def test_cluster_dns_ips(golden_message: GoldenMessages) -> None:
    assert filters(cluster_dns_ips)["cluster_dns_ips"]("10.100.0.0/16") == ["10.100.0.10"]
    with pytest.raises(AnsibleFilterError) as caught:
        filters(cluster_dns_ips)["cluster_dns_ips"]("10.100.0.1/16")
    golden_message(caught.value)


def test_from_eksctl() -> None:
    text = "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: demo, region: eu-west-1}\nnodeGroups: [{name: a}]\n"
    imported = filters(from_eksctl)["from_eksctl"](text, cluster=CLUSTER)
    assert imported["cluster"]["name"] == "demo"
    assert imported["node_groups"][0]["family"] == "al2023"
    with pytest.raises(AnsibleFilterError):
        filters(from_eksctl)["from_eksctl"]("kind: Something\n")


def test_aws_auth_map_roles() -> None:
    roles = filters(aws_auth_map_roles)["aws_auth_map_roles"]([{"role_arn": "arn:aws:iam::111122223333:role/a/b", "family": "windows"}])
    assert roles[0]["rolearn"] == "arn:aws:iam::111122223333:role/b"
    with pytest.raises(AnsibleFilterError):
        filters(aws_auth_map_roles)["aws_auth_map_roles"]([{"role_arn": "no-arn", "family": "al2"}])
