# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Problems as tests compare them: rule and path, without the wording. The wording is in C(tests/golden/errors)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problem, SpecError

Found = list[tuple[str, str]]


def rule_and_path(problem: Problem) -> str:
    """The rule and the path of a problem as one text, for tables."""
    return f"{problem.rule} {problem.path}"


def found(problems: Iterable[Problem]) -> Found:
    """(rule, path) of every problem, in order."""
    return [(problem.rule, problem.path) for problem in problems]


def problems_of(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Found:
    """(rule, path) of every problem with which C(function) fails; empty if it succeeds."""
    try:
        function(*args, **kwargs)
    except SpecError as error:
        return found(error.problems)
    return []


def only_problem_of(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Problem:
    """The problem with which C(function) fails. There must be exactly one."""
    try:
        function(*args, **kwargs)
    except SpecError as error:
        assert len(error.problems) == 1, str(error)
        return error.problems[0]
    raise AssertionError("no problem was reported")


def error_of(function: Callable[..., Any], *args: Any, **kwargs: Any) -> SpecError:
    """The error with which C(function) fails."""
    try:
        function(*args, **kwargs)
    except SpecError as error:
        return error
    raise AssertionError("no problem was reported")


def rules_and_paths(error: SpecError) -> list[str]:
    """The rule and the path of every problem, for tables."""
    return [rule_and_path(problem) for problem in error.problems]
