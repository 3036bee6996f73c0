# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a diff cannot show as text: files that programs of the image will write, units that are enabled, and our own state."""

from __future__ import annotations

from typing import Iterable, Sequence

from .._node.diff import Diff
from .._node.files import Reader

_STATE = "state of nodebootstrap.eks"


def of_programs(name: str, paths: Iterable[str], read: Reader) -> list[Diff]:
    """One entry that lists the files that a program may write. Only the program knows their new content."""
    paths = sorted(paths)
    if not paths:
        return []
    before = "".join(f"{path}: {'absent' if read(path) is None else 'present'}\n" for path in paths)
    return [_entry(f"files that {name} writes", before, "".join(f"{path}: as {name} writes it\n" for path in paths))]


def of_units(units: Sequence[str]) -> list[Diff]:
    """One entry for the units that are enabled."""
    if not units:
        return []
    return [_entry("units", *("".join(f"{name}: {state}\n" for name in sorted(units)) for state in ("disabled", "enabled")))]


def of_state(folder: str, unit: str, had_manifest: bool, has_manifest: bool) -> list[Diff]:
    """One entry for the state directory and the recovery unit."""
    texts = {
        False: f"{folder}: absent\n{unit}: absent\n",
        True: f"{folder}: manifest, recovery program, originals of replaced files\n{unit}: required by containerd, nodeadm and kubelet\n",
    }
    if had_manifest == has_manifest:
        return []
    return [_entry(_STATE, texts[had_manifest], texts[has_manifest])]


def _entry(header: str, before: str, after: str) -> Diff:
    return Diff(header, header, before, after)
