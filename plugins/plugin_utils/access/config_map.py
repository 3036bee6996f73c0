# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of aws-auth: only items that this collection wrote are changed, unless C(force) allows to correct others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Problems
from ..model.role_arn import RoleArn
from .aws_auth import NAME, NAMESPACE, AwsAuth, Item, annotation
from .desired import AUTO, HYBRID, HYPERPOD, WINDOWS, NodeRole
from .map_roles import NODE_GROUPS, USERNAME, WINDOWS_GROUP, map_role
from .map_roles_text import CannotEdit, edit
from .observed import TAG, Observed
from .row import CREATE, KEEP, PRESENT, REFUSED, REMOVE, REPLACE, Row

_NODE = "system:nodes"
_INSTANCE_ID = "system:node:{{SessionName}}"
"""For nodes that are named after their instance. Another tool may have reasons for it, so it is not wrong."""

_WHERE = f"{NAMESPACE}/{NAME}"
_OWN_ACCESS = "kept: it is your own access to the cluster"


@dataclass(frozen=True)
class ConfigMapPlan:
    """rows: one for each role. before, after: C(mapRoles). body: the request, None if nothing changes. is_new: there is no aws-auth yet."""

    rows: tuple[Row, ...] = ()
    before: str = ""
    after: str = ""
    body: dict[str, Any] | None = None
    is_new: bool = False


def plan_config_map(
    roles: Sequence[NodeRole], observed: Observed, aws_auth: AwsAuth, problems: Problems, *, purge: bool, force: bool
) -> ConfigMapPlan:
    """The plan for the mode C(CONFIG_MAP)."""
    changes = _Changes(aws_auth)
    rows = [_row(role, aws_auth, changes, problems, force) for role in roles]
    wanted = {role.arn.key for role in roles}
    for index, item in _of_ours(aws_auth):
        if item.role is None or item.role.key not in wanted:
            reason = _reason_to_keep(item.role, observed, purge)
            rows.append(_remove(index, item, changes, reason))
    return changes.plan(rows, problems)


def plan_left_config_map(observed: Observed, aws_auth: AwsAuth, problems: Problems, *, purge: bool) -> ConfigMapPlan:
    """The plan for the mode C(API_AND_CONFIG_MAP): our items are removed where an equivalent entry was seen."""
    changes = _Changes(aws_auth)
    rows = []
    for index, item in _of_ours(aws_auth):
        entry = (observed.entry_of(item.role) or observed.similar_entry(item.role)) if item.role else None
        is_covered = entry is not None and entry.kind != "STANDARD"
        if item.role is not None and observed.is_caller(item.role):
            reason = _OWN_ACCESS
        else:
            reason = _purge_removes(purge) if is_covered else "kept: no access entry of this role was seen"
        rows.append(_remove(index, item, changes, reason))
    return changes.plan(rows, problems)


class _Changes:
    """Collects changes of C(mapRoles)."""

    def __init__(self, aws_auth: AwsAuth) -> None:
        self._aws_auth = aws_auth
        self.removed: set[int] = set()
        self.replaced: dict[int, Any] = {}
        self.added: list[Any] = []

    def plan(self, rows: Sequence[Row], problems: Problems) -> ConfigMapPlan:
        found, before = self._aws_auth, self._aws_auth.text
        try:
            after = edit(before, removed=self.removed, replaced=self.replaced, added=self.added)
        except CannotEdit as error:
            fix = f"edit {_WHERE} with kubectl, for example without anchors, and run again"
            problems.add("access.cannot_edit", "mapRoles", f"cannot be edited, because {error}", fix=fix)
            return ConfigMapPlan(tuple(rows), before, before)
        # Items that are gone are forgotten: what has the same ARN later belongs to the tool that wrote it.
        kept = [item.arn for index, item in enumerate(found.items) if found.is_ours(item) and index not in self.removed]
        owned = annotation([*kept, *(item["rolearn"] for item in (*self.added, *self.replaced.values()))])
        if after == before and (not found.version or owned == annotation(found.owned)):
            return ConfigMapPlan(tuple(rows), before, before)
        metadata: dict[str, Any] = {"annotations": {TAG: owned}}
        if found.version:
            body: dict[str, Any] = {"metadata": {**metadata, "resourceVersion": found.version}, "data": {"mapRoles": after}}
        else:
            named = {"name": NAME, "namespace": NAMESPACE, **metadata}
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": named, "data": {"mapRoles": after}}
        return ConfigMapPlan(tuple(rows), before, after, body, is_new=not found.version)


