# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan for each authentication mode: what is created, what stays, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.access.aws_auth import read_config_map
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.access.leaving import leave_config_map
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.access.plan import AccessPlan, plain_plan, read_input
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.access.windows import Facts
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.access.clusters import (
    LINUX,
    ROLE,
    WINDOWS,
    config_map,
    entry,
    group,
    item,
    observed,
    plan,
    states,
)
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import error_of, rules_and_paths

API, BOTH, MAP = "API", "API_AND_CONFIG_MAP", "CONFIG_MAP"
ENTRY_MODES = pytest.mark.parametrize("mode", [API, BOTH])


def changes(found: AccessPlan) -> list[tuple[str, str, str]]:
    return [(one.action, one.principal.removeprefix(ROLE), one.kind) for one in found.entries.changes]


def mapped(found: AccessPlan) -> list[dict[str, Any]]:
    """The items of mapRoles afterwards."""
    return list(yaml.safe_load(found.config_map.after) or [])


def refused(*arguments: Any, **options: Any) -> list[str]:
    return rules_and_paths(error_of(plan, *arguments, **options))


# --- access entries -----------------------------------------------------------------------------------------------------------------


@ENTRY_MODES
def test_each_role_gets_an_entry_of_its_type(mode: str) -> None:
    roles = [{"role_arn": f"{ROLE}auto", "type": "EC2"}, {"role_arn": f"{ROLE}onprem", "type": "HYBRID_LINUX"}]
    groups = [group("web"), group("win", "windows"), group("db", "bottlerocket", role="team/eu/web2")]
    found = plan(groups, observed(mode), roles=roles)
    assert changes(found) == [
        ("create", "web", "EC2_LINUX"),
        ("create", "win", "EC2_WINDOWS"),
        ("create", "team/eu/web2", "EC2_LINUX"),
        ("create", "auto", "EC2"),
        ("create", "onprem", "HYBRID_LINUX"),
    ]
    assert [one.policies for one in found.entries.changes if one.policies] == [
        ("arn:aws:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy",)
    ]


@ENTRY_MODES
def test_right_entries_of_any_tool_stay(mode: str) -> None:
    found = plan([group("a"), group("b")], observed(mode, entry("a", ours=True), entry("b"), used={"b": "node group b"}))
    assert (changes(found), set(states(found).values())) == ([], {"present"})
    assert not found.changes_anything


def test_one_role_of_several_groups_has_one_entry() -> None:
    found = plan([group("a", role="n"), group("b", "ubuntu", role="n")], observed(API))
    assert changes(found) == [("create", "n", "EC2_LINUX")]
    assert found.rows[0].used_by == ("node group a", "node group b")


def test_auto_mode_needs_its_policy() -> None:
    roles = [{"role_arn": f"{ROLE}auto", "type": "EC2"}]
    found = plan([], observed(API, entry("auto", "EC2")), roles=roles)
    assert changes(found) == [("associate", "auto", "EC2")]
    policy = found.entries.changes[0].policies
    assert changes(plan([], observed(API, entry("auto", "EC2", policies=policy)), roles=roles)) == []


@ENTRY_MODES
def test_a_role_of_linux_and_windows_is_refused(mode: str) -> None:
    groups = [group("a", role="n"), group("b", "windows", role="n")]
    assert refused(groups, observed(mode)) == ["access.shared_role node_groups[1].role_arn"]


def test_a_role_of_another_account_is_refused() -> None:
    other = [{"name": "a", "family": "al2023", "role_arn": "arn:aws:iam::999988887777:role/n"}]
    assert refused(other, observed(API)) == ["access.other_account node_groups[0].role_arn"]


@pytest.mark.parametrize("kind", ["STANDARD", "EC2_WINDOWS", "EC2"])
def test_a_wrong_type_is_refused_or_created_again(kind: str) -> None:
    state = observed(API, entry("n", kind))
    assert refused([group("n")], state) == ["access.wrong_entry_type node_groups[0].role_arn"]
    assert changes(plan([group("n")], state, recreate=True)) == [("recreate", "n", "EC2_LINUX")]


