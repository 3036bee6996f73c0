# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import as_filter


@as_filter
def cluster_dns_ips(service_cidr: Any) -> list[str]:
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.network import cluster_dns_ips as dns_ips

    return dns_ips(service_cidr)


class FilterModule:
    """Ansible filter plugin; documented in cluster_dns_ips.yml."""

    def filters(self) -> dict[str, Any]:
        return {"cluster_dns_ips": cluster_dns_ips}
