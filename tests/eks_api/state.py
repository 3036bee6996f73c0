# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of the stand-in for EKS, and what several operations need."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from .errors import ApiError

Request = dict[str, Any]
Response = dict[str, Any]


@dataclass
class Update:
    """An update of a node group. apply: what it changes at its end. checks: how often it was described."""

    id: str
    cluster: str
    node_group: str
    kind: str
    params: list[dict[str, str]]
    created: datetime
    apply: Callable[[], None]
    settle: Callable[[], None]
    status: str = "InProgress"
    errors: list[dict[str, Any]] = field(default_factory=list)
    checks: int = 0

    def finish(self) -> None:
        """The update succeeds now."""
        self.status = "Successful"
        self.apply()
        self.settle()

    def fail(self, code: str, message: str, resource_ids: list[str]) -> None:
        """The update fails now, for example with C(PodEvictionFailure). The node group keeps its version."""
        self.status = "Failed"
        self.errors.append({"errorCode": code, "errorMessage": message, "resourceIds": resource_ids})
        self.settle()

    def plain(self) -> dict[str, Any]:
        """As the API returns it."""
        return {
            "id": self.id, "status": self.status, "type": self.kind, "params": self.params, "createdAt": self.created,
            "errors": self.errors,
        }  # fmt: skip


@dataclass
class Cluster:
    """A cluster. description: the members of DescribeCluster. entries: by the ARN of the principal. policies: by the same ARN."""

    description: dict[str, Any]
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    policies: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    node_groups: dict[str, dict[str, Any]] = field(default_factory=dict)
    fargate_profiles: dict[str, dict[str, Any]] = field(default_factory=dict)
    updates: dict[str, Update] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.description["name"])

    @property
    def mode(self) -> str:
        """The authentication mode."""
        return str(self.description["accessConfig"]["authenticationMode"])


def now() -> datetime:
    return datetime.now(timezone.utc)


def page(name: str, items: list[Any], request: Request) -> Response:
    """One page of C(items) as the member C(name)."""
    first = int(request.get("nextToken") or 0)
    last = first + request.get("maxResults", 100)
    return {name: items[first:last]} | ({"nextToken": str(last)} if last < len(items) else {})


def check_tags(tags: Mapping[str, str], code: str = "InvalidParameterException") -> None:
    """The prefix aws: belongs to AWS."""
    for key in tags:
        if key.lower().startswith("aws:"):
            raise ApiError(code, f"The tag key {json.dumps(key)} begins with a reserved prefix.")
