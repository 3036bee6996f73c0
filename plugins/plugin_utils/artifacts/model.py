# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a family produces: user data, and files for a live node or an image."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..errors import Problem


@dataclass(frozen=True)
class File:
    """One text file on the node. C(mode) is octal text such as C("0644")."""

    path: str
    content: str
    mode: str = "0644"
    owner: str = "root"
    group: str = "root"


def for_root_only(files: Iterable[File], secret: bool) -> tuple[File, ...]:
    """C(files); when C(secret), without any right for others. Everything that reads them on a node runs as root.

    The system's certificates keep their mode.
    """
    if not secret:
        return tuple(files)
    return tuple(file if file.path.startswith(_READ_BY_ALL) else replace(file, mode=f"0{int(file.mode, 8) & 0o700:03o}") for file in files)


_READ_BY_ALL = ("/etc/pki/ca-trust/", "/usr/local/share/ca-certificates/")
"""Folders of certificates that programs of every user read."""


@dataclass(frozen=True)
class Notes:
    """Messages about a valid specification.

    warnings: it works, but probably not as intended. unchecked: checks that were skipped.
    """

    warnings: tuple[Problem, ...] = ()
    unchecked: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Fragment:
    """A named piece of user data, for diffs and for telling which piece takes how many bytes."""

    name: str
    text: str


@dataclass(frozen=True)
class UserData:
    """One user data document before encoding.

    text: the document; empty when there is nothing to add to what EKS supplies.
    fragments: its pieces in order.
    gzip_refused: why the consumer cannot read it compressed; None when it can.
    """

    text: str
    fragments: tuple[Fragment, ...] = ()
    gzip_refused: str | None = None
