# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of the effective configurations that kubelet refuses, and the way from a node group to that configuration."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import kubelet_rules
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import resolve
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.kubelet_effective import Effective, Gates, effective_config, flag_fields
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.spec import NodeSpec
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.kubelet_rows import CGROUP_V1_ROWS, ROWS, Row

CLUSTER = {
    "name": "demo",
    "endpoint": "https://abc.gr7.eu-west-1.eks.amazonaws.com",
    "certificate_authority": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=",
    "service_cidr": "10.100.0.0/16",
    "region": "eu-west-1",
}
EVERY = (*ROWS, *CGROUP_V1_ROWS)


def spec_of(config: Any, minor: int | None = 36, **fields: Any) -> NodeSpec:
    """The specification of a group of m5.large."""
    kubelet = {"kubelet": {"config": config}} if config else {}
    group = {"family": "al2023", "instance": {"type": "m5.large"}, **kubelet, **fields}
    return resolve(CLUSTER | ({"kubernetes_version": f"1.{minor}"} if minor else {}), group)[0]


def problems(config: Any, minor: int | None = 36, **fields: Any) -> list[tuple[str, str]]:
    """Rule and path of each problem of a group."""
    try:
        spec_of(config, minor, **fields)
    except SpecError as error:
        return [(problem.rule, problem.path) for problem in error.problems]
    return []


def node_config(config: dict[str, Any]) -> str:
    """A NodeConfig with a part of kubelet's configuration."""
    document = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": {"kubelet": {"config": config}}}
    return json.dumps(document) + "\n"


def multipart(document: str) -> str:
    """User data with one NodeConfig."""
    head = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n--B\nContent-Type: application/node.eks.aws\n\n'
    return f"{head}{document}--B--\n"


@pytest.mark.parametrize("row", EVERY, ids=lambda row: row.id)
def test_refused(row: Row) -> None:
    assert (row.rule, f"node_group.kubelet.config.{row.path}") in problems(row.refused, row.minor, family=row.family)


@pytest.mark.parametrize("row", EVERY, ids=lambda row: row.id)
def test_its_neighbour_is_accepted(row: Row) -> None:
    assert problems(row.accepted, row.minor, family=row.family) == []


def test_every_row_of_the_table_refuses_something() -> None:
    fired = set()

    def recorded(index: int, rule: kubelet_rules.Rule) -> kubelet_rules.Rule:
        def check(effective: Effective) -> Any:
            for finding in rule.check(effective):
                fired.add(index)
                yield finding

        return kubelet_rules.Rule(rule.rule, rule.fields, check, rule.since, rule.until)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kubelet_rules, "RULES", tuple(recorded(index, rule) for index, rule in enumerate(kubelet_rules.RULES)))
        # Without what the cache remembers of the real table.
        patch.setattr(kubelet_rules, "_applicable", kubelet_rules._applicable.__wrapped__)
        for row in EVERY:
            problems(row.refused, row.minor, family=row.family)
        spec_of({"cgroupDriver": "cgroupfs", "maxPods": 1001, "cgroupRoot": "/a"})
        # Our own fields refuse it before.
        problems({}, override=node_config({"kubeReserved": {"cpu": "-1"}}))
    assert [kubelet_rules.RULES[index] for index in range(len(kubelet_rules.RULES)) if index not in fired] == []


@pytest.mark.parametrize(
    ("config", "rule"),
    [
        ({"cgroupDriver": "cgroupfs"}, "kubelet.cgroup_driver"),
        ({"maxPods": 1001}, "kubelet.many_pods"),
        ({"cgroupRoot": "/a/b-c"}, "kubelet.unknown_cgroup_root"),
        ({"cgroupRoot": "/a.slice", "cgroupDriver": "cgroupfs"}, "kubelet.unknown_cgroup_root"),
    ],
)
def test_warnings(config: dict[str, Any], rule: str) -> None:
    assert rule in [warning.rule for warning in spec_of(config).warnings]


def test_the_root_of_all_cgroups_is_always_there() -> None:
    for config in ({"cgroupRoot": "/"}, {"cgroupRoot": ""}, {"cgroupRoot": "/a", "cgroupsPerQOS": False, "enforceNodeAllocatable": []}):
        assert "kubelet.unknown_cgroup_root" not in [warning.rule for warning in spec_of(config).warnings]


@pytest.mark.parametrize(
    ("root", "expected"), [("/system.slice", "/system"), ("/system.slice/system-own.slice", "/system/own"), ("//a/", "/a")]
)
def test_the_fix_of_a_cgroup_root_names_the_same_slice(root: str, expected: str) -> None:
    with pytest.raises(SpecError) as error:
        spec_of({"cgroupRoot": root})
    assert error.value.problems[0].fix == f"write {expected}"


def test_a_thousand_pods_are_no_warning() -> None:
    assert "kubelet.many_pods" not in [warning.rule for warning in spec_of({}, max_pods=1000).warnings]


