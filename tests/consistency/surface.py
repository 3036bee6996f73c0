# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The public surface: every name that users may rely on, one on each line. C(make surface) writes it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

from ansible_collections.nodebootstrap.eks.tests.consistency import project

FILE = project.TOP / "tests" / "consistency" / "public_surface.txt"
VARIABLE = re.compile(r"\beks_(?:node|cluster|anywhere)_[a-z0-9_]*[a-z0-9]\b")


def lines() -> list[str]:
    """What the files say today."""
    return sorted({*_plugins(), *_roles(), *_playbooks()})


def _plugins() -> Iterator[str]:
    for kind in ("filter", "test", "lookup", "modules", "action"):
        for stem in project.plugins(kind):
            if kind == "action" and stem in project.plugins("modules"):
                continue  # one name to users: the module documents what the action does
            yield from _options(kind.removesuffix("s"), stem, project.documentation(kind, stem).get("doc") or {})
            returned = project.documentation(kind, stem).get("return") or {}
            if kind == "modules":
                yield from (f"{kind.removesuffix('s')} {stem} returns {name}" for name in returned)


def _options(kind: str, stem: str, doc: dict[str, Any]) -> Iterator[str]:
    yield f"{kind} {stem}"
    for name, option in (doc.get("options") or {}).items():
        yield f"{kind} {stem} {name}: {_shape(option)}"


def _shape(option: dict[str, Any]) -> str:
    parts = [str(option.get("type", "str"))]
    if option.get("elements"):
        parts.append(f"of {option['elements']}")
    if option.get("choices"):
        parts.append("in " + "|".join(map(str, option["choices"])))
    parts.append("required" if option.get("required") else f"default {option.get('default')!r}")
    return " ".join(parts)


def _roles() -> Iterator[str]:
    for role in project.roles():
        yield f"role {role}"
        for entry, spec in project.argument_specs(role).items():
            for name, option in (spec.get("options") or {}).items():
                yield f"role {role}.{entry} {name}: {_shape(option)}"


def _playbooks() -> Iterator[str]:
    for stem, name in project.playbooks().items():
        yield f"playbook {stem}"
        yield from (f"playbook {stem} {variable}" for variable in VARIABLE.findall(project.text(name)))


if __name__ == "__main__":
    text = "".join(f"{line}\n" for line in lines())
    if "--write" in sys.argv[1:]:
        FILE.write_text(text, encoding="utf-8")
    print(text, end="")
