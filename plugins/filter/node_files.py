# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import as_filter


@as_filter
def node_files(node_group: Any, cluster: Any) -> list[dict[str, str]]:
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import node_files as sink

    return sink.node_files(cluster, node_group)


class FilterModule:
    """Ansible filter plugin; documented in node_files.yml."""

    def filters(self) -> dict[str, Any]:
        return {"node_files": node_files}
