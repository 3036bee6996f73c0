# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The container image of the lab's pods: one static program (modules/pod), which is also the pause image."""

from __future__ import annotations

import platform
from pathlib import Path

from ansible_collections.nodebootstrap.eks.tests.oracle import image_archives

from . import binaries

#: What pods name. Nodes for pods have it from their boot, and there is no registry.
IMAGE = "lab.example/pod:1"
#: The pause image of Amazon Linux 2023.
PAUSE = "localhost/kubernetes/pause:latest"

_MACHINES = {"aarch64": "arm64", "x86_64": "amd64"}


def archive() -> Path:
    """The image as an archive for C(ctr images import), made now if necessary."""
    program = binaries.path_of(binaries.POD)
    path = program.with_name("image.tar")
    if not path.exists():
        fresh = path.with_suffix(".new")
        content = image_archives.archive([IMAGE, PAUSE], {"pod": program.read_bytes()}, ["/pod"], _MACHINES[platform.machine()])
        fresh.write_bytes(content)
        fresh.replace(path)
    return path
