# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads one NodeConfig document of the user, strictly. The YAML reader is loaded only if there is a document."""

from __future__ import annotations

import re
from typing import Any

from ..errors import Problems
from ..formats.read_once import read_once

_MARKER = re.compile(r"^(?:---|\.\.\.)(?=\s|\Z)", re.MULTILINE)
"""A line that ends a YAML document. No scalar can contain it at the beginning of a line."""


@read_once
def check_document(text: str, path: str, problems: Problems) -> dict[str, Any]:
    """The NodeConfig in C(text), or an empty mapping if nodeadm would reject it, drop a part of it or misread it."""
    from . import read, schema

    try:
        document = read.document(text)
    except read.NodeConfigError as error:
        problems.add("nodeconfig.unreadable", path, str(error), allowed="one NodeConfig document, as YAML or JSON")
        return {}
    if not isinstance(document, dict):
        fix = "on al2023 a script belongs in commands.pre"
        problems.add(
            "nodeconfig.wrong_document",
            path,
            "is not a NodeConfig",
            allowed="the text of a document with apiVersion, kind and spec",
            fix=fix,
        )
        return {}
    if _count_documents(text) > 1:
        problems.add(
            "nodeconfig.several_documents",
            path,
            "contains several YAML documents, and nodeadm reads only the first one",
            fix="give each NodeConfig a MIME part or an item of user_data of its own, or write one document",
        )
        return {}
    return document if schema.document_problems(document, path, problems) else {}


def _count_documents(text: str) -> int:
    return sum(1 for piece in _MARKER.split(text) if any(_has_content(line) for line in piece.splitlines()))


def _has_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#") and not line.startswith("%")
