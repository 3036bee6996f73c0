# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No value is dropped on a live node either: the same fields and values as for user data, seen in the files and steps of a plan."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_plan import node_plan
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils import test_nothing_is_dropped as dropped
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

LIVE = [shape for shape in dropped.SHAPES if shape[0] in ("al2", "al2023", "ubuntu") and shape[1] == "self_managed"]


def outcome(group: dropped.Group) -> Any:
    """What reaches the node, or the problems. Without labels and taints as such, of which kubelet would not hear."""
    try:
        plan = node_plan(COMPLETE, group).plain()
    except SpecError as error:
        return error
    return plan["files"], plan["steps"]


@pytest.mark.parametrize("shape", LIVE, ids=dropped.shape_id)
def test_every_field(shape: dropped.Shape, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dropped, "outcome", outcome)
    seen = dropped.all_seen_or_refused(shape, dropped.samples(shape[0]))
    assert {"labels", "taints", "commands.pre", "commands.post", "user_data", "proxy.http"} <= set(seen)


@pytest.mark.parametrize("shape", LIVE, ids=dropped.shape_id)
def test_every_kubelet_field_and_flag(shape: dropped.Shape, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dropped, "outcome", outcome)
    fields = dropped.all_seen_or_refused(shape, map(dropped.field_sample, dropped.FIELDS))
    flags = dropped.all_seen_or_refused(shape, map(dropped.flag_sample, dropped.FLAGS))
    assert (len(fields) >= dropped.LEAST[shape[0]][0], len(flags) >= dropped.LEAST[shape[0]][1]) == (True, True)
