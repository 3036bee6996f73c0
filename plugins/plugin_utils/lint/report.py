# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collects the problems of all checks, and gives each its place in the text."""

from __future__ import annotations

import re

from ..errors import Problem, Problems
from ..readers.model import Place, ReadPart, UserData
from ..readers.places import place_of
from .finding import Finding, of_problem, ordered

_LINE = re.compile(r"\bline ([0-9]{1,6})(?:, column ([0-9]{1,6}))?")
_FROM_LINE = re.compile(r" \(from line ([0-9]{1,6})\)")
"""The line of the document on which a part begins, in the paths of problems with its headers. Their messages count from it."""
_OF_KEY = re.compile(r"\.unknown_(?:feature_gate|field|resource|setting)$")
"""Rules about the key of a setting, and not about its value."""
_WHOLE = "user data"
"""The name of a document without parts in messages."""


class Report:
    """Problems of user data. Their path is that of a part, of a value in a part, or one that C(locate) was given.

    problems: what the checks of the library add to.
    """

    def __init__(self, user_data: UserData) -> None:
        self.problems = Problems()
        self._user_data = user_data
        self._located: dict[str, tuple[Place, str]] = {}

    def locate(self, path: str, place: Place, name: str) -> str:
        """Say where a path is that the text does not contain, such as a flag in a command line. name: in messages. Returns the path."""
        self._located[path] = (place, name)
        return path

    def findings(self) -> tuple[Finding, ...]:
        """Every problem once, sorted by place."""
        return ordered(self._finding(problem) for problem in self.problems)

    def _finding(self, problem: Problem) -> Finding:
        # A value below a located path, such as an item of a flag's value.
        for end in _ends(problem.path):
            if (located := self._located.get(problem.path[:end])) is not None:
                return of_problem(problem, *located)
        part = self._part_of(problem.path)
        inside = problem.path.removeprefix(part.path).removeprefix(".") if part else problem.path
        if part and inside and not inside.startswith(" "):
            return of_problem(problem, place_of(part, inside, of_key=bool(_OF_KEY.search(problem.rule))), inside)
        name = part.path if part is not None else _FROM_LINE.sub("", problem.path)
        return of_problem(problem, self._line_of(problem, part), name or _WHOLE)

    def _part_of(self, path: str) -> ReadPart | None:
        """The part with the longest path that C(path) begins with."""
        found = [part for part in self._user_data.parts if path.startswith(part.path) and path[len(part.path) :][:1] in ("", ".", "[", " ")]
        whole = [part for part in self._user_data.parts if not part.path]
        return max(found, key=lambda part: len(part.path), default=whole[0] if whole else None)

    def _line_of(self, problem: Problem, part: ReadPart | None) -> Place:
        """The line that a message names, or the first one. Messages about MIME name lines of the document."""
        match = _LINE.search(problem.message)
        of_document = part is None or problem.rule.startswith("mime.")
        line, column = (int(match[1]), int(match[2] or 1)) if match else (1, 1)
        if (begin := _FROM_LINE.search(problem.path)) is not None:
            line += int(begin[1]) - 1
        elif of_document and part is not None and match is None:
            line = part.line
        text = self._user_data.document if of_document or part is None else part.text
        lines = text.split("\n")
        line = min(line, len(lines))
        length = max(1, len(lines[line - 1].rstrip()) - column + 1)
        return Place(None if of_document or part is None else part.index, line, column, length)


def _ends(path: str) -> list[int]:
    """The lengths of a path and of those above it, longest first."""
    return [len(path), *(index for index in range(len(path) - 1, 0, -1) if path[index] in ".[")]