@pytest.mark.parametrize(
    "state",
    [
        observed(API, entry("n", "STANDARD"), caller="arn:aws:sts::111122223333:assumed-role/n/me"),
        observed(API, entry("team/n", "STANDARD"), caller="arn:aws:sts::111122223333:assumed-role/n/me"),
        observed(API, entry("n", "FARGATE_LINUX"), used={"n": "Fargate profile f"}),
    ],
)
def test_your_own_entry_and_those_of_fargate_are_never_created_again(state: Any) -> None:
    name = state.entries[0].principal.removeprefix(ROLE)
    assert refused([group("g", role=name)], state, recreate=True) == ["access.wrong_entry_type node_groups[0].role_arn"]


def test_an_entry_that_masks_a_right_mapping_is_said() -> None:
    arguments = [group("n")], observed(BOTH, entry("n", "STANDARD"))
    assert set(refused(*arguments, aws_auth=config_map(item("n")))) == {
        "access.masked_mapping node_groups[0].role_arn",
        "access.wrong_entry_type node_groups[0].role_arn",
    }
    found = plan(*arguments, aws_auth=config_map(item("n")), recreate=True)
    assert [one.rule for one in found.findings] == ["access.masked_mapping"]
    assert plan(*arguments, aws_auth=config_map(item("m")), recreate=True).findings == ()


def test_an_entry_that_differs_in_its_path_is_said() -> None:
    found = plan([group("n")], observed(API, entry("team/n")))
    assert changes(found) == [("create", "n", "EC2_LINUX")]
    assert f"{ROLE}team/n" in found.rows[0].note


def test_purge_removes_only_our_entries() -> None:
    entries = [entry("n", ours=True), entry("old", ours=True), entry("admin", "STANDARD"), entry("theirs")]
    assert states(plan([group("n")], observed(API, *entries))) == {"n": "present", "old": "kept"}
    found = plan([group("n")], observed(API, *entries), purge=True)
    assert changes(found) == [("delete", "old", "EC2_LINUX")]


@pytest.mark.parametrize(
    "state",
    [
        observed(API, entry("old", ours=True), caller="arn:aws:sts::111122223333:assumed-role/old/session"),
        observed(API, entry("team/old", ours=True), caller="arn:aws:sts::111122223333:assumed-role/old/session"),
        observed(API, entry("old", ours=True), used={"old": "node group m"}),
    ],
)
def test_purge_keeps_your_own_access_and_what_eks_uses(state: Any) -> None:
    assert "delete" not in [action for action, _name, _kind in changes(plan([group("n")], state, purge=True))]


# --- aws-auth -----------------------------------------------------------------------------------------------------------------------


def test_roles_are_added_to_aws_auth_without_their_path() -> None:
    text = "# by hand\n- rolearn: arn:aws:iam::111122223333:role/admin # me\n  groups: [system:masters]\n"
    found = plan([group("web", role="team/web"), group("win", "windows")], observed(MAP), aws_auth=config_map(text=text))
    assert found.config_map.after.startswith(text)
    assert mapped(found)[1:] == [item("web", LINUX), item("win", WINDOWS)]
    assert found.config_map.body is not None
    assert found.config_map.body["metadata"]["resourceVersion"] == "7"
    assert "web" in found.config_map.body["metadata"]["annotations"]["nodebootstrap.eks/managed"]


def test_aws_auth_is_created_if_there_is_none() -> None:
    found = plan([group("web")], observed(MAP), aws_auth={})
    assert (found.config_map.is_new, mapped(found)) == (True, [item("web")])


def test_linux_and_windows_can_share_a_role_in_aws_auth() -> None:
    found = plan([group("a", role="n"), group("b", "windows", role="n")], observed(MAP), aws_auth={})
    assert mapped(found) == [item("n", WINDOWS)]


@pytest.mark.parametrize("kind", ["EC2", "HYBRID_LINUX", "HYPERPOD_LINUX"])
def test_types_that_aws_auth_cannot_express_are_refused(kind: str) -> None:
    roles = [{"role_arn": f"{ROLE}n", "type": kind}]
    assert refused([], observed(MAP), roles=roles, aws_auth={}) == ["access.needs_access_entries roles[0]"]


