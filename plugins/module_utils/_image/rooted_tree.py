# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds and removes files below a directory. Standard library, Python 3.7 and newer.

Every directory is opened component by component from the root. Symbolic links are never followed: a link is removed, its target stays.
Nothing is removed on other file systems, except on those whose mount points are given.
"""

from __future__ import annotations

import fnmatch
import os
import stat
from contextlib import contextmanager
from typing import FrozenSet, Iterable, Iterator, List, NamedTuple

from .._node.errors import ApplyRefused

EVERY_FILE = "**"


class Root(NamedTuple):
    """The root of a machine. C(handle): its open directory. C(mounts): paths where something is mounted that must stay as it is.

    C(entered): mount points of file systems that belong to the machine.
    """

    handle: int
    mounts: FrozenSet[str]
    entered: FrozenSet[str]


@contextmanager
def opened(path: str, mounts: Iterable[str], entered: Iterable[str]) -> Iterator[Root]:
    """The root at a real path. C(mounts) and C(entered): as they are below the root."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield Root(handle, frozenset(mounts) - frozenset(entered), frozenset(entered))
    finally:
        os.close(handle)


def find(root: Root, pattern: str) -> List[str]:
    """The sorted paths that match a pattern, as glob matches. C(**) as the last component: all regular files at any depth."""
    return sorted(_find(root, root.handle, "", pattern.strip("/").split("/")))


def remove(root: Root, path: str) -> None:
    """Remove a file, a link, or a directory with everything below it. Raises ApplyRefused."""
    with _parent(root, path) as (folder, name):
        _remove(root, folder, name, path)


def empty(root: Root, path: str) -> None:
    """Remove the content of a regular file. Raises ApplyRefused."""
    with _parent(root, path) as (folder, name):
        if not stat.S_ISREG(os.lstat(name, dir_fd=folder).st_mode):
            raise ApplyRefused(f"{path} is not a regular file")
        os.close(os.open(name, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder))


def replace_with_link(root: Root, path: str, target: str) -> None:
    """Replace a file with a link. Raises ApplyRefused."""
    with _parent(root, path) as (folder, name):
        os.unlink(name, dir_fd=folder)
        os.symlink(target, name, dir_fd=folder)


def _find(root: Root, folder: int, walked: str, parts: List[str]) -> Iterator[str]:
    part, rest = parts[0], parts[1:]
    is_every_file = part == EVERY_FILE
    for name in sorted(os.listdir(folder)):
        path = f"{walked}/{name}"
        if path in root.mounts or not (is_every_file or _fits(name, part)):
            continue
        if is_every_file and _is_file(folder, name):
            yield path
        elif is_every_file or rest:
            with _below(root, folder, name, path) as below:
                if below is not None:
                    yield from _find(root, below, path, parts if is_every_file else rest)
        else:
            yield path


def _fits(name: str, pattern: str) -> bool:
    """As glob: a wildcard does not match a leading dot."""
    return fnmatch.fnmatchcase(name, pattern) and (not name.startswith(".") or pattern.startswith("."))


def _is_file(folder: int, name: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(name, dir_fd=folder).st_mode)
    except FileNotFoundError:
        return False


@contextmanager
def _below(root: Root, folder: int, name: str, path: str) -> Iterator[int | None]:
    """The open directory C(name) in an open directory. None for anything else, for a link, and for another file system."""
    handle = None
    try:
        if stat.S_ISDIR(os.lstat(name, dir_fd=folder).st_mode):
            handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        pass
    try:
        is_entered = handle is not None and path not in root.mounts and (path in root.entered or _same_device(folder, handle))
        yield handle if is_entered else None
    finally:
        if handle is not None:
            os.close(handle)


def _same_device(one: int, other: int) -> bool:
    return os.fstat(one).st_dev == os.fstat(other).st_dev


@contextmanager
def _parent(root: Root, path: str) -> Iterator[tuple[int, str]]:
    """The open directory of a path, and the last component."""
    *folders, name = path.strip("/").split("/")
    handle, walked = os.dup(root.handle), ""
    try:
        for part in folders:
            walked += f"/{part}"
            with _below(root, handle, part, walked) as below:
                if below is None:
                    raise ApplyRefused(f"{path}: {walked} is no longer a directory of this file system")
                next_handle = os.dup(below)
            os.close(handle)
            handle = next_handle
        yield handle, name
    except OSError as error:
        raise ApplyRefused(f"{path}: {error.strerror or error}") from error
    finally:
        os.close(handle)


def _remove(root: Root, folder: int, name: str, path: str) -> None:
    try:
        if not stat.S_ISDIR(os.lstat(name, dir_fd=folder).st_mode):
            os.unlink(name, dir_fd=folder)
            return
        with _below(root, folder, name, path) as below:
            if below is None:
                raise ApplyRefused(f"{path} is a mount point: unmount it, or name it in mount_points")
            for child in sorted(os.listdir(below)):
                _remove(root, below, child, f"{path}/{child}")
        os.rmdir(name, dir_fd=folder)
    except FileNotFoundError:
        return  # a program removed it first
