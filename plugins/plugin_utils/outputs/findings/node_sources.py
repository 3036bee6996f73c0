# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lints what is on the disk of a node."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ...capacity import InstanceShape
from ...errors import Problem
from ...formats import plain
from ...kubelet_fields import Version
from ...lint.finding import of_problem
from ...lint.node_text import NOT_CHECKED, lint_node_text
from ...readers.model import BEGIN
from ...sources.node import Facts, Machine, NodeText, failure, machine_of, missing, reading_problems, texts
from .source import Source, by_line, without_user_data

_CHECK_ORIGIN = "check the file or the launch template from which the user data comes"


def sources_of_node(host: str, result: Any, family: str | None, version: Version, instance: InstanceShape | None) -> list[Source]:
    """The user data and the NodeConfigs of a node with their findings, or one finding that says why there are none.

    result: of the module doctor_info. family, version, instance: replace what the node says.
    """
    problem = failure(result)
    if problem is not None:
        return list(_without_texts(host, [problem]))
    facts = plain.mapping(result, "node")
    machine = _replaced(facts, family, version, instance)
    found = [_source(host, text, machine) for text in texts(facts)]
    problems = reading_problems(facts) or ([] if found else [missing()])
    return [*found, *_without_texts(host, problems)]


def _replaced(facts: Facts, family: str | None, version: Version, instance: InstanceShape | None) -> Machine:
    own = machine_of(facts)
    return replace(own, family=family or own.family, version=version or own.version, instance=instance or own.instance)


def _source(host: str, text: NodeText, machine: Machine) -> Source:
    linted = lint_node_text(text, machine)
    findings = linted.findings
    if not linted.is_complete:
        findings = (of_problem(Problem("doctor.not_checked", "", NOT_CHECKED, fix=_CHECK_ORIGIN), BEGIN), *findings)
    family = linted.user_data.family or machine.family
    return by_line(Source(host, linted.user_data, findings, text.path, is_file=False, data=linted.text, family=family))


def _without_texts(host: str, problems: Iterable[Problem]) -> Iterable[Source]:
    """One source for each problem of a node without a text."""
    return (without_user_data(host, of_problem(problem, BEGIN), is_file=False) for problem in problems)
