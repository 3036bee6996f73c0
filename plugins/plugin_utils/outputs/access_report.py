# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of the access of nodes to a cluster, as lines and as diffs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from ..access import aws_auth, windows
from ..access.entries import EntryChange
from ..access.leaving import COVERED, Leaving
from ..access.observed import TAG, TAG_VALUE, Entry
from ..access.plan import AccessPlan
from ..access.row import CREATE, REMOVE, REPLACE, Row
from ..errors import Problem
from ..formats.yaml import dump
from ..rules import catalogue

_WORDS = {CREATE: "to create", REPLACE: "to change", REMOVE: "to remove"}
_HEAD = ("ROLE", "WHERE", "STATE", "USED BY", "NOTE")


def with_finding(plan: AccessPlan, problem: Problem) -> AccessPlan:
    """The plan with one more finding."""
    return replace(plan, findings=(*plan.findings, problem))


def table(cluster: str, plan: AccessPlan) -> list[str]:
    """The lines that a user reads: the roles, the needs of Windows nodes, what is needed to leave aws-auth, and the findings."""
    lines = [f"cluster {cluster}: authentication mode {plan.mode}", *_columns(plan.rows)]
    if plan.windows.checks:
        lines += ["", "Windows nodes need:", *(f"  {check.state:8} {check.message}" for check in plan.windows.checks)]
    if plan.leaving:
        lines += ["", *_leaving(plan.leaving)]
    # The section on Windows nodes has their findings already.
    shown = {check.message for check in plan.windows.checks}
    findings = [one for one in plan.findings if one.message not in shown]
    if findings:
        lines += ["", "Findings:", *(f"  {catalogue()[one.rule].severity}: {one}" for one in findings)]
    return lines


def _columns(rows: Sequence[Row]) -> list[str]:
    """Columns as wide as their content. A column without content is left out."""
    cells = [(row.principal, row.where, _WORDS.get(row.state, row.state), ", ".join(row.used_by), row.note) for row in rows]
    if not cells:
        return []
    used = [index for index in range(len(_HEAD)) if any(line[index] for line in cells)]
    lines = [_HEAD, *cells]
    widths = [max(len(line[index]) for line in lines) for index in used]
    return ["  ".join(line[index].ljust(width) for index, width in zip(used, widths, strict=True)).rstrip() for line in lines]


def _leaving(items: Sequence[Leaving]) -> Iterator[str]:
    open_items = [item for item in items if item.state != COVERED]
    if not open_items:
        yield "aws-auth is not needed any more: each of its items has an equivalent access entry"
        return
    yield f"To leave aws-auth, {len(open_items)} of {len(items)} items still need an access entry:"
    for item in open_items:
        needed = [f"type {item.kind}"] if item.kind else []
        needed += [f"groups {', '.join(item.groups)}"] if item.groups else []
        needed += [f"user name {item.username}"] if item.username and item.kind == "STANDARD" else []
        needed += [f"access policy {item.policy}"] if item.policy else []
        reason = f" ({item.reason})" if item.reason else ""
        yield f"  {item.state:10} {item.principal}: {'; '.join(needed) or 'no equivalent'}{reason}"


def diffs(plan: AccessPlan) -> list[dict[str, str]]:
    """Each change as Ansible shows it with C(--diff)."""
    found = [_entry_diff(change) for change in plan.entries.changes]
    if plan.config_map.body is not None:
        found.append(_diff(f"{aws_auth.NAMESPACE}/{aws_auth.NAME} mapRoles", plan.config_map.before, plan.config_map.after))
    if plan.windows.body is not None:
        found.append(_diff(f"{windows.NAMESPACE}/{windows.NAME}", plan.windows.before, dump({windows.KEY: windows.VALUE})))
    return found


def _entry_diff(change: EntryChange) -> dict[str, str]:
    before = "" if change.before is None else _entry(change.before)
    if change.action == "delete":
        after = ""
    elif change.action == "associate" and change.before is not None:
        after = _entry(replace(change.before, policies=(*change.before.policies, *change.policies)))
    else:
        tags = {**(change.before.own_tags if change.before else {}), TAG: TAG_VALUE}
        after = _entry(Entry(change.principal, change.kind, tags=tags, policies=change.policies))
    return _diff(f"access entry {change.principal}", before, after)


def _entry(entry: Entry) -> str:
    """An entry without what EKS itself chooses for nodes."""
    members: dict[str, Any] = {"type": entry.kind, "tags": dict(entry.tags), "access_policies": list(entry.policies)}
    if entry.kind == "STANDARD":
        members |= {"username": entry.username, "kubernetes_groups": list(entry.groups)}
    return dump({name: value for name, value in members.items() if value})


def _diff(name: str, before: str, after: str) -> dict[str, str]:
    return {"before_header": name, "after_header": name, "before": before, "after": after}
