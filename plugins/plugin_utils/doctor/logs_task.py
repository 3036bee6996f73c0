# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action doctor_logs without Ansible: its options, and what one task does."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from ..outputs import folder

MODULE = "nodebootstrap.eks.doctor_logs"
OPTIONS: dict[str, Any] = {
    "folder": {"type": "path", "required": True},
    "timeout": {"type": "float", "default": 10.0},
}


def logs_task(
    options: Mapping[str, Any], host: str, run: Callable[[str, Mapping[str, Any]], Mapping[str, Any]], *, check_mode: bool
) -> dict[str, Any]:
    """Collect the logs of a host, and write them. Raises C(SpecError).

    run: calls a module on the node, by name and options, and returns its result.
    """
    path = folder.absolute(f"{options['folder']}/{quote(host, safe='')}.tar.gz")
    if check_mode:
        return {"changed": True, "path": path}
    answer = run(MODULE, options)
    if "archive" not in answer:
        return dict(answer)
    try:
        archive = base64.b64decode(answer["archive"], validate=True)
    except (binascii.Error, TypeError, ValueError):
        return {"failed": True, "msg": "the node returned an archive that is not base64"}
    # The result has no archive: a registered variable would keep those of all hosts in memory.
    changed = folder.write_file(path, archive, "folder", private=True)
    return {"changed": changed, "path": path, "bytes": len(archive), "entries": answer["entries"]}
