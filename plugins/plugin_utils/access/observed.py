# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the cluster has: its authentication mode, its access entries, and who calls. Frozen values, made from answers of AWS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..model.role_arn import RoleArn, find_role

TAG = "nodebootstrap.eks/managed"
"""The tag of access entries that this collection created, and the annotation of aws-auth."""

TAG_VALUE = "true"

ENTRIES, BOTH, CONFIG_MAP = "API", "API_AND_CONFIG_MAP", "CONFIG_MAP"
"""The authentication modes."""


@dataclass(frozen=True)
class Entry:
    """An access entry. policies: the ARNs of its access policies, with their scopes."""

    principal: str
    kind: str
    username: str = ""
    groups: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    policies: tuple[str, ...] = ()

    @property
    def is_ours(self) -> bool:
        return TAG in self.tags

    @property
    def own_tags(self) -> dict[str, str]:
        """The tags that a new entry can have: without those of AWS."""
        return without_aws_tags(self.tags)

    @property
    def role(self) -> RoleArn | None:
        return find_role(self.principal)


def without_aws_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """C(tags) without the tags that only AWS itself can set."""
    return {key: value for key, value in tags.items() if not key.lower().startswith("aws:")}


@dataclass(frozen=True)
class Observed:
    """The state of a cluster.

    entries: C(()) in the mode C(CONFIG_MAP). caller: the ARN of the caller, C('') if it is not known. used_by_eks: role → the managed node
    groups and Fargate profiles that use it, by the key of the role.
    """

    mode: str
    account: str
    entries: tuple[Entry, ...] = ()
    caller: str = ""
    used_by_eks: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)

    @property
    def has_entries(self) -> bool:
        """Whether access entries count."""
        return self.mode != CONFIG_MAP

    @property
    def has_config_map(self) -> bool:
        """Whether aws-auth counts."""
        return self.mode != ENTRIES

    def entry_of(self, role: RoleArn) -> Entry | None:
        """The access entry with the ARN of a role."""
        return next((entry for entry in self.entries if entry.principal == str(role)), None)

    def similar_entry(self, role: RoleArn) -> Entry | None:
        """An access entry whose ARN differs from that of a role in the path or in upper and lower case only."""
        same = (entry for entry in self.entries if entry.role is not None and entry.role.key == role.key)
        return next((entry for entry in same if entry.principal != str(role)), None)

    def is_caller(self, role: RoleArn) -> bool:
        """Whether a role is the one with which the cluster is changed."""
        own = find_role(self.caller)
        return own is not None and own.key == role.key


def entry_of(described: Mapping[str, Any], policies: tuple[str, ...] = ()) -> Entry:
    """The entry in an answer of DescribeAccessEntry."""
    return Entry(
        principal=str(described["principalArn"]),
        kind=str(described.get("type") or "STANDARD"),
        username=str(described.get("username") or ""),
        groups=tuple(described.get("kubernetesGroups") or ()),
        tags=dict(described.get("tags") or {}),
        policies=policies,
    )
