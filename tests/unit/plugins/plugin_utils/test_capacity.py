# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.capacity import (
    InstanceShape,
    instance_shape,
    kube_reserved,
    max_pods,
    max_pods_of_type,
)
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions

# Type → ENI, ENI with one reserved, ENI capped, prefix, prefix capped, prefix and custom networking capped, Windows.
WORKED = [
    ("t3.medium", 17, 12, 17, 242, 110, 110, 5, 80),
    ("t3.large", 35, 24, 35, 530, 110, 110, 11, 176),
    ("m5.large", 29, 20, 29, 434, 110, 110, 9, 144),
    ("m5.xlarge", 58, 44, 58, 898, 110, 110, 14, 224),
    ("c5.4xlarge", 234, 205, 110, 3714, 110, 110, 29, 464),
    ("m5.24xlarge", 737, 688, 250, 11762, 250, 250, 49, 784),
    ("m6idn.32xlarge", 394, 345, 250, 6274, 250, 250, 49, 784),
]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"reserved_enis": 1},
    {"ceiling": True},
    {"mode": "prefix"},
    {"mode": "prefix", "ceiling": True},
    {"mode": "prefix", "custom_networking": True, "ceiling": True},
    {"mode": "windows_secondary_ip"},
    {"mode": "windows_prefix"},
]


@pytest.mark.parametrize(
    ("name", "options", "pods"),
    [(name, options, pods) for name, *row in WORKED for options, pods in zip(OPTIONS, row, strict=True)],
)
def test_worked_numbers(name: str, options: dict[str, Any], pods: int) -> None:
    assert max_pods(instance_shape(name), **options) == pods
    assert max_pods_of_type(name, **options) == pods


@pytest.mark.parametrize(
    ("name", "pods"),
    [
        ("t3.nano", 4),
        ("m4.xlarge", 58),
        ("m5.8xlarge", 234),
        ("c6in.32xlarge", 394),
        ("p5.48xlarge", 100),
        ("c8i.32xlarge", 1514),
        ("c8a.48xlarge", 1514),
        # The scrape has 8 and 12 interfaces for these; the image's own table, with more, wins.
        ("i7ie.48xlarge", 737),
        ("i7ie.metal-48xl", 737),
        ("i8ge.48xlarge", 1178),
        ("i8ge.metal-48xl", 1178),
    ],
)
def test_spot_values(name: str, pods: int) -> None:
    assert max_pods(instance_shape(name)) == pods


@pytest.mark.parametrize(
    ("numbers", "options", "pods"),
    [
        ({"max_enis": 3, "ips_per_eni": 10}, {}, 29),
        ({"max_enis": 3, "ips_per_eni": 10}, {"custom_networking": True}, 20),
        ({"max_enis": 3, "ips_per_eni": 10}, {"custom_networking": True, "reserved_enis": 1}, 11),
        ({"max_enis": 3, "ips_per_eni": 10}, {"mode": "prefix"}, 434),
        ({"max_enis": 8, "ips_per_eni": 30, "vcpus": 30}, {"ceiling": True}, 110),
        ({"max_enis": 8, "ips_per_eni": 30, "vcpus": 31}, {"ceiling": True}, 234),
        ({"max_enis": 15, "ips_per_eni": 50, "vcpus": 31}, {"ceiling": True}, 250),
        ({"max_enis": 1, "ips_per_eni": 1}, {}, 2),
    ],
)
def test_types_that_the_table_does_not_know(numbers: dict[str, int], options: dict[str, Any], pods: int) -> None:
    assert max_pods(instance_shape("mock-type.large", **numbers), **options) == pods
    assert max_pods(instance_shape(None, **numbers), **options) == pods


def test_given_numbers_win_over_the_table() -> None:
    assert instance_shape("m5.large", max_enis=2) == InstanceShape(2, 10, 2, True, "m5.large", "x86_64", 8192)


@pytest.mark.parametrize(("name", "nitro"), [("m5.large", True), ("m5.metal", True), ("m4.large", False), ("t2.micro", False)])
def test_nitro(name: str, nitro: bool) -> None:
    assert instance_shape(name).nitro is nitro


SHAPES: list[tuple[dict[str, Any], str]] = [
    (
        {"instance_type": "m5.larg"},
        'instance.type: is not in the table of instance types (got "m5.larg"); did you mean "m5.large"?; '
        "fix: correct the type, or also set max_enis, ips_per_eni and vcpus",
    ),
    (
        {"instance_type": 5},
        "instance.type: is not in the table of instance types (got 5); fix: correct the type, or also set max_enis, ips_per_eni and vcpus",
    ),
    ({}, "instance: has neither a type nor max_enis and ips_per_eni; fix: set type, or max_enis, ips_per_eni and vcpus"),
    (
        {"max_enis": 3},
        "instance: has neither a type nor max_enis and ips_per_eni; fix: set type, or max_enis, ips_per_eni and vcpus",
    ),
    (
        {"max_enis": 0, "ips_per_eni": True, "vcpus": "2"},
        "instance.ips_per_eni: is not a count (got true); allowed: a whole number from 1\n"
        "instance.max_enis: is not a count (got 0); allowed: a whole number from 1\n"
        'instance.vcpus: is not a count (got "2"); allowed: a whole number from 1',
    ),
]


