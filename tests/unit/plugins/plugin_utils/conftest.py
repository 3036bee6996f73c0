# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks every problem and warning of a node group that a test reports: the paths that it names exist in the input of that test."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problem, SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families import registry
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.input_paths import missing_paths

_resolve = registry.resolve


def _check(problems: Iterable[Problem], cluster: Any, node_group: Any) -> None:
    given = {"cluster": cluster, "node_group": node_group}
    for problem in problems:
        assert not missing_paths(problem, given), f"names {missing_paths(problem, given)}, not a part of the input: {problem}"


def _resolve_and_check(cluster: Any, node_group: Any, running: str | None = None) -> Any:
    """C(registry.resolve), through which every node group goes."""
    try:
        spec, family = _resolve(cluster, node_group, running)
    except SpecError as error:
        _check(error.problems, cluster, node_group)
        raise
    _check((*spec.warnings, *spec.unchecked), cluster, node_group)
    return spec, family


for _module in list(sys.modules.values()):
    if getattr(_module, "resolve", None) is _resolve:
        vars(_module)["resolve"] = _resolve_and_check
