# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of systemd units. In an image that is being built, systemd does not know the units as the next boot does.

Standard library, Python 3.7 and newer.
"""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Tuple

from .._node.host import Host
from . import tree

SYSTEM = "/etc/systemd/system"
_DIRECTORIES = (SYSTEM, "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system")


class Assignment(NamedTuple):
    """A line of a unit. C(path): the file that contains it."""

    key: str
    value: str
    path: str


def find(host: Host, name: str) -> str | None:
    """The file of a unit. None for a unit that does not exist or is masked."""
    return None if mask(host, name) else tree.first_of(host, [f"{directory}/{name}" for directory in _DIRECTORIES])


def drop_ins(host: Host, name: str) -> List[str]:
    """The drop-ins of a unit in the order in which they take effect."""
    files: Dict[str, str] = {}
    for directory in reversed(_DIRECTORIES):
        folder = f"{directory}/{name}.d"
        files.update({file: f"{folder}/{file}" for file in host.names(folder) if file.endswith(".conf")})
    return [files[file] for file in sorted(files)]


def read(host: Host, name: str) -> Tuple[Assignment, ...]:
    """The lines of a unit and its drop-ins, in the order in which they take effect. An empty value removes the earlier ones."""
    path = find(host, name)
    found: List[Assignment] = []
    for file in ([path] if path else []) + drop_ins(host, name):
        for key, value in _lines(host.text(file) or ""):
            found = [one for one in found if value or one.key != key]
            found += [Assignment(key, value, file)] if value else []
    return tuple(found)


def _lines(text: str) -> List[Tuple[str, str]]:
    joined = text.replace("\\\n", " ").splitlines()
    pairs = (line.partition("=") for line in joined if "=" in line and not line.lstrip().startswith(("#", ";")))
    return [(key.strip(), " ".join(value.split())) for key, _equals, value in pairs]


def names_in(assignments: Tuple[Assignment, ...], key: str) -> List[str]:
    """The units that a key such as C(After) lists."""
    return [name for one in assignments if one.key == key for name in one.value.split()]


def is_enabled(host: Host, name: str) -> bool:
    """Whether a boot starts a unit because a target or another unit wants it."""
    return bool(enabled_by(host, name))


def enabled_by(host: Host, name: str) -> List[str]:
    """The links that make a boot start a unit."""
    patterns = [f"{directory}/*.{kind}/{name}" for directory in _DIRECTORIES for kind in ("wants", "requires")]
    return [path for pattern in patterns for path in tree.matches(host, pattern)]


def mask(host: Host, name: str) -> str | None:
    """The link that masks a unit."""
    path = f"{SYSTEM}/{name}"
    return path if tree.link_target(host, path) == "/dev/null" else None
