# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an eksctl configuration becomes: facts, node groups, what is not ours, and every problem."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import resolve
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.importers import eksctl_fields
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.importers.eksctl import from_eksctl
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.importers.eksctl_files import (
    CA,
    CALLER,
    HEAD,
    config,
    group,
    problems,
)
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import error_of, rules_and_paths

LABELS = {"alpha.eksctl.io/cluster-name": "c", "alpha.eksctl.io/nodegroup-name": "g"}
RUNTIME = {"alpha.eksctl.io/instance-id": "{instance_id}", "node-lifecycle": "{instance_lifecycle}"}
ROLE = "arn:aws:iam::123456789012:role/team/nodes"
OVERRIDE = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  instance:\n    localStorage: {strategy: RAID0}\n"

# id → (managed, fields of the eksctl group, fields of ours that must come out; None: must not be there)
FIELDS: dict[str, tuple[bool, dict[str, Any], dict[str, Any]]] = {
    "no-family-is-al2023": (False, {}, {"family": "al2023", "mode": "self_managed", "labels": LABELS}),
    "family-in-any-case": (False, {"amiFamily": "amazonlinux2023"}, {"family": "al2023"}),
    "fips": (False, {"amiFamily": "BottlerocketFips"}, {"family": "bottlerocket"}),
    "managed": (True, {}, {"mode": "managed"}),
    "managed-custom-ami": (True, {"ami": "ami-0123456789abcdef0"}, {"mode": "managed_custom_ami"}),
    "managed-ami-keyword": (True, {"ami": "auto-ssm"}, {"mode": "managed"}),
    "self-managed-ami": (False, {"ami": "ami-0123456789abcdef0"}, {"mode": "self_managed"}),
    "role": (True, {"iam": {"instanceRoleARN": ROLE}}, {"role_arn": ROLE}),
    "role-of-its-own-group": (False, {"iam": {"instanceRoleARN": ROLE, "withAddonPolicies": {"ebs": True}}}, {"role_arn": ROLE}),
    "role-that-eksctl-makes": (False, {"iam": {"instanceRoleName": "nodes"}}, {"role_arn": None}),
    "labels": (False, {"labels": {"role": "web"}}, {"labels": {**LABELS, "role": "web"}}),
    "no-runtime-labels-on-al2023": (False, {}, {"labels": LABELS}),
    "taints-list": (
        False,
        {"taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute"}]},
        {"taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute"}]},
    ),
    "taints-map": (
        False,
        {"taints": {"z": "v:NoSchedule", "b": ":NoExecute", "a": "PreferNoSchedule"}},
        {
            "taints": [
                {"key": "a", "effect": "PreferNoSchedule"},
                {"key": "b", "effect": "NoExecute"},
                {"key": "z", "value": "v", "effect": "NoSchedule"},
            ]
        },
    ),
    "empty-taint-value": (
        False,
        {"taints": [{"key": "a", "value": "", "effect": "NoExecute"}]},
        {"taints": [{"key": "a", "effect": "NoExecute"}]},
    ),
    "max-pods": (False, {"maxPodsPerNode": 123}, {"max_pods": 123}),
    "max-pods-zero-is-unset": (False, {"maxPodsPerNode": 0}, {"max_pods": None}),
    "kubelet": (False, {"kubeletExtraConfig": {"shutdownGracePeriod": "30s"}}, {"kubelet": {"config": {"shutdownGracePeriod": "30s"}}}),
    "dns": (False, {"clusterDNS": "1.2.3.4"}, {"kubelet": {"config": {"clusterDNS": ["1.2.3.4"]}}}),
    "dns-empty": (False, {"clusterDNS": ""}, {"kubelet": None}),
    "dns-twice-the-same": (
        False,
        {"clusterDNS": "1.2.3.4", "kubeletExtraConfig": {"clusterDNS": ["1.2.3.4"]}},
        {"kubelet": {"config": {"clusterDNS": ["1.2.3.4"]}}},
    ),
    "bottlerocket-dns": (
        False,
        {"amiFamily": "Bottlerocket", "clusterDNS": "1.2.3.4"},
        {"bottlerocket": {"settings": {"kubernetes": {"cluster-dns-ip": "1.2.3.4"}}}, "kubelet": None},
    ),
    "pre": (False, {"preBootstrapCommands": ["date", "echo 'x'"]}, {"commands": {"pre": ["date", "echo 'x'"]}}),
    "pre-empty": (False, {"preBootstrapCommands": []}, {"commands": None}),
    "override": (True, {"overrideBootstrapCommand": OVERRIDE}, {"override": OVERRIDE}),
    "instance-type": (False, {"instanceType": "m5.large"}, {"instance": {"type": "m5.large"}}),
    "instance-types": (True, {"instanceTypes": ["m5.large", "m5a.large"]}, {"instance": {"types": ["m5.large", "m5a.large"]}}),
    "mixed": (
        False,
        {"instanceType": "mixed", "instancesDistribution": {"instanceTypes": ["m5.large"], "maxPrice": 0.1}},
        {"instance": {"types": ["m5.large"]}},
    ),
    "admin-container": (
        False,
        {"amiFamily": "Bottlerocket", "bottlerocket": {"enableAdminContainer": False}},
        {"bottlerocket": {"settings": {"host-containers": {"admin": {"enabled": False}}}}},
    ),
    "admin-container-follows-ssh": (
        True,
        {"amiFamily": "Bottlerocket", "ssh": {"allow": True}},
        {"bottlerocket": {"settings": {"host-containers": {"admin": {"enabled": True}}}}},
    ),
    "ssh-yields-to-settings": (
        True,
        {
            "amiFamily": "Bottlerocket",
            "ssh": {"allow": True},
            "bottlerocket": {"settings": {"host-containers": {"admin": {"enabled": False}}}},
        },
        {"bottlerocket": {"settings": {"host-containers": {"admin": {"enabled": False}}}}},
    ),
    "ssh-yields-to-switch": (
        False,
        {"amiFamily": "Bottlerocket", "ssh": {"allow": True}, "bottlerocket": {"enableAdminContainer": False}},
        {"bottlerocket": {"settings": {"host-containers": {"admin": {"enabled": False}}}}},
    ),
    "bottlerocket-nothing-set": (False, {"amiFamily": "Bottlerocket"}, {"bottlerocket": None}),
    "containerd": (False, {"containerRuntime": "containerd"}, {"containerd": None}),
    "al2-runtime-labels": (False, {"amiFamily": "AmazonLinux2"}, {"family": "al2", "labels": {**LABELS, **RUNTIME}}),
    "al2-managed-has-no-runtime-labels": (
        True,
        {"amiFamily": "AmazonLinux2"},
        {"labels": {**LABELS, "alpha.eksctl.io/nodegroup-name": "m"}},
    ),
    "ubuntu": (
        False,
        {"amiFamily": "UbuntuPro2204"},
        {"family": "ubuntu", "ubuntu": {"release": "22.04"}, "labels": {**LABELS, **RUNTIME}},
    ),
    "ubuntu-managed-is-custom": (
        True,
        {"amiFamily": "Ubuntu2404"},
        {"mode": "managed_custom_ami", "labels": {**LABELS, **RUNTIME, "alpha.eksctl.io/nodegroup-name": "m"}},
    ),
    "windows": (
        False,
        {"amiFamily": "WindowsServer2022CoreContainer", "containerRuntime": "containerd"},
        {"family": "windows", "windows": {"version": "2022", "edition": "core", "container_runtime": "containerd"}},
    ),
    "windows-dns": (
        False,
        {"amiFamily": "WindowsServer2022FullContainer", "clusterDNS": "1.2.3.4"},
        {"kubelet": {"config": {"clusterDNS": ["1.2.3.4"]}}},
    ),
}


