# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Input problems, worded so that the user can fix them.

Every stage of the library reports C(Problem)s, collects them in C(Problems) and raises them together as one C(SpecError):
the user sees all problems at once, never only the first one and never a traceback.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

_VALUE_WIDTH = 80
"""Characters of a value that a message repeats. The rest is cut, so that one problem stays one line."""


def shown(value: Any) -> str:
    """C(value) on one line: as JSON if possible, cut after 80 characters."""
    try:
        text = json.dumps(value, ensure_ascii=True, sort_keys=False)
    except (TypeError, ValueError, RecursionError):
        text = json.dumps(f"<{type(value).__name__}>")
    return text if len(text) <= _VALUE_WIDTH else f"{text[:_VALUE_WIDTH]}… ({len(text)} characters)"


def _text(value: Any) -> str:
    """C(str(value)), which also accepts integers of more than 4,300 digits (Python refuses to print them)."""
    try:
        return str(value)
    except (ValueError, RecursionError):
        return f"<{type(value).__name__}>"


_SIMILAR = 0.6
"""The least similarity of a word that is suggested, as difflib measures it."""


def nearest(word: Any, allowed: Iterable[str]) -> str | None:
    """The allowed word that is most similar to C(word), or None if no word is similar."""
    words = sorted({str(item) for item in allowed})
    by_fold = {item.lower().replace("-", "_"): item for item in words}
    folded = _text(word)[:200].lower().replace("-", "_")
    if folded in by_fold:
        return by_fold[folded]
    # Only a misspelt word needs it, and the first call of a filter pays for every module that is loaded.
    import difflib

    # Words of very different lengths are never similar. Comparing the lengths first is fast.
    close = [item for item in by_fold if 2 * min(len(item), len(folded)) >= _SIMILAR * (len(item) + len(folded))]
    matches = difflib.get_close_matches(folded, close, n=1, cutoff=_SIMILAR)
    return by_fold[matches[0]] if matches else None


MOST_SUGGESTIONS = 50
"""Unknown words of one input for which a similar one is searched, because each search takes about a millisecond."""


class Suggestions:
    """C(nearest) for the unknown words of one input: the first C(MOST_SUGGESTIONS) of them."""

    def __init__(self) -> None:
        self._left = MOST_SUGGESTIONS

    def nearest(self, word: Any, allowed: Iterable[str]) -> str | None:
        """The allowed word that is most similar to C(word). None if no word is similar, or if too many words were unknown before."""
        if self._left == 0:
            return None
        self._left -= 1
        return nearest(word, allowed)


def rename(guess: str | None, given: Container[str] = ()) -> str:
    """The fix of a name that does not exist. guess: the most similar name, or None. given: the names that are already set."""
    if not guess:
        return "remove it"
    return f"remove it, because {guess} is set, too" if guess in given else f"rename it to {guess}"


@lru_cache(maxsize=4096, typed=True)
def joined(path: str, key: Hashable) -> str:
    """C(path) extended by a mapping key or a list index, as messages show it: C(a.b[0]["x/y"]).

    Cached, because every checked value has a path, and the groups of a fleet have the same ones.
    """
    if isinstance(key, int) and not isinstance(key, bool):
        return f"{path}[{_text(key)}]"
    text = _text(key)
    below = _below(text) if len(text) <= _VALUE_WIDTH else f"[{shown(text)}]"
    return below[1:] if not path and below[0] == "." else path + below


def _below(key: str) -> str:
    """A mapping key as the next part of a path."""
    plain = key.replace("-", "").replace("_", "")
    return f".{key}" if plain.isascii() and plain.isalnum() else f"[{shown(key)}]"


FEW = 12
"""Names that a message lists in any case."""


def listed(names: Iterable[str], guess: str | None = None) -> str | None:
    """C(names) for C(Problem.allowed). None if there are many names and C(guess) is probably the intended one."""
    words = list(names)
    return None if guess is not None and len(words) > FEW else ", ".join(words)


_ABSENT: Any = object()
_IN_GROUP = re.compile(r"(?:sources\[\d+\]\.)?node_group(?:s\[\d+\]|\b)")
_LISTED_GROUP = re.compile(r"(?:sources\[\d+\]\.)?node_groups\[\d+\]")

_LONGEST_GROUP_NAME = 63
"""Characters of a group name that messages repeat. Longer names are invalid."""


def group_name(node_group: Any) -> str | None:
    """The name of a node group for messages, or None if it has no valid one. node_group: the input, unchecked."""
    name = node_group.get("name") if isinstance(node_group, Mapping) else None
    return name if isinstance(name, str) and 0 < len(name) <= _LONGEST_GROUP_NAME else None


