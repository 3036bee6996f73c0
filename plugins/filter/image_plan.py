# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import as_filter


@as_filter
def image_plan(image: Any, builder: Any, inputs: Any = None) -> dict[str, Any]:
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image import plan

    return plan.image_plan(image, builder, inputs)


class FilterModule:
    """Ansible filter plugin; documented in image_plan.yml."""

    def filters(self) -> dict[str, Any]:
        return {"image_plan": image_plan}