RIGHT = {
    "as we write it": item("n"),
    "more groups": item("n", [*LINUX, "others"]),
    "named after the instance": item("n", LINUX, "system:node:{{SessionName}}"),
    "without bootstrappers": item("n", ["system:nodes"]),
    "upper case": {**item("n"), "rolearn": f"{ROLE}N"},
    "spelled as Go accepts it": {"roleARN": f"{ROLE}n", "Username": "system:node:{{EC2PrivateDNSName}}", "Groups": LINUX},
}


@pytest.mark.parametrize("right", RIGHT.values(), ids=RIGHT)
def test_right_items_of_others_stay(right: dict[str, Any]) -> None:
    found = plan([group("n")], observed(MAP), aws_auth=config_map(right))
    assert (states(found).popitem()[1], found.changes_anything) == ("present", False)


WRONG = {
    "no group": (item("n", []), "al2023"),
    "another user name": (item("n", LINUX, "node"), "al2023"),
    "Linux groups for Windows": (item("n", LINUX), "windows"),
}


@pytest.mark.parametrize(("wrong", "family"), WRONG.values(), ids=WRONG)
def test_wrong_items_of_others_are_refused_and_our_own_are_corrected(wrong: dict[str, Any], family: str) -> None:
    other = item("other", ["x"], "y")
    groups = [group("n", family)]
    assert refused(groups, observed(MAP), aws_auth=config_map(wrong, other)) == ["access.foreign_mapping node_groups[0]"]
    for arguments in ({"aws_auth": config_map(wrong, other, ours=["n"])}, {"aws_auth": config_map(wrong, other), "force": True}):
        found = plan(groups, observed(MAP), **arguments)
        assert mapped(found) == [item("n", WINDOWS if family == "windows" else LINUX), other]


def test_groups_that_others_added_to_our_item_stay() -> None:
    changed = item("n", ["system:nodes", "monitoring"])
    found = plan([group("n")], observed(MAP), aws_auth=config_map(changed, ours=["n"]))
    assert mapped(found) == [item("n", [*LINUX, "monitoring"])]


def test_the_last_of_two_items_counts() -> None:
    assert refused([group("n")], observed(MAP), aws_auth=config_map(item("n"), item("n", []))) == ["access.foreign_mapping node_groups[0]"]
    assert not plan([group("n")], observed(MAP), aws_auth=config_map(item("n", []), item("n"))).changes_anything


def test_an_item_with_a_path_has_no_effect() -> None:
    theirs = item("team/n")
    found = plan([group("n", role="team/n")], observed(MAP), aws_auth=config_map(theirs))
    assert mapped(found) == [theirs, item("n")]
    assert found.rows[0].note


def test_purge_removes_only_our_items() -> None:
    before = config_map(item("old"), item("theirs"), item("n"), ours=["old", "n"])
    assert states(plan([group("n")], observed(MAP), aws_auth=before)) == {"n": "present", "old": "kept"}
    found = plan([group("n")], observed(MAP), aws_auth=before, purge=True)
    assert mapped(found) == [item("theirs"), item("n")]


def test_an_item_that_another_tool_added_for_our_role_is_theirs() -> None:
    theirs = item("old", ["system:masters"], "admin")
    for before in (config_map(item("old"), theirs, ours=["old"]), config_map(theirs, item("old"), ours=["old"])):
        found = plan([group("n")], observed(MAP), aws_auth=before, purge=True)
        assert mapped(found) == [theirs, item("n")]
        # What is left is not ours any more.
        assert found.config_map.body is not None
        assert "old" not in found.config_map.body["metadata"]["annotations"]["nodebootstrap.eks/managed"]
    # The last one counts, so theirs keeps the nodes out.
    masked = config_map(item("n"), item("n", ["system:masters"], "admin"), ours=["n"])
    assert refused([group("n")], observed(MAP), aws_auth=masked) == ["access.foreign_mapping node_groups[0]"]