def test_flags_override_files() -> None:
    low = {"imageGCLowThresholdPercent": 60}
    path = "node_group.kubelet.flags.image-gc-high-threshold"
    assert problems(low, kubelet={"config": low, "flags": {"image-gc-high-threshold": 50}}) == [
        ("kubelet.inconsistent_fields", "node_group.kubelet.config.imageGCLowThresholdPercent")
    ]
    assert problems({}, kubelet={"flags": {"image-gc-high-threshold": 50}}) == [("kubelet.inconsistent_fields", path)]
    assert problems({}, kubelet={"flags": {"image-gc-high-threshold": 50, "image-gc-low-threshold": 40}}) == []
    assert problems({}, kubelet={"flags": {"feature-gates": "MemoryQos=true"}}) == [
        ("kubelet.unknown_feature_gate", "node_group.kubelet.flags.feature-gates")
    ]
    assert problems({}, kubelet={"flags": {"healthz-port": 70000}}) == [("kubelet.out_of_range", "node_group.kubelet.flags.healthz-port")]


def test_a_typo_in_a_feature_gate_gets_the_nearest_name() -> None:
    with pytest.raises(SpecError) as error:
        spec_of({"featureGates": {"NodeSwop": True}}, 30)
    assert error.value.problems[0].nearest == "NodeSwap"


@pytest.mark.parametrize("family", ["al2", "ubuntu"])
@pytest.mark.parametrize("strategy", ["static", "bootstrap_script"])
def test_every_linux_family_is_checked(family: str, strategy: str) -> None:
    fields = {"family": family, "strategy": strategy, "max_pods": 29}
    assert problems({"imageGCHighThresholdPercent": 75}, 32, **fields) == [
        ("kubelet.inconsistent_fields", "node_group.kubelet.config.imageGCHighThresholdPercent")
    ]
    assert problems({"imageGCHighThresholdPercent": 86}, 32, **fields) == []


def test_static_leaves_out_the_reserved_cgroups_itself() -> None:
    fields = {"family": "al2", "strategy": "static", "max_pods": 29}
    assert problems({"reservedSystemCPUs": "0"}, 32, **fields) == []


def test_managed_groups_are_checked() -> None:
    assert problems({"imageGCHighThresholdPercent": 75}, mode="managed") == [
        ("kubelet.inconsistent_fields", "node_group.kubelet.config.imageGCHighThresholdPercent")
    ]


@pytest.mark.parametrize("place", ["user_data", "override"])
def test_existing_documents_are_part_of_the_configuration(place: str) -> None:
    text = node_config({"imageGCHighThresholdPercent": 75})
    text = text if place == "override" else multipart(text)
    assert problems({}, **{place: text}) == [("kubelet.inconsistent_fields", f"node_group.{place}")]
    assert problems({"imageGCLowThresholdPercent": 70}, **{place: text}) == []


def test_without_a_version_only_what_every_kubelet_refuses() -> None:
    assert problems({"imageGCHighThresholdPercent": 75}, None) == [
        ("kubelet.inconsistent_fields", "node_group.kubelet.config.imageGCHighThresholdPercent")
    ]
    assert problems({"shutdownGracePeriod": "10s"}, None) == [], "nodeadm's own 30 s are there from 1.34 on"
    assert problems({"featureGates": {"NodeSwop": True}}, None) == [
        ("kubelet.unknown_feature_gate", "node_group.kubelet.config.featureGates.NodeSwop")
    ]


def test_null_takes_the_image_s_value_away() -> None:
    """In a drop-in of 1.32 and newer; older kubelets keep what the file has."""
    base = {"imageGCHighThresholdPercent": 90, "imageGCLowThresholdPercent": 88}
    patch = {"imageGCHighThresholdPercent": None}
    assert effective_config(36, base, patch)["imageGCHighThresholdPercent"] == 85
    assert effective_config(30, base, patch)["imageGCHighThresholdPercent"] == 90
    assert effective_config(36, {}, {"maxPods": 0})["maxPods"] == 110
    assert effective_config(30, {}, {"maxPods": 0})["maxPods"] == 0


def test_flags_become_fields() -> None:
    found = flag_fields(
        {
            "eviction-hard": ("memory.available<1Gi,nodefs.available<5%",),
            "feature-gates": ("A=true", "B=false"),
            "enforce-node-allocatable": ("pods,kube-reserved",),
            "reserved-memory": ("0:memory=1Gi,hugepages-2Mi=1Gi;1:memory=2Gi",),
            "v": ("4",),
            "serialize-image-pulls": ("false",),
        }
    )
    assert found == {
        "eviction-hard": ("evictionHard", {"memory.available": "1Gi", "nodefs.available": "5%"}),
        "feature-gates": ("featureGates", {"A": True, "B": False}),
        "enforce-node-allocatable": ("enforceNodeAllocatable", ["pods", "kube-reserved"]),
        "reserved-memory": (
            "reservedMemory",
            [{"numaNode": 0, "limits": {"memory": "1Gi", "hugepages-2Mi": "1Gi"}}, {"numaNode": 1, "limits": {"memory": "2Gi"}}],
        ),
        "serialize-image-pulls": ("serializeImagePulls", False),
    }


def test_gates() -> None:
    assert Gates(30, {}).enabled("NodeSwap") and not Gates(30, {"NodeSwap": False}).enabled("NodeSwap")
    assert not Gates(30, {}).enabled("NodeLogQuery") and Gates(30, {"AllBeta": True}).enabled("NodeLogQuery")
    assert Gates(36, {}).enabled("TopologyManager"), "a gate goes when its feature stays"
    assert not Gates(30, {}).enabled("NoSuchGate")
