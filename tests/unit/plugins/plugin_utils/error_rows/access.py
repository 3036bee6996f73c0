# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The access of nodes to a cluster: roles, access entries and aws-auth."""

from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.access import aws_auth, single
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.access.plan import read_input
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.access.windows import Facts
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import access_task
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.access.clusters import (
    ROLE,
    config_map,
    entry,
    group,
    item,
    observed,
    plan,
)
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.row import Row

_CALLER = "arn:aws:sts::111122223333:assumed-role/n/me"
_ANCHOR = f"- rolearn: &n {ROLE}old\n- rolearn: {ROLE}x\n  username: *n\n"
_AUTO_ROLE = [{"role_arn": f"{ROLE}auto", "type": "EC2"}]


def _input(what: str, node_groups: Any, roles: Any = None, cluster: Any = None) -> Row:
    return Row(f"input: {what}", lambda: read_input(cluster or {"name": "demo"}, node_groups, roles))


def _plan(what: str, groups: Any, state: Any, **options: Any) -> Row:
    return Row(what, lambda: plan(groups, state, **options))


def broken(text: str) -> None:
    """Refuse this text of mapRoles."""
    try:
        aws_auth.read_config_map(config_map(text=text))
    except aws_auth.BrokenAwsAuth as error:
        raise SpecError([aws_auth.refusal(error, "aws-auth-backup-0123456789ab")]) from None


def options_of(**given: Any) -> dict[str, Any]:
    """The options of the action access_entry."""
    return {"principal_arn": f"{ROLE}n", "type": "STANDARD", **given}


def _entry(what: str, **given: Any) -> Row:
    return Row(f"entry: {what}", lambda: single.read_wanted(options_of(**given)))


def present(mode: str = "API", found: Any = None, choice: single.Choice | None = None, **given: Any) -> None:
    """Plan an entry of the action access_entry."""
    single.plan_present(single.read_wanted(options_of(**given)), found, mode, choice or single.Choice())


ROWS = (
    _input("groups without roles", [{"name": "web", "family": "al2023"}, {"family": "al2023", "rolearn": f"{ROLE}n"}]),
    _input("no group and no role", []),
    _input("nothing but a cluster that is text", None, None, "demo"),
    _input("an instance profile", [{"name": "web", "family": "al2023", "role_arn": "arn:aws:iam::111122223333:instance-profile/p"}]),
    _input("a session", [], [{"role_arn": "arn:aws:sts::111122223333:assumed-role/n/i-0123", "family": "windows"}]),
    _input("family and type", [], [{"role_arn": f"{ROLE}n", "family": "al2023", "type": "EC2_LINUX"}]),
    _input("neither family nor type", [], [{"role_arn": f"{ROLE}n"}]),
    _input("a type of people", [], [{"role_arn": f"{ROLE}n", "type": "STANDARD"}]),
    _input("one role with two paths", [group("a", role="team/n"), group("b", role="n")]),
    Row("another cluster", lambda: access_task.check_endpoint({"endpoint": "https://a.example"}, {"endpoint": "https://b.example"})),
    _plan("one role for Linux and Windows", [group("a", role="n"), group("b", "windows", role="n")], observed("API")),
    _plan("role of another account", [{"family": "al2", "role_arn": "arn:aws:iam::999988887777:role/n"}], observed("API")),
    _plan("entry of another type", [group("n")], observed("API", entry("n", "STANDARD"))),
    _plan("entry of your own", [group("n")], observed("API", entry("n", "STANDARD"), caller=_CALLER), recreate=True),
    _plan(
        "entry that masks aws-auth", [group("n")], observed("API_AND_CONFIG_MAP", entry("n", "STANDARD")), aws_auth=config_map(item("n"))
    ),
    _plan("Auto Mode with aws-auth only", [], observed("CONFIG_MAP"), roles=_AUTO_ROLE, aws_auth={}),
    _plan("wrong item of another tool", [group("n", "windows")], observed("CONFIG_MAP"), aws_auth=config_map(item("n"))),
    _plan("item that another one needs", [group("n")], observed("CONFIG_MAP"), aws_auth=config_map(text=_ANCHOR, ours=["old"]), purge=True),
    _plan("Windows with IPv6", [group("n", "windows")], observed("API"), windows=Facts({}, 1, [], family="ipv6")),
    Row("aws-auth that is not YAML", lambda: broken("- rolearn: a\n   groups: [\n")),
    Row("aws-auth that is a mapping", lambda: broken("rolearn: a\n")),
    Row("aws-auth that changes all the time", lambda: access_task.raise_conflict("kube-system/aws-auth")),
    _entry("groups of nodes", type="EC2_LINUX", kubernetes_groups=["a"], username="b"),
    _entry("a user as a node", type="EC2_WINDOWS", principal_arn="arn:aws:iam::111122223333:user/joe"),
    _entry("reserved names", kubernetes_groups=["system:masters", "a"], username="eks:me", tags={"aws:a": "b"}),
    _entry("policies of people for nodes", type="EC2", access_policies=[{"policy": "AmazonEKSViewPolicy"}, "AmazonEKSAutoNodePolicy"]),
    _entry("policy of nodes for people", access_policies=[{"policy": "AmazonEKSAutoNodePolicy"}, {"policy": "a", "namespaces": []}]),
    _entry("not a principal", principal_arn="arn:aws:sts::111122223333:assumed-role/n/me"),
    Row("entry: cluster without entries", lambda: present("CONFIG_MAP")),
    Row("entry: another type", lambda: present(found={"type": "EC2_LINUX"})),
    Row("entry: your own", lambda: present(found={"type": "EC2_LINUX"}, choice=single.Choice(_CALLER, recreate=True))),
    Row("entry: of another tool", lambda: single.plan_absent(f"{ROLE}n", {"type": "STANDARD"}, "API", single.Choice())),
    Row("entry: your own, absent", lambda: single.plan_absent(f"{ROLE}n", {"type": "STANDARD"}, "API", single.Choice(_CALLER, force=True))),
)
