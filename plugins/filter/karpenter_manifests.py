# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import as_filter


@as_filter
def karpenter_manifests(node_group: Any, cluster: Any = None) -> dict[str, Any]:
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import karpenter as sink

    return sink.karpenter_manifests(cluster or {}, node_group)


class FilterModule:
    """Ansible filter plugin; documented in karpenter_manifests.yml."""

    def filters(self) -> dict[str, Any]:
        return {"karpenter_manifests": karpenter_manifests}
