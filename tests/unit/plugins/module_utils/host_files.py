# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine whose files lie below a directory."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.host import Host


def machine(root: Path, files: dict[str, str | bytes], timeout: float = 60.0) -> Host:
    for path, content in files.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Host(timeout, str(root))


def running(*words: str) -> dict[str, str | bytes]:
    """The files of a kubelet that runs as process 7."""
    return {"/proc/7/cmdline": "\0".join(["/usr/bin/kubelet", *words, ""]), "/proc/7/environ": "PATH=/bin\0NO_PROXY=a\0TOKEN=x\0"}
