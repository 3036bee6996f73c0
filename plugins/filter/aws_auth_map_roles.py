# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import as_filter


@as_filter
def aws_auth_map_roles(entries: Any) -> list[dict[str, Any]]:
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.access.map_roles import aws_auth_map_roles as map_roles

    return map_roles(entries)


class FilterModule:
    """Ansible filter plugin; documented in aws_auth_map_roles.yml."""

    def filters(self) -> dict[str, Any]:
        return {"aws_auth_map_roles": aws_auth_map_roles}
