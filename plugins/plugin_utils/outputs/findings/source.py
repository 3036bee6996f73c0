# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A linted text with its name, and where its findings are in the file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...lint.finding import Finding
from ...readers.model import Place, UserData
from ...rules import SEVERITIES
from ...sources.model import Origin


@dataclass(frozen=True)
class Source:
    """One linted text.

    name: the path of its file. path, origin: of user data inside the file of another tool. is_secret: whether reports show no line of it.
    is_file: whether the name is a path. Otherwise it is the name of an object in an AWS account, or of a host, on which C(path) is the path
    of the file. data: as a node gets it. family: of the nodes, if it is known.
    """

    name: str
    user_data: UserData
    findings: tuple[Finding, ...]
    path: str = ""
    origin: Origin | None = None
    is_secret: bool = False
    is_file: bool = True
    data: str | bytes = b""
    family: str | None = None

    @property
    def title(self) -> str:
        """The name as reports show it: with the path on a host, as scp writes it."""
        return f"{self.name}:{self.path}" if self.path and not self.is_file else self.name

    @property
    def has_text(self) -> bool:
        """Whether there is user data that a report can show."""
        return bool(self.user_data.parts or self.user_data.document)


@dataclass(frozen=True)
class FilePlace:
    """A place in the file as it is on disk, from 1. length: characters, or None if the text at the place is encoded."""

    line: int
    column: int
    length: int | None


def file_place(source: Source, place: Place) -> FilePlace:
    """The place of a finding in the file. In encoded text, the place where the encoded text begins."""
    found, origin = _place_in_text(source, place), source.origin
    if origin is None:
        return found
    line, column = origin.spots[min(found.line, len(origin.spots)) - 1]
    if origin.is_verbatim and found.line <= len(origin.spots):
        return FilePlace(line, column + found.column - 1, found.length)
    return FilePlace(line, column, None)


def _place_in_text(source: Source, place: Place) -> FilePlace:
    if source.user_data.layers:
        return FilePlace(1, 1, None)
    if place.part is None:
        return FilePlace(place.line, place.column, place.length)
    part = source.user_data.parts[place.part]
    if part.encoding:
        return FilePlace(part.line, 1, None)
    return FilePlace(part.line + place.line - 1, place.column, place.length)


def without_user_data(name: str, *findings: Finding, path: str = "", origin: Origin | None = None, is_file: bool) -> Source:
    """A source in which there was no user data. The first finding says why."""
    return Source(name, UserData((), "", (), (), (), ()), findings, path, origin, is_file=is_file)


def by_line(source: Source) -> Source:
    """The findings in the order of the file. Those of the document as a whole are among those of the parts."""

    def place(finding: Finding) -> tuple[int, int]:
        found = file_place(source, finding.where)
        return found.line, found.column

    return replace(source, findings=tuple(sorted(source.findings, key=place)))


def line_at(source: Source, place: Place) -> str:
    """The decoded line of a place, or empty text if the place is behind the end."""
    text = source.user_data.document if place.part is None else source.user_data.parts[place.part].text
    lines = text.split("\n")
    return lines[place.line - 1].removesuffix("\r") if place.line <= len(lines) else ""


def with_lines_of_findings(source: Source) -> Source:
    """The source without what only a page shows, so that a report about thousands of files needs little memory."""
    data = source.user_data
    lines = {part.index: {finding.where.line for finding in source.findings if finding.where.part == part.index} for part in data.parts}
    parts = tuple(replace(part, text=_only(part.text, lines[part.index]), headers=()) for part in data.parts)
    document = _only(data.document, {finding.where.line for finding in source.findings if finding.where.part is None})
    return replace(source, user_data=UserData(data.layers, document, parts, (), (), (), data.family), data=b"")


def _only(text: str, lines: set[int]) -> str:
    """A text in which all other lines are empty."""
    return "\n".join(line if number in lines else "" for number, line in enumerate(text.split("\n")[: max(lines, default=0)], 1))


def counts(sources: Iterable[Source]) -> dict[str, int]:
    """The number of findings of each severity."""
    found = [finding.rule.severity for source in sources for finding in source.findings]
    return {severity: found.count(severity) for severity in SEVERITIES}