@pytest.mark.parametrize(("managed", "fields", "expected"), FIELDS.values(), ids=FIELDS)
def test_field(managed: bool, fields: dict[str, Any], expected: dict[str, Any]) -> None:
    result = group(managed=managed, **fields)
    assert {name: result.get(name) for name in expected} == expected
    resolve({**CALLER, "name": "c"}, result)


@pytest.mark.parametrize(("more", "is_named"), [({}, False), ({"attachPolicyARNs": ["a"]}, True)])
def test_the_rest_of_iam_is_not_ours(more: dict[str, Any], is_named: bool) -> None:
    not_ours = from_eksctl(config(own={"iam": {"instanceRoleARN": ROLE, **more}}), CALLER)["not_ours"]
    assert ("nodeGroups[0].iam" in [one["path"] for one in not_ours]) == is_named


def test_an_invalid_role_has_the_path_of_the_file() -> None:
    error = error_of(from_eksctl, config(own={"iam": {"instanceRoleARN": "nodes"}}), CALLER)
    assert [one.path for one in error.problems] == ["nodeGroups[0].iam.instanceRoleARN"]


def test_all_problems_come_at_once() -> None:
    tree = config(own={"maxPodsPerNode": -1, "clusterDNS": "x", "typo": 1}, managed={"amiFamily": "Plan9"}, vps={})
    assert [line.split(": ")[0] for line in problems(tree).splitlines()] == [
        "managedNodeGroups[0].amiFamily",
        "nodeGroups[0].clusterDNS",
        "nodeGroups[0].maxPodsPerNode",
        "nodeGroups[0].typo",
        "vps",
    ]


