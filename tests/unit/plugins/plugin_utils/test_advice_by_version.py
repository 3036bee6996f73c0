# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Advice names only flags and fields that kubelet of the cluster's version has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.kubelet_fields import kubelet_config_problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.kubelet_flags import (
    field_of_flag,
    flags_of_field,
    kubelet_flag_problems,
    unsafe_value_fix,
)

FLAGS, FIELDS = data.kubelet_flags(), data.kubelet_fields()
MINORS = range(FLAGS["first"], FLAGS["last"] + 1)
_FIELD = re.compile(r"kubelet\.config\.([\w.]+)")
_NAME = re.compile(r"(?:rename it to|write) ([\w-]+)(?:: VALUE)?$")


def has(row: Mapping[str, Any], minor: int) -> bool:
    return bool(row.get("since", 0) <= minor <= row.get("until", minor))


def has_field(path: str, minor: int) -> bool:
    fields = FIELDS["fields"]
    for name in path.split("."):
        if name not in fields or not has(fields[name], minor):
            return False
        fields = fields[name].get("fields", {})
    return True


def paths(fields: Mapping[str, Any], before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, row in fields.items():
        yield (*before, name)
        yield from paths(row.get("fields", {}), (*before, name))


def nested(path: tuple[str, ...]) -> Any:
    tree: Any = None
    for name in reversed(path):
        tree = {name: tree}
    return tree


@pytest.mark.parametrize("minor", MINORS)
def test_advice_about_flags(minor: int) -> None:
    names = [*FLAGS["flags"], *(name[:-1] for name in FLAGS["flags"]), *(f"--{name}" for name in FLAGS["flags"])]
    problems = Problems()
    kubelet_flag_problems(dict.fromkeys(names, "x"), (1, minor), "flags", problems)
    fixes = [problem.fix for problem in problems if problem.fix] + [unsafe_value_fix(name, (1, minor)) for name in FLAGS["flags"]]
    assert len(fixes) > len(FLAGS["flags"])
    fields = {found[1] for fix in fixes if (found := _FIELD.search(fix))}
    flags = {found[1] for fix in fixes if (found := _NAME.search(fix))}
    assert fields and flags
    assert [path for path in fields if not has_field(path, minor)] == []
    assert [name for name in flags if not has(FLAGS["flags"][name], minor)] == []


@pytest.mark.parametrize("minor", MINORS)
def test_advice_about_fields(minor: int) -> None:
    for path in paths(FIELDS["fields"]):
        problems = Problems()
        kubelet_config_problems(nested((*path[:-1], path[-1][:-1])), (1, minor), "config", problems)
        for problem in problems:
            found = _NAME.search(problem.fix or "")
            assert not found or has_field(".".join((*path[:-1], found[1])), minor), (path, problem)
        for flag in flags_of_field(".".join(path), None, (1, minor)):
            assert has(FLAGS["flags"].get(flag, {}), minor)


def test_a_field_of_a_flag_is_one_of_the_version() -> None:
    assert field_of_flag("topology-manager-policy-options", (1, 25)) is None
    assert field_of_flag("topology-manager-policy-options", (1, 26)) == "topologyManagerPolicyOptions"
    assert field_of_flag("topology-manager-policy-options", None) == "topologyManagerPolicyOptions"
    assert field_of_flag("container-runtime-endpoint", (1, 26)) is None
    assert field_of_flag("node-ip", (1, 32)) is None


@pytest.mark.parametrize(
    ("value", "is_valid"),
    [
        ("10.0.0.1", True),
        ("fd00::1", True),
        ("0.0.0.0", True),
        ("::", True),
        ("", True),
        ("10.0.0.1,fd00::1", True),
        ("fd00::1, 10.0.0.1", True),
        ("10.0.0.1,10.0.0.2", False),
        ("fd00::1,fd00::2", False),
        ("0.0.0.0,::", False),
        ("10.0.0.1,fd00::1,10.0.0.2", False),
        ("eth0", False),
        ("10.0.0.1,", False),
        ("10.0.0.1/24", False),
        ("fe80::1%eth0", False),
    ],
)
def test_node_ip_is_what_kubelet_parses(value: str, is_valid: bool) -> None:
    problems = Problems()
    kubelet_flag_problems({"node-ip": value}, (1, 32), "flags", problems)
    assert [(problem.rule, problem.path) for problem in problems] == ([] if is_valid else [("kubelet.invalid_value", "flags.node-ip")])
