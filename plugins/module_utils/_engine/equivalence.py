# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether two contents of a file mean the same to the program that reads it: a change of a comment restarts nothing."""

from __future__ import annotations

import json
import re

_IMPORTS = re.compile(r"^imports = \[[^\]]*\]\n?", re.MULTILINE)


def same(form, before, after, containerd_dump=None):
    """Whether the bytes C(before) and C(after) have the same effect. When in doubt they do not.

    C(containerd_dump): takes the content of containerd's configuration, returns what containerd makes of it, None when it cannot tell.
    """
    if before == after:
        return True
    if form == "json":
        return _same_json(before, after)
    if form == "unit":
        return directives(before) == directives(after)
    if form == "containerd" and containerd_dump is not None:
        old = containerd_dump(before)
        return old is not None and old == containerd_dump(after)
    return False


def _same_json(before, after):
    try:
        # Texts, because true and 1 are equal as values.
        return _canonical(before) == _canonical(after)
    except (ValueError, RecursionError):
        return False


def _canonical(content):
    return json.dumps(json.loads(content.decode("utf-8")), sort_keys=True)


def directives(content):
    """The lines of a unit file that systemd acts on, continued lines in one."""
    found = []
    rest = ""
    for line in content.decode("utf-8", "surrogateescape").split("\n"):
        if line.lstrip()[:1] in ("#", ";") or (not rest and not line.strip()):
            continue  # a comment inside a continued line is skipped, too
        if line.endswith("\\"):
            rest += line[:-1] + " "
            continue
        found.append((rest + line).strip())
        rest = ""
    return found + ([rest.strip()] if rest else [])


def without_imports(dump):
    """containerd's dump without the list of files it was read from, which names the file itself, in any order."""
    return _IMPORTS.sub("", dump)
