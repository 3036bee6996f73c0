# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""C(mapRoles) of the ConfigMap C(aws-auth): which IAM roles can join the cluster as nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import Problems, joined
from ..model.fields import FAMILIES, FAMILY_ALIASES
from ..model.plain import INVALID, plain
from ..model.role_arn import role_arn
from ..model.schema import Check, choice, record, wrong_type

USERNAME = "system:node:{{EC2PrivateDNSName}}"
"""aws-iam-authenticator fills in the name; the braces are its own and must reach the ConfigMap as they are."""

NODE_GROUPS = ("system:bootstrappers", "system:nodes")
WINDOWS_GROUP = "eks:kube-proxy-windows"
"""Lets kube-proxy of a Windows node read services (Amazon EKS user guide, Windows support)."""


def aws_auth_map_roles(entries: Any) -> list[dict[str, Any]]:
    """The C(mapRoles) list of node roles, one item per role, in the order in which the roles first occur.

    entries: list of C({role_arn, family}); families are ours or eksctl's names. Roles that stand twice get the groups of both.
    The IAM path is taken out of the ARN, because aws-iam-authenticator compares without it. Raises C(SpecError).
    """
    problems = Problems()
    items = plain(entries, "entries", problems)
    if not isinstance(items, list):
        if items is not INVALID:
            wrong_type(items, "a list of {role_arn, family}", "entries", problems)
        items = []
    windows: dict[str, bool] = {}
    for index, item in enumerate(items):
        entry = _ENTRY(item, joined("entries", index), problems)
        if entry is not INVALID and len(entry) == len(_FIELDS):
            arn = entry["role_arn"].without_path
            windows[arn] = windows.get(arn, False) or is_windows(entry["family"])
    problems.raise_any()
    return [map_role(arn, [WINDOWS_GROUP] if has_windows else []) for arn, has_windows in windows.items()]


def map_role(arn: str, more_groups: Iterable[str] = ()) -> dict[str, Any]:
    """The item of one role."""
    return {"rolearn": arn, "username": USERNAME, "groups": [*NODE_GROUPS, *more_groups]}


def is_windows(family: str) -> bool:
    """Whether nodes of a family run Windows. family: any of its names."""
    return (FAMILY_ALIASES[family][0] if family in FAMILY_ALIASES else family) == "windows"


family_name: Check = choice(*FAMILIES, aliases={alias: alias for alias in FAMILY_ALIASES})
"""The name of a family, or another name of it."""

_FIELDS: dict[str, Check] = {"role_arn": role_arn, "family": family_name}
_ENTRY = record(
    _FIELDS,
    required={"role_arn": "the ARN of an IAM role", "family": ", ".join(FAMILIES)},
    unknown={"rolearn": "write role_arn", "username": "remove it: it is the same for every node", "groups": "remove it: family decides"},
)
