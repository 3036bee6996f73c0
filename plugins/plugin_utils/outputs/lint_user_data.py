# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The findings in user data as plain data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..capacity import InstanceShape, instance_shape
from ..errors import Problems, SpecError
from ..kubernetes import parse_version
from ..lint.lint import lint
from ..model.fields import FAMILY_ALIASES, NODE_GROUP
from ..model.plain import INVALID
from ..model.schema import type_name
from ..model.values import kubernetes_version as checked_version


def lint_user_data(text: Any, family: Any = None, kubernetes_version: Any = None, instance_type: Any = None) -> list[dict[str, Any]]:
    """Every finding in C(text). Raises C(SpecError) for arguments of another form."""
    problems = Problems()
    if not isinstance(text, str):
        problems.add("input.wrong_type", "user_data", f"must be text, not {type_name(text)}", fix="pass the content of the user data")
    checked = options(family, kubernetes_version, problems)
    instance = None if instance_type is None else instance_type_shape(instance_type, problems)
    problems.raise_any()
    return [finding.plain() for finding in lint(text, *checked, instance).findings]


def options(family: Any, kubernetes_version: Any, problems: Problems) -> tuple[str | None, tuple[int, int] | None]:
    """The family, with the names of eksctl resolved, and the version. Report values that are neither."""
    name = None if family is None else NODE_GROUP["family"](family, "family", problems)
    version = None if kubernetes_version is None else checked_version(kubernetes_version, "kubernetes_version", problems)
    return (
        None if name is None or name is INVALID else FAMILY_ALIASES[name][0] if name in FAMILY_ALIASES else name,
        None if version is INVALID else parse_version(version),
    )


def instance_type_shape(instance_type: Any, problems: Problems) -> InstanceShape | None:
    """What is known of an instance type. Report a value that is not in the table."""
    if not isinstance(instance_type, str):
        problems.add(
            "input.wrong_type", "instance_type", f"must be text, not {type_name(instance_type)}", fix="write a type such as m5.large"
        )
        return None
    try:
        return instance_shape(instance_type)
    except SpecError as error:
        fix = "correct the type, or leave it out"
        problems.extend(replace(problem, path="instance_type", fix=fix) for problem in error.problems)
        return None
