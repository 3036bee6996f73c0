# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import as_filter


@as_filter
def user_data(node_group: Any, cluster: Any, encoding: str = "plain") -> str:
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render_text

    return render_text(cluster, node_group, encoding)


class FilterModule:
    """Ansible filter plugin; documented in user_data.yml."""

    def filters(self) -> dict[str, Any]:
        return {"user_data": user_data}
