# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Locked inputs of images. Transfers that fail are in test_image_inputs.py."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image import lock as locks
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image.lock import Download
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import image_inputs
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.row import Row
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.image.inputs import document, locked

PLAN: dict[str, Any] = {"packages": ["jq"], "downloads": [{"name": "kubelet", "file": "kubelet", "sha256": "c" * 64}]}
BUILDER = {"id": "ubuntu", "version_id": "24.04", "architecture": "x86_64"}


def _document(what: str, change: Callable[[dict[str, Any]], Any]) -> Row:
    def call() -> None:
        given = document()
        change(given)
        locks.of_document(given)

    return Row(f"lock: {what}", call)


def check_plan(plan: dict[str, Any]) -> None:
    """Compare the lock with a plan."""
    problems = Problems()
    locks.check_plan(locked(), plan, problems)
    problems.raise_any()


def check_system(builder: dict[str, Any]) -> None:
    """Compare the lock with a machine."""
    problems = Problems()
    locks.check_system(locked(), builder, problems)
    problems.raise_any()


def fetch_from(url: str, folder: str, **options: Any) -> None:
    """Fetch the lock with the files at C(url). A relative folder is below a directory of its own."""
    _fetch(locked(url), folder, **options)


def _fetch(found: locks.Lock, folder: str, **options: Any) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "inputs.lock")
        path.write_text(locks.dump(found), encoding="utf-8")
        target = str(Path(directory, folder)) if folder == "inputs" else folder
        given = {"lock": str(path), "folder": target, "plan": None, "builder": None, "download": True, "timeout": 1}
        image_inputs.fetch_task({**given, **options}, check_mode=False, say=lambda _line: None)


ROWS = (
    Row("lock: no JSON", lambda: locks.load("{")),
    Row("lock: a list", lambda: locks.load("[]")),
    _document("newer format", lambda given: given.update(format=2)),
    _document("without system", lambda given: given.pop("system")),
    _document("two entries with one file", lambda given: given["downloads"].append(given["downloads"][0])),
    _document("a file outside of the folder", lambda given: given["downloads"][0].update(file="../kubelet")),
    _document("an invalid digest", lambda given: given["packages"][0].update(sha256="A" * 64)),
    _document("a password in a URL", lambda given: given["packages"][0].update(url="https://me:secret@a/b")),
    Row(
        "lock: another description",
        lambda: check_plan(
            {
                "packages": ["curl"],
                "downloads": [{"name": "kubelet", "file": "kubelet", "sha256": "d" * 64}],
                "images": [{"name": "pause", "file": "pause.tar", "sha256": "e" * 64}],
            }
        ),
    ),
    Row("lock: a program that the description does not have", lambda: check_plan({"packages": ["jq"]})),
    Row("lock: another release", lambda: check_system({**BUILDER, "version_id": "22.04"})),
    Row("lock: another architecture", lambda: check_system({**BUILDER, "architecture": "aarch64"})),
    Row("lock: files that the controller does not have", lambda: fetch_from("file:///nowhere", "inputs")),
    Row(
        "lock: another content",
        lambda: _fetch(replace(locked(), packages=(), downloads=(Download("a", "a", "file:///dev/null", "a" * 64, 0),)), "inputs"),
    ),
    Row("lock: a folder that cannot be made", lambda: fetch_from("file:///nowhere", "/proc/inputs")),
    Row("lock: a folder without the files", lambda: fetch_from("file:///nowhere", "/proc/inputs", download=False)),
    Row("lock: no lock", lambda: fetch_from("file:///nowhere", "inputs", lock="/proc/inputs.lock")),
)
