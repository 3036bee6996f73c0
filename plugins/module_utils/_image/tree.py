# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths of a machine: patterns, what is at a path without following links, and digests of files. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import glob
import hashlib
import os
import stat
from typing import Iterable, List

from .._node.errors import ApplyRefused
from .._node.host import Host

_CHUNK = 1 << 20


def real_root(path: str) -> str:
    """The real path of the root of a machine. Raises ApplyRefused."""
    if not os.path.isabs(path) or not os.path.isdir(path):
        raise ApplyRefused(f"{path or 'root'} is not the absolute path of a directory")
    return os.path.realpath(path)


def matches(host: Host, pattern: str) -> List[str]:
    """The sorted paths that match a pattern, also links without a target."""
    root = host.path("")
    return sorted(path[len(root) :] for path in glob.glob(glob.escape(root) + pattern))


def is_link(host: Host, path: str) -> bool:
    """Whether there is a symbolic link at a path."""
    return os.path.islink(host.path(path))


def link_target(host: Host, path: str) -> str:
    """What a link contains, '' if there is none."""
    return os.readlink(host.path(path)) if is_link(host, path) else ""


def mode(host: Host, path: str) -> int | None:
    """The mode of a regular file, links followed. None without such a file."""
    try:
        found = os.stat(host.path(path)).st_mode
    except (OSError, ValueError):
        return None
    return found if stat.S_ISREG(found) else None


def has_content(host: Host, path: str) -> bool:
    """Whether a file or a directory is not empty. Links are not followed."""
    try:
        found = os.lstat(host.path(path))
        return bool(os.listdir(host.path(path))) if stat.S_ISDIR(found.st_mode) else found.st_size > 0
    except OSError:
        return False


def size(host: Host, directory: str) -> int:
    """The bytes of all files below a directory."""
    total = 0
    for folder, _folders, files in os.walk(host.path(directory)):
        for name in files:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue
    return total


def first_of(host: Host, paths: Iterable[str]) -> str | None:
    """The first path that exists."""
    return next((path for path in paths if host.exists(path)), None)


def digest_of(path: str) -> str:
    """The SHA-256 digest of a file. C(path): the real path."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for part in iter(lambda: file.read(_CHUNK), b""):
            digest.update(part)
    return digest.hexdigest()
