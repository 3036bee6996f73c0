# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The entries of C(sources) that are mappings: they name user data in an AWS account, or on nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import Problems
from ..model.schema import type_name

Entry = Mapping[str, Any]
HOST = "host"
"""The key of an entry that names nodes of the inventory."""

_ALLOWED: Mapping[str, tuple[str, ...]] = {
    "launch_template": ("version",),
    "auto_scaling_group": (),
    "instance": (),
    "all_launch_templates": ("tags", "version"),
    HOST: (),
}
"""The names of a source, and the other keys of its entry."""


def entries(sources: Iterable[Any], problems: Problems) -> dict[str, Entry]:
    """The entries of C(sources) that are mappings, with their places. Report those with another form."""
    placed = {f"sources[{index}]": one for index, one in enumerate(sources)}
    return {place: one for place, one in placed.items() if isinstance(one, Mapping) and _is_valid(one, place, problems)}


def _is_valid(entry: Entry, path: str, problems: Problems) -> bool:
    before = len(problems)
    named = [name for name in _ALLOWED if name in entry]
    if len(named) != 1:
        fix = "write one of them; a file is a path without a key"
        problems.add("input.conflict", path, f"must have exactly one of {', '.join(_ALLOWED)}", fix=fix)
        return False
    name = named[0]
    for key in sorted(set(map(str, entry)) - {name, *_ALLOWED[name]}):
        allowed = ", ".join((name, *_ALLOWED[name]))
        problems.add("input.unknown_field", f"{path}.{key}", f"is not a field of a source with {name}", allowed=allowed)
    value = entry[name]
    if name == "all_launch_templates":
        if value is not True:
            problems.add("input.unknown_value", f"{path}.{name}", "is not true", allowed="true")
        _check_tags(entry.get("tags"), f"{path}.tags", problems)
    elif not isinstance(value, str) or not value:
        problems.add("input.wrong_type", f"{path}.{name}", f"must be a name, not {type_name(value)}")
    version = entry.get("version")
    is_version = version in (None, "$Default", "$Latest") or (str(version).isdecimal() and not isinstance(version, bool))
    if not is_version:
        problems.add("input.unknown_value", f"{path}.version", "is not a version", allowed="$Default, $Latest or a number")
    return len(problems) == before


def _check_tags(tags: Any, path: str, problems: Problems) -> None:
    if tags is not None and not (isinstance(tags, Mapping) and all(isinstance(value, (str, int)) for value in tags.values())):
        problems.add("input.wrong_type", path, "must be a mapping of tags to their values", fix="write {key: value}")
