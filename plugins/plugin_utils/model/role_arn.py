# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ARNs of IAM roles, as the input has them and as the cluster compares them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..errors import Problems
from .plain import INVALID
from .schema import text

ALLOWED = "the ARN of an IAM role such as arn:aws:iam::111122223333:role/node"

_PRINCIPAL = "the ARN of an IAM role or user"
_ARN = re.compile(
    r"arn:(?P<partition>aws(?:-[a-z]+)*):(?P<service>iam|sts):(?P<region>[^:]*):(?P<account>[^:]*):(?P<kind>[a-z-]+)/(?P<rest>.+)",
    re.ASCII,
)
_PARTITIONS = ("aws", "aws-cn", "aws-eusc", "aws-iso", "aws-iso-b", "aws-iso-e", "aws-iso-f", "aws-us-gov")
_NAME = re.compile(r"[A-Za-z0-9_+=,.@-]{1,64}", re.ASCII)
_PATH = re.compile(r"(?:[\x21-\x2e\x30-\x7e]+/)*", re.ASCII)
_LONGEST_PATH = 510

_SERVICE_ROLES = ("aws-service-role", "aws-reserved")


@dataclass(frozen=True)
class RoleArn:
    """An IAM role. path: with a slash at its end, or C('').

    The name of a role is unique in its account, whatever its path is, so two ARNs that differ in the path only cannot both exist.
    """

    partition: str
    account: str
    path: str
    name: str

    def __str__(self) -> str:
        """The ARN as IAM has it. Access entries need it."""
        return f"arn:{self.partition}:iam::{self.account}:role/{self.path}{self.name}"

    @property
    def without_path(self) -> str:
        """The ARN as aws-auth needs it: aws-iam-authenticator compares without the path."""
        return f"arn:{self.partition}:iam::{self.account}:role/{self.name}"

    @property
    def key(self) -> tuple[str, str]:
        """What identifies the role: aws-iam-authenticator does not distinguish upper and lower case, and neither does IAM."""
        return self.account, self.name.lower()


def role_arn(value: Any, path: str, problems: Problems) -> Any:
    """A check of the schema: the C(RoleArn) of a node role, or INVALID."""
    value = text(allowed=ALLOWED)(value, path, problems)
    if value is INVALID:
        return INVALID
    match = _ARN.fullmatch(value)
    if not match:
        fix = "use the full ARN, not the role's name" if ":" not in value else None
        problems.add("aws_auth.invalid_arn", path, "is not an ARN of IAM", value=value, allowed=ALLOWED, fix=fix)
        return INVALID
    reason, fix = _arn_problem(match)
    if reason:
        problems.add("aws_auth.invalid_arn", path, reason, value=value, allowed=ALLOWED, fix=fix)
        return INVALID
    return _role(match)


def role_arn_text(value: Any, path: str, problems: Problems) -> Any:
    """The same check for a field of the model: the ARN as text, or INVALID."""
    role = role_arn(value, path, problems)
    return INVALID if role is INVALID else str(role)


def principal_arn(value: Any, path: str, problems: Problems) -> Any:
    """A check of the schema: the ARN of a role or of a user as text, or INVALID. Roles of IAM Identity Center are accepted."""
    value = text(allowed=_PRINCIPAL)(value, path, problems)
    match = None if value is INVALID else _ARN.fullmatch(value)
    if value is INVALID or (
        match and match["service"] == "iam" and match["kind"] == "user" and re.fullmatch("[0-9]{12}", match["account"])
    ):
        return value
    if match and match["rest"].startswith(f"{_SERVICE_ROLES[1]}/"):
        # Only nodes cannot have such a role.
        match = _ARN.fullmatch(value.replace(f"{_SERVICE_ROLES[1]}/", "", 1))
    reason, fix = _arn_problem(match) if match else ("is not an ARN of IAM", None)
    if reason:
        problems.add("aws_auth.invalid_arn", path, reason, value=value, allowed=_PRINCIPAL, fix=fix)
        return INVALID
    return value


def find_role(value: object) -> RoleArn | None:
    """The role that an ARN of any form names: that of a role or of a session of a role; None for users, accounts and other text."""
    match = _ARN.fullmatch(value) if isinstance(value, str) else None
    if not match:
        return None
    if match["service"] == "sts" and match["kind"] == "assumed-role":
        # The ARN of a session does not have the path of its role.
        return RoleArn(match["partition"], match["account"], "", match["rest"].partition("/")[0])
    return _role(match) if match["service"] == "iam" and match["kind"] == "role" else None


def _role(match: re.Match[str]) -> RoleArn:
    path, slash, name = match["rest"].rpartition("/")
    return RoleArn(match["partition"], match["account"], path + slash, name)


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