@pytest.mark.parametrize(
    "state", [observed(MAP, caller="arn:aws:sts::111122223333:assumed-role/old/me"), observed(MAP, used={"old": "Fargate profile f"})]
)
def test_purge_keeps_items_that_are_needed(state: Any) -> None:
    found = plan([group("n")], state, aws_auth=config_map(item("n"), item("old"), ours=["old"]), purge=True)
    assert (states(found)["old"], found.changes_anything) == ("kept", False)


def test_an_item_that_is_gone_is_forgotten() -> None:
    """If another tool writes an item of this role later, it is not ours."""
    found = plan([group("n")], observed(MAP), aws_auth=config_map(item("n"), ours=["n", "gone"]))
    assert found.config_map.body is not None
    assert "gone" not in found.config_map.body["metadata"]["annotations"]["nodebootstrap.eks/managed"]
    assert found.config_map.after == found.config_map.before


def test_anchors_prevent_an_edit() -> None:
    text = f"- &n {{rolearn: '{ROLE}old'}}\n- *n\n" + yaml.safe_dump([item("n", ["system:nodes"])])
    arguments = {"aws_auth": config_map(text=text, ours=["old"]), "purge": True}
    found = plan([group("n")], observed(MAP), **arguments)
    assert mapped(found) == [item("n", ["system:nodes"])]
    text = f"- rolearn: &n {ROLE}old\n- rolearn: {ROLE}x\n  username: *n\n"
    assert refused([group("n")], observed(MAP), aws_auth=config_map(text=text, ours=["old"]), purge=True) == ["access.cannot_edit mapRoles"]


def test_ignored_items_are_said_and_stay() -> None:
    before = config_map({"rolearn": 3}, "text", item("n"))
    found = plan([group("n")], observed(MAP), aws_auth=before)
    assert [(one.rule, one.path) for one in found.findings] == [
        ("access.ignored_item", "mapRoles[0]"),
        ("access.ignored_item", "mapRoles[1]"),
    ]
    assert not found.changes_anything


def test_our_items_leave_aws_auth_only_when_an_equivalent_entry_was_seen() -> None:
    before = config_map(item("a"), item("b"), item("theirs"), ours=["a", "b"])
    groups = [group("a"), group("b")]
    assert not plan(groups, observed(BOTH, entry("a"), entry("b")), aws_auth=before).changes_anything
    found = plan(groups, observed(BOTH, entry("team/a")), aws_auth=before, purge=True)
    assert mapped(found) == [item("b"), item("theirs")]
    found = plan(groups, observed(BOTH, entry("a"), entry("b")), aws_auth=before, purge=True)
    assert mapped(found) == [item("theirs")]


# --- leaving the ConfigMap ----------------------------------------------------------------------------------------------------------


def test_what_is_needed_to_leave_the_config_map() -> None:
    state = observed(
        BOTH, entry("linux"), entry("win", "EC2_LINUX"), entry("ops", "STANDARD", groups=["ops"]), used={"pods": "Fargate profile f"}
    )  # fmt: skip
    users = [{"userarn": "arn:aws:iam::111122223333:user/joe", "username": "joe", "groups": ["system:masters"]}]
    before = config_map(
        item("linux"), item("win", WINDOWS), item("other"), item("pods", [*LINUX, "system:node-proxier"]), item("ops", ["ops"], "ops"),
        item("dev", ["devs"], "dev"), item("monitor", ["system:monitoring"], "m"), item("bot", ["x"], "system:bot"),
        mapUsers=yaml.safe_dump(users), mapAccounts='["111122223333"]',
    )  # fmt: skip
    found = leave_config_map(read_config_map(before), state)
    assert {one.principal.rpartition("/")[2]: (one.state, one.kind) for one in found} == {
        "linux": ("covered", "EC2_LINUX"),
        "win": ("differs", "EC2_WINDOWS"),
        "other": ("missing", "EC2_LINUX"),
        "pods": ("missing", "FARGATE_LINUX"),
        "ops": ("covered", "STANDARD"),
        "dev": ("missing", "STANDARD"),
        "monitor": ("impossible", "STANDARD"),
        "bot": ("impossible", "STANDARD"),
        "joe": ("missing", "STANDARD"),
        "111122223333": ("impossible", ""),
    }
    joe = next(one for one in found if one.principal.endswith("joe"))
    assert (joe.policy, joe.groups) == ("AmazonEKSClusterAdminPolicy", ())


