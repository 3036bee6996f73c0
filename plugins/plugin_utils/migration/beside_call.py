# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Text beside a call that only takes its output, limits its time, or looks at whether it failed: a migration can leave it out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..formats.shell_reader import Command
from ..readers.bootstrap_script import BESIDE, NEGATED, REDIRECTED, STOPPED

_FILE = r"\"?[\w./${}:%+-]+\"?"
_OUTPUT = (
    rf"(?:&>>?|[12]?>>?)\s*(?:&[12](?!\w)|{_FILE})"
    rf"|\|&?\s*(?:sudo\s+)?(?:tee(?:\s+(?:-a|--append))?(?:\s+{_FILE})+|(?:systemd-cat|logger)(?:\s+(?!>){_FILE})*)"
)
_END = r"\|\|\s*(?P<status>exit(?:\s+\d{1,3})?|true|:)(?!\w)"
_BESIDE = re.compile(rf"\s*(?P<output>(?:(?:{_OUTPUT})\s*)*)(?:{_END}\s*)?;?\s*(?:#[^\n]*)?")
BEFORE_CALL = (NEGATED, STOPPED)
"""Reasons about text in front of a call."""
_NOT_FOLLOWED = "no command follows the call"
_JOINED = re.compile(r"\\\n\s*")


def text_beside(text: str, command: Command, end: int) -> str | None:
    """The text between the last word of a call and the end of its lines, if all of it can be left out. end: the line behind, from 0."""
    lines, last = text.split("\n"), command.words[-1].place
    before = lines[command.line - 1][: command.place.column - 1].strip()
    if before not in ("", "!"):
        return None
    rest = "\n".join([lines[last.line - 1][last.column - 1 + last.length :], *lines[last.line : end]])
    found = _JOINED.sub(" ", rest).strip()
    match = _BESIDE.fullmatch(found)
    # Behind a negated call, the end of the script depends on its success.
    return found if match and not (before and match["status"]) else None


def is_left_out(reason: str, beside: str | None) -> bool:
    """Whether a migration leaves out text that the reader of a call did not understand. beside: C(text_beside)."""
    return reason in BEFORE_CALL or (beside is not None and reason in (BESIDE, REDIRECTED))


def left_out_before(reason: str, *, is_followed: bool) -> tuple[str, str | None]:
    """A message and a fix for what is in front of a call. is_followed: whether there are commands after the call."""
    if reason == STOPPED:
        return "timeout is left out: the programs that replace the call have no limit of time", None
    return f"! is left out: {_even_if_failed(is_followed)}", None


def _even_if_failed(is_followed: bool) -> str:
    after = "the commands after the call ran even if the call failed, and now run after kubelet is healthy"
    return after if is_followed else _NOT_FOLLOWED


def left_out(text: str, *, is_followed: bool) -> Iterator[tuple[str, str | None]]:
    """A message and a fix for each piece of C(text_beside). is_followed: whether there are commands after the call."""
    match = _BESIDE.fullmatch(text)
    output, status = (match["output"].strip(), match["status"]) if match else ("", None)
    if output:
        message = f"{output} is left out: the call is gone, and the programs that replace it write to the journal"
        yield message, "look for their messages with journalctl, for example journalctl -u kubelet"
    if status and status.startswith("exit") and is_followed:
        when = "the commands after the call ran only if the call succeeded, and now run after kubelet is healthy"
        yield f"|| {status} is left out: {when}", None
    elif status:
        yield f"|| {status} is left out: {_even_if_failed(is_followed)}", None
