# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import as_filter


@as_filter
def migrate_user_data(text: Any, cluster: Any = None, family: Any = "al2023") -> dict[str, Any]:
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import migrate_user_data as sink

    return sink.migrate_user_data(text, cluster, family)


class FilterModule:
    """Ansible filter plugin; documented in migrate_user_data.yml."""

    def filters(self) -> dict[str, Any]:
        return {"migrate_user_data": migrate_user_data}
