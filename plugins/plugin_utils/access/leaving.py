# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is needed to leave aws-auth: the access entry of every item, and which items have no equivalent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .aws_auth import AwsAuth, Item
from .desired import HYBRID, LINUX, WINDOWS
from .map_roles import WINDOWS_GROUP
from .observed import Entry, Observed

COVERED, MISSING, DIFFERS, IMPOSSIBLE = "covered", "missing", "differs", "impossible"
"""The states of an item: there is an equivalent entry, there is none, there is another one, or there cannot be one."""

_STANDARD, _FARGATE = "STANDARD", "FARGATE_LINUX"
_ADMINISTRATORS, _ADMIN_POLICY = "system:masters", "AmazonEKSClusterAdminPolicy"
_RESERVED = ("system:", "eks:", "aws:", "amazon:", "iam:")
"""How user names cannot begin. Groups only cannot begin with the first one."""


@dataclass(frozen=True)
class Leaving:
    """One item of aws-auth. kind: the type of the entry that it needs. groups, username, policy: what a C(STANDARD) entry needs.

    reason: why it has this state.
    """

    principal: str
    state: str
    kind: str = ""
    groups: tuple[str, ...] = ()
    username: str = ""
    policy: str = ""
    reason: str = ""

    def plain(self) -> dict[str, object]:
        return {
            "principal": self.principal, "state": self.state, "type": self.kind, "kubernetes_groups": list(self.groups),
            "username": self.username, "access_policy": self.policy, "reason": self.reason,
        }  # fmt: skip


def leave_config_map(aws_auth: AwsAuth, observed: Observed) -> tuple[Leaving, ...]:
    """The items of aws-auth, in its order, with the entries that they need. Items that aws-iam-authenticator ignores are left out."""
    return tuple(_items(aws_auth, observed))


def _items(aws_auth: AwsAuth, observed: Observed) -> Iterator[Leaving]:
    for item in (*aws_auth.items, *aws_auth.users):
        if not item.problem and not (item.role is not None and item.role.path):
            yield _of_node(item, observed) if item.is_node else _of_user(item, observed)
    for account in aws_auth.accounts:
        reason = "access entries have no rule for a whole account: create one for each principal that needs access"
        yield Leaving(account, IMPOSSIBLE, reason=reason)
    for key, problem in (aws_auth.unread or {}).items():
        yield Leaving(key, IMPOSSIBLE, reason=f"{key} cannot be read: {problem}")


def _entry(item: Item, observed: Observed) -> Entry | None:
    """The entry of the principal of an item. aws-auth has no paths, so a role is found by its name."""
    role = item.role
    for entry in observed.entries:
        if entry.principal == item.arn or (role is not None and entry.role is not None and entry.role.key == role.key):
            return entry
    return None


def _of_node(item: Item, observed: Observed) -> Leaving:
    if WINDOWS_GROUP in item.groups:
        kind = WINDOWS
    else:
        users = observed.used_by_eks.get(item.role.key, ()) if item.role is not None else ()
        kind = _FARGATE if "system:node-proxier" in item.groups or any("Fargate" in name for name in users) else LINUX
    entry = _entry(item, observed)
    if entry is None:
        reason = "EKS creates it with a Fargate profile or a managed node group" if kind == _FARGATE else ""
        return Leaving(item.arn, MISSING, kind, reason=reason)
    if entry.kind == kind or (entry.kind == HYBRID and kind == LINUX):
        return Leaving(item.arn, COVERED, entry.kind)
    return Leaving(item.arn, DIFFERS, kind, reason=f"its access entry has the type {entry.kind}")


def _of_user(item: Item, observed: Observed) -> Leaving:
    """The item of a principal that is not a node: a person, a program, a pipeline."""
    groups = tuple(group for group in item.groups if not group.startswith("system:"))
    policy = _ADMIN_POLICY if _ADMINISTRATORS in item.groups else ""
    lost = [group for group in item.groups if group.startswith("system:") and group != _ADMINISTRATORS]
    username = "" if item.username.startswith(_RESERVED) else item.username
    needed = Leaving(item.arn, MISSING, _STANDARD, groups, username, policy)
    if lost:
        reason = f"groups of access entries cannot begin with system:, so bind other groups in place of {', '.join(lost)}"
        return _with(needed, IMPOSSIBLE, reason)
    if item.username.startswith(_RESERVED):
        return _with(needed, IMPOSSIBLE, f"user names of access entries cannot begin with {item.username.partition(':')[0]}:")
    entry = _entry(item, observed)
    if entry is None:
        return needed
    missing = [group for group in groups if group not in entry.groups]
    if missing:
        return _with(needed, DIFFERS, f"its access entry does not have the group{'s' if len(missing) > 1 else ''} {', '.join(missing)}")
    if policy and not any(name.endswith(f"/{policy}") for name in entry.policies):
        return _with(needed, DIFFERS, f"its access entry does not have the access policy {policy}")
    return _with(needed, COVERED, "")


def _with(found: Leaving, state: str, reason: str) -> Leaving:
    return Leaving(found.principal, state, found.kind, found.groups, found.username, found.policy, reason)
