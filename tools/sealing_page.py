#!/usr/bin/env python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the table of docs/sealing.md from the table of leftovers. `make golden` runs it, and a test checks that it is up to date."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ansible_collections.nodebootstrap.eks.plugins.module_utils._image.leftovers import Leftover

TOP = Path(__file__).resolve().parents[1]
PAGE = TOP / "docs/sealing.md"
BEGIN = "<!-- Generated from plugins/module_utils/_image/leftovers.py by make golden. -->\n"
END = "\n<!-- End of the generated part. -->"


def updated(text: str) -> str:
    """The page with the current table."""
    from ansible_collections.nodebootstrap.eks.plugins.module_utils._image.leftovers import LEFTOVERS

    head, _begin, rest = text.partition(BEGIN)
    _old, _end, tail = rest.partition(END)
    rows = ["| Rule | Paths | Why |", "| --- | --- | --- |", *map(_row, LEFTOVERS)]
    return f"{head}{BEGIN}\n" + "\n".join(rows) + f"\n{END}{tail}"


def _row(leftover: Leftover) -> str:
    action = {"remove": "", "empty": "Emptied: ", "link": "Replaced with a link: "}[leftover.treatment]
    paths = ", ".join(f"`{pattern}`" for pattern in leftover.patterns)
    also = f"; also {', '.join(f'`{pattern}`' for pattern in leftover.also)}" if leftover.also else ""
    return f"| `{leftover.rule}` | {action}{paths}{also} | {leftover.message} |"


def main() -> None:
    sys.path.insert(0, str(TOP / ".cache"))
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