def test_facts_of_the_file() -> None:
    tree = config(
        own={},
        kubernetesNetworkConfig={"ipFamily": "IPv4", "serviceIPv4CIDR": "172.16.0.0/12"},
        status={
            "endpoint": CALLER["endpoint"] + "/",
            "certificateAuthorityData": CA,
            "arn": "arn:aws:eks:eu-west-1:111122223333:cluster/c",
        },
    )
    result = from_eksctl(tree)
    assert result["cluster"] == {
        "name": "c",
        "endpoint": CALLER["endpoint"] + "/",
        "certificate_authority": CA,
        "service_cidr": "172.16.0.0/12",
        "region": "eu-west-1",
        "kubernetes_version": "1.32",
    }
    assert [row["path"] for row in result["not_ours"]] == ["status.arn"]


def test_the_caller_completes_the_file() -> None:
    result = from_eksctl(config(own={}), {**CALLER, "kubernetes_version": "v1.32.1", "name": "c"})
    assert set(result["cluster"]) == {"name", "endpoint", "certificate_authority", "service_cidr", "region", "kubernetes_version"}


@pytest.mark.parametrize(
    ("cluster", "problem"),
    [
        ({"name": "other"}, "input.conflict metadata.name"),
        ({"region": "us-east-1"}, "input.conflict metadata.region"),
        ({"kubernetes_version": "1.31"}, "input.conflict metadata.version"),
        ({"service_cidr": "10.0.0.0/16"}, "input.conflict kubernetesNetworkConfig.serviceIPv4CIDR"),
        ({"endpointt": "x"}, "input.unknown_field cluster.endpointt"),
        ({"service_cidr": "10.0.0.1/16"}, "input.invalid_cidr cluster.service_cidr"),
    ],
)
def test_a_conflict_names_both(cluster: dict[str, Any], problem: str, golden_message: GoldenMessages) -> None:
    error = error_of(from_eksctl, config(own={}, kubernetesNetworkConfig={"serviceIPv4CIDR": "10.100.0.0/16"}), cluster)
    assert problem in rules_and_paths(error)
    golden_message(error)


def test_outposts() -> None:
    tree = config(
        own={"amiFamily": "AmazonLinux2023"},
        outpost={"controlPlaneOutpostARN": "arn:aws:outposts:x", "controlPlaneInstanceType": "m5.large"},
    )
    result = from_eksctl(tree, {**CALLER, "id": "i1"})
    assert result["cluster"]["outpost"] is True
    assert [row["path"] for row in result["not_ours"]] == ["outpost.controlPlaneInstanceType"]


def test_ipv6_comes_from_the_caller(golden_message: GoldenMessages) -> None:
    tree = config(own={}, kubernetesNetworkConfig={"ipFamily": "IPv6"})
    assert [row["path"] for row in from_eksctl(tree)["not_ours"]] == ["kubernetesNetworkConfig.ipFamily"]
    assert from_eksctl(tree, {"service_cidr": "fd40:6404:f93b::/108"})["not_ours"] == []
    golden_message(problems(tree, CALLER))


def test_the_version_is_text(golden_message: GoldenMessages) -> None:
    golden_message(problems({**HEAD, "metadata": {"name": "c", "version": 1.3}}))
    result = from_eksctl({**HEAD, "metadata": {"name": "c", "version": "latest"}})
    assert "kubernetes_version" not in result["cluster"]
    assert [row["path"] for row in result["not_ours"]] == ["metadata.version"]


