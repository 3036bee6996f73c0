# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The output directory: what a run writes, what it removes, and what it leaves alone."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import folder, manifest
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.batch import render_groups
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.named_files import with_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_spec import node_spec
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import found, problems_of
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

MANAGED = {"family": "al2023", "mode": "managed"}


def group(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "family": "al2023", **fields}


def run(target: Path, *groups: dict[str, Any], cluster: Any = None, encoding: str = "plain", prune: bool = False) -> folder.Changes:
    changes = folder.plan_changes(render_groups(cluster or COMPLETE, groups, encoding), str(target), prune=prune)
    folder.write(changes)
    return changes


def files(target: Path) -> list[str]:
    return sorted(str(path.relative_to(target)) for path in target.rglob("*") if path.is_file())


def entries(target: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((target / "manifest.json").read_bytes())["groups"]
    return found


@pytest.mark.parametrize("encoding", ["plain", "base64", "gzip_base64", "gzip"])
def test_the_manifest_describes_every_file(tmp_path: Path, encoding: str) -> None:
    run(tmp_path, group("web", max_pods=20), group("given", **MANAGED), encoding=encoding)
    given, web = entries(tmp_path)
    content = (tmp_path / "demo/web.userdata").read_bytes()
    assert (web.pop("sha256"), web.pop("bytes")) == (hashlib.sha256(content).hexdigest(), len(content))
    assert [problem["rule"] for problem in web.pop("warnings")] == ["reserved.sized_for_other_max_pods"]
    named = {"cluster": "demo", "family": "al2023", "encoding": encoding}
    assert web == {**named, "group": "web", "file": "demo/web.userdata", "mode": "self_managed"}
    assert given == {**named, "group": "given", "file": None, "sha256": None, "bytes": 0, "mode": "managed", "warnings": []}


def test_the_manifest_does_not_depend_on_order_or_history(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    run(one, group("a"), group("b"))
    run(two, group("b"))
    run(two, group("c"))
    run(two, group("b"), group("a"), prune=True)
    assert (one / "manifest.json").read_bytes() == (two / "manifest.json").read_bytes()
    assert files(one) == files(two)


def test_two_tasks_share_a_directory_and_change_nothing_the_second_time(tmp_path: Path) -> None:
    other = {**COMPLETE, "name": "other"}
    for number in range(2):
        found = [run(tmp_path, group("web")), run(tmp_path, group("web"), group("given", **MANAGED), cluster=other)]
        assert [bool(changes.files) for changes in found] == [number == 0] * 2
    assert files(tmp_path) == ["demo/web.userdata", "manifest.json", "other/web.userdata"]


def _edit(path: Path) -> None:
    path.write_text("by hand")


@pytest.mark.parametrize(
    ("change", "removed", "kept"),
    [(lambda path: None, ["demo/old.userdata"], ()), (_edit, [], ("demo/old.userdata",)), (Path.unlink, [], ())],
    ids=["unchanged", "edited", "removed by hand"],
)
def test_prune_removes_only_what_it_wrote(
    tmp_path: Path, change: Callable[[Path], None], removed: list[str], kept: tuple[str, ...]
) -> None:
    run(tmp_path, group("old"), group("web"))
    (tmp_path / "demo/mine.userdata").write_text("not in the manifest")
    change(tmp_path / "demo/old.userdata")
    expected = run(tmp_path, group("web")).removed
    assert expected == []
    changes = run(tmp_path, group("web"), prune=True)
    assert (changes.removed, changes.kept) == (removed, kept)
    assert files(tmp_path) == sorted(["demo/mine.userdata", "demo/web.userdata", "manifest.json", *kept])
    assert [entry["group"] for entry in entries(tmp_path)] == [*(["old"] if kept else []), "web"]
    assert run(tmp_path, group("web"), prune=True).files == ()


def test_the_directory_of_a_cluster_goes_with_its_last_file(tmp_path: Path) -> None:
    run(tmp_path, group("web"), cluster={**COMPLETE, "name": "old"})
    run(tmp_path, group("web"), prune=True)
    assert not (tmp_path / "old").exists()
    assert files(tmp_path) == ["demo/web.userdata", "manifest.json"]


def test_a_group_that_needs_no_user_data_any_more_leaves_no_file(tmp_path: Path) -> None:
    run(tmp_path, group("web", mode="managed", commands={"pre": ["true"]}))
    changes = run(tmp_path, group("web", mode="managed"))
    assert changes.removed == ["demo/web.userdata"]
    assert files(tmp_path) == ["manifest.json"]
    assert run(tmp_path, group("web", mode="managed")).files == ()


def test_a_file_with_secrets_is_private_and_its_removal_shows_no_text(tmp_path: Path) -> None:
    run(tmp_path, group("web", commands={"pre": ["true"]}, allow_secrets_in_user_data=True))
    assert (tmp_path / "demo/web.userdata").stat().st_mode & 0o777 == 0o600
    changes = folder.plan_changes([], str(tmp_path), prune=True)
    text = folder.diffs(changes)[0]["before"]
    assert "not shown" in text
    assert "true" not in text


def test_a_difference_of_the_manifest_is_shown(tmp_path: Path) -> None:
    changes = folder.plan_changes(render_groups(COMPLETE, [group("web")]), str(tmp_path))
    last = folder.diffs(changes)[-1]
    assert last["after_header"] == f"{tmp_path}/manifest.json"
    assert json.loads(last["after"])["groups"][0]["group"] == "web"


@pytest.mark.parametrize(
    "change",
    [
        {"file": "../../etc/passwd"},
        {"file": "/etc/passwd"},
        {"file": "demo/other.userdata"},
        {"group": "../x", "file": "demo/../x.userdata"},
        {"cluster": "..", "file": "../web.userdata"},
        {"cluster": 7},
        {"sha256": "x"},
        {"sha256": None},
        {"file": None},
        {"bytes": "9"},
        {"mode": None},
        {"more": 1},
    ],
)
def test_a_manifest_cannot_name_other_files(tmp_path: Path, change: dict[str, Any]) -> None:
    run(tmp_path, group("web"))
    (entry,) = entries(tmp_path)
    (tmp_path / "manifest.json").write_text(json.dumps({"version": 1, "groups": [entry | change]}))
    expected = [("output.invalid_manifest", f"{tmp_path}/manifest.json")]
    assert problems_of(folder.plan_changes, [], str(tmp_path), prune=True) == expected


@pytest.mark.parametrize("text", ["", "[]", "{", "{}", '{"version": 2, "groups": []}', '{"version": 1, "groups": {}}', "[" * 9999])
def test_other_files_are_not_manifests(text: str) -> None:
    assert problems_of(manifest.load, text.encode(), "m") == [("output.invalid_manifest", "m")]


def test_entries_survive_a_round_trip() -> None:
    found = [manifest.entry_of(output) for output in render_groups(COMPLETE, [group("web", max_pods=20), group("given", **MANAGED)])]
    again = manifest.load(manifest.dump(found), "m")
    assert manifest.dump(again) == manifest.dump(found)


@pytest.mark.parametrize("family", ["al2", "al2023", "bottlerocket", "windows"])
def test_named_files_are_rendered_like_text(tmp_path: Path, family: str) -> None:
    text = {"bottlerocket": '[settings]\nmotd = "x"\n', "windows": "Write-Host x"}.get(family, "#!/bin/bash\necho x\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/plain").write_text(text)
    (tmp_path / "parts/packed").write_bytes(gzip.compress(text.encode(), mtime=0))
    as_text = render(COMPLETE, {"family": family, "user_data": [text, text, text]})
    given = {"family": family, "user_data": [text], "user_data_files": ["parts/plain", str(tmp_path / "parts/packed")]}
    rendered = render(COMPLETE, with_files(given, str(tmp_path)))
    assert rendered.document.text == as_text.document.text
    assert given["user_data_files"][0] == "parts/plain"


def test_a_missing_file_is_reported_with_the_whole_path(tmp_path: Path) -> None:
    given = with_files(group("web", user_data_files=["../a.sh", "."]), str(tmp_path / "files"))
    with pytest.raises(SpecError) as caught:
        render(COMPLETE, given)
    assert found(caught.value.problems) == [("input.unreadable_file", f"node_group.user_data_files[{index}]") for index in (0, 1)]
    assert mentions(caught.value, tmp_path / "a.sh", tmp_path / "files")


def test_problems_of_a_file_have_the_path_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text("no script")
    (tmp_path / "b.sh").write_text("#!/bin/sh\nexport password=" + "hunter2\n")
    given = with_files(group("web", user_data=["#!/bin/sh\n"], user_data_files=["a.sh", "b.sh"]), str(tmp_path))
    expected = [("user_data.wrong_kind", "node_group.user_data_files[0]"), ("secrets.password", "node_group.user_data_files[1]")]
    assert sorted(problems_of(render, COMPLETE, given)) == sorted(expected)


def test_a_specification_contains_the_text_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text("#!/bin/sh\n")
    spec = node_spec(COMPLETE, with_files(group("web", user_data_files="a.sh"), str(tmp_path)))
    assert spec["node_group"]["user_data"] == ["#!/bin/sh\n"]
    assert "user_data_files" not in spec["node_group"]
