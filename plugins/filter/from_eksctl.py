# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import as_filter


@as_filter
def from_eksctl(config: Any, cluster: Any = None) -> dict[str, Any]:
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.importers import eksctl

    return eksctl.from_eksctl(config, cluster or {})


class FilterModule:
    """Ansible filter plugin; documented in from_eksctl.yml."""

    def filters(self) -> dict[str, Any]:
        return {"from_eksctl": from_eksctl}