def _row(role: NodeRole, aws_auth: AwsAuth, changes: _Changes, problems: Problems, force: bool) -> Row:
    unsupported = [use for use in role.uses if use.kind in (AUTO, HYBRID, HYPERPOD)]
    for use in unsupported:
        problems.add(
            "access.needs_access_entries", use.path, f"{use.kind} needs access entries, and the cluster uses only aws-auth",
            fix="change the authentication mode of the cluster to API_AND_CONFIG_MAP, which cannot be undone",
        )  # fmt: skip
    arn, names = role.arn.without_path, role.names
    groups = [WINDOWS_GROUP] if WINDOWS in role.kinds else []
    if unsupported:
        return Row(arn, _WHERE, REFUSED, names)
    found = aws_auth.find(role.arn)
    if found is None:
        changes.added.append(map_role(arn, groups))
        ignored = aws_auth.with_path(role.arn)
        note = "" if ignored is None else f"item {ignored + 1} of mapRoles has the path of the role, and no effect"
        return Row(arn, _WHERE, CREATE, names, note)
    index, item = found
    wrong = _difference(item, groups, is_ours=aws_auth.is_ours(item))
    if not wrong:
        return Row(arn, _WHERE, PRESENT, names, "" if aws_auth.is_ours(item) else "another tool wrote it")
    if aws_auth.is_ours(item) or force:
        changes.replaced[index] = _corrected(aws_auth.document.items[index], item, groups)
        return Row(arn, _WHERE, REPLACE, names, wrong)
    problems.add(
        "access.foreign_mapping", role.uses[0].path, f"item {index + 1} of mapRoles maps {arn}, but {wrong}; another tool wrote it",
        fix="correct it there, or set force: true, so that this item is replaced",
    )  # fmt: skip
    return Row(arn, _WHERE, REFUSED, names, wrong)


def _difference(item: Item, groups: Sequence[str], *, is_ours: bool) -> str:
    """Why nodes with this item cannot join or do not work, C('') if they can."""
    needed = [*(NODE_GROUPS if is_ours else (_NODE,)), *groups]
    missing = [group for group in needed if group not in item.groups]
    if item.username != USERNAME and (is_ours or item.username != _INSTANCE_ID):
        return f"its user name is not {USERNAME}"
    return f"it does not have the group{'s' if len(missing) > 1 else ''} {', '.join(missing)}" if missing else ""


def _corrected(value: Any, item: Item, groups: Sequence[str]) -> dict[str, Any]:
    """The right item. Other groups and fields of it stay."""
    fields = {key: one for key, one in value.items() if key.lower() not in ("rolearn", "username", "groups")}
    right = map_role(item.arn, groups)
    return {**fields, **right, "groups": [*right["groups"], *(group for group in item.groups if group not in right["groups"])]}


def _of_ours(aws_auth: AwsAuth) -> list[tuple[int, Item]]:
    return [(index, item) for index, item in enumerate(aws_auth.items) if aws_auth.is_ours(item)]


def _reason_to_keep(role: RoleArn | None, observed: Observed, purge: bool) -> str:
    if role is not None and observed.is_caller(role):
        return _OWN_ACCESS
    users = observed.used_by_eks.get(role.key, ()) if role is not None else ()
    return f"kept: {', '.join(users)} uses it" if users else _purge_removes(purge)


def _purge_removes(purge: bool) -> str:
    return "" if purge else "kept: purge: true removes it"


def _remove(index: int, item: Item, changes: _Changes, reason: str) -> Row:
    if reason:
        return Row(item.arn, _WHERE, KEEP, (), reason)
    changes.removed.add(index)
    return Row(item.arn, _WHERE, REMOVE, ())
