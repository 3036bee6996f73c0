# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ConfigMap aws-auth as aws-iam-authenticator reads it, and which of its items this collection wrote."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import Problem
from ..formats.yaml import YamlError, load
from ..model.role_arn import RoleArn, find_role
from .map_roles_text import MapRoles, read
from .observed import TAG

NAME, NAMESPACE = "aws-auth", "kube-system"
PATH = f"/api/v1/namespaces/{NAMESPACE}/configmaps"

_FIELDS = ("rolearn", "userarn", "username", "groups")


class BrokenAwsAuth(ValueError):
    """C(mapRoles) cannot be read. line: from 1, or None. text: the whole of it."""

    def __init__(self, error: YamlError, text: str) -> None:
        super().__init__(error.message)
        self.line = error.line
        self.text = text


@dataclass(frozen=True)
class Item:
    """An item of C(mapRoles) or C(mapUsers). arn: as it is written. problem: why aws-iam-authenticator ignores the item, or C('')."""

    arn: str
    username: str = ""
    groups: tuple[str, ...] = ()
    problem: str = ""

    @property
    def role(self) -> RoleArn | None:
        return find_role(self.arn)

    @property
    def is_node(self) -> bool:
        """Whether the item maps nodes."""
        return self.username.startswith("system:node:") or "system:nodes" in self.groups


@dataclass(frozen=True)
class AwsAuth:
    """The ConfigMap. version: its C(resourceVersion), C('') if it does not exist. document: of C(mapRoles). items: the same, understood.

    owned: the ARNs of the items that this collection wrote. users, accounts: the items of the other keys; unread: why one of these cannot
    be read, by its key.
    """

    version: str
    data: Mapping[str, str]
    document: MapRoles
    items: tuple[Item, ...]
    owned: frozenset[str]
    users: tuple[Item, ...] = ()
    accounts: tuple[str, ...] = ()
    unread: Mapping[str, str] | None = None

    @property
    def text(self) -> str:
        return self.document.text

    def find(self, role: RoleArn) -> tuple[int, Item] | None:
        """The item that counts for a role: of several, aws-iam-authenticator takes the last one. An ARN with a path never counts."""
        found = [(index, item) for index, item in enumerate(self.items) if _is_for(item, role) and not item.problem]
        return found[-1] if found else None

    def with_path(self, role: RoleArn) -> int | None:
        """The number of an item for the role that has no effect, because its ARN has a path."""
        same = ((index, item.role) for index, item in enumerate(self.items))
        return next((index for index, one in same if one is not None and one.key == role.key and one.path), None)

    def is_ours(self, item: Item) -> bool:
        """Whether this collection wrote an item. Only the ARN is recorded: of several items for one ARN, the items of nodes are ours."""
        arn = item.arn.lower()
        return arn in self.owned and (item.is_node or not any(one.is_node for one in self.items if one.arn.lower() == arn))


def _is_for(item: Item, role: RoleArn) -> bool:
    return item.arn.lower() == role.without_path.lower()


def read_config_map(found: Mapping[str, Any] | None) -> AwsAuth:
    """The ConfigMap in an answer of the API server; None if there is none. Raises C(BrokenAwsAuth)."""
    metadata, data = (found or {}).get("metadata") or {}, (found or {}).get("data") or {}
    text = str(data.get("mapRoles") or "")
    try:
        document = read(text)
    except YamlError as error:
        raise BrokenAwsAuth(error, text) from None
    users, of_users = _other(data.get("mapUsers"))
    accounts, of_accounts = _other(data.get("mapAccounts"))
    unread = {key: reason for key, reason in (("mapUsers", of_users), ("mapAccounts", of_accounts)) if reason}
    return AwsAuth(
        version=str(metadata.get("resourceVersion") or ""),
        data={str(key): str(value) for key, value in data.items()},
        document=document,
        items=tuple(_item(value, "rolearn") for value in document.items),
        owned=_owned(metadata),
        users=tuple(_item(value, "userarn") for value in users),
        accounts=tuple(str(value) for value in accounts),
        unread=unread,
    )


def _other(text: Any) -> tuple[list[Any], str]:
    """The items of another key, and why it cannot be read."""
    try:
        value = load(str(text or ""), strict=False)
    except YamlError as error:
        return [], str(error)
    return (value, "") if isinstance(value, list) else ([], "" if value is None else "it is not a list")


def _item(value: Any, arn_field: str) -> Item:
    if not isinstance(value, Mapping):
        return Item("", problem="it is not a mapping")
    # Go's JSON reader does not distinguish upper and lower case in the names of fields.
    fields = {key.lower(): one for key, one in value.items() if key.lower() in _FIELDS}
    arn, username, groups = fields.get(arn_field), fields.get("username") or "", fields.get("groups") or []
    if not isinstance(arn, str) or not arn:
        return Item("", problem=f"it has no {arn_field}")
    if not isinstance(username, str) or not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
        return Item(arn, problem="username is not text, or groups is not a list of texts")
    return Item(arn, username, tuple(groups))


def _owned(metadata: Mapping[str, Any]) -> frozenset[str]:
    text = str((metadata.get("annotations") or {}).get(TAG) or "")
    try:
        names = json.loads(text) if text else []
    except ValueError:
        names = []
    return frozenset(name.lower() for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()


def annotation(arns: Iterable[str]) -> str:
    """The value of the annotation that marks our items."""
    return json.dumps(sorted({arn.lower() for arn in arns}))


def backup(found: Mapping[str, Any]) -> dict[str, Any]:
    """The ConfigMap that keeps a copy of aws-auth. The same content has the same name."""
    data = {str(key): str(value) for key, value in (found.get("data") or {}).items()}
    digest = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:12]
    metadata = {"name": f"{NAME}-backup-{digest}", "namespace": NAMESPACE, "annotations": {TAG: "backup"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def refusal(broken: BrokenAwsAuth, kept_in: str) -> Problem:
    """Why a broken aws-auth is not changed. kept_in: the name of the ConfigMap with a copy of it."""
    where = "" if broken.line is None else f" in line {broken.line}"
    fix = f"correct it with `kubectl -n {NAMESPACE} edit configmap {NAME}`; {kept_in} has a copy"
    return Problem("access.broken_aws_auth", "mapRoles", f"of {NAMESPACE}/{NAME} cannot be read{where}: {broken}", fix=fix)


def excerpt(broken: BrokenAwsAuth, around: int = 2) -> str:
    """The lines around an error, with their numbers and a mark."""
    lines = broken.text.splitlines()
    if broken.line is None:
        chosen = range(1, min(len(lines), 2 * around + 1) + 1)
    else:
        chosen = range(max(1, broken.line - around), min(len(lines), broken.line + around) + 1)
    return "\n".join(f"{'>' if number == broken.line else ' '} {number:4} | {lines[number - 1]}" for number in chosen)