@pytest.mark.parametrize(("arguments", "message"), SHAPES)
def test_no_shape(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        instance_shape(**arguments)
    assert str(caught.value) == message


REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (
        {"mode": "enis"},
        {},
        'max_pods.mode: is not a known mode (got "enis"); allowed: eni, prefix, windows_secondary_ip, windows_prefix; did you mean "eni"?',
    ),
    (
        {"mode": ["eni"]},
        {},
        'max_pods.mode: is not a known mode (got ["eni"]); allowed: eni, prefix, windows_secondary_ip, windows_prefix; did you mean "eni"?',
    ),
    ({"reserved_enis": -1}, {}, "max_pods.reserved_enis: is not a count (got -1); allowed: a whole number from 0"),
    ({"reserved_enis": "1"}, {}, 'max_pods.reserved_enis: is not a count (got "1"); allowed: a whole number from 0'),
    ({"ceiling": "yes"}, {}, 'max_pods.ceiling: is not a boolean (got "yes"); allowed: true or false'),
    (
        {"ceiling": True},
        {},
        "max_pods.ceiling: the ceiling depends on the number of vCPUs, which is unknown (got true); fix: set vcpus",
    ),
    (
        {"reserved_enis": 3},
        {},
        "max_pods.reserved_enis: leaves no network interface for pods: the instance supports 3 (got 3);"
        " fix: use a larger instance, or reserve fewer",
    ),
    (
        {"reserved_enis": 2, "custom_networking": True},
        {},
        "max_pods.reserved_enis: leaves no network interface for pods: the instance supports 3 (got 2);"
        " fix: use a larger instance, or reserve fewer",
    ),
    (
        {"custom_networking": True},
        {"max_enis": 1},
        "max_pods.custom_networking: leaves no network interface for pods: the instance supports 1 (got true);"
        " fix: use a larger instance, or reserve fewer",
    ),
    (
        {"mode": "windows_prefix", "custom_networking": True, "reserved_enis": 1},
        {},
        "max_pods.custom_networking: is not available on Windows nodes (got true); fix: remove it\n"
        "max_pods.reserved_enis: Windows nodes use one network interface only (got 1); fix: remove it",
    ),
    (
        {"mode": "windows_secondary_ip"},
        {"ips_per_eni": 1},
        "max_pods: the instance has no addresses for pods (got 0); fix: use a larger instance",
    ),
]


@pytest.mark.parametrize(("options", "numbers", "message"), REFUSED)
def test_no_max_pods(options: dict[str, Any], numbers: dict[str, int], message: str) -> None:
    shape = instance_shape(None, **{"max_enis": 3, "ips_per_eni": 10, **numbers})
    with pytest.raises(SpecError) as caught:
        max_pods(shape, **options)
    assert str(caught.value) == message


@pytest.mark.parametrize(("mode", "instead"), [("prefix", "eni"), ("windows_prefix", "windows_secondary_ip")])
def test_prefixes_need_nitro(mode: str, instead: str, golden_message: GoldenMessages) -> None:
    with pytest.raises(SpecError) as caught:
        max_pods(instance_shape("m4.large"), mode)
    (problem,) = caught.value.problems
    assert (problem.path, problem.value, problem.allowed) == ("max_pods.mode", mode, instead) and mentions(problem.message, "m4.large")
    golden_message(caught.value)


CPU = [(1, 60), (2, 70), (4, 80), (5, 82), (8, 90), (16, 110), (32, 150), (48, 190), (64, 230), (96, 310), (128, 390), (192, 550)]
MEMORY = [(4, 299), (10, 365), (17, 442), (29, 574), (58, 893), (110, 1465), (234, 2829), (250, 3005), (394, 4589), (1514, 16909)]


@pytest.mark.parametrize(("vcpus", "millicores"), CPU)
def test_reserved_cpu(vcpus: int, millicores: int) -> None:
    assert kube_reserved(29, vcpus)["cpu"] == f"{millicores}m"


@pytest.mark.parametrize(("pods", "mebibytes"), MEMORY)
def test_reserved_memory(pods: int, mebibytes: int) -> None:
    assert kube_reserved(pods, 2)["memory"] == f"{mebibytes}Mi"


def test_reserved_keys_and_their_order() -> None:
    assert list(kube_reserved(29, 2).items()) == [("cpu", "70m"), ("memory", "574Mi"), ("ephemeral-storage", "1Gi")]


@pytest.mark.parametrize("value", [0, -1, True, "29", 2.0, None, 2**31])
def test_no_reservation(value: Any) -> None:
    with pytest.raises(SpecError) as caught:
        kube_reserved(value, value)
    assert [problem.path for problem in caught.value.problems] == ["max_pods", "vcpus"]


def test_every_type_of_the_table_has_pods_and_a_reservation() -> None:
    for name, row in data.instance_types().items():
        shape = instance_shape(name)
        assert 0 < max_pods(shape) <= 3000, name
        assert shape.vcpus is not None, name
        assert max_pods(shape, ceiling=True) <= 250, name
        assert kube_reserved(max_pods(shape), row["vcpus"])["cpu"].endswith("m"), name


@given(st.integers(1, 20), st.integers(2, 60), st.integers(0, 5), st.booleans())
def test_more_interfaces_never_mean_fewer_pods(enis: int, addresses: int, reserved: int, custom: bool) -> None:
    enis += reserved + custom
    small, large = (max_pods(InstanceShape(count, addresses), "eni", custom, reserved) for count in (enis, enis + 1))
    assert 2 < small < large


@given(st.one_of(st.none(), st.integers(), st.text(), st.booleans(), st.lists(st.integers())))
def test_no_traceback_on_any_argument(value: Any) -> None:
    shape = InstanceShape(3, 10)
    for call in (
        lambda: max_pods(shape, value),
        lambda: max_pods(shape, "eni", value),
        lambda: max_pods(shape, "eni", False, value),
        lambda: max_pods(shape, "eni", False, 0, value),
        lambda: instance_shape(value),
        lambda: instance_shape(None, max_enis=value, ips_per_eni=value, vcpus=value),
        lambda: kube_reserved(value, value),
    ):
        try:
            call()
        except SpecError as error:
            assert error.problems
