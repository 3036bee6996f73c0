# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of cloud-config documents: what cloud-init cannot read, ignores or replaces."""

from __future__ import annotations

import re

from ..errors import Problems
from ..formats import cloud_config
from ..readers.model import Place, ReadPart
from .report import Report
from .subject import Subject

_LISTS = ("bootcmd", "runcmd", "write_files", "packages")
_DECIMAL_MODE = re.compile(r"^[ \t-]*permissions:[ \t]*([1-7][0-7]{2})[ \t]*(?:#.*)?$", re.MULTILINE)


def check(subject: Subject, report: Report) -> None:
    """Report the problems of every cloud-config, and keys that a later one replaces."""
    documents = []
    for part in subject.parts("cloud-config"):
        document = cloud_config.load(part.text, part.path, report.problems)
        documents.append((part.path, document))
        _check_types(part, document, report.problems)
        _check_modes(part, report)
    cloud_config.conflicts(documents, report.problems)
    for part in subject.parts("include"):
        report.problems.add("user_data.includes_url", part.path, "is fetched by the node when it boots, and was not checked")


def _check_types(part: ReadPart, document: dict[str, object], problems: Problems) -> None:
    for key in _LISTS:
        if key in document and document[key] is not None and not isinstance(document[key], list):
            path = f"{part.path}.{key}".lstrip(".")
            problems.add("cloud_config.wrong_type", path, "is not a list, and cloud-init ignores it", allowed="a list")


def _check_modes(part: ReadPart, report: Report) -> None:
    """YAML reads 644 as a decimal number, which is the mode 1204."""
    for match in _DECIMAL_MODE.finditer(part.text):
        line = part.text.count("\n", 0, match.start(1)) + 1
        column = match.start(1) - part.text.rfind("\n", 0, match.start(1))
        path = report.locate(f"{part.path} line {line} permissions", Place(part.index, line, column, 3), "permissions")
        message = f"is the decimal number {match[1]}, which is the mode {int(match[1]):o}"
        report.problems.add("cloud_config.decimal_mode", path, message, fix=f"write '0{match[1]}'")
