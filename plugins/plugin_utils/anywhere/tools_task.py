# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action anywhere_tools without Ansible: its options, and what one task does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import Problems, joined
from .admin_tools import NAMES, ToolSource, check_tools

MODULE = "nodebootstrap.eks.anywhere_tools"
OPTIONS: dict[str, Any] = {
    "tools": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": {
            "name": {"type": "str", "choices": list(NAMES), "required": True},
            "version": {"type": "str", "required": True},
            "sha256": {"type": "str", "required": True},
            "url": {"type": "str"},
            "path": {"type": "str"},
            "member": {"type": "str"},
        },
        "mutually_exclusive": [("url", "path")],
        "required_one_of": [("url", "path")],
    },
    "folder": {"type": "path", "default": "/usr/local/bin"},
    "timeout": {"type": "float", "default": 60.0},
    "staged": {"type": "dict", "default": {}},
}

Run = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""Runs a module on the admin machine, by its name and options."""


Digest = Callable[[str], tuple[str, str]]
"""The absolute path and the SHA-256 checksum of a file of the controller. Raises C(OSError)."""


def tools_task(
    options: Mapping[str, Any], run: Run, *, digest: Digest, copy: Callable[[str, str], str], check_mode: bool
) -> dict[str, Any]:
    """Install the tools. Raises C(SpecError) with all problems of the options, and of files of the controller that the machine needs."""
    problems = Problems()
    tools = check_tools(options["tools"], "tools", problems)
    problems.raise_any()
    given = {**options, "tools": [{name: value for name, value in vars(tool).items() if value is not None} for tool in tools]}
    answer = run(MODULE, {**given, "staged": {}})
    absent = answer.get("absent")
    if absent is None:
        return dict(answer)
    files = {tool.name: _checked(tool, joined("tools", index), digest, problems) for index, tool in enumerate(tools) if tool.name in absent}
    problems.raise_any()
    # In check mode, the module does not read the files, and nothing is copied.
    staged = {name: path if check_mode else copy(path, name) for name, path in files.items()}
    return dict(run(MODULE, {**given, "staged": staged}))


def _checked(tool: ToolSource, path: str, digest: Digest, problems: Problems) -> str:
    """The absolute path of a file of the controller. Reports a file that cannot be read, and one with another checksum."""
    try:
        place, found = digest(str(tool.path))
    except OSError as error:
        message = f"cannot be read on the controller: {error.strerror or error}"
        problems.add("input.unreadable_file", joined(path, "path"), message, value=tool.path, fix="use the path of an existing file")
        return ""
    if found != tool.sha256:
        message = f"is not the checksum of {place}, which is {found}"
        fix = "compare both with the checksum of the release; correct sha256, or replace the file"
        problems.add("anywhere.admin_machine", joined(path, "sha256"), message, value=tool.sha256, fix=fix)
    return place
