# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings as workflow commands of GitHub Actions, which become annotations in a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from .source import Source, file_place

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
_OF_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_OF_PROPERTY = {**_OF_DATA, ":": "%3A", ",": "%2C"}


def github(sources: Sequence[Source]) -> str:
    """One command for each finding."""
    lines = []
    for source in sources:
        for finding in source.findings:
            place = file_place(source, finding.where)
            properties = {"file": source.name, "line": place.line, "col": place.column} if source.is_file else {}
            if place.length and source.is_file:
                properties["endColumn"] = place.column + place.length
            properties["title"] = finding.rule.id
            written = ",".join(f"{name}={_escaped(str(value), _OF_PROPERTY)}" for name, value in properties.items())
            inside = source.path if source.is_file else f"{source.title}:{place.line}:{place.column}"
            message = (
                (f"{inside}: " if inside and source.has_text else "") + finding.message + (f"; fix: {finding.fix}" if finding.fix else "")
            )
            lines.append(f"::{_COMMANDS[finding.rule.severity]} {written}::{_escaped(message, _OF_DATA)}\n")
    return "".join(lines)


def _escaped(value: str, table: dict[str, str]) -> str:
    return "".join(table.get(char, char) for char in value)
