# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the changes of rendered files mean: with which values, and for which files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import folder, meaning
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.batch import render_groups
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

SECRET = "correct-horse-battery"


def changes(path: Path, before: dict[str, Any], after: dict[str, Any], encoding: str = "plain") -> folder.Changes:
    folder.write(folder.plan_changes(render_groups(COMPLETE, [group(before)]), str(path)))
    return folder.plan_changes(render_groups(COMPLETE, [group(after)], encoding), str(path))


def group(fields: dict[str, Any]) -> dict[str, Any]:
    return {"name": "web", "family": "al2023", **fields}


@pytest.mark.parametrize("encoding", ["plain", "base64", "gzip", "gzip_base64"])
def test_a_change_is_found_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    found = meaning.plain(meaning.meanings(changes(tmp_path, {"max_pods": 20}, {"max_pods": 30}, encoding)))
    assert found == [{"file": "demo/web.userdata", "differences": [{"path": "node_group.max_pods", "before": 20, "after": 30}]}]


def test_another_encoding_changes_nothing_for_a_node(tmp_path: Path) -> None:
    found = meaning.meanings(changes(tmp_path, {"max_pods": 20}, {"max_pods": 20}, "gzip"))
    assert found == [("demo/web.userdata", ())]


def test_new_files_and_the_manifest_have_no_meaning(tmp_path: Path) -> None:
    assert meaning.meanings(folder.plan_changes(render_groups(COMPLETE, [group({})]), str(tmp_path))) == []


def test_a_script_is_one_line(tmp_path: Path) -> None:
    found = meaning.meanings(changes(tmp_path, {}, {"commands": {"pre": ["true\ntrue"]}}))
    (text,) = [one["prepared"] for one in meaning.diffs(found, str(tmp_path))]
    assert len(text.splitlines()) == 1 + len(found[0][1])


@pytest.mark.parametrize("secret_is_new", [True, False])
def test_values_that_may_be_secrets_are_not_shown(tmp_path: Path, *, secret_is_new: bool) -> None:
    secret = {"commands": {"pre": [f"login {SECRET}"]}, "allow_secrets_in_user_data": True}
    plain = {"commands": {"pre": ["true"]}, "allow_secrets_in_user_data": True}
    found = meaning.meanings(changes(tmp_path, plain, secret) if secret_is_new else changes(tmp_path, secret, plain))
    assert [row.path for row in found[0][1]]
    shown = json.dumps([meaning.plain(found), meaning.diffs(found, str(tmp_path))])
    assert SECRET not in shown
