# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No input whatsoever yields a traceback, and what is rendered is the same every time and leaves its input alone."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given, settings

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.fields import FAMILIES
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_spec import node_spec
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import anything, clusters, node_groups


def turned(value: Any) -> Any:
    """The same value with every mapping in the opposite order."""
    if isinstance(value, dict):
        return {key: turned(item) for key, item in reversed(value.items())}
    return [turned(item) for item in value] if isinstance(value, list) else value


@pytest.mark.fuzz
@pytest.mark.parametrize("family", FAMILIES)
def test_any_node_group_is_rendered_or_refused(family: str) -> None:
    @settings(settings.get_profile("family"))
    @given(clusters(), node_groups(family))
    def check(cluster: Any, group: Any) -> None:
        before = pickle.dumps((cluster, group))
        try:
            first = render(cluster, group)
        except SpecError as error:
            assert error.problems
            lines = str(error).split("\n")
            assert len(lines) == len(error.problems)
            assert all(line.split(":")[0].startswith(("node_group", "cluster", "user_data")) for line in lines), lines
            assert [problem.path for problem in error.problems] == sorted(problem.path for problem in error.problems)
        else:
            assert render(turned(cluster), turned(group)).stored == first.stored
            node_files(cluster, group)
            once = node_spec(cluster, group)
            assert render(once["cluster"], once["node_group"]).stored == first.stored
        assert pickle.dumps((cluster, group)) == before

    check()


@given(anything, anything)
def test_anything_at_all(cluster: Any, group: Any) -> None:
    with pytest.raises(SpecError):
        render(copy.deepcopy(cluster), group)
