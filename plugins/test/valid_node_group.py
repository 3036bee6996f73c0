# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import node_group_of, to_plain
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render


def valid_node_group(node_group: Any, cluster: Any = None) -> bool:
    try:
        render(to_plain(cluster or {}), node_group_of(node_group))
    except (SpecError, RecursionError):
        return False
    return True


class TestModule:
    """Ansible test plugin; documented in valid_node_group.yml."""

    def tests(self) -> dict[str, Any]:
        return {"valid_node_group": valid_node_group}
