# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The CSV file with hardware: its rows, and whether every group finds its machines."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.hardware_match import Group, unmatched
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.validate import validate
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.clusters import Change
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import rule_and_path

MACHINE = "TinkerbellMachineConfig"
COUNT = "anywhere.hardware_count Cluster/dev.spec.{}.count"
PLANE, WORKERS = COUNT.format("controlPlaneConfiguration"), COUNT.format("workerNodeGroupConfigurations[0]")


def errors(hardware: str, *changes: Change) -> list[str]:
    """The problems of a Bare Metal cluster with this hardware."""
    found = validate(clusters.file("tinkerbell", *changes), hardware=hardware)
    return [rule_and_path(problem) for problem in found.problems]


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"hostname": "Machine_1"}, "anywhere.hardware hardware_csv[2].hostname"),
        ({"hostname": ""}, "anywhere.hardware hardware_csv[2].hostname"),
        ({"mac": "CC:48:3A:00:00"}, "anywhere.hardware hardware_csv[2].mac"),
        ({"ip_address": "10.0.0.300"}, "anywhere.hardware hardware_csv[2].ip_address"),
        ({"netmask": "24"}, None),
        ({"netmask": "255.255.0.255"}, "anywhere.hardware hardware_csv[2].netmask"),
        ({"gateway": "10.9.0.1"}, "anywhere.hardware hardware_csv[2].gateway"),
        ({"nameservers": "8.8.8.8|dns"}, "anywhere.hardware hardware_csv[2].nameservers"),
        ({"disk": "sda"}, "anywhere.hardware hardware_csv[2].disk"),
        ({"disk": "/dev/"}, "anywhere.hardware hardware_csv[2].disk"),
        ({"disk": "/dev/disk/by-id/x"}, "anywhere.hardware hardware_csv[2].disk"),
        ({"disk": "/dev/nvme0n1"}, None),
        ({"hostname": ".".join(["x" * 60] * 5)}, "anywhere.hardware hardware_csv[2].hostname"),
        ({"nameservers": "8.8.8.8|"}, "anywhere.hardware hardware_csv[2].nameservers"),
        ({"mac": "CC:48:3A:00:00:02"}, "anywhere.hardware_twice hardware_csv[3].mac"),
        ({"ip_address": "10.0.0.102"}, "anywhere.hardware_twice hardware_csv[3].ip_address"),
        ({"bmc_password": ""}, "anywhere.hardware hardware_csv[2].bmc_ip"),
        ({"bmc_ip": "10.1.0.2"}, "anywhere.hardware_twice hardware_csv[3].bmc_ip"),
        ({"hostname": "machine3"}, "anywhere.hardware_twice hardware_csv[4].hostname"),
        ({"ip_address": "10.0.0.10"}, "anywhere.address_in_use hardware_csv[2].ip_address"),
        ({"ip_address": "10.0.0.11"}, "anywhere.address_in_use hardware_csv[2].ip_address"),
        ({"labels": "type=cp|a b=c"}, "anywhere.hardware hardware_csv[2].labels"),
        ({"labels": "type=cp|type=worker"}, "anywhere.hardware hardware_csv[2].labels"),
        ({"labels": "type=cp|rack=1"}, None),
    ],
)
def test_a_row_that_is_not_valid(cells: dict[str, str], problem: str | None) -> None:
    assert errors(clusters.hardware(**cells)) == ([] if problem is None else [problem])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "anywhere.hardware hardware_csv.hostname"),
        (clusters.hardware().replace("hostname,", "hostname,mac,", 1), "anywhere.hardware hardware_csv.mac"),
        (clusters.hardware() + "machine9,1\n", "anywhere.hardware hardware_csv[7]"),
        (clusters.hardware() + '"machine9\n', "anywhere.hardware hardware_csv[7]"),
    ],
)
def test_a_file_that_is_not_valid(text: str, problem: str) -> None:
    assert problem in errors(text)