@dataclass(frozen=True)
class Problem:
    """One problem of an input.

    rule: the stable id of the rule in the catalogue (C(rules)), for example C(kubelet.unknown_flag).
    path: the place in the user's input, for example C(node_group.labels["a/b"]).
    message: what is wrong, without the path.
    value: the value at that place. Leave it out if there is none, or if it may be a secret.
    allowed: what would be correct.
    nearest: the allowed word that is most similar to the given one. The message leaves it out if the fix names it.
    fix: what to do.
    group: the name of the node group, if the problem is in a group that has one.
    """

    rule: str
    path: str
    message: str
    value: Any = field(default=_ABSENT)
    allowed: str | None = None
    nearest: str | None = None
    fix: str | None = None
    group: str | None = None

    def __post_init__(self) -> None:
        # Only a run with a problem needs the catalogue.
        from . import rules

        if self.rule not in rules.catalogue():
            raise LookupError(f"no rule {self.rule!r} in the catalogue (_data/rules.json)")

    @property
    def has_value(self) -> bool:
        """Is C(value) given? None is a value, too."""
        return self.value is not _ABSENT

    @property
    def where(self) -> str:
        """The path; in a list of groups with the name of the group: C(node_groups[3] (web).labels)."""
        found = _LISTED_GROUP.match(self.path) if self.group else None
        return f"{found[0]} ({self.group}){self.path[found.end() :]}" if found else self.path

    @property
    def advice(self) -> str | None:
        """What to do: the fix of this problem, or that of its rule if the message does not say what is correct."""
        if self.fix or self.allowed or self.message.startswith("must be"):
            return self.fix
        from . import rules

        return rules.catalogue()[self.rule].advice

    @property
    def _fix_names_nearest(self) -> bool:
        """Does the fix contain the nearest word? The message then says it once."""
        return bool(re.search(rf"(?<![\w.-]){re.escape(self.nearest or '')}(?![\w-])", self.advice or ""))

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}"
        if self.has_value:
            text += f" (got {shown(self.value)})"
        if self.allowed:
            text += f"; allowed: {self.allowed}"
        if self.nearest and not self._fix_names_nearest:
            text += f"; did you mean {shown(self.nearest)}?"
        if self.advice:
            text += f"; fix: {self.advice}"
        return _one_line(text)

    def plain(self) -> dict[str, str]:
        """The problem as plain data for the result of a task. It never contains the value, which may be a secret."""
        texts = {
            "rule": self.rule,
            "path": self.path,
            "message": self.message,
            "allowed": self.allowed,
            "nearest": self.nearest,
            "fix": self.advice,
            "group": self.group,
        }
        return {name: _one_line(text) for name, text in texts.items() if text is not None}


def _one_line(text: str) -> str:
    """C(text) on one line, whatever characters a key or a value contains."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


class SpecError(ValueError):
    """All problems of one input. C(problems) is sorted by path; C(str()) has one line for each problem."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        unique = {str(problem): problem for problem in problems}
        self.problems: tuple[Problem, ...] = tuple(unique[text] for text in sorted(unique, key=lambda t: (unique[t].path, t)))
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def in_group(self, node_group: Any) -> SpecError:
        """The same problems, with the name of the node group where the path begins with C(node_group)."""
        name = group_name(node_group)
        if name is None:
            return self
        return SpecError(
            replace(problem, group=name) if problem.group is None and _IN_GROUP.match(problem.path) else problem
            for problem in self.problems
        )

    def with_rules(self) -> str:
        """One line for each problem, followed by the id of its rule."""
        return "\n".join(f"{problem} [{problem.rule}]" for problem in self.problems)


def _is_misspelling(problem: Problem, path: str) -> bool:
    """Is C(problem) an unknown field that is probably meant to be the field at C(path)?"""
    if problem.nearest is None or problem.rule != "input.unknown_field":
        return False
    parent, _dot, name = path.rpartition(".")
    return name == problem.nearest and bool(_KEY.fullmatch(problem.path.removeprefix(parent)))


_KEY = re.compile(r"\.[^.\[]+|\[\".*\"\]")
"""The last part of the path of a field, as C(joined) writes it."""


class Problems:
    """Collects problems, so that a stage can continue with the valid parts of the input.

    within: the problems of the same input to which these are added later. They count suggestions together.
    """

    def __init__(self, within: Problems | None = None) -> None:
        self._found: list[Problem] = []
        self._touched: set[str] = set()
        self._misspelt: list[Problem] = []
        self._indexed = 0
        self._suggestions: Suggestions = Suggestions() if within is None else within._suggestions

    def nearest(self, word: Any, allowed: Iterable[str]) -> str | None:
        """C(Suggestions.nearest), counted for all problems that are collected here."""
        return self._suggestions.nearest(word, allowed)

    def add(
        self,
        rule: str,
        path: str,
        message: str,
        *,
        value: Any = _ABSENT,
        allowed: str | None = None,
        nearest: str | None = None,
        fix: str | None = None,
    ) -> None:
        """Report one problem; the arguments are those of C(Problem)."""
        self._found.append(Problem(rule, path, message, value, allowed, nearest, fix))

    def extend(self, problems: Iterable[Problem]) -> None:
        """Report several."""
        self._found.extend(problems)

    def withhold_values(self, is_secret: Callable[[Problem], bool]) -> None:
        """Remove the value from every problem that C(is_secret) selects, so that no message shows a secret."""
        self._found = [replace(problem, value=_ABSENT) if problem.has_value and is_secret(problem) else problem for problem in self._found]

    def touches(self, path: str) -> bool:
        """Does C(path), a path below it, or a misspelling of it have a problem already? A second message about it would only confuse."""
        # Every checked value asks, so a search through all problems would take too long where there are many.
        for problem in self._found[self._indexed :]:
            name = problem.path
            self._touched.update((name, *(name[:index] for index, one in enumerate(name) if one in ".[")))
            if problem.nearest is not None:
                self._misspelt.append(problem)
        self._indexed = len(self._found)
        return path in self._touched or any(_is_misspelling(problem, path) for problem in self._misspelt)

    def raise_any(self) -> None:
        """Raise C(SpecError) if any problem was reported."""
        if self._found:
            raise SpecError(self._found)

    def __iter__(self) -> Iterator[Problem]:
        return iter(tuple(self._found))

    def __len__(self) -> int:
        return len(self._found)
