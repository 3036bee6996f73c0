# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cures for locked inputs of images."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image import lock as locks
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import image_inputs
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.row import call
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.error_rows.locks import BUILDER, PLAN, check_plan, check_system
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.image.inputs import document
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.image.mirror import CONTENTS, Mirror

DOWNLOADS = document()["downloads"]


def _fetch(*, pool: bytes | None = None, folder: str = "inputs", fetched: bool = True, download: bool = True) -> None:
    """Fetch the files of a directory. pool: the content of kubelet there, None if it is missing."""
    with tempfile.TemporaryDirectory() as directory:
        contents = {**CONTENTS, "kubelet": pool}
        for name, content in contents.items():
            if content is not None:
                Path(directory, name).write_bytes(content)
        lock = Mirror(Path(directory).as_uri()).write_lock(Path(directory))
        given = {"lock": str(lock), "folder": str(Path(directory, folder)), "plan": None, "builder": None, "timeout": 1}
        for value in ([True] if fetched else []) + [download]:
            image_inputs.fetch_task({**given, "download": value}, check_mode=False, say=lambda _line: None)


def _run(given: dict[str, Any]) -> None:
    _fetch(**{"pool": CONTENTS["kubelet"], **given})


ROWS = (
    call("lock.unreadable", locks.of_document, [], document()),
    call("lock.duplicate_file", locks.of_document, document(downloads=DOWNLOADS * 2), document(downloads=DOWNLOADS)),
    call("lock.outdated", check_plan, {**PLAN, "packages": ["curl"]}, PLAN),
    call("lock.other_system", check_system, {**BUILDER, "id": "debian"}, BUILDER),
    call("lock.fetch_failed", _run, {"pool": None}, {}),
    call("lock.wrong_content", _run, {"pool": CONTENTS["kubelet"][::-1]}, {}),
    call("lock.unwritable_folder", _run, {"folder": "/proc/inputs"}, {}),
    call("lock.missing_file", _run, {"fetched": False, "download": False}, {"fetched": True, "download": False}),
)
