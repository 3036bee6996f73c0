# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small lock for tests."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image import lock as locks
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image.lock import Download, Lock, Package, System

A, B = "jq_1.7_amd64.deb", "libjq1_1%3a1.7_amd64.deb"
URL = "https://mirror.example.com/pool"


def locked(url: str = URL) -> Lock:
    """Two packages and a download. url: of the folder with the files."""
    return Lock(
        System("ubuntu", "24.04", "x86_64"),
        ("jq",),
        (
            Package("jq", "1.7", "amd64", A, f"{url}/{A}", "a" * 64, 10),
            Package("libjq1", "1:1.7", "amd64", B, f"{url}/{B}", "b" * 64, 20),
        ),
        (Download("kubelet", "kubelet", f"{url}/kubelet", "c" * 64, 30),),
    )


def document(**changed: Any) -> dict[str, Any]:
    """The document of the lock with other fields. None removes a field."""
    found = {**json.loads(locks.dump(locked())), **changed}
    return {name: value for name, value in found.items() if value is not None}
