# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import as_filter


@as_filter
def anywhere_admin_plan(machine: Any, system: Any) -> dict[str, Any]:
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import admin_plan

    return admin_plan.admin_plan(machine, system)


class FilterModule:
    """Ansible filter plugin; documented in anywhere_admin_plan.yml."""

    def filters(self) -> dict[str, Any]:
        return {"anywhere_admin_plan": anywhere_admin_plan}