def test_text_of_several_documents() -> None:
    first = json.dumps(config(own={}))
    second = json.dumps(config(managed={}, iam={"withOIDC": True}))
    other = "apiVersion: v1\nkind: ConfigMap\n"
    result = from_eksctl(f"{first}\n---\n{other}---\n{second}\n")
    assert [one["name"] for one in result["node_groups"]] == ["g", "m"]
    assert [row["path"] for row in result["not_ours"]] == ["documents[1]", "documents[2].iam"]
    assert from_eksctl([config(own={}), config(managed={})])["not_ours"] == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "eksctl.no_cluster_config eksctl_config"),
        ("a: [", "eksctl.unreadable eksctl_config"),
        ("- 1", "input.wrong_type eksctl_config"),
        ("kind: Pod\napiVersion: v1\n", "eksctl.wrong_kind kind"),
        ("kind: clusterconfig\napiVersion: eksctl.io/v1alpha5\n", "eksctl.wrong_kind kind"),
        ("kind: ClusterConfig\napiVersion: eksctl.io/v1alpha4\n", "eksctl.wrong_kind apiVersion"),
        ("kind: ClusterConfig\napiVersion: eksctl.io/v1alpha5\n", "input.missing_field metadata.name"),
        ("a\0b", "input.control_character eksctl_config"),
        ("kind: ClusterConfig\nkind: ClusterConfig\n", "eksctl.unreadable eksctl_config"),
        ("v1: {}\n---\nkind: Pod\napiVersion: v1\n---\nkind: Service\napiVersion: v1\n", "eksctl.wrong_kind documents[0].kind"),
    ],
)
def test_what_is_no_configuration(text: str, problem: str, golden_message: GoldenMessages) -> None:
    error = error_of(from_eksctl, text)
    assert problem in rules_and_paths(error)
    golden_message(error)


def test_names_are_unique(golden_message: GoldenMessages) -> None:
    tree = config(own={"name": "x"}, managed={"name": "x"})
    golden_message(problems(tree))


@pytest.mark.parametrize(
    ("ours", "others"),
    [
        (eksctl_fields.SELF_MANAGED_OURS, eksctl_fields.SELF_MANAGED_NOT_OURS),
        (eksctl_fields.MANAGED_OURS, eksctl_fields.MANAGED_NOT_OURS),
        (eksctl_fields.CLUSTER_OURS, eksctl_fields.CLUSTER_NOT_OURS),
    ],
)
def test_every_field_is_ours_or_has_a_reason(ours: tuple[str, ...], others: dict[str, str]) -> None:
    assert not set(ours) & set(others)
    assert all(others.values())


@pytest.mark.parametrize("managed", [False, True])
def test_nothing_is_lost_silently(managed: bool) -> None:
    others = eksctl_fields.MANAGED_NOT_OURS if managed else eksctl_fields.SELF_MANAGED_NOT_OURS
    fields: dict[str, Any] = dict.fromkeys(others, "x")
    tree = config(managed=fields) if managed else config(own=fields)
    tree |= dict.fromkeys(eksctl_fields.CLUSTER_NOT_OURS, "x")
    prefix = "managedNodeGroups[0]" if managed else "nodeGroups[0]"
    expected = sorted([*(f"{prefix}.{name}" for name in others), *eksctl_fields.CLUSTER_NOT_OURS])
    assert [row["path"] for row in from_eksctl(tree)["not_ours"]] == expected


def test_the_input_is_not_changed_and_the_result_is_the_same_each_time() -> None:
    tree = config(own={"amiFamily": "Bottlerocket", "ssh": {"allow": True}, "bottlerocket": {"settings": {"motd": "x"}}}, managed={})
    before = copy.deepcopy(tree)
    first = from_eksctl(tree, CALLER)
    assert tree == before
    assert json.dumps(first) == json.dumps(from_eksctl(tree, CALLER))


_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=3),
    max_leaves=8,
)
_NAMES = sorted({*eksctl_fields.SELF_MANAGED_OURS, *eksctl_fields.MANAGED_OURS, "ssh", "iam", "launchTemplate"})


@given(st.dictionaries(st.sampled_from(_NAMES), _PLAIN, max_size=4), st.dictionaries(st.sampled_from(_NAMES), _PLAIN, max_size=2), _PLAIN)
def test_no_input_yields_a_traceback(own: dict[str, Any], managed: dict[str, Any], top: Any) -> None:
    tree = config(own=own, managed=managed)
    for candidate in (
        tree,
        {**tree, "metadata": top, "status": top, "kubernetesNetworkConfig": top, "outpost": top},
        top,
        {**tree, "nodeGroups": top},
    ):
        try:
            from_eksctl(candidate, CALLER)
        except SpecError as error:
            assert str(error)