# --- Windows ------------------------------------------------------------------------------------------------------------------------

WINDOWS_GROUP = [group("win", "windows")]


def test_windows_ipam_is_enabled_and_the_other_needs_are_said() -> None:
    facts = Facts(config_map={}, linux_nodes=0, policies=["AmazonEKSClusterPolicy"])
    found = plan(WINDOWS_GROUP, observed(API), windows=facts)
    assert [check.state for check in found.windows.checks] == ["change", "missing", "missing"]
    assert [one.rule for one in found.findings] == ["access.no_linux_node", "access.no_cluster_policy"]
    assert found.windows.is_new
    assert found.windows.body is not None
    assert found.windows.body["data"] == {"enable-windows-ipam": "true"}


def test_other_settings_of_the_vpc_cni_stay() -> None:
    present = {"metadata": {"resourceVersion": "9"}, "data": {"enable-windows-ipam": "false", "warm": "1"}}
    found = plan(WINDOWS_GROUP, observed(API), windows=Facts(present, 1, ["AmazonEKSVPCResourceController"]))
    assert found.windows.body == {"metadata": {"resourceVersion": "9"}, "data": {"enable-windows-ipam": "true"}}


def test_a_need_that_cannot_be_checked_is_said() -> None:
    found = plan(WINDOWS_GROUP, observed(API), windows=Facts("no connection", "no connection", "iam:ListAttachedRolePolicies is denied"))
    assert [check.state for check in found.windows.checks] == ["unknown"] * 3
    assert "access.not_checked" in [one.rule for one in found.findings]


def test_fargate_replaces_the_linux_node() -> None:
    facts = Facts({"data": {"enable-windows-ipam": "true"}}, 0, ["AmazonEKSVPCResourceController"], fargate_profiles=1)
    assert plan(WINDOWS_GROUP, observed(API, entry("win", "EC2_WINDOWS")), windows=facts).findings == ()


def test_windows_in_an_ipv6_cluster_is_refused() -> None:
    facts = Facts({"data": {"enable-windows-ipam": "true"}}, 1, ["AmazonEKSVPCResourceController"], family="ipv6")
    assert refused(WINDOWS_GROUP, observed(API), windows=facts) == ["access.windows_ipv6 cluster"]


def test_linux_groups_need_nothing_of_windows() -> None:
    assert plan([group("n")], observed(API), windows=Facts({}, 0, [])).windows.checks == ()


# --- input --------------------------------------------------------------------------------------------------------------------------

INPUTS: dict[str, tuple[Any, Any, Any, list[str]]] = {
    "no role": ({"name": "a"}, [{"name": "a", "family": "al2"}], None, ["input.missing_field node_groups[0].role_arn"]),
    "no family": ({"name": "a"}, [{"name": "a", "role_arn": f"{ROLE}n"}], None, ["input.missing_field node_groups[0].family"]),
    "no cluster": (None, [group("a")], None, ["input.missing_field cluster.name"]),
    "cluster is text": ("demo", [group("a")], None, ["input.wrong_type cluster"]),
    "name is a number": ({"name": 3}, [group("a")], None, ["input.wrong_type cluster.name"]),
    "misspelt endpoint": ({"name": "a", "endpont": "https://a.example"}, [group("a")], None, ["input.unknown_field cluster.endpont"]),
    "nothing": ({"name": "a"}, [], [], ["input.missing_field node_groups"]),
    "only groups of EKS": ({"name": "a"}, [{"family": "al2", "mode": "managed"}], None, ["input.missing_field node_groups"]),
    "groups are a mapping": ({"name": "a"}, {"a": {}}, None, ["input.wrong_type node_groups"]),
    "group is text": ({"name": "a"}, ["web"], None, ["input.wrong_type node_groups[0]"]),
    "instance profile": (
        {"name": "a"},
        [{"family": "al2", "role_arn": "arn:aws:iam::111122223333:instance-profile/p"}],
        None,
        ["aws_auth.invalid_arn node_groups[0].role_arn"],
    ),
    "session": (
        {"name": "a"},
        [],
        [{"family": "al2", "role_arn": "arn:aws:sts::111122223333:assumed-role/n/i-1"}],
        ["aws_auth.invalid_arn roles[0].role_arn"],
    ),
    "family and type": ({"name": "a"}, [], [{"role_arn": f"{ROLE}n", "family": "al2", "type": "EC2"}], ["input.conflict roles[0]"]),
    "neither": ({"name": "a"}, [], [{"role_arn": f"{ROLE}n"}], ["input.conflict roles[0]"]),
    "type of users": ({"name": "a"}, [], [{"role_arn": f"{ROLE}n", "type": "STANDARD"}], ["input.unknown_value roles[0].type"]),
    "unknown field": (
        {"name": "a"},
        [],
        [{"rolearn": f"{ROLE}n", "type": "EC2"}],
        ["input.missing_field roles[0].role_arn", "input.unknown_field roles[0].rolearn"],
    ),
    "two paths": ({"name": "a"}, [group("a", role="x/n"), group("b", role="n")], None, ["input.conflict node_groups[1].role_arn"]),
}


