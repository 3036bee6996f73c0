# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with an input, said so that a person can mend it.

Every stage of the library reports through C(Problem)s, collected in a C(Problems) and raised together as one
C(SpecError): a user sees all that is wrong at once, never the first thing only and never a traceback.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

_VALUE_WIDTH = 80
"""Characters of an offending value that a message repeats; the rest is cut, so one line stays one line."""


def shown(value: Any) -> str:
    """One line that shows C(value): JSON where it is JSON, cut in the middle of nowhere after 80 characters."""
    try:
        text = json.dumps(value, ensure_ascii=True, sort_keys=False)
    except (TypeError, ValueError, RecursionError):
        text = json.dumps(f"<{type(value).__name__}>")
    return text if len(text) <= _VALUE_WIDTH else f"{text[:_VALUE_WIDTH]}… ({len(text)} characters)"


def _text(value: Any) -> str:
    """C(str(value)), also of what Python refuses to print: integers of more than 4,300 digits."""
    try:
        return str(value)
    except (ValueError, RecursionError):
        return f"<{type(value).__name__}>"


def nearest(word: Any, allowed: Iterable[str]) -> str | None:
    """The allowed word that looks most like C(word), or None when none does."""
    words = sorted({str(item) for item in allowed})
    by_fold = {item.lower().replace("-", "_"): item for item in words}
    folded = _text(word)[:200].lower().replace("-", "_")
    if folded in by_fold:
        return by_fold[folded]
    matches = difflib.get_close_matches(folded, list(by_fold), n=1, cutoff=0.6)
    return by_fold[matches[0]] if matches else None


def joined(path: str, key: Any) -> str:
    """C(path) extended by a mapping key or a list index, in the spelling users read: C(a.b[0]["x/y"])."""
    if isinstance(key, int) and not isinstance(key, bool):
        return f"{path}[{_text(key)}]"
    text = _text(key)
    below = _below(text) if len(text) <= _VALUE_WIDTH else f"[{shown(text)}]"
    return below[1:] if not path and below[0] == "." else path + below


@lru_cache(maxsize=1024)
def _below(key: str) -> str:
    """A mapping key as it follows a path. Cached: every value that is checked has a path, and the keys are few."""
    plain = key.replace("-", "").replace("_", "")
    return f".{key}" if plain.isascii() and plain.isalnum() else f"[{shown(key)}]"


_FEW = 12


def listed(names: Iterable[str], guess: str | None = None) -> str | None:
    """C(names) as the C(allowed) of a problem. None where there are many of them and C(guess) is probably the one that was meant."""
    words = list(names)
    return None if guess is not None and len(words) > _FEW else ", ".join(words)


_ABSENT: Any = object()


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong.

    path: where in the user's input, for example C(node_group.labels["a/b"]).
    value: what stands there; leave it out when nothing does or when it may be a secret.
    message: what is wrong with it, without the path.
    allowed: what would be right.
    nearest: the allowed word that looks most like the given one.
    fix: what to do about it.
    """

    path: str
    message: str
    value: Any = field(default=_ABSENT)
    allowed: str | None = None
    nearest: str | None = None
    fix: str | None = None

    @property
    def has_value(self) -> bool:
        """Whether C(value) was given; None is a value, too."""
        return self.value is not _ABSENT

    def __str__(self) -> str:
        text = f"{self.path}: {self.message}"
        if self.has_value:
            text += f" (got {shown(self.value)})"
        if self.allowed:
            text += f"; allowed: {self.allowed}"
        if self.nearest:
            text += f"; did you mean {shown(self.nearest)}?"
        if self.fix:
            text += f"; fix: {self.fix}"
        # One problem is one line, whatever a key or a value contains.
        return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


class SpecError(ValueError):
    """Everything that is wrong with one input. C(problems) is sorted by path; C(str()) is one line a problem."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        unique = {str(problem): problem for problem in problems}
        self.problems: tuple[Problem, ...] = tuple(unique[text] for text in sorted(unique, key=lambda t: (unique[t].path, t)))
        super().__init__("\n".join(str(problem) for problem in self.problems))


class Problems:
    """Collects problems while a stage goes on with what is still whole."""

    def __init__(self) -> None:
        self._found: list[Problem] = []

    def add(
        self,
        path: str,
        message: str,
        *,
        value: Any = _ABSENT,
        allowed: str | None = None,
        nearest: str | None = None,
        fix: str | None = None,
    ) -> None:
        """Report one problem; the arguments are those of C(Problem)."""
        self._found.append(Problem(path, message, value, allowed, nearest, fix))

    def extend(self, problems: Iterable[Problem]) -> None:
        """Report several."""
        self._found.extend(problems)

    def withhold_values(self, secret: Callable[[Problem], bool]) -> None:
        """Take the value out of every problem of which C(secret) says so: no message repeats what nobody may read."""
        self._found = [replace(problem, value=_ABSENT) if problem.has_value and secret(problem) else problem for problem in self._found]

    def touches(self, path: str) -> bool:
        """Whether C(path) or something below it has a problem already: a second complaint would only confuse."""
        return any(p.path == path or p.path.startswith((f"{path}.", f"{path}[")) for p in self._found)

    def raise_any(self) -> None:
        """Raise C(SpecError) when anything was reported."""
        if self._found:
            raise SpecError(self._found)

    def __iter__(self) -> Iterator[Problem]:
        return iter(tuple(self._found))

    def __len__(self) -> int:
        return len(self._found)
