# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a family produces: user data, and files for a live node or an image."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class File:
    """One text file on the node. C(mode) is octal text such as C("0644")."""

    path: str
    content: str
    mode: str = "0644"
    owner: str = "root"
    group: str = "root"


@dataclass(frozen=True)
class Fragment:
    """A named piece of user data, for diffs and for telling which piece takes how many bytes."""

    name: str
    text: str


@dataclass(frozen=True)
class UserData:
    """One user data document before encoding.

    text: the document; empty when there is nothing to add to what EKS supplies.
    extension: how a file with it is called: C(mime), C(sh), C(toml) or C(ps1).
    fragments: its pieces in order.
    gzip_refused: why the consumer cannot read it compressed; None when it can.
    """

    text: str
    extension: str
    fragments: tuple[Fragment, ...] = ()
    gzip_refused: str | None = None
