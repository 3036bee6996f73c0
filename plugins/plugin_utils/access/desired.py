# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles that nodes need access with: from node groups, and from a list of other roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Problems, joined, nearest
from ..model.fields import MODES
from ..model.plain import INVALID, plain
from ..model.role_arn import ALLOWED, RoleArn, role_arn
from ..model.schema import Check, choice, record, text, wrong_type
from .map_roles import family_name, is_windows

LINUX, WINDOWS, AUTO, HYBRID, HYPERPOD = "EC2_LINUX", "EC2_WINDOWS", "EC2", "HYBRID_LINUX", "HYPERPOD_LINUX"
TYPES = (LINUX, WINDOWS, AUTO, HYBRID, HYPERPOD)
"""The types of access entries for nodes that you run. EKS itself creates the entries of Fargate."""

_MAPPED_BY_EKS = ("managed", "managed_custom_ami")
"""The modes of node groups whose roles EKS maps itself. For these, C(role_arn) is optional."""


@dataclass(frozen=True)
class Use:
    """One use of a role. path: in the input. name: for messages. kind: the type of the access entry that it needs."""

    path: str
    name: str
    kind: str


@dataclass(frozen=True)
class NodeRole:
    """A role, and everything that uses it."""

    arn: RoleArn
    uses: tuple[Use, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The types that its uses need, without repetitions. One principal has one access entry, so access entries allow one type."""
        return tuple(dict.fromkeys(use.kind for use in self.uses))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(use.name for use in self.uses))


def node_roles(node_groups: Any, roles: Any, problems: Problems) -> tuple[NodeRole, ...]:
    """The roles of C(node_groups) and of C(roles), in the order of their first use. Other fields of a node group are not checked.

    roles: a list of C({role_arn, family}) or C({role_arn, type}).
    """
    uses: list[tuple[RoleArn, Use]] = []
    for index, group in enumerate(_items(node_groups, "node_groups", "a list of node groups", problems)):
        uses += _of_group(group, joined("node_groups", index), problems)
    for index, entry in enumerate(_items(roles, "roles", "a list of {role_arn, family}", problems)):
        uses += _of_entry(entry, joined("roles", index), problems)
    found: dict[tuple[str, str], list[tuple[RoleArn, Use]]] = {}
    for arn, use in uses:
        found.setdefault(arn.key, []).append((arn, use))
    for same in found.values():
        _check_paths(same, problems)
    return tuple(NodeRole(same[0][0], tuple(use for _arn, use in same)) for same in found.values())


def _items(value: Any, path: str, expected: str, problems: Problems) -> list[Any]:
    items = plain([] if value is None else value, path, problems)
    if not isinstance(items, list):
        if items is not INVALID:
            wrong_type(items, expected, path, problems)
        return []
    return items


def _of_group(group: Any, path: str, problems: Problems) -> list[tuple[RoleArn, Use]]:
    if not isinstance(group, Mapping):
        wrong_type(group, "a mapping", path, problems)
        return []
    values = {name: check(group[name], joined(path, name), problems) for name, check in _GROUP.items() if group.get(name) is not None}
    if "family" not in values:
        problems.add("input.missing_field", joined(path, "family"), "is required", fix="set the family of the nodes")
    if "role_arn" not in values and values.get("mode") not in _MAPPED_BY_EKS:
        guess = nearest("role_arn", set(group) - set(_GROUP))
        problems.add(
            "input.missing_field", joined(path, "role_arn"), "is required: EKS maps only the roles of its own node groups",
            allowed=ALLOWED, fix=f"rename {guess} to role_arn" if guess else "set the ARN of the role in the instance profile of the nodes",
        )  # fmt: skip
    if INVALID in values.values() or not {"family", "role_arn"} <= set(values):
        return []
    name = f"node group {values['name']}" if "name" in values else path
    return [(values["role_arn"], Use(path, name, WINDOWS if is_windows(values["family"]) else LINUX))]


def _of_entry(entry: Any, path: str, problems: Problems) -> list[tuple[RoleArn, Use]]:
    values = _ENTRY(entry, path, problems)
    if values is INVALID:
        return []
    if len({"family", "type"} & set(entry)) != 1:
        fix = "remove one of them" if {"family", "type"} <= set(entry) else f"set family, or type: one of {', '.join(TYPES)}"
        problems.add("input.conflict", path, "needs either family or type", fix=fix)
        return []
    if "role_arn" not in values or not {"family", "type"} & set(values):
        return []
    kind = values.get("type") or (WINDOWS if is_windows(values["family"]) else LINUX)
    return [(values["role_arn"], Use(path, path, kind))]


def _check_paths(same: Sequence[tuple[RoleArn, Use]], problems: Problems) -> None:
    """Report uses that name the same role with different paths."""
    first, first_use = same[0]
    for arn, use in same[1:]:
        if str(arn) != str(first):
            problems.add(
                "input.conflict", joined(use.path, "role_arn"), f"differs only in its path from {first_use.path}.role_arn ({first})",
                value=str(arn), fix="use the ARN that `aws iam get-role` shows: the name of a role is unique in its account",
            )  # fmt: skip


_GROUP: dict[str, Check] = {"name": text(), "family": family_name, "mode": choice(*MODES), "role_arn": role_arn}
_ENTRY = record(
    {"role_arn": role_arn, "family": family_name, "type": choice(*TYPES)},
    required={"role_arn": "the ARN of an IAM role"},
    unknown={"rolearn": "write role_arn", "username": "remove it: it is the same for every node", "groups": "remove it: family decides"},
)
