# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole plan for a cluster: what becomes of access entries, aws-auth and the ConfigMap for Windows. Pure; the action carries it out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import rules
from ..errors import Problem, Problems, SpecError
from ..model.described_cluster import check_cluster
from ..model.plain import INVALID
from .aws_auth import AwsAuth
from .config_map import ConfigMapPlan, plan_config_map, plan_left_config_map
from .desired import NodeRole, node_roles
from .entries import EntriesPlan, plan_entries
from .leaving import Leaving, leave_config_map
from .observed import Observed
from .row import CREATE, REMOVE, REPLACE, Row
from .windows import Facts, WindowsPlan, has_windows, plan_windows

_CHANGING = (CREATE, REPLACE, REMOVE)


@dataclass(frozen=True)
class Settings:
    """purge: remove our items that are not described any more. recreate: entries of a wrong type. force: correct items of other tools."""

    purge: bool = False
    recreate: bool = False
    force: bool = False


@dataclass(frozen=True)
class AccessPlan:
    """findings: what is not as it should be, but does not prevent the changes."""

    mode: str
    entries: EntriesPlan = field(default_factory=EntriesPlan)
    config_map: ConfigMapPlan = field(default_factory=ConfigMapPlan)
    windows: WindowsPlan = field(default_factory=WindowsPlan)
    leaving: tuple[Leaving, ...] = ()
    findings: tuple[Problem, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        return (*self.entries.rows, *self.config_map.rows)

    @property
    def changes_anything(self) -> bool:
        return bool(self.entries.changes) or self.config_map.body is not None or self.windows.body is not None


def read_input(cluster: Any, node_groups: Any, roles: Any) -> tuple[dict[str, Any], tuple[NodeRole, ...]]:
    """The cluster as it is given, and the roles of its nodes. Raises C(SpecError)."""
    problems = Problems()
    known = check_cluster(cluster, problems)
    if known is not INVALID and "name" not in known and not problems.touches("cluster.name"):
        problems.add("input.missing_field", "cluster.name", "is required", fix="set the name of the cluster")
    found = node_roles(node_groups, roles, problems)
    if not found and not problems:
        fix = "describe node groups with role_arn in eks_node_groups, or list roles in eks_cluster_access_roles"
        problems.add("input.missing_field", "node_groups", "has no role, so there is nothing to map", fix=fix)
    problems.raise_any()
    return known, found


def plan_access(
    roles: Sequence[NodeRole], observed: Observed, settings: Settings, *, aws_auth: AwsAuth | None = None, windows: Facts | None = None
) -> AccessPlan:
    """The plan. Raises C(SpecError) with all problems if one prevents it: then nothing is changed.

    aws_auth: None where the cluster does not use it. windows: for clusters with roles of Windows nodes.
    """
    problems = Problems()
    entries, config_map = EntriesPlan(), ConfigMapPlan()
    leaving: tuple[Leaving, ...] = ()
    if observed.has_entries:
        entries = plan_entries(roles, observed, aws_auth, problems, purge=settings.purge, recreate=settings.recreate)
        if aws_auth is not None:
            config_map = plan_left_config_map(observed, aws_auth, problems, purge=settings.purge)
            leaving = leave_config_map(aws_auth, observed)
    elif aws_auth is not None:
        config_map = plan_config_map(roles, observed, aws_auth, problems, purge=settings.purge, force=settings.force)
    if aws_auth is not None:
        _report_ignored_items(aws_auth, problems)
    found = plan_windows(windows, problems) if windows is not None and has_windows(roles) else WindowsPlan()
    errors, findings = _by_severity(problems)
    if errors:
        raise SpecError([*errors, *(one for one in findings if one.rule == "access.masked_mapping")])
    return AccessPlan(observed.mode, entries, config_map, found, leaving, findings)


def _report_ignored_items(aws_auth: AwsAuth, problems: Problems) -> None:
    for key, items in (("mapRoles", aws_auth.items), ("mapUsers", aws_auth.users)):
        for index, item in enumerate(items):
            if item.problem:
                problems.add("access.ignored_item", f"{key}[{index}]", f"is ignored by the cluster: {item.problem}")


def _by_severity(problems: Iterable[Problem]) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """(errors, others), both in the order of the problems."""
    errors: list[Problem] = []
    others: list[Problem] = []
    for problem in problems:
        (errors if rules.catalogue()[problem.rule].severity == "error" else others).append(problem)
    return tuple(errors), tuple(others)


def plain_plan(plan: AccessPlan) -> Mapping[str, Any]:
    """The plan as the result of a task."""
    return {
        "authentication_mode": plan.mode,
        "roles": [row.plain() for row in plan.rows],
        "windows": [check.plain() for check in plan.windows.checks],
        "leaving": [item.plain() for item in plan.leaving],
        "findings": [{**one.plain(), "severity": rules.catalogue()[one.rule].severity} for one in plan.findings],
    }
