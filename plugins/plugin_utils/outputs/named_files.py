# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the files that a node group names in C(user_data_files)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..model.plain import NamedFile


def with_files(node_group: Any, files_dir: str | None = None) -> Any:
    """A node group with the files that its C(user_data_files) names. Relative paths start at C(files_dir), or at the current directory."""
    names = node_group.get("user_data_files") if isinstance(node_group, Mapping) else None
    if names is None:
        return node_group
    listed = names if isinstance(names, list) else [names]
    base = os.path.abspath(os.path.expanduser(files_dir or "."))
    # Filters have no option for the directory.
    start = "the current directory" if files_dir is None else "eks_node_files_dir (option files_dir)"
    files = [_named_file(name, base, start) if isinstance(name, str) and name else name for name in listed]
    return {**node_group, "user_data_files": files}


def _named_file(name: str, base: str, start: str) -> NamedFile:
    path = os.path.normpath(os.path.join(base, name))
    try:
        with open(path, "rb") as file:
            return NamedFile(name, file.read())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        return NamedFile(name, None, f"cannot be read: {path}: {reason or 'is not a path'}", start)
