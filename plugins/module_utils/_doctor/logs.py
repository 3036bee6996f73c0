# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the log archive of a node in memory, within limits and without secrets. Standard library, Python 3.7 and newer.

What cannot be collected is not an error: C(index.json) in the archive says why it is missing.
"""

from __future__ import annotations

import fnmatch
import json
import os
import time
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple, Union

from .._node import programs
from .._node.archive import pack
from .._node.errors import ApplyRefused
from .._node.host import Host, command_line
from .._node.redaction import redact_command_line, redact_document
from .log_sources import SOURCES, Files, Program

MAX_ENTRY_BYTES = 1024 * 1024
MAX_BYTES = 16 * 1024 * 1024
"""Of all entries, before compression."""

MAX_SECONDS = 120.0
"""After that, nothing more is started."""

MAX_FILES = 200
"""Of one folder."""

MARGIN_BYTES = 64 * 1024
"""Read before the part of a file that is kept, so that a secret of several lines, such as a key, is recognized by its beginning."""

NO_TIME = "there was no time left"
INDEX = "index.json"
PROCESSES = "processes.txt"


class LogCollector:
    """Collects the sources of a node, one after the other, and remembers what became of each.

    C(clock): seconds, which limit the time of all sources together.
    """

    def __init__(self, host: Host, clock: Callable[[], float] = time.monotonic) -> None:
        self._host = host
        self._clock = clock
        self._deadline = clock() + MAX_SECONDS
        self._entries: Dict[str, bytes] = {}
        self._index: List[Dict[str, Any]] = []
        self._room = MAX_BYTES

    def collect(self) -> Tuple[bytes, int]:
        """The archive and the number of its entries."""
        for source in SOURCES:
            if not self._has_time():
                self._leave_out(_name(source), _name(source), NO_TIME)
            elif isinstance(source, Files):
                self._add_files(source)
            else:
                self._add_program(source)
        if self._has_time():
            self._add(PROCESSES, "/proc/*/cmdline", _processes(self._host), keep_end=False)
        else:
            self._leave_out(PROCESSES, "/proc/*/cmdline", NO_TIME)
        index = (json.dumps(self._index, indent=1) + "\n").encode()
        return pack({**self._entries, INDEX: index}, "logs"), len(self._entries)

    def _has_time(self) -> bool:
        return self._clock() < self._deadline

    def _add(self, place: str, source: str, content: bytes, keep_end: bool, reason: str = "") -> None:
        """Add an entry. C(content): at most the kept part, C(MARGIN_BYTES) and one byte, which shows that there is more."""
        if b"\0" in content:
            self._leave_out(place, source, "contains NUL bytes")
            return
        text, is_cut = _shorten(content, min(MAX_ENTRY_BYTES, self._room), keep_end)
        if is_cut and not text:
            self._leave_out(place, source, "the archive is full" if self._room < MAX_ENTRY_BYTES else "has a line that is too long")
            return
        self._room -= len(text)
        self._entries[place] = text
        self._index.append({"name": place, "source": source, "bytes": len(text), "cut": is_cut, "reason": reason})

    def _leave_out(self, place: str, source: str, reason: str) -> None:
        self._index.append({"name": place, "source": source, "bytes": 0, "cut": False, "reason": reason})

    def _add_files(self, source: Files) -> None:
        paths = list(_paths(self._host, source))
        if not paths:
            self._leave_out(_name(source), _name(source), "there is no such file")
        for number, path in enumerate(paths):
            place = f"files{path}"
            if number >= MAX_FILES or not self._has_time():
                reason = f"{MAX_FILES} files of this folder are enough" if number >= MAX_FILES else NO_TIME
                self._leave_out(place, path, f"{reason}; {len(paths) - number} files are left out")
                return
            try:
                content = self._host.part(path, MAX_ENTRY_BYTES + MARGIN_BYTES + 1, source.keep_end)
            except (OSError, ValueError) as error:
                self._leave_out(place, path, getattr(error, "strerror", None) or str(error))
            else:
                self._add(place, path, content, source.keep_end)

    def _add_program(self, source: Program) -> None:
        shown = " ".join(source.argv)
        try:
            result = self._host.run_program(source.argv)
        except ApplyRefused as error:
            self._leave_out(source.place, shown, str(error))
            return
        if result.status == programs.NOT_INSTALLED:
            self._leave_out(source.place, shown, f"{source.argv[0]} is not installed")
            return
        content = (result.output + result.errors).encode("utf-8", "replace")
        count = MAX_ENTRY_BYTES + MARGIN_BYTES + 1
        reason = f"ended with status {result.status}" if result.status else ""
        self._add(source.place, shown, content[-count:] if source.keep_end else content[:count], source.keep_end, reason)


def _name(source: Union[Files, Program]) -> str:
    return source.place if isinstance(source, Program) else f"{source.folder}/{source.pattern}"


def _paths(host: Host, source: Files) -> Iterator[str]:
    """The sorted paths of the files."""
    if source.pattern != "**":
        yield from (f"{source.folder}/{name}" for name in fnmatch.filter(host.names(source.folder), source.pattern))
        return
    top = host.path(source.folder)
    # Linked folders are not followed: they could be a loop.
    for folder, folders, names in os.walk(top):
        folders.sort()
        yield from (source.folder + os.path.join(folder, name)[len(top) :] for name in sorted(names))


def _processes(host: Host) -> bytes:
    """The command lines of all processes."""
    pids = sorted(int(name) for name in host.names("/proc") if name.isdigit())
    lines = (f"{pid} {' '.join(_redact_words(command_line(host, pid)))}\n" for pid in pids)
    return "".join(lines).encode("utf-8", "replace")


def _redact_words(words: Sequence[str]) -> List[str]:
    """A command line without secrets. A word can be a variable with its value, or a whole script."""
    return [word if word.startswith("-") else redact_document(word) for word in redact_command_line(words)]


def _shorten(content: bytes, limit: int, keep_end: bool) -> Tuple[bytes, bool]:
    """The text without secrets and at most C(limit) bytes of it, in whole lines, and whether something is missing.

    Secrets are removed before the text is cut: half a secret may have no form by which it is recognized.
    """
    is_cut = len(content) > limit
    count = limit + MARGIN_BYTES
    if not keep_end:
        redacted = _redact(content[:count].rpartition(b"\n")[0] + b"\n" if len(content) > count else content)
        return _first_lines(redacted, limit), is_cut or len(redacted) > limit
    if len(content) <= count:
        redacted = _redact(content)
        return _last_lines(redacted, limit), is_cut or len(redacted) > limit
    kept = content[-count:].partition(b"\n")[2]
    margin = kept[: kept.find(b"\n", MARGIN_BYTES) + 1 or len(kept)]
    redacted = _redact(kept)
    # The text becomes shorter without its secrets, but the margin must not be shown: a secret may have begun before it.
    return _last_lines(redacted[_common_bytes(_redact(margin), redacted) :], limit), True


def _redact(content: bytes) -> bytes:
    return redact_document(content.decode("utf-8", "replace")).encode("utf-8", "replace")


def _common_bytes(one: bytes, other: bytes) -> int:
    """With how many equal bytes two texts begin."""
    return next((number for number, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))


def _first_lines(content: bytes, limit: int) -> bytes:
    return content if len(content) <= limit else content[: content.rfind(b"\n", 0, limit) + 1]


def _last_lines(content: bytes, limit: int) -> bytes:
    if len(content) <= limit:
        return content
    # The byte before the part shows whether it begins with a whole line.
    return content[len(content) - limit - 1 :].partition(b"\n")[2]
