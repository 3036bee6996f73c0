# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was read from user data, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import Problems
from ..readers.model import ReadPart, UserData
from ..readers.user_data import read

_FAMILIES = ("al2", "ubuntu")


def read_user_data(user_data: Any, family: str | None = None) -> dict[str, Any]:
    """C({family, cluster, node_group, parts, files, layers, problems, not_understood}). Raises C(SpecError) for wrong arguments.

    user_data: text or bytes. family: for scripts that call C(/etc/eks/bootstrap.sh), which two families have.
    """
    problems = Problems()
    check_arguments({"user_data": user_data}, family, problems)
    problems.raise_any()
    return plain(read(user_data, family))


def check_arguments(texts: Mapping[str, Any], family: Any, problems: Problems) -> None:
    """Report texts, by the name of their argument, that are not text, and a family that the text tells."""
    for name, value in texts.items():
        if not isinstance(value, (str, bytes)):
            problems.add("input.wrong_type", name, "must be text", fix="pass the content of the user data")
    if family not in (None, *_FAMILIES):
        allowed = ", ".join(_FAMILIES)
        fix = "remove it: other families are told by the text"
        problems.add("input.unknown_value", "family", "cannot be given here", value=family, allowed=allowed, fix=fix)


def plain(found: UserData) -> dict[str, Any]:
    """The result as plain data."""
    return {
        "family": found.family,
        "cluster": dict(found.cluster),
        "node_group": dict(found.node_group),
        "layers": list(found.layers),
        "parts": [_part(part) for part in found.parts],
        "files": [{"part": file.part, "where": file.key, "path": file.path, "kind": file.kind} for file in found.files],
        "problems": [problem.plain() for problem in found.problems],
        "not_understood": [{"where": item.place.plain(), "text": item.text, "reason": item.reason} for item in found.not_understood],
    }


def _part(part: ReadPart) -> dict[str, Any]:
    names = ("index", "kind", "media_type", "line", "offset", "size", "encoding", "path", "text")
    return {name: getattr(part, name) for name in names}
