# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Text behind a call on its lines that only takes its output, or only looks at whether it failed: a migration can leave it out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..formats.shell_reader import Command

_FILE = r"\"?[\w./${}:%+-]+\"?"
_OUTPUT = (
    rf"(?:&>>?|[12]?>>?)\s*(?:&[12](?!\w)|{_FILE})"
    rf"|\|&?\s*(?:sudo\s+)?(?:tee(?:\s+(?:-a|--append))?(?:\s+{_FILE})+|(?:systemd-cat|logger)(?:\s+(?!>){_FILE})*)"
)
_END = r"\|\|\s*(?P<status>exit(?:\s+\d{1,3})?|true|:)(?!\w)"
_BESIDE = re.compile(rf"\s*(?P<output>(?:(?:{_OUTPUT})\s*)*)(?:{_END}\s*)?;?\s*(?:#[^\n]*)?")
_JOINED = re.compile(r"\\\n\s*")


def text_beside(text: str, command: Command, end: int) -> str | None:
    """The text between the last word of a call and the end of its lines, if all of it can be left out. end: the line behind, from 0."""
    lines, last = text.split("\n"), command.words[-1].place
    if lines[command.line - 1][: command.place.column - 1].strip():
        return None
    rest = "\n".join([lines[last.line - 1][last.column - 1 + last.length :], *lines[last.line : end]])
    found = _JOINED.sub(" ", rest).strip()
    return found if _BESIDE.fullmatch(found) else None


def left_out(text: str, *, is_followed: bool) -> Iterator[tuple[str, str | None]]:
    """A message and a fix for each piece of C(text_beside). is_followed: whether there are commands after the call."""
    match = _BESIDE.fullmatch(text)
    output, status = (match["output"].strip(), match["status"]) if match else ("", None)
    if output:
        message = f"{output} is left out: the call is gone, and the programs that replace it write to the journal"
        yield message, "look for their messages with journalctl, for example journalctl -u kubelet"
    if status and is_followed:
        when = "only if the call succeeded" if status.startswith("exit") else "even if the call failed"
        yield f"|| {status} is left out: the commands after the call ran {when}, and now run after kubelet is healthy", None
    elif status:
        yield f"|| {status} is left out: no command follows the call", None
