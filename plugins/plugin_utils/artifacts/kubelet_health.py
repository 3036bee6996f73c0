# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where kubelet says on its node that it is well."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def healthz(config: Mapping[str, Any], flags: Mapping[str, tuple[str, ...]]) -> str | None:
    """Where kubelet says that it is well, by its configuration and flags (name → values); None when it was told not to."""
    said = {name: values[-1] for name, values in flags.items() if values}
    port = said.get("healthz-port", config.get("healthzPort", 10248))
    address = str(said.get("healthz-bind-address", config.get("healthzBindAddress")) or "127.0.0.1")
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)
    if str(port) == "0":
        return None
    return f"http://[{here}]:{port}/healthz" if ":" in here else f"http://{here}:{port}/healthz"
