# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the files of two images that were built from one lock.

    first, second = read(tar_of_first), read(tar_of_second)         # as "docker export" or "tar" writes them
    assert differences(first, second) == []

C(MAY_DIFFER) lists the paths that may differ, with the reasons. None of them is a program, a unit or a configuration file.
"""

from __future__ import annotations

import fnmatch
import hashlib
import posixpath
import tarfile
from collections.abc import Mapping
from typing import IO, NamedTuple


class Reason(NamedTuple):
    """Why two builds from one lock differ. C(families): those whose images show it in tests/lab/test_bake.py.

    Without families, the text says why the lab does not show it.
    """

    text: str
    families: tuple[str, ...]


MAY_DIFFER = {
    "/var/cache/apt/*.bin": Reason("apt makes it again at every run, with times", ("ubuntu",)),
    "/var/cache/ldconfig/aux-cache": Reason("contains inodes and times", ("ubuntu",)),
    "/var/lib/containerd/*/meta*.db": Reason("contains times; images and layers are compared", ("al2023", "ubuntu")),
    "/var/lib/rpm/*": Reason("contains the times of the installation; the rpm of the lab reads SOURCE_DATE_EPOCH instead", ()),
    "/var/lib/yum/*": Reason("contains the times of the installation; the lab builds no image of Amazon Linux 2", ()),
}
"""Patterns of paths that may differ."""

Tree = Mapping[str, str]
"""Path → type, mode, owner and digest or target."""


def read(stream: IO[bytes]) -> dict[str, str]:
    """The tree of a tar archive. Times are left out."""
    found: dict[str, str] = {}
    with tarfile.open(fileobj=stream, mode="r|*") as archive:
        for member in archive:
            path = posixpath.normpath(f"/{member.name}")
            owner = f"{member.mode & 0o7777:04o} {member.uid}:{member.gid}"
            if member.isdir():
                found[path] = f"directory {owner}"
            elif member.issym():
                found[path] = f"link to {member.linkname}"
            elif member.islnk():
                found[path] = f"the same file as {posixpath.normpath('/' + member.linkname)}"
            else:
                content = archive.extractfile(member)
                found[path] = f"file {owner} {hashlib.sha256(content.read() if content else b'').hexdigest()}"
    return found


def may_differ(path: str) -> bool:
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in MAY_DIFFER)


def used_patterns(first: Tree, second: Tree) -> list[str]:
    """The patterns of MAY_DIFFER that a difference matches."""
    paths = [path for path in {*first, *second} if first.get(path) != second.get(path)]
    return [pattern for pattern in MAY_DIFFER if any(fnmatch.fnmatchcase(path, pattern) for path in paths)]


def differences(first: Tree, second: Tree) -> list[str]:
    """A line for each path that differs and must not."""
    return [
        f"{path}: {first.get(path, 'missing')} / {second.get(path, 'missing')}"
        for path in sorted({*first, *second})
        if first.get(path) != second.get(path) and not may_differ(path)
    ]
