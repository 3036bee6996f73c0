# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.border import as_filter


@as_filter
def windows_node_plan(node_group: Any, cluster: Any, instance_type: Any = None) -> str:
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.sinks import windows_node_plan as sink

    return sink.windows_node_plan(cluster, node_group, instance_type)


class FilterModule:
    """Ansible filter plugin; documented in windows_node_plan.yml."""

    def filters(self) -> dict[str, Any]:
        return {"windows_node_plan": windows_node_plan}
