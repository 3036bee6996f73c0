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
from typing import IO

MAY_DIFFER = {
    "/dev/*": "made by the kernel or the container engine",
    "/proc/*": "made by the kernel",
    "/run/*": "in memory on a machine",
    "/sys/*": "made by the kernel",
    "/tmp/*": "in memory, or emptied at boot",
    "/.dockerenv": "made by the container engine",
    "/etc/hostname": "mounted by the container engine",
    "/etc/hosts": "mounted by the container engine",
    "/etc/resolv.conf": "mounted by the container engine",
    "/etc/ld.so.cache": "contains the times of libraries",
    "/etc/*-": "the copy that useradd and groupadd make of the previous file",
    "*/__pycache__/*": "contains the times of source files",
    "/var/cache/apt/*.bin": "made again by every run of apt",
    "/var/cache/ldconfig/aux-cache": "contains inodes and times",
    "/var/cache/debconf/*": "contains times, and the order of installation",
    "/var/cache/man/*": "an index with times",
    "/var/cache/fontconfig/*": "contains times",
    "/var/lib/apt/extended_states": "in the order of installation",
    "/var/lib/apt/periodic/*": "times of updates",
    "/var/lib/containerd/*": "databases of containerd: the images are compared by their digests",
    "/var/lib/dnf/*": "databases with times",
    "/var/lib/dpkg/*-old": "the copy that dpkg makes of the previous file",
    "/var/lib/dpkg/status": "in the order of installation",
    "/var/lib/dpkg/triggers/*": "in the order of installation",
    "/var/lib/rpm/*": "a database with times",
    "/var/lib/systemd/*": "state of units, with times",
    "/var/lib/yum/*": "a database with times",
    "/var/log/*": "the seal removes logs, and daemons write new ones",
}
"""Patterns of paths, each with the reason why two builds from one lock may differ there."""

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


def differences(first: Tree, second: Tree) -> list[str]:
    """A line for each path that differs and must not."""
    return [
        f"{path}: {first.get(path, 'missing')} / {second.get(path, 'missing')}"
        for path in sorted({*first, *second})
        if first.get(path) != second.get(path) and not may_differ(path)
    ]
