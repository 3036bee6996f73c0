# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import as_filter, whole


@as_filter
def max_pods(
    instance_type: Any,
    mode: str = "eni",
    custom_networking: bool = False,
    reserved_enis: int = 0,
    ceiling: bool = False,
    max_enis: int | None = None,
    ips_per_eni: int | None = None,
    vcpus: int | None = None,
) -> int:
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.capacity import max_pods_of_type

    numbers = {"max_enis": whole(max_enis), "ips_per_eni": whole(ips_per_eni), "vcpus": whole(vcpus)}
    return max_pods_of_type(instance_type, mode, custom_networking, whole(reserved_enis), ceiling, **numbers)


class FilterModule:
    """Ansible filter plugin; documented in max_pods.yml."""

    def filters(self) -> dict[str, Any]:
        return {"max_pods": max_pods}
