# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a node group."""

from __future__ import annotations

from typing import Any

from ..artifacts.model import File
from ..families.registry import resolve


def node_files(cluster: Any, node_group: Any) -> list[dict[str, str]]:
    """The files of a node group as C({path, content, mode, owner, group}), sorted by path. Raises C(SpecError)."""
    spec, family = resolve(cluster, node_group)
    return [_plain_file(file) for file in family.files(spec)]


def _plain_file(file: File) -> dict[str, str]:
    return {"path": file.path, "content": file.content, "mode": file.mode, "owner": file.owner, "group": file.group}
