# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.kubernetes import (
    kubelet_label_problem,
    label_key_problem,
    label_value_problem,
    node_labels_flag,
    parse_version,
    taints_flag,
)


class Taint(NamedTuple):
    key: str
    value: str | None
    effect: str


VERSIONS: list[tuple[Any, tuple[int, int] | None]] = [
    ("1.31", (1, 31)),
    ("v1.31", (1, 31)),
    ("v1.31.4", (1, 31)),
    ("1.31.4-eks-abc", (1, 31)),
    ("v1.35.0-eks-5e0fdde", (1, 35)),
    ("1.3", (1, 3)),
    ("1.31+", (1, 31)),
    (1.31, None),
    (1, None),
    (None, None),
    ("", None),
    ("1", None),
    ("1.", None),
    ("x1.31", None),
    ("1.31 ", None),
    ("1.31\n", None),
    ("1.31.4.5", None),
    ("1.٣١", None),
    ("9" * 5000 + ".1", None),
]


@pytest.mark.parametrize(("text", "version"), VERSIONS)
def test_parse_version(text: Any, version: tuple[int, int] | None) -> None:
    assert parse_version(text) == version


NAME = "can contain only letters, digits, -, _ and ., and must begin and end with a letter or digit"
KEYS: list[tuple[Any, str | None]] = [
    ("a", None),
    ("a.b_c-D9", None),
    ("example.com/a", None),
    ("alpha.eksctl.io/nodegroup-name", None),
    ("x" * 63, None),
    ("d" * 253 + "/a", None),
    ("", "the name of a key is empty"),
    ("x" * 64, "the name of a key is longer than 63 characters"),
    ("a/b/c", "a key has at most one slash"),
    ("/a", "the part before the slash is empty"),
    ("a/", "the name of a key is empty"),
    ("d" * 254 + "/a", "the part before the slash is longer than 253 characters"),
    ("Example.com/a", "the part before the slash is not a DNS name (lower case letters, digits, - and .)"),
    ("a..b/a", "the part before the slash is not a DNS name (lower case letters, digits, - and .)"),
    ("-a", f"the name of a key {NAME}"),
    ("a ", f"the name of a key {NAME}"),
    ("ä", f"the name of a key {NAME}"),
    ("a\n", f"the name of a key {NAME}"),
    (1, "the key must be text"),
]


@pytest.mark.parametrize(("key", "problem"), KEYS)
def test_label_keys(key: Any, problem: str | None) -> None:
    assert label_key_problem(key) == problem


VALUES: list[tuple[Any, str | None]] = [
    ("", None),
    ("true", None),
    ("a.b_c-D9", None),
    ("x" * 63, None),
    ("x" * 64, "a value is longer than 63 characters"),
    ("a/b", f"a value {NAME}"),
    ("a ", f"a value {NAME}"),
    ("-", f"a value {NAME}"),
    (True, "a value is text; quote it"),
    (None, "a value is text; quote it"),
]


@pytest.mark.parametrize(("value", "problem"), VALUES)
def test_label_values(value: Any, problem: str | None) -> None:
    assert label_value_problem(value) == problem


ALLOWED = [
    "a",
    "example.com/a",
    "mykubernetes.io/a",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "kubelet.kubernetes.io/a",
    "node.kubernetes.io/a",
    "x.node.kubernetes.io/a",
    "eks.amazonaws.com/nodegroup",
]
REFUSED = [
    "node-role.kubernetes.io/worker",
    "node-restriction.kubernetes.io/a",
    "kubernetes.io/a",
    "kubernetes.io/cluster",
    "k8s.io/a",
    "x.k8s.io/a",
    "topology.kubernetes.io/a",
    "xnode.kubernetes.io/a",
]


@pytest.mark.parametrize(("key", "allowed"), [*((key, True) for key in ALLOWED), *((key, False) for key in REFUSED), (3, True)])
def test_labels_that_kubelet_refuses(key: Any, allowed: bool) -> None:
    assert (kubelet_label_problem(key) is None) is allowed


def test_flags_of_labels_and_taints() -> None:
    assert node_labels_flag({"b": "2", "a/x": "1", "a": ""}) == "a=,a/x=1,b=2"
    assert node_labels_flag({}) == ""
    taints = [Taint("b", "v", "NoExecute"), Taint("a", None, "NoSchedule"), Taint("a", "", "PreferNoSchedule")]
    assert taints_flag(taints) == "b=v:NoExecute,a=:NoSchedule,a=:PreferNoSchedule"
    assert taints_flag([]) == ""


@given(st.text())
def test_any_text_is_answered(text: str) -> None:
    for problem in (label_key_problem(text), label_value_problem(text), kubelet_label_problem(text)):
        assert problem is None or problem
    assert parse_version(text) is None or len(parse_version(text) or ()) == 2


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.from_regex(r"[a-z]{0,8}", fullmatch=True)))
def test_labels_do_not_depend_on_their_order(labels: dict[str, str]) -> None:
    assert node_labels_flag(labels) == node_labels_flag(dict(reversed(labels.items())))
    assert dict(pair.split("=") for pair in node_labels_flag(labels).split(",") if pair) == labels
