# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import as_filter


@as_filter
def lint_user_data(text: Any, family: Any = None, kubernetes_version: Any = None, instance_type: Any = None) -> list[dict[str, Any]]:
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import lint_user_data as sink

    return sink.lint_user_data(text, family, kubernetes_version, instance_type)


class FilterModule:
    """Ansible filter plugin; documented in lint_user_data.yml."""

    def filters(self) -> dict[str, Any]:
        return {"lint_user_data": lint_user_data}