@pytest.mark.parametrize(
    ("vlan", "is_valid"), [("", True), ("1", True), ("4094", True), ("0", False), ("4095", False), ("x", False), ("-1", False)]
)
def test_a_vlan_is_a_number(vlan: str, is_valid: bool) -> None:
    lines = clusters.hardware().splitlines()
    text = "\n".join([f"{lines[0]},vlan_id", f"{lines[1]},{vlan}", *(f"{line}," for line in lines[2:])])
    assert errors(text) == ([] if is_valid else ["anywhere.hardware hardware_csv[2].vlan_id"])


def test_hardware_fits_the_selector_of_one_group_only() -> None:
    both: Change = (MACHINE, "spec.hardwareSelector", {"rack": "1"})
    text = clusters.hardware(6, planes=0, labels="type=worker|rack=1").replace(",type=worker,", ",rack=1,", 3)
    assert errors(text, both) == ["anywhere.hardware hardware_csv[2].labels"]


def test_blank_lines_and_a_byte_order_mark_do_not_count() -> None:
    assert errors("\ufeff" + clusters.hardware().replace("\n", "\n\n")) == []


@pytest.mark.parametrize(
    ("count", "planes", "changes", "problems"),
    [
        (5, 3, [], []),
        (4, 3, [], [WORKERS]),
        (5, 2, [], [PLANE]),
        (2, 1, [], [PLANE, WORKERS]),
        # Hardware can be added before the autoscaler needs it.
        (5, 3, [("Cluster", "spec.workerNodeGroupConfigurations.0.autoscalingConfiguration", {"minCount": 1, "maxCount": 3})], []),
        (5, 5, [(MACHINE, "spec.hardwareSelector", {"type": "worker"})], [PLANE, WORKERS]),
        (5, 0, [(MACHINE, "spec.hardwareSelector", {"type": "worker"})], []),
        (4, 0, [(MACHINE, "spec.hardwareSelector", {"type": "worker"})], [WORKERS]),
    ],
)
def test_groups_are_compared_with_the_hardware(count: int, planes: int, changes: list[Change], problems: list[str]) -> None:
    assert errors(clusters.hardware(count, planes=planes), *changes) == problems


def test_an_affinity_selects_by_any_of_its_terms() -> None:
    terms = [
        {"labelSelector": {"matchLabels": {"type": "cp"}}},
        {"labelSelector": {"matchExpressions": [{"key": "type", "operator": "In", "values": ["spare"]}]}},
    ]
    change: list[Change] = [(MACHINE, "spec", {"osFamily": "ubuntu", "hardwareAffinity": {"required": terms}, "users": [{"name": "a"}]})]
    hardware = clusters.hardware(5, planes=2).replace("type=worker,/dev/sda\n", "type=spare,/dev/sda\n", 1)
    assert errors(hardware, *change) == []
    assert errors(clusters.hardware(5, planes=2), *change) == [PLANE]


LABELS = st.lists(st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy"), max_size=2), max_size=4)
GROUPS = st.lists(st.tuples(st.integers(1, 2), st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy"), min_size=1)), max_size=2)


@given(GROUPS, LABELS)
def test_a_group_lacks_machines_only_if_no_distribution_has_enough(
    wanted: list[tuple[int, dict[str, str]]], machines: list[dict[str, str]]
) -> None:
    groups = [Group(str(number), str(number), count, selector, ()) for number, (count, selector) in enumerate(wanted)]
    slots = [group for group in groups for _unused in range(group.count)]
    possible = any(
        all(group.fits(machines[index]) for group, index in zip(slots, chosen, strict=True))
        for chosen in itertools.permutations(range(len(machines)), len(slots))
    )
    assert (not list(unmatched(groups, machines))) == possible


@pytest.mark.parametrize(
    ("expression", "fits"),
    [
        ({"key": "a", "operator": "In", "values": ["x"]}, True),
        ({"key": "a", "operator": "NotIn", "values": ["x"]}, False),
        ({"key": "a", "operator": "Exists"}, True),
        ({"key": "a", "operator": "DoesNotExist"}, False),
        ({"key": "b", "operator": "DoesNotExist"}, True),
        ({"key": "a", "operator": "Near", "values": ["x"]}, False),
    ],
)
def test_operators_of_label_selectors(expression: dict[str, object], fits: bool) -> None:
    group = Group("", "", 1, {}, [{"labelSelector": {"matchExpressions": [expression]}}])
    assert group.fits({"a": "x"}) is fits
