# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""C(mapRoles) of the C(aws-auth) ConfigMap: which IAM roles may join the cluster as nodes."""

from __future__ import annotations

import re
from typing import Any

from .errors import Problems, joined
from .model.fields import FAMILIES, FAMILY_ALIASES
from .model.plain import INVALID, plain
from .model.schema import Check, choice, record, text, wrong_type

USERNAME = "system:node:{{EC2PrivateDNSName}}"
"""aws-iam-authenticator fills in the name; the braces are its own and must reach the ConfigMap as they are."""

_NODE_GROUPS = ("system:bootstrappers", "system:nodes")
_WINDOWS_GROUP = "eks:kube-proxy-windows"
"""Lets kube-proxy of a Windows node read services (Amazon EKS user guide, Windows support)."""

_ALLOWED = "the ARN of an IAM role such as arn:aws:iam::111122223333:role/node"
_ARN = re.compile(
    r"arn:(?P<partition>aws(?:-[a-z]+)*):(?P<service>iam|sts):(?P<region>[^:]*):(?P<account>[^:]*):(?P<kind>[a-z-]+)/(?P<rest>.+)",
    re.ASCII,
)
_PARTITIONS = ("aws", "aws-cn", "aws-eusc", "aws-iso", "aws-iso-b", "aws-iso-e", "aws-iso-f", "aws-us-gov")
_NAME = re.compile(r"[A-Za-z0-9_+=,.@-]{1,64}", re.ASCII)
_PATH = re.compile(r"(?:[\x21-\x2e\x30-\x7e]+/)*", re.ASCII)
_LONGEST_PATH = 510

_SERVICE_ROLES = ("aws-service-role", "aws-reserved")


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
    groups: dict[str, set[str]] = {}
    for index, item in enumerate(items):
        entry = _ENTRY(item, joined("entries", index), problems)
        if entry is not INVALID and len(entry) == len(_FIELDS):
            family = FAMILY_ALIASES[entry["family"]][0] if entry["family"] in FAMILY_ALIASES else entry["family"]
            groups.setdefault(entry["role_arn"], set()).update((_WINDOWS_GROUP,) if family == "windows" else ())
    problems.raise_any()
    return [{"rolearn": arn, "username": USERNAME, "groups": [*_NODE_GROUPS, *sorted(extra)]} for arn, extra in groups.items()]


def _role_arn(value: Any, path: str, problems: Problems) -> Any:
    """The ARN of an IAM role, without the role's path."""
    value = text(allowed=_ALLOWED)(value, path, problems)
    if value is INVALID:
        return INVALID
    match = _ARN.fullmatch(value)
    if not match:
        fix = "use the full ARN, not the role's name" if ":" not in value else None
        problems.add("aws_auth.invalid_arn", path, "is not an ARN of IAM", value=value, allowed=_ALLOWED, fix=fix)
        return INVALID
    reason, fix = _arn_problem(match)
    if reason:
        problems.add("aws_auth.invalid_arn", path, reason, value=value, allowed=_ALLOWED, fix=fix)
        return INVALID
    name = match["rest"].rpartition("/")[2]
    return f"arn:{match['partition']}:iam::{match['account']}:role/{name}"


def _arn_problem(match: re.Match[str]) -> tuple[str | None, str | None]:
    """Why an ARN is not that of a node role, and what to do; (None, None) when it is."""
    partition, account, rest = match["partition"], match["account"], match["rest"]
    name = rest.rpartition("/")[2]
    path = rest[: len(rest) - len(name)]
    if partition not in _PARTITIONS:
        return f"{partition} is not an AWS partition", f"write one of {', '.join(_PARTITIONS)}"
    if not re.fullmatch(r"[0-9]{12}", account, re.ASCII):
        return "the account ID does not have 12 digits", "quote the ARN, so that leading zeros are kept"
    role = f"arn:{partition}:iam::{account}:role"
    if match["service"] == "sts":
        if match["kind"] == "assumed-role" and rest.partition("/")[0]:
            return "is a session of a role, not the role", f"write {role}/{rest.partition('/')[0]}"
        return "is not a role", "use the ARN of the nodes' IAM role"
    if match["kind"] == "instance-profile":
        return (
            "is the ARN of an instance profile; the cluster needs the ARN of the role in it",
            "copy Roles[0].Arn of `aws iam get-instance-profile`",
        )
    if match["kind"] != "role":
        return f"is an IAM {match['kind']}, not a role", "use the ARN of the nodes' IAM role"
    if match["region"]:
        return "names a region, which roles do not have", f"write {role}/{rest}"
    if not _NAME.fullmatch(name) or not _PATH.fullmatch(path) or len(path) > _LONGEST_PATH:
        return "its role name is not one", "use up to 64 letters, digits and _+=,.@- after the last slash"
    if rest.partition("/")[0] in _SERVICE_ROLES:
        return "is a role of AWS's own, which no instance can have", "use the ARN of the nodes' IAM role"
    return None, None


_FIELDS: dict[str, Check] = {"role_arn": _role_arn, "family": choice(*FAMILIES, aliases={alias: alias for alias in FAMILY_ALIASES})}
_ENTRY = record(
    _FIELDS,
    required={"role_arn": "the ARN of an IAM role", "family": ", ".join(FAMILIES)},
    unknown={"rolearn": "write role_arn", "username": "remove it: it is the same for every node", "groups": "remove it: family decides"},
)
