# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""States of a cluster for tests of its access: entries, ConfigMaps and facts for Windows, with short names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.access.aws_auth import annotation, read_config_map
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.access.observed import TAG, Entry, Observed
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.access.plan import AccessPlan, Settings, plan_access, read_input
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.access.windows import Facts
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.role_arn import find_role

ACCOUNT = "111122223333"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/"
NODE = "system:node:{{EC2PrivateDNSName}}"
LINUX = ["system:bootstrappers", "system:nodes"]
WINDOWS = [*LINUX, "eks:kube-proxy-windows"]
READY = Facts(config_map={"data": {"enable-windows-ipam": "true"}}, linux_nodes=2, policies=["AmazonEKSVPCResourceController"])


def entry(name: str, kind: str = "EC2_LINUX", *, ours: bool = False, groups: Sequence[str] = (), policies: Sequence[str] = ()) -> Entry:
    """An access entry of the role with this name, which may have a path."""
    return Entry(f"{ROLE}{name}", kind, groups=tuple(groups), tags={TAG: "true"} if ours else {}, policies=tuple(policies))


def item(name: str, groups: Sequence[str] = LINUX, username: str = NODE) -> dict[str, Any]:
    """An item of mapRoles."""
    return {"rolearn": f"{ROLE}{name}", "username": username, "groups": list(groups)}


def config_map(*items: Any, ours: Sequence[str] = (), text: str | None = None, **data: str) -> dict[str, Any]:
    """The object aws-auth. ours: the names of the roles in the annotation."""
    written = text if text is not None else yaml.safe_dump(list(items), sort_keys=False) if items else ""
    metadata: dict[str, Any] = {"name": "aws-auth", "namespace": "kube-system", "resourceVersion": "7"}
    if ours:
        metadata["annotations"] = {TAG: annotation(f"{ROLE}{name}" for name in ours)}
    return {"metadata": metadata, "data": {"mapRoles": written, **data}}


def observed(mode: str, *entries: Entry, caller: str = "", used: Mapping[str, str] | None = None) -> Observed:
    """A cluster. used: role name → the name of the node group or Fargate profile of EKS that uses it."""
    users = {}
    for name, user in (used or {}).items():
        role = find_role(f"{ROLE}{name}")
        assert role is not None
        users[role.key] = (user,)
    return Observed(mode, ACCOUNT, entries, caller, users)


def group(name: str, family: str = "al2023", role: str | None = None, **fields: Any) -> dict[str, Any]:
    """A node group; its role has the same name unless another one is given."""
    return {"name": name, "family": family, "role_arn": f"{ROLE}{role or name}", **fields}


def plan(
    groups: Sequence[Any], state: Observed, *, roles: Any = None, aws_auth: Mapping[str, Any] | None = None, windows: Facts | None = READY,
    **settings: bool,
) -> AccessPlan:  # fmt: skip
    """The plan for node groups in a cluster in this state. aws_auth: the ConfigMap, {} if there is none."""
    _cluster, found = read_input({"name": "demo"}, groups, roles)
    known = read_config_map(aws_auth or None) if aws_auth is not None else None
    return plan_access(found, state, Settings(**settings), aws_auth=known, windows=windows)


def states(found: AccessPlan) -> dict[str, str]:
    """Role name → what becomes of it."""
    return {row.principal.removeprefix(ROLE): row.state for row in found.rows}
