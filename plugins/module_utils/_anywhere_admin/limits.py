# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The limits of inotify in the running kernel. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import os
from typing import Dict, Mapping

from .._node.errors import ApplyRefused

NAMES = ("max_user_watches", "max_user_instances")
FOLDER = "/proc/sys/fs/inotify"


def read(folder: str = FOLDER) -> Dict[str, int]:
    """The limits that are in force. Raises C(ApplyRefused) on a system without them."""
    found = {}
    for name in NAMES:
        try:
            with open(os.path.join(folder, name), encoding="ascii") as source:
                found[name] = int(source.read())
        except (OSError, ValueError) as error:
            raise ApplyRefused(f"{folder}/{name} cannot be read: {error}", "use a machine with Linux") from None
    return found


def raised(present: Mapping[str, int], wanted: Mapping[str, int]) -> Dict[str, int]:
    """The limits, none of which is lower than before."""
    return {name: max(present[name], wanted[name]) for name in NAMES}


def write(before: Mapping[str, int], after: Mapping[str, int], folder: str = FOLDER) -> None:
    """Set the limits that are different. Raises C(ApplyRefused) if the kernel refuses one."""
    for name in NAMES:
        if before[name] == after[name]:
            continue
        path = os.path.join(folder, name)
        try:
            with open(path, "w", encoding="ascii") as target:
                target.write(str(after[name]))
        except OSError as error:
            cause = f"{path} cannot be set to {after[name]}: {error.strerror or error}"
            raise ApplyRefused(cause, "run as root; in a container, set it on the machine that runs the container") from None


def text(found: Mapping[str, int]) -> str:
    """The limits as lines of a diff."""
    return "".join(f"fs.inotify.{name} = {found[name]}\n" for name in NAMES)
