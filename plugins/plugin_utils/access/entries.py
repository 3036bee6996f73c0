# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of access entries. Only entries with our tag are removed, and an entry of the wrong type only with C(recreate)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..errors import Problems, joined
from .aws_auth import AwsAuth
from .desired import AUTO, NodeRole
from .map_roles import USERNAME
from .observed import Entry, Observed
from .row import CREATE, KEEP, PRESENT, REFUSED, REMOVE, REPLACE, Row

AUTO_NODE_POLICY = "arn:{partition}:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy"
"""EKS Auto Mode gives its nodes permissions by this policy, and not by a group."""

_FARGATE = "FARGATE_LINUX"


@dataclass(frozen=True)
class EntryChange:
    """A change of one entry. action: C(create), C(recreate), C(associate) or C(delete). before: the entry, where there is one.

    policies: the access policies that are missing.
    """

    action: str
    principal: str
    kind: str
    policies: tuple[str, ...] = ()
    before: Entry | None = None


@dataclass(frozen=True)
class EntriesPlan:
    """rows: one for each role, and one for each of our entries that is not described. changes: in order, removals last."""

    rows: tuple[Row, ...] = ()
    changes: tuple[EntryChange, ...] = ()


def plan_entries(
    roles: Sequence[NodeRole], observed: Observed, aws_auth: AwsAuth | None, problems: Problems, *, purge: bool, recreate: bool
) -> EntriesPlan:
    """The plan for the modes C(API) and C(API_AND_CONFIG_MAP). aws_auth: None if the cluster does not use it, or if it is not known."""
    rows: list[Row] = []
    changes: list[EntryChange] = []
    for role in roles:
        row, change = _of_role(role, observed, aws_auth, problems, recreate)
        rows.append(row)
        changes += [change] if change else []
    for row, change in _not_described(roles, observed, purge):
        rows.append(row)
        changes += [change] if change else []
    return EntriesPlan(tuple(rows), tuple(changes))


def _of_role(
    role: NodeRole, observed: Observed, aws_auth: AwsAuth | None, problems: Problems, recreate: bool
) -> tuple[Row, EntryChange | None]:
    arn, names, kind = str(role.arn), role.names, role.kinds[0]
    if _has_problem(role, observed, problems):
        return Row(arn, " and ".join(role.kinds), REFUSED, names), None
    policies = (AUTO_NODE_POLICY.format(partition=role.arn.partition),) if kind == AUTO else ()
    entry, note = observed.entry_of(role.arn), ""
    similar = observed.similar_entry(role.arn) if entry is None else None
    if similar is not None:
        note = f"the entry of {similar.principal} differs in its path: one of the two roles does not exist"
    if entry is None:
        return Row(arn, kind, CREATE, names, note), EntryChange("create", arn, kind, policies)
    if entry.kind == kind:
        missing = tuple(policy for policy in policies if policy not in entry.policies)
        note = f"gets the access policy {missing[0].rpartition('/')[2]}" if missing else "" if entry.is_ours else _owner(role, observed)
        change = EntryChange("associate", arn, kind, missing, entry) if missing else None
        return Row(arn, kind, REPLACE if missing else PRESENT, names, note), change
    wrong = f"the entry has the type {entry.kind}"
    masked = _masked(role, aws_auth)
    if masked:
        problems.add("access.masked_mapping", _path(role), f"{masked} is right, but the access entry of type {entry.kind} takes precedence")
    reason = _reason_not_to_recreate(role, entry, observed)
    if reason or not recreate:
        fix = f"use another role for the nodes: {reason}" if reason else "set recreate: true, which deletes the entry and creates it again"
        message = f"has an access entry of type {entry.kind}, and the type cannot be changed"
        problems.add("access.wrong_entry_type", _path(role), message, allowed=kind, fix=fix)
        return Row(arn, kind, REFUSED, names, wrong), None
    return Row(arn, kind, REPLACE, names, wrong), EntryChange("recreate", arn, kind, policies, entry)


def _has_problem(role: NodeRole, observed: Observed, problems: Problems) -> bool:
    """Report why a role cannot have an entry."""
    if len(role.kinds) > 1:
        first, second = (next(use for use in role.uses if use.kind == kind) for kind in role.kinds[:2])
        problems.add(
            "access.shared_role", joined(second.path, "role_arn"),
            f"needs an access entry of type {second.kind}, but {first.path}.role_arn is the same role and needs {first.kind}",
            value=str(role.arn), fix="use another role for one of them: a principal has one access entry",
        )  # fmt: skip
    elif observed.account and role.arn.account != observed.account:
        problems.add(
            "access.other_account", _path(role), f"belongs to another account than the cluster ({observed.account})",
            value=str(role.arn), fix="use a role of the account of the cluster: EKS accepts no other for nodes",
        )  # fmt: skip
    else:
        return False
    return True


def _path(role: NodeRole) -> str:
    return joined(role.uses[0].path, "role_arn")


def _owner(role: NodeRole, observed: Observed) -> str:
    users = observed.used_by_eks.get(role.arn.key, ())
    return f"EKS or another tool created it; {', '.join(users)} uses it" if users else "another tool created it"


def _masked(role: NodeRole, aws_auth: AwsAuth | None) -> str:
    """The item of aws-auth that would map the role rightly, C('') without one."""
    found = aws_auth.find(role.arn) if aws_auth else None
    if found is None:
        return ""
    index, item = found
    return f"item {index + 1} of mapRoles" if item.username == USERNAME and "system:nodes" in item.groups else ""


def _reason_not_to_recreate(role: NodeRole, entry: Entry, observed: Observed) -> str:
    if observed.is_caller(role.arn):
        return "this one is your own access to the cluster"
    users = observed.used_by_eks.get(role.arn.key, ())
    if entry.kind == _FARGATE:
        return f"this one belongs to {', '.join(users) or 'Fargate'}"
    return ""


def _not_described(roles: Sequence[NodeRole], observed: Observed, purge: bool) -> Iterator[tuple[Row, EntryChange | None]]:
    """Our entries that no node group and no role of the input needs."""
    wanted = {str(role.arn) for role in roles}
    for entry in observed.entries:
        if not entry.is_ours or entry.principal in wanted:
            continue
        reason = _reason_to_keep(entry, observed, purge)
        change = None if reason else EntryChange("delete", entry.principal, entry.kind, (), entry)
        yield Row(entry.principal, entry.kind, KEEP if reason else REMOVE, (), reason), change


def _reason_to_keep(entry: Entry, observed: Observed, purge: bool) -> str:
    role = entry.role
    if (role is not None and observed.is_caller(role)) or entry.principal == observed.caller:
        return "kept: it is your own access to the cluster"
    users = observed.used_by_eks.get(role.key, ()) if role is not None else ()
    if users:
        return f"kept: {', '.join(users)} uses it"
    return "" if purge else "kept: purge: true removes it"
