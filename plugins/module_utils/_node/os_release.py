# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads os-release: which operating system runs here. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import shlex
from typing import Dict

from .host import Host

PATHS = ("/etc/os-release", "/usr/lib/os-release")


def read_os_release(host: Host) -> Dict[str, str]:
    """The fields of os-release, {} when there is no such file."""
    text = next((text for text in map(host.text, PATHS) if text is not None), "")
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line and not line.lstrip().startswith("#"))
    return {name.strip(): _unquote(value) for name, _equals, value in pairs}


def _unquote(value: str) -> str:
    try:
        return "".join(shlex.split(value))
    except ValueError:
        return value.strip()
