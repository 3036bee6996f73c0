# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""File systems: what is mounted, and what a boot is going to mount. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import re
from typing import Iterable, NamedTuple, Tuple

from .._node.host import Host

FSTAB = "/etc/fstab"

_IN_MEMORY = ("tmpfs", "ramfs", "proc", "sysfs")

_OCTAL = re.compile(r"\\([0-7]{3})")


class Mount(NamedTuple):
    """A file system. C(path): where it is mounted. C(device): its source. C(kind): its type."""

    path: str
    device: str
    kind: str
    options: Tuple[str, ...]


def read(host: Host) -> Tuple[Mount, ...]:
    """What is mounted now."""
    found = []
    for line in (host.text("/proc/self/mountinfo") or "").splitlines():
        left, _dash, right = line.partition(" - ")
        fields, rest = left.split(), right.split()
        if len(fields) >= 6 and len(rest) >= 2:
            found.append(Mount(_plain(fields[4]), _plain(rest[1]), rest[0], tuple(fields[5].split(","))))
    return tuple(found)


def is_saved(mounts: Iterable[Mount], path: str) -> bool:
    """Whether a path is saved with an image: nothing is mounted there, and the file system is not in memory.

    A container engine mounts files, such as C(/etc/resolv.conf), over those of the image.
    """
    above = [mount for mount in mounts if f"{path}/".startswith(f"{mount.path}/")]
    nearest = max(above, key=lambda mount: len(mount.path), default=None)
    return nearest is None or (nearest.path != path and nearest.kind not in _IN_MEMORY)


def read_fstab(host: Host) -> Tuple[Mount, ...]:
    """What the next boot mounts."""
    rows = (line.split() for line in (host.text(FSTAB) or "").splitlines() if not line.lstrip().startswith("#"))
    return tuple(Mount(_plain(row[1]), _plain(row[0]), row[2], tuple("".join(row[3:4]).split(","))) for row in rows if len(row) >= 3)


def _plain(text: str) -> str:
    """A field without its escapes, such as C(\\040) for a blank."""
    return _OCTAL.sub(lambda match: chr(int(match.group(1), 8)), text)
