# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cures for the access of nodes to a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.access import single
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problem
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import access_task
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.access.clusters import (
    READY,
    ROLE,
    config_map,
    entry,
    group,
    item,
    observed,
    plan,
)
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.row import Cure, call
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.access import broken, present

CALLER = "arn:aws:sts::111122223333:assumed-role/n/me"
WINDOWS = [group("n", "windows")]


def _plan(rule: str, before: dict[str, Any], after: dict[str, Any], groups: Any = None, mode: str = "API") -> Cure:
    """Options of a plan. They may contain other groups, and the state of the cluster."""

    def run(options: dict[str, Any]) -> Iterable[Problem]:
        given = {"groups": groups or [group("n")], "state": observed(mode), **options}
        return plan(given.pop("groups"), given.pop("state"), **given).findings

    return Cure(f"access.{rule}", run, before, after)


def _entry(rule: str, before: dict[str, Any], after: dict[str, Any]) -> Cure:
    return call(f"access.{rule}", lambda given: present(**given), before, after)


ROWS = (
    call("access.broken_aws_auth", broken, "- rolearn: a\n   groups: []\n", "- rolearn: a\n  groups: []\n"),
    _plan(
        "cannot_edit",
        {"aws_auth": config_map(text=f"- rolearn: &n {ROLE}old\n- rolearn: {ROLE}x\n  username: *n\n", ours=["old"]), "purge": True},
        {"aws_auth": config_map(item("old"), item("x"), ours=["old"]), "purge": True},
        mode="CONFIG_MAP",
    ),
    call(
        "access.foreign_entry",
        lambda force: single.plan_absent(f"{ROLE}n", {"type": "STANDARD"}, "API", single.Choice(force=force)),
        False,
        True,
    ),
    _plan(
        "foreign_mapping",
        {"aws_auth": config_map(item("n", []))},
        {"aws_auth": config_map(item("n", [])), "force": True},
        mode="CONFIG_MAP",
    ),
    _plan("ignored_item", {"aws_auth": config_map("x")}, {"aws_auth": config_map(item("x"))}, mode="CONFIG_MAP"),
    _entry("invalid_entry", {"kubernetes_groups": ["system:masters"]}, {"access_policies": [{"policy": "AmazonEKSClusterAdminPolicy"}]}),
    _plan(
        "masked_mapping",
        {"state": observed("API_AND_CONFIG_MAP", entry("n", "STANDARD")), "aws_auth": config_map(item("n")), "recreate": True},
        {"state": observed("API_AND_CONFIG_MAP", entry("n")), "aws_auth": config_map(item("n"))},
    ),
    _plan(
        "needs_access_entries",
        {"roles": [{"role_arn": f"{ROLE}a", "type": "EC2"}], "aws_auth": {}, "state": observed("CONFIG_MAP")},
        {"roles": [{"role_arn": f"{ROLE}a", "type": "EC2"}], "aws_auth": {}, "state": observed("API_AND_CONFIG_MAP")},
    ),
    _plan("no_cluster_policy", {"windows": replace(READY, policies=[])}, {"windows": READY}, WINDOWS),
    _plan(
        "no_linux_node", {"windows": replace(READY, linux_nodes=0)}, {"windows": replace(READY, linux_nodes=0, fargate_profiles=1)}, WINDOWS
    ),
    _plan("not_checked", {"windows": replace(READY, policies="denied")}, {"windows": READY}, WINDOWS),
    _plan(
        "other_account",
        {"groups": [{"family": "al2", "role_arn": "arn:aws:iam::999988887777:role/n"}]},
        {"groups": [{"family": "al2", "role_arn": "arn:aws:iam::111122223333:role/n"}]},
    ),
    call(
        "access.other_cluster",
        lambda endpoint: access_task.check_endpoint({"endpoint": endpoint}, {"endpoint": "https://b.example"}),
        "https://a.example",
        "https://b.example",
    ),
    call(
        "access.own_access",
        lambda caller: single.plan_absent(f"{ROLE}n", {"type": "STANDARD"}, "API", single.Choice(caller, force=True)),
        CALLER,
        "arn:aws:sts::111122223333:assumed-role/other/me",
    ),
    _plan(
        "shared_role", {"groups": [group("a", role="n"), group("b", "windows", role="n")]}, {"groups": [group("a"), group("b", "windows")]}
    ),
    _plan("windows_ipv6", {"windows": replace(READY, family="ipv6")}, {"windows": READY}, WINDOWS),
    _plan(
        "wrong_entry_type",
        {"state": observed("API", entry("n", "STANDARD"))},
        {"state": observed("API", entry("n", "STANDARD")), "recreate": True},
    ),
)
