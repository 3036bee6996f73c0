# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What units said since their last start, from systemd's journal. Reads only. Standard library, Python 3.7 and newer.

systemd 219 (Amazon Linux 2) knows no InvocationID and no --output-fields; what separates one start from another here are the clock that
no one sets and systemd's own lines.
"""

from __future__ import annotations

import json
import re
import subprocess
import threading
from typing import NamedTuple

LINES = 600
SECONDS = 10.0
_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "HOME": "/root"}
_LARGEST = 16 * 1024 * 1024
_LONGEST = 20000

_EXIT = re.compile(r"(?:main|control) process exited|Failed with result|entered failed state|\.service failed\.", re.IGNORECASE)
_AGAIN = re.compile(r"Scheduled restart job|holdoff time over, scheduling restart", re.IGNORECASE)
_BEGIN = re.compile(r"(?:Starting|Started) ")


class Entry(NamedTuple):
    """C(moment): seconds of the monotonic clock. C(systemd): whether systemd says it of the unit. C(text): one line or more."""

    moment: float
    systemd: bool
    text: str


class Run(NamedTuple):
    """One start of a unit. C(lines): what it said, oldest first. C(seconds): how long it lived, None while it does."""

    lines: list
    seconds: object = None


def entries(unit, pid=None):
    """The newest C(LINES) entries of a unit in this boot, oldest first; with C(pid) the oldest ones of this process."""
    words = ["journalctl", "-q", "-b", "--no-pager", "-a", "-o", "json"]
    words += ["-r", "-n", str(LINES), "-u", unit] if pid is None else [f"_PID={pid}"]
    found = []
    for line in printed(words, LINES):
        entry = _entry(line)
        if entry is not None:
            found.append(entry)
    return found[::-1] if pid is None else found


def printed(words, lines):
    """The first lines that a program prints, as bytes; it is ended when there are enough, or too much of them."""
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    try:
        # Its output may be of any length, and run_command of a module takes all of it.
        # pylint: disable-next=ansible-bad-function
        running = subprocess.Popen(words, env=_ENVIRONMENT, **pipes)
    except OSError:
        return []
    found, left = [], _LARGEST
    # A journal that is damaged or on a slow disk must not hold us up: what was read by then has to do.
    limit = threading.Timer(SECONDS, running.kill)
    limit.daemon = True
    limit.start()
    with running:
        try:
            while len(found) < lines and left > 0:
                line = running.stdout.readline(left)
                if not line:
                    break
                found.append(line)
                left -= len(line)
        finally:
            limit.cancel()
            running.kill()
    return found


def _entry(line):
    try:
        fields = json.loads(line.decode("utf-8", "replace"))
        moment = int(fields["__MONOTONIC_TIMESTAMP"]) / 1e6
        message = fields["MESSAGE"]
        # What is no text comes as a list of bytes.
        text = bytes(message).decode("utf-8", "replace") if isinstance(message, list) else message
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return Entry(moment, str(fields.get("_PID")) == "1", text[:_LONGEST]) if isinstance(text, str) else None


def lines_since(found, moment):
    """What the unit itself said since a moment of the monotonic clock."""
    return [entry.text for entry in found if not entry.systemd and entry.moment >= moment - 0.001]


def failed_before(found, moment):
    """The Run before the one that began at C(moment), when it failed and systemd started the unit again by itself; None otherwise."""
    before = [entry for entry in found if entry.moment < moment - 0.001]
    exits = [index for index, entry in enumerate(before) if entry.systemd and _EXIT.search(entry.text)]
    after = [entry.text for entry in before[exits[-1] :] if entry.systemd] if exits else []
    # A job that stops it came from somebody who may have mended it.
    if not any(map(_AGAIN.search, after)) or any(text.startswith("Stopping ") for text in after):
        return None
    # systemd says it in up to three lines.
    last = exits[-1]
    while last - 1 in exits:
        last -= 1
    lines, began = [], None
    for entry in reversed(before[:last]):
        began = entry.moment
        if entry.systemd and (_BEGIN.match(entry.text) or _AGAIN.search(entry.text)):
            break
        if not entry.systemd:
            lines.append(entry.text)
    return Run(lines[::-1], 0.0 if began is None else before[last].moment - began)
