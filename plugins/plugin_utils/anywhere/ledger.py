# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ledger of a run: what was tried, in a file of the work folder. The clusters say what is true; the ledger never decides alone.

It is written before and after every step. A step that was begun and not finished may have been done, in part or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import Problems, joined
from ..formats import json

FORMAT = 1
PATH = "ledger"
COMMANDS = ("create", "delete", "upgrade", "recover")
BEGUN, DONE, FAILED = "begun", "done", "failed"
_STATES = (BEGUN, DONE, FAILED)


@dataclass(frozen=True)
class Entry:
    """One step. digest: of the inputs with which it was begun. began, ended: times of the caller, as text."""

    step: str
    state: str
    digest: str
    began: str
    ended: str | None = None
    message: str = ""


@dataclass(frozen=True)
class Ledger:
    """The steps of all runs of a command, in the order in which they were begun last. cluster: its name."""

    cluster: str
    command: str
    entries: tuple[Entry, ...] = ()

    def entry(self, step: str) -> Entry | None:
        """The last entry of a step."""
        return next((one for one in self.entries if one.step == step), None)

    def begin(self, step: str, digest: str, now: str) -> Ledger:
        """The ledger before a step."""
        return self._with(Entry(step, BEGUN, digest, now))

    def finish(self, step: str, now: str, message: str = "", *, failed: bool = False) -> Ledger:
        """The ledger after a step that was begun."""
        begun = self.entry(step)
        if begun is None:
            raise LookupError(f"the step {step!r} was not begun")
        return self._with(replace(begun, state=FAILED if failed else DONE, ended=now, message=message))

    def _with(self, entry: Entry) -> Ledger:
        return replace(self, entries=(*(one for one in self.entries if one.step != entry.step), entry))

    @property
    def is_open(self) -> bool:
        """Is there a step that was not finished, or failed?"""
        return any(one.state != DONE for one in self.entries)

    @property
    def interrupted(self) -> tuple[str, ...]:
        """The steps that were begun and neither finished nor failed: a process was killed."""
        return tuple(one.step for one in self.entries if one.state == BEGUN)


def dump(ledger: Ledger) -> str:
    """The text of the file. The same ledger gives the same text."""
    rows = [
        {"step": one.step, "state": one.state, "digest": one.digest, "began": one.began, "ended": one.ended, "message": one.message}
        for one in ledger.entries
    ]
    return json.dump({"format": FORMAT, "cluster": ledger.cluster, "command": ledger.command, "steps": rows}, indent=1)


def load(text: str, problems: Problems) -> Ledger | None:
    """The ledger of a file, or None with the reason reported. A file that cannot be read is never overwritten without a word."""
    try:
        content = json.load(text)
    except json.JsonError as error:
        _report(PATH, f"is not valid JSON: {error}", problems)
        return None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        _report(joined(PATH, "format"), f"is not {FORMAT}: the file is of another version, or of another program", problems)
        return None
    name, command, rows = (content.get(key) for key in ("cluster", "command", "steps"))
    if not isinstance(name, str) or command not in COMMANDS or not isinstance(rows, list):
        _report(PATH, "has no cluster, command or steps", problems)
        return None
    entries = [_entry(row) for row in rows]
    if None in entries:
        _report(joined(joined(PATH, "steps"), entries.index(None)), "is not a step", problems)
        return None
    return Ledger(name, str(command), tuple(one for one in entries if one is not None))


def _report(path: str, message: str, problems: Problems) -> None:
    fix = "restore the file; or remove it: the next run then finds out from the clusters what is done"
    problems.add("anywhere.ledger", path, message, fix=fix)


def _entry(row: Any) -> Entry | None:
    if not isinstance(row, Mapping) or row.get("state") not in _STATES or not isinstance(row.get("ended"), (str, type(None))):
        return None
    texts = [row.get(name) for name in ("step", "state", "digest", "began")]
    if not all(isinstance(text, str) for text in texts) or not texts[0]:
        return None
    step, state, digest, began = (str(text) for text in texts)
    return Entry(step, state, digest, began, row["ended"], str(row.get("message") or ""))