@pytest.mark.parametrize(("cluster", "groups", "roles", "problems"), INPUTS.values(), ids=INPUTS)
def test_input(cluster: Any, groups: Any, roles: Any, problems: list[str]) -> None:
    assert rules_and_paths(error_of(read_input, cluster, groups, roles)) == problems


def test_groups_that_eks_maps_need_no_role() -> None:
    managed = [{"name": "m", "family": "al2023", "mode": "managed"}, group("n")]
    assert [str(role.arn) for role in read_input({"name": "a"}, managed, None)[1]] == [f"{ROLE}n"]


FIELDS = st.sampled_from(["name", "family", "mode", "role_arn", "type", "x"])
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(FIELDS, inner, max_size=3),
    max_leaves=8,
)


@given(ANY, ANY, ANY)
def test_no_input_causes_a_traceback(cluster: Any, groups: Any, roles: Any) -> None:
    try:
        read_input(cluster, groups, roles)
    except SpecError as error:
        assert str(error)


NAMES = st.lists(st.sampled_from("abcd"), unique=True)
KINDS = st.sampled_from(["EC2_LINUX", "EC2_WINDOWS", "STANDARD"])


@given(NAMES, st.dictionaries(st.sampled_from("abcdef"), st.tuples(KINDS, st.booleans())), NAMES, NAMES, st.booleans(), st.booleans())
def test_a_plan_only_removes_what_is_ours_and_ends_at_rest(
    wanted: list[str], present: dict[str, tuple[str, bool]], used: list[str], caller: list[str], purge: bool, recreate: bool
) -> None:
    groups = [group(name) for name in wanted] or [group("z")]
    entries = {name: entry(name, kind, ours=ours) for name, (kind, ours) in present.items()}
    arn = f"arn:aws:sts::111122223333:assumed-role/{caller[0]}/me" if caller else ""
    facts: dict[str, Any] = {"caller": arn, "used": {name: "node group m" for name in used}}
    try:
        found = plan(groups, observed(API, *entries.values(), **facts), purge=purge, recreate=recreate)
    except SpecError as error:
        assert any(problem.rule == "access.wrong_entry_type" for problem in error.problems)
        return
    after = dict(entries)
    for action, name, kind in changes(found):
        if action == "delete":
            assert purge and entries[name].is_ours and name not in wanted and name not in used and name not in caller[:1]
            del after[name]
        else:
            assert action == "create" or (recreate and name not in caller[:1])
            after[name] = entry(name, kind, ours=True)
    assert {name: after[name].kind for name in wanted} == dict.fromkeys(wanted, "EC2_LINUX")
    again = plan(groups, observed(API, *after.values(), **facts), purge=purge, recreate=recreate)
    assert not again.changes_anything
    assert plain_plan(again)["authentication_mode"] == API
