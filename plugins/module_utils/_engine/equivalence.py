# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether two contents of a file mean the same to the program that reads it, so that a changed comment restarts nothing."""

from __future__ import annotations

import json
import re
from typing import Callable

_IMPORTS = re.compile(r"^imports = \[[^\]]*\]\n?", re.MULTILINE)


def is_equivalent(form: str, before: bytes, after: bytes, containerd_dump: Callable[[bytes], str | None] | None = None) -> bool:
    """Whether two contents have the same effect. When in doubt they do not.

    C(containerd_dump): returns what containerd makes of a configuration, None if it cannot read it.
    """
    if before == after:
        return True
    if form == "json":
        return _is_same_json(before, after)
    if form == "unit":
        return directives(before) == directives(after)
    if form == "containerd" and containerd_dump is not None:
        old = containerd_dump(before)
        return old is not None and old == containerd_dump(after)
    return False


def _is_same_json(before: bytes, after: bytes) -> bool:
    try:
        # Texts are compared, because true and 1 are equal as values.
        return _canonical(before) == _canonical(after)
    except (ValueError, RecursionError):
        return False


def _canonical(content: bytes) -> str:
    return json.dumps(json.loads(content.decode("utf-8")), sort_keys=True)


def directives(content: bytes) -> list[str]:
    """The lines of a unit file that systemd acts on, continued lines joined."""
    found = []
    continued = ""
    for line in content.decode("utf-8", "surrogateescape").split("\n"):
        if line.lstrip()[:1] in ("#", ";") or (not continued and not line.strip()):
            continue  # systemd also skips a comment inside a continued line
        if line.endswith("\\"):
            continued += line[:-1] + " "
            continue
        found.append((continued + line).strip())
        continued = ""
    return found + ([continued.strip()] if continued else [])


def without_imports(dump: str) -> str:
    """containerd's dump without the list of files that it was read from, which contains the file itself, in any order."""
    return _IMPORTS.sub("", dump)
