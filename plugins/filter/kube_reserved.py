# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import as_filter, whole


@as_filter
def kube_reserved(max_pods: Any, vcpus: Any) -> dict[str, str]:
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.capacity import kube_reserved as reserved

    return reserved(whole(max_pods), whole(vcpus))


class FilterModule:
    """Ansible filter plugin; documented in kube_reserved.yml."""

    def filters(self) -> dict[str, Any]:
        return {"kube_reserved": kube_reserved}
