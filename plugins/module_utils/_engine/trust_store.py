# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The trust store of the operating system: the program that reads its folder again, and certificates that expire."""

from __future__ import annotations

from typing import Iterable, List

from .._node.host import format_time
from .._transaction.recovery import Command
from .plan import Plan

_STORES = {
    "/etc/pki/ca-trust/source/anchors/": ("update-ca-trust", "extract"),
    "/usr/local/share/ca-certificates/": ("update-ca-certificates",),
}
"""Folders of own certificates, each with the program that reads it: Amazon Linux, Ubuntu."""

_WITH_CERTIFICATES = (*_STORES, "/etc/containerd/certs.d/")

_SOON = 30 * 24 * 3600
"""Seconds before the end of a certificate from which on a run warns."""


def update_commands(paths: Iterable[str]) -> List[Command]:
    """The programs to run after files at these paths were written or removed."""
    changed = tuple(paths)
    return [Command(words) for folder, words in _STORES.items() if any(path.startswith(folder) for path in changed)]


def action(command: Command) -> str:
    """A command of C(update_commands) in the words of a result."""
    return " ".join(command.argv)


def expiry_warnings(plan: Plan, now: float) -> List[str]:
    """What is wrong with the certificates of the user that a plan brings, at C(now), in seconds since the epoch."""
    found = []
    for file in plan.files:
        if not (file.path.startswith(_WITH_CERTIFICATES) and file.content.startswith(b"-----BEGIN CERTIFICATE-----")):
            continue
        # Few plans bring certificates, and Python compiles every imported module at each call.
        from .._node import certificates

        try:
            described = certificates.validity(file.content.decode("ascii", "replace"))
        except ValueError as error:
            found.append(f"the certificate for {file.path} cannot be read: {error}")
            continue
        for one in described:
            if one.ends <= now:
                found.append(f"the certificate {one.name!r} for {file.path} has expired on {format_time(one.ends)}")
            elif one.begins > now:
                found.append(f"the certificate {one.name!r} for {file.path} is not valid before {format_time(one.begins)}")
            elif one.ends <= now + _SOON:
                found.append(f"the certificate {one.name!r} for {file.path} expires on {format_time(one.ends)}")
    return found
