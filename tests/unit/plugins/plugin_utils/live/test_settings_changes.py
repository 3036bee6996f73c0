# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which settings of a Bottlerocket node differ, and what is shown of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts.settings_tree import Leaves, leaves, nested
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import settings_changes
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live.settings_changes import ABSENT, Change

SCALARS = st.one_of(st.text(max_size=5), st.integers(-5, 300), st.booleans(), st.lists(st.text(max_size=3), min_size=2, max_size=3))
TREES = st.dictionaries(
    st.sampled_from(["motd", "kubernetes", "a.b/c"]), st.one_of(SCALARS, st.dictionaries(st.text(max_size=3), SCALARS)), max_size=3
)


def wanted(tree: dict[str, Any]) -> Leaves:
    return {setting.place: setting for setting in leaves((), tree, "here")}


@pytest.mark.parametrize(
    ("ours", "theirs", "same"),
    [
        (29, 29, True),
        (29, 30, False),
        (85, "85", True),
        (True, True, True),
        (True, "true", False),
        (True, 1, False),
        ("10.100.0.10", ["10.100.0.10"], True),
        (["10.100.0.10", "10.100.0.11"], ["10.100.0.11", "10.100.0.10"], False),
        ("fd00:0:0::a", "fd00::a", True),
        ([{"registry": "a", "endpoint": ["b"]}], [{"endpoint": ["b"], "registry": "a", "more": None}], True),
        ([{"registry": "a"}], [{"registry": "b"}], False),
        ([], [], True),
        ([], ["a"], False),
        ("unlimited", -1, True),
        ("", "", True),
        ("a", None, False),
        ("a", {"b": "c"}, False),
    ],
)
def test_when_two_values_mean_the_same(ours: Any, theirs: Any, same: bool) -> None:
    assert (settings_changes.changes(wanted({"motd": ours}), {"motd": theirs}) == ()) is same


def test_only_what_is_wanted_is_compared() -> None:
    found = settings_changes.changes(wanted({"kubernetes": {"max-pods": 5}}), {"kubernetes": {"log-level": 3}, "motd": "x"})
    assert found == (Change(("kubernetes", "max-pods"), ABSENT, 5),)


@given(tree=TREES, live=TREES)
def test_after_the_changes_nothing_differs(tree: dict[str, Any], live: dict[str, Any]) -> None:
    settings = wanted(tree)
    changed = nested({**wanted(live), **settings})
    if all(settings_changes.at(changed, place) is not ABSENT for place in settings):
        assert settings_changes.changes(settings, changed) == ()
    body = settings_changes.body(settings_changes.changes(settings, live))
    assert set(wanted(body)) <= set(settings)


def test_what_may_be_a_secret_is_withheld() -> None:
    tree = {
        "network": {"https-proxy": "http://proxy:3128"},
        "kubernetes": {"server-key": "c2VjcmV0", "max-pods": 5, "bootstrap-token": "abcdef.0123456789abcdef"},
        "host-containers": {"admin": {"user-data": "e30=", "enabled": True}},
        "motd": "-----BEGIN " + "PRIVATE KEY-----",
    }
    paths = [settings_changes.path_of(place) for place in settings_changes.withheld(wanted(tree))]
    assert paths == [
        "settings.host-containers.admin.user-data",
        "settings.kubernetes.bootstrap-token",
        "settings.kubernetes.server-key",
        "settings.motd",
    ]
    assert settings_changes.withheld(wanted({"network": {"https-proxy": "http://u:p@proxy"}})) == (("network", "https-proxy"),)


def test_a_diff_has_only_what_changes_and_short_values() -> None:
    found = [Change(("pki", "ca", "data"), "A" * 200, "A" * 100 + "B" + "A" * 99), Change(("motd",), ABSENT, "x")]
    (diff,) = settings_changes.diff(found, "node")
    assert diff["before"].startswith('[settings.pki.ca]\ndata = "AAAAAAAAAAAA...AAAAAAAAAAAA (200 characters, sha256 ')
    assert 'motd = "x"' in diff["after"]
    assert diff["before"].partition("sha256")[2] != diff["after"].partition("sha256")[2]
    assert settings_changes.diff([], "node") == []


def test_patches_need_the_name_of_the_node() -> None:
    label = Change(("kubernetes", "node-labels", "role"), "a", "b")
    assert settings_changes.node_patches([label], ABSENT) == ([], [])
    both = Change(("kubernetes", "node-taints", "k"), ["a:NoSchedule"], ["b:NoSchedule", ":NoExecute"])
    patches, taints = settings_changes.node_patches([label, both], "n")
    assert patches[0]["metadata"] == {"name": "n", "labels": {"role": "b"}}
    put = [{"key": "k", "effect": "NoSchedule", "value": "b"}, {"key": "k", "effect": "NoExecute"}]
    assert taints == [{"name": "n", "state": "present", "taints": put}]
