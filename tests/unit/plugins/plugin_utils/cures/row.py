# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One row of the table of cures: a rule, an input that it rejects, and the same input changed as the message says."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problem, Problems, SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

Run = Callable[[Any], Any]
"""Uses an input: raises C(SpecError), or returns the warnings and notes of the accepted input, if there are any."""

REMOVED: Any = object()
"""The new value of a path that is removed."""

_PART = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|\.?([^.\[\]]+)')


@dataclass(frozen=True)
class Cure:
    """A rule and the proof that its cure works: C(before) is rejected with the rule, and C(after) is accepted.

    edits: the changed paths, if the input is data. The message must mention them.
    """

    rule: str
    run: Run
    before: Any
    after: Any
    edits: tuple[str, ...] = ()

    def problems(self, given: Any) -> tuple[Problem, ...]:
        """The problems, warnings and notes of an input."""
        try:
            return tuple(self.run(copy.deepcopy(given)) or ())
        except SpecError as error:
            return error.problems

    def accepts(self, given: Any) -> tuple[Problem, ...]:
        """The warnings and notes of an input that is accepted. Raises C(SpecError)."""
        return tuple(self.run(copy.deepcopy(given)) or ())


def split(path: str) -> list[str | int]:
    """The keys of a path in the form of messages: C(a.b[0]["x/y"])."""
    return [int(index) if index else re.sub(r"\\(.)", r"\1", quoted) if quoted else plain for quoted, index, plain in _PART.findall(path)]


def edited(tree: Any, edits: Mapping[str, Any]) -> Any:
    """A copy of C(tree) with other values at some paths. Mappings on the way are added."""
    tree = copy.deepcopy(tree)
    for path, value in edits.items():
        *above, last = split(path)
        node = tree
        for key in above:
            if isinstance(node, dict) and node.get(key) is None:
                node[key] = {}
            node = node[key]
        if value is REMOVED:
            del node[last]
        else:
            node[last] = copy.deepcopy(value)
    return tree


def rendered(given: Mapping[str, Any]) -> list[Problem]:
    """Render C({cluster, node_group, encoding}), and return the warnings and the skipped checks."""
    spec = render(given["cluster"], given["node_group"], given["encoding"]).spec
    return [*spec.warnings, *spec.unchecked]


def group(
    rule: str, node_group: Any, edits: Mapping[str, Any], cluster: Mapping[str, Any] | None = None, *, encoding: str = "plain"
) -> Cure:
    """A node group in the complete cluster of C(strategies), changed by C(cluster).

    edits: path → new value, or REMOVED. Paths begin with C(node_group), C(cluster) or C(encoding).
    """
    facts = {key: value for key, value in (COMPLETE | dict(cluster or {})).items() if value is not None}
    given = {"cluster": facts, "node_group": node_group, "encoding": encoding}
    return Cure(rule, rendered, given, edited(given, edits), tuple(edits))


def call(rule: str, run: Callable[[Any], Any], before: Any, after: Any) -> Cure:
    """A function of the library with one argument, which raises C(SpecError); its result does not matter."""

    def ignore_result(given: Any) -> None:
        run(given)

    return Cure(rule, ignore_result, before, after)


def reports(rule: str, run: Callable[..., Any], before: tuple[Any, ...], after: tuple[Any, ...]) -> Cure:
    """A function of the library that reports to C(Problems), its last argument; C(before) and C(after) are the others."""

    def raise_problems(given: tuple[Any, ...]) -> None:
        problems = Problems()
        run(*given, problems)
        problems.raise_any()

    return Cure(rule, raise_problems, before, after)
