# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings as text: each with its line, a caret under the place, and the fix; the counts at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...formats.secrets import have_secret
from ...lint.finding import Finding
from .source import Source, counts, file_place, line_at

_WIDTH = 120
"""Characters of a line that are shown. Base64 in one line is longer than any screen."""
_BEFORE = 40
"""Characters before the place that are shown of a long line."""
_WITHHELD = "(not shown, because the line may contain a secret)"


def text(sources: Sequence[Source]) -> str:
    """All findings, in the order of the sources."""
    blocks = [_block(source, finding) for source in sources for finding in source.findings]
    return "\n".join([*blocks, f"{summary(sources)}\n"])


def _block(source: Source, finding: Finding) -> str:
    where = finding.where
    place = file_place(source, where)
    name = f"{source.title}:{place.line}:{place.column}"
    if inside := _inside(source, finding, is_exact=place.length is not None):
        name += f" ({inside})"
    number = str(where.line if place.length is None else place.line)
    margin = " " * len(number)
    head = f"{name}: {finding.rule.severity}: {finding.message} [{finding.rule.id}]"
    is_secret = is_withheld(source, finding)
    shown, caret = excerpt(line_at(source, where), where.column, where.length, is_secret=is_secret)
    lines = [head]
    if source.has_text:
        lines.append(f"{number} | {shown}".rstrip())
        if caret:
            lines.append(f"{margin} | {caret}")
    if finding.fix:
        lines.append(f"{margin} = fix: {finding.fix}")
    return "\n".join([*lines, ""])


def _inside(source: Source, finding: Finding, *, is_exact: bool) -> str:
    """Where in the file a text is whose lines are not those of the file."""
    where = finding.where
    if is_exact or not source.has_text:
        return ""
    part = "" if where.part is None else f"part {where.part + 1}"
    return ", ".join(filter(None, (source.path if source.is_file else "", part, f"decoded: {where.line}:{where.column}")))


def is_withheld(source: Source, finding: Finding) -> bool:
    """Whether the line of a finding is not shown, whatever it contains."""
    return source.is_secret or finding.rule.id.startswith("secrets.")


def excerpt(line: str, column: int, length: int, *, is_secret: bool) -> tuple[str, str]:
    """A line and the carets below it, cut to the width of a screen. Without carets for a line that may contain a secret."""
    if is_secret or have_secret([line]):
        return _WITHHELD, ""
    start = column - 1
    cut = max(0, start - _BEFORE) if len(line) > _WIDTH else 0
    piece = line[cut : cut + _WIDTH]
    left, right = "…" if cut else "", "…" if cut + _WIDTH < len(line) else ""
    shown = "".join(char if char == "\t" or char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in piece)
    before = "".join("\t" if char == "\t" else " " for char in piece[: start - cut])
    carets = "^" * max(1, min(length, len(piece) - (start - cut)))
    return f"{left}{shown}{right}", f"{' ' * len(left)}{before}{carets}"


def summary(sources: Iterable[Source]) -> str:
    """The number of findings of each severity in words."""
    number = counts(sources)
    words = [f"{count} {severity}{'' if count == 1 else 's'}" for severity, count in number.items()]
    return ", ".join(words)
