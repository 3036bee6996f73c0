# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads running processes from /proc. Standard library, Python 3.7 and newer."""

from __future__ import annotations


def command_line(pid: int) -> list[str]:
    """The words of a process, program first. Empty when there is no such process."""
    if not pid:
        return []
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as handle:
            return [word.decode("utf-8", "replace") for word in handle.read().split(b"\0")[:-1]]
    except OSError:
        return []
