# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The documents that nodeadm reads, and whether its configuration changes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import nodeadm
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.manifest import NodeadmSources
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import nodeadm_files
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import Change, Current
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.host_files import machine
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.live_plans import typed_plan


def test_the_contents_of_the_documents(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"{nodeadm_files.DIRECTORY}/{name}": name for name in ("b.yaml", "a.JSON", "e.txt")}
    host = machine(tmp_path, files)

    def read(path: str) -> Current | None:
        return None if path.endswith("a.JSON") else Current((tmp_path / path[1:]).read_bytes(), 0o644, 0, 0)

    assert nodeadm.documents(read, host) == {"b.yaml": b"b.yaml"}
    assert nodeadm.documents(read, machine(tmp_path / "none", {})) == {}


def test_documents_after_a_plan_are_those_of_others_and_its_own() -> None:
    plan = typed_plan("al2023")
    [ours] = [file for file in plan.files if file.path.startswith(nodeadm_files.DIRECTORY)]
    name = ours.path.rpartition("/")[2]
    removed = Change(f"{nodeadm_files.DIRECTORY}/45-earlier.yaml", None)
    before = {"40-theirs.yaml": b"theirs", "45-earlier.yaml": b"ours", name: b"old"}
    after = nodeadm.documents_after(plan, [removed, Change("/etc/other", b"x")], before)
    assert after == {"40-theirs.yaml": b"theirs", name: ours.content}


@pytest.mark.parametrize(
    ("before", "now", "changed"),
    [
        (None, ("a", "u"), False),
        (("a", "u"), ("a", "u"), False),
        (("a", "u"), ("b", "u"), True),
        (("a", "u"), ("a", "v"), True),
        (("a", "u"), ("a", None), False),
        (("a", None), ("a", "u"), False),
    ],
)
def test_foreign_sources_have_changed_if_both_runs_could_read_them(before: Any, now: Any, changed: bool) -> None:
    assert nodeadm.is_changed(None if before is None else NodeadmSources(*before), NodeadmSources(*now)) is changed


class Sandbox:
    """nodeadm merges what is in its folder as the test says."""

    def __init__(self, merged: Mapping[str, str | None]) -> None:
        self.merged = merged

    def nodeadm_dump(self, name: str, documents: Mapping[str, bytes]) -> str | None:
        return self.merged[name]


@pytest.mark.parametrize(
    ("path", "merged", "affected"),
    [
        (None, {}, False),
        ("/etc/systemd/system/nodeadm-run.service.d/x.conf", {"before": "a", "after": "a"}, False),
        (f"{nodeadm_files.DIRECTORY}/x.yaml", {"before": "a", "after": "b"}, True),
        (f"{nodeadm_files.DIRECTORY}/x.yaml", {"before": None, "after": None}, True),
        ("/etc/containerd/config.toml", {}, True),
    ],
)
def test_nodeadm_decides_whether_a_document_matters(path: str | None, merged: Any, affected: bool) -> None:
    changes = [] if path is None else [Change(path, b"x")]
    sandbox: Any = Sandbox(merged)
    assert nodeadm.is_affected(typed_plan("al2023"), changes, changes, sandbox, lambda _path: None) is affected
