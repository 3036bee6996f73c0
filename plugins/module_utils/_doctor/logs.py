# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the log archive of a node in memory, within limits and without secrets. Standard library, Python 3.7 and newer.

What cannot be collected is not an error: C(index.json) in the archive says why it is missing.
"""

from __future__ import annotations

import fnmatch
import gzip
import io
import json
import os
import tarfile
import time
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple, Union

from .._node import programs
from .._node.errors import ApplyRefused
from .._node.host import Host, command_line
from .._node.redaction import redact_command_line, redact_document
from .log_sources import SOURCES, Files, Program

MAX_ENTRY_BYTES = 1024 * 1024
MAX_BYTES = 16 * 1024 * 1024
"""Of all entries, before compression."""

MAX_SECONDS = 120.0
MAX_FILES = 200
"""Of one folder."""

MARGIN_BYTES = 64 * 1024
"""Read before the part of a file that is kept, so that a secret of several lines, such as a key, is recognized by its beginning."""

NO_TIME = "there was no time left"
INDEX = "index.json"
PROCESSES = "processes.txt"


class _Archive:
    """The entries so far, and what became of each source."""

    def __init__(self) -> None:
        self.entries: Dict[str, bytes] = {}
        self.index: List[Dict[str, Any]] = []
        self._room = MAX_BYTES

    def add(self, place: str, source: str, content: bytes, keep_end: bool, reason: str = "") -> None:
        """Add an entry. C(content): at most the kept part, C(MARGIN_BYTES) and one byte, which shows that there is more."""
        if b"\0" in content:
            self.leave_out(place, source, "contains NUL bytes")
            return
        text, is_cut = _shorten(content, min(MAX_ENTRY_BYTES, self._room), keep_end)
        if is_cut and not text:
            self.leave_out(place, source, "the archive is full" if self._room < MAX_ENTRY_BYTES else "has a line that is too long")
            return
        self._room -= len(text)
        self.entries[place] = text
        self.index.append({"name": place, "source": source, "bytes": len(text), "cut": is_cut, "reason": reason})

    def leave_out(self, place: str, source: str, reason: str) -> None:
        """Record that there is no entry, and why."""
        self.index.append({"name": place, "source": source, "bytes": 0, "cut": False, "reason": reason})

    def compressed(self) -> bytes:
        """The archive. The same entries give the same bytes."""
        self.entries[INDEX] = (json.dumps(self.index, indent=1) + "\n").encode()
        buffer = io.BytesIO()
        with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
            for place, content in sorted(self.entries.items()):
                entry = tarfile.TarInfo(f"logs/{place}")
                entry.size = len(content)
                entry.mode = 0o600
                archive.addfile(entry, io.BytesIO(content))
        return buffer.getvalue()


def collect(host: Host, clock: Callable[[], float] = time.monotonic) -> Tuple[bytes, int]:
    """The archive and the number of its entries. C(clock): seconds, which limit the time of all sources together."""
    archive = _Archive()
    timeout, deadline = host.timeout, clock() + MAX_SECONDS
    for source in SOURCES:
        left = deadline - clock()
        if left <= 0:
            archive.leave_out(_name(source), _name(source), NO_TIME)
        elif isinstance(source, Files):
            _add_files(archive, host, source, lambda: clock() < deadline)
        else:
            host.timeout = min(timeout, left)
            _add_program(archive, host, source)
    host.timeout = timeout
    if clock() < deadline:
        archive.add(PROCESSES, "/proc/*/cmdline", _processes(host), keep_end=False)
    else:
        archive.leave_out(PROCESSES, "/proc/*/cmdline", NO_TIME)
    return archive.compressed(), len(archive.entries)


def _name(source: Union[Files, Program]) -> str:
    return source.place if isinstance(source, Program) else f"{source.folder}/{source.pattern}"


def _add_files(archive: _Archive, host: Host, source: Files, has_time: Callable[[], bool]) -> None:
    paths = list(_paths(host, source))
    if not paths:
        archive.leave_out(_name(source), _name(source), "there is no such file")
    for number, path in enumerate(paths):
        place = f"files{path}"
        if number >= MAX_FILES or not has_time():
            reason = f"{MAX_FILES} files of this folder are enough" if number >= MAX_FILES else NO_TIME
            archive.leave_out(place, path, f"{reason}; {len(paths) - number} files are left out")
            return
        try:
            content = host.part(path, MAX_ENTRY_BYTES + MARGIN_BYTES + 1, source.keep_end)
        except (OSError, ValueError) as error:
            archive.leave_out(place, path, getattr(error, "strerror", None) or str(error))
        else:
            archive.add(place, path, content, source.keep_end)


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


def _add_program(archive: _Archive, host: Host, source: Program) -> None:
    shown = " ".join(source.argv)
    try:
        result = host.run_program(source.argv)
    except ApplyRefused as error:
        archive.leave_out(source.place, shown, str(error))
        return
    if result.status == programs.NOT_INSTALLED:
        archive.leave_out(source.place, shown, f"{source.argv[0]} is not installed")
        return
    content = (result.output + result.errors).encode("utf-8", "replace")
    count = MAX_ENTRY_BYTES + MARGIN_BYTES + 1
    reason = f"ended with status {result.status}" if result.status else ""
    archive.add(source.place, shown, content[-count:] if source.keep_end else content[:count], source.keep_end, reason)


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
