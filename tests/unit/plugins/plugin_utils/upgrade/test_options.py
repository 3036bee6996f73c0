# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of the two actions of an upgrade: all problems at once, also those of the cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade import in_place_task, options

CLUSTER = {"name": "demo", "endpoint": "https://demo.example", "region": "eu-west-1"}
Read = Callable[[dict[str, Any]], dict[str, Any]]


def given(table: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**{name: one.get("default") for name, one in table.items()}, "cluster": CLUSTER, **more}


BOTH = [(options.read_options, options.OPTIONS), (in_place_task.read_options, in_place_task.OPTIONS)]


@pytest.mark.parametrize(("read", "table"), BOTH, ids=("group", "in place"))
def test_a_misspelt_endpoint_does_not_switch_off_its_check(read: Read, table: dict[str, Any]) -> None:
    assert read(given(table)) == CLUSTER
    with pytest.raises(SpecError) as caught:
        read(given(table, cluster={"name": "demo", "endpont": "https://demo.example"}, max_unavailable="0%", canary=-1))
    found = {problem.path: (problem.rule, problem.nearest) for problem in caught.value.problems}
    assert found["cluster.endpont"] == ("input.unknown_field", "endpoint")
    assert set(found) == {"cluster.endpont", "max_unavailable", "canary"}


@pytest.mark.parametrize("version", [1.3, 1.36, 1, True, "1.3", "1.x", "latest", ["1.36"]], ids=repr)
@pytest.mark.parametrize(("read", "table"), BOTH, ids=("group", "in place"))
def test_a_version_must_be_text_of_the_right_form(read: Read, table: dict[str, Any], version: Any) -> None:
    with pytest.raises(SpecError) as caught:
        read(given(table, kubernetes_version=version))
    assert [problem.path for problem in caught.value.problems] == ["kubernetes_version"]


@pytest.mark.parametrize("version", [None, "", "1.30", "1.36.1"], ids=repr)
@pytest.mark.parametrize(("read", "table"), BOTH, ids=("group", "in place"))
def test_a_quoted_version_is_accepted(read: Read, table: dict[str, Any], version: Any) -> None:
    assert read(given(table, kubernetes_version=version)) == CLUSTER


def test_eks_needs_the_name_of_the_cluster() -> None:
    with pytest.raises(SpecError) as caught:
        options.read_options(given(options.OPTIONS, cluster={}, managed_node_group="workers"))
    assert [(problem.rule, problem.path) for problem in caught.value.problems] == [("input.missing_field", "cluster.name")]
    assert options.read_options(given(options.OPTIONS, cluster={}, auto_scaling_group="workers")) == {}
