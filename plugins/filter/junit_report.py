# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.ansible_adapter import as_filter


@as_filter
def junit_report(result: Any, name: Any) -> str:
    from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs import junit_report as sink

    return sink.junit_report(result, name)


class FilterModule:
    """Ansible filter plugin; documented in junit_report.yml."""

    def filters(self) -> dict[str, Any]:
        return {"junit_report": junit_report}
