# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Max pods and reservations computed from instance types."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model import compute
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import Found, found


def shape(**instance: Any) -> compute.Shape:
    return compute.Shape.of(instance, Problems())


def lines(problems: Problems) -> list[str]:
    return [str(problem) for problem in problems]


def pods(rule: Any, family: str = "al2023", **instance: Any) -> tuple[int | None, list[str]]:
    problems = Problems()
    return compute.max_pods(rule, "node_group.max_pods", family, shape(**instance), problems), lines(problems)


def test_one_type() -> None:
    found = shape(type="m5.large")
    assert (found.types, found.vcpus, found.image_pods()) == (("m5.large",), 2, 29)


def test_several_types_count_as_the_smallest() -> None:
    found = shape(types=["m5.4xlarge", "t3.small", "m5.large"])
    assert (found.types, found.vcpus, found.image_pods()) == (("m5.4xlarge", "t3.small", "m5.large"), 2, 11)


def test_numbers_replace_the_type() -> None:
    found = shape(max_enis=3, ips_per_eni=10, vcpus=2)
    assert (found.types, found.vcpus, found.image_pods()) == ((), 2, 29)


def test_numbers_win_over_the_type() -> None:
    assert shape(type="m5.large", max_enis=2, vcpus=64).image_pods() == 20
    assert shape(type="m5.large", vcpus=64).vcpus == 64


def test_vcpus_alone_are_enough_for_reservations() -> None:
    found = shape(vcpus=4)
    assert (found.vcpus, found.image_pods(), found.unknown) == (4, None, ())


def test_an_unknown_type_is_reported_only_when_something_is_computed() -> None:
    problems = Problems()
    found = compute.Shape.of({"types": ["m5.large", "x9.huge"]}, problems)
    assert (len(problems), found.known, found.vcpus) == (0, (), None)
    assert compute.max_pods(50, "p", "al2023", found, problems) == 50
    assert len(problems) == 0
    assert compute.max_pods({"mode": "eni"}, "p", "al2023", found, problems) is None
    assert [problem.path for problem in problems] == ["node_group.instance.types[1]"]


@pytest.mark.parametrize(
    ("rule", "family", "expected"),
    [
        (None, "al2023", None),
        (17, "al2023", 17),
        ({"mode": "eni"}, "al2023", 29),
        ({"mode": "eni", "custom_networking": True}, "al2", 20),
        ({"mode": "eni", "reserved_enis": 1}, "ubuntu", 20),
        ({"mode": "prefix"}, "bottlerocket", 434),
        ({"mode": "prefix", "ceiling": True}, "al2023", 110),
        ({"mode": "windows_secondary_ip"}, "windows", 9),
        ({"mode": "windows_prefix"}, "windows", 144),
    ],
)
def test_max_pods(rule: Any, family: str, expected: int | None) -> None:
    assert pods(rule, family, type="m5.large") == (expected, [])


def test_max_pods_of_several_types_is_the_smallest() -> None:
    assert pods({"mode": "prefix"}, types=["m5.4xlarge", "t3.small"]) == (146, [])


@pytest.mark.parametrize(
    ("value", "family", "rule", "path"),
    [
        ("auto", "al2023", "capacity.auto_without_node", "node_group.max_pods"),
        ({"mode": "eni"}, "windows", "capacity.unsupported_mode", "node_group.max_pods.mode"),
        ({"mode": "windows_prefix"}, "al2", "capacity.unsupported_mode", "node_group.max_pods.mode"),
        ({"mode": "eni", "reserved_enis": 3}, "al2", "capacity.no_interface_left", "node_group.max_pods.reserved_enis"),
    ],
)
def test_max_pods_that_cannot_be_computed(value: Any, family: str, rule: str, path: str) -> None:
    problems = Problems()
    assert compute.max_pods(value, "node_group.max_pods", family, shape(type="m5.large"), problems) is None
    assert found(problems) == [(rule, path)]


@pytest.mark.parametrize(
    ("final", "instance", "expected"),
    [
        (29, {"type": "m5.large"}, {"cpu": "70m", "memory": "574Mi", "ephemeral-storage": "1Gi"}),
        (110, {"type": "m5.large"}, {"cpu": "70m", "memory": "1465Mi", "ephemeral-storage": "1Gi"}),
        (None, {"type": "m5.large"}, {"cpu": "70m", "memory": "574Mi", "ephemeral-storage": "1Gi"}),
        (110, {"vcpus": 4}, {"cpu": "80m", "memory": "1465Mi", "ephemeral-storage": "1Gi"}),
        (None, {"types": ["m5.4xlarge", "t3.small"]}, {"cpu": "70m", "memory": "376Mi", "ephemeral-storage": "1Gi"}),
    ],
)
def test_reservations_follow_the_final_number_of_pods(final: int | None, instance: dict[str, Any], expected: dict[str, str]) -> None:
    problems = Problems()
    assert (
        compute.automatic_reserved(None if final is None else compute.Pods(final), shape(**instance), problems, implied=False) == expected
    )
    assert lines(problems) == []


@pytest.mark.parametrize(
    ("final", "instance", "implied", "message"),
    [
        (None, {}, False, "auto cannot be computed; fix: set max_pods (or instance.type) and instance.vcpus (or instance.type), or"),
        (50, {}, True, "is static, whose default reserved.kube: auto cannot be computed; fix: set instance.vcpus (or instance.type), or"),
        (None, {"vcpus": 2}, False, "auto cannot be computed; fix: set max_pods (or instance.type), or"),
    ],
)
def test_reservations_that_cannot_be_computed(final: int | None, instance: dict[str, Any], implied: bool, message: str) -> None:
    problems = Problems()
    assert compute.automatic_reserved(None if final is None else compute.Pods(final), shape(**instance), problems, implied=implied) == {}
    assert lines(problems) == [f"node_group.{'strategy' if implied else 'reserved.kube'}: {message} set reserved.kube to quantities"]


@pytest.mark.parametrize(
    ("family", "final", "instance", "expected"),
    [
        ("al2023", 110, {"type": "m5.large"}, [("reserved.sized_for_other_max_pods", "node_group.max_pods")]),
        ("al2023", 29, {"type": "m5.large"}, []),
        (
            "al2",
            110,
            {},
            [("reserved.sized_for_other_max_pods", "node_group.max_pods")],
        ),
        ("bottlerocket", 110, {"type": "m5.large"}, []),
        ("windows", 110, {"type": "m5.large"}, []),
    ],
)
def test_the_warning_about_reservations(family: str, final: int, instance: dict[str, Any], expected: Found) -> None:
    warning = compute.reserved_warning(family, compute.Pods(final), shape(**instance))
    assert found([warning] if warning else []) == expected


def test_the_order_of_reservations() -> None:
    assert list(compute.in_order({"pid": "1", "ephemeral-storage": "1", "memory": "1", "cpu": "1"})) == [
        "cpu",
        "memory",
        "ephemeral-storage",
        "pid",
    ]
