# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd's journal: what units logged in this boot, and where it is written. Standard library, Python 3.7 and newer.

systemd 219 (Amazon Linux 2) has neither InvocationID nor --output-fields. So the starts of a unit are told apart by the monotonic clock,
which cannot be set, and by systemd's own messages.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple, Sequence

from . import programs

LINES, TEXT_LINES = 600, 5000
TIMEOUT_SECONDS = 10.0
_MAX_BYTES = 16 * 1024 * 1024
_MAX_TEXT = 20000

_EXIT = re.compile(r"(?:main|control) process exited|Failed with result|entered failed state|\.service failed\.", re.IGNORECASE)
_RESTART = re.compile(r"Scheduled restart job|holdoff time over, scheduling restart", re.IGNORECASE)
_STATUS = re.compile(r"main process exited, code=(\w+), status=([\w/]+)", re.IGNORECASE)
_START = re.compile(r"(?:Starting|Started) ")


class Entry(NamedTuple):
    """One journal entry. C(moment): seconds of the monotonic clock. C(time): seconds since 1970. C(systemd): logged by systemd itself."""

    moment: float
    systemd: bool
    text: str
    time: float = 0.0


class Run(NamedTuple):
    """One start of a unit. C(lines): its messages, oldest first. C(seconds): how long it ran."""

    lines: list[str]
    seconds: float


def entries(unit: str | None, pid: int | None = None) -> list[Entry]:
    """The newest C(LINES) entries of a unit in this boot, oldest first. With C(pid), the oldest entries of that process."""
    argv = ["journalctl", "-q", "-b", "--no-pager", "-a", "-o", "json"]
    argv += ["-r", "-n", str(LINES), "-u", str(unit)] if pid is None else [f"_PID={pid}"]
    # A damaged journal or a slow disk must not block the caller: what was read in time is the answer.
    lines = programs.first_lines(argv, LINES, TIMEOUT_SECONDS, _MAX_BYTES)
    found = [entry for entry in map(_parse, lines) if entry is not None]
    return found[::-1] if pid is None else found


def process_log(unit: str, pid: int) -> list[str]:
    """The oldest messages of the process of a unit, and the newest ones of the unit."""
    return [entry.text for entry in (*entries(None, pid), *entries(unit))]


def kernel_entries() -> list[Entry]:
    """The newest C(LINES) messages of the kernel in this boot, oldest first."""
    argv = ["journalctl", "-q", "-b", "--no-pager", "-a", "-o", "json", "-r", "-n", str(LINES), "_TRANSPORT=kernel"]
    found = [entry for entry in map(_parse, programs.first_lines(argv, LINES, TIMEOUT_SECONDS, _MAX_BYTES)) if entry is not None]
    return found[::-1]


def text_argv(*selection: str) -> tuple[str, ...]:
    """The command that prints the newest selected messages of this boot as text, oldest first."""
    return ("journalctl", "-q", "-b", "--no-pager", "-n", str(TEXT_LINES), *selection)


def write_only_to_memory() -> None:
    """Let systemd close the journal on disk until the next boot. systemd 242 and older cannot do this."""
    programs.run(["journalctl", "--relinquish-var"], TIMEOUT_SECONDS)


def messages_between(unit: str, since: float, until: float | None = None, lines: int = 12) -> list[str]:
    """The last messages of a unit between two times (seconds since 1970), oldest first, those of systemd included."""
    found = [entry.text for entry in entries(unit) if since <= entry.time and (until is None or entry.time <= until)]
    return found[-lines:]


def _parse(line: bytes) -> Entry | None:
    try:
        fields = json.loads(line.decode("utf-8", "replace"))
        moment = int(fields["__MONOTONIC_TIMESTAMP"]) / 1e6
        time = int(fields.get("__REALTIME_TIMESTAMP", 0)) / 1e6
        message = fields["MESSAGE"]
        # A message that is not UTF-8 comes as a list of bytes.
        text = bytes(message).decode("utf-8", "replace") if isinstance(message, list) else message
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return Entry(moment, str(fields.get("_PID")) == "1", text[:_MAX_TEXT], time) if isinstance(text, str) else None


def lines_since(found: Sequence[Entry], moment: float) -> list[str]:
    """The unit's own messages since a moment of the monotonic clock."""
    return [entry.text for entry in found if not entry.systemd and entry.moment >= moment - 0.001]


class Failure(NamedTuple):
    """A run that failed. C(how): how its process ended. C(lines): its messages, oldest first."""

    how: str
    lines: list[str]


def last_failure(found: Sequence[Entry], moment: float) -> Failure | None:
    """The last run before C(moment) that failed and after which systemd restarted the unit, or waits to restart it."""
    run = failed_before(found, moment)
    if run is None:
        return None
    ends = [match for entry in found if entry.systemd and entry.moment < moment for match in [_STATUS.search(entry.text)] if match]
    if not ends:
        return Failure("fails", run.lines)
    code, status = ends[-1].groups()
    return Failure(f"exits with status {status}" if code == "exited" else f"is {code} (signal {status})", run.lines)


def count_restarts(found: Sequence[Entry]) -> int:
    """How often systemd restarted the unit by itself, as far as these entries go."""
    return sum(1 for entry in found if entry.systemd and _RESTART.search(entry.text))


def failed_before(found: Sequence[Entry], moment: float) -> Run | None:
    """The run before the one that began at C(moment), if it failed and systemd restarted the unit by itself; otherwise None."""
    before = [entry for entry in found if entry.moment < moment - 0.001]
    exits = [index for index, entry in enumerate(before) if entry.systemd and _EXIT.search(entry.text)]
    after = [entry.text for entry in before[exits[-1] :] if entry.systemd] if exits else []
    # A stop job comes from a person or a program that may have fixed the problem.
    if not any(map(_RESTART.search, after)) or any(text.startswith("Stopping ") for text in after):
        return None
    # systemd reports one exit in up to three messages.
    last = exits[-1]
    while last - 1 in exits:
        last -= 1
    lines: list[str] = []
    began = None
    for entry in reversed(before[:last]):
        began = entry.moment
        if entry.systemd and (_START.match(entry.text) or _RESTART.search(entry.text)):
            break
        if not entry.systemd:
            lines.append(entry.text)
    return Run(lines[::-1], 0.0 if began is None else before[last].moment - began)
