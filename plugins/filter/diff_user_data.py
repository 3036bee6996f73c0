# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import as_filter


@as_filter
def diff_user_data(old: Any, new: Any, family: str | None = None) -> list[dict[str, Any]]:
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import diff_user_data as sink

    return sink.diff_user_data(old, new, family)


class FilterModule:
    """Ansible filter plugin; documented in diff_user_data.yml."""

    def filters(self) -> dict[str, Any]:
        return {"diff_user_data": diff_user_data}
