# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The NodeConfig documents of an Amazon Linux 2023 node group."""

from __future__ import annotations

import copy
from typing import Any

from ..errors import Problem, SpecError
from ..families import al2023
from ..families.registry import resolve


def node_config(cluster: Any, node_group: Any) -> list[dict[str, Any]]:
    """NodeConfig mappings in the order in which nodeadm merges them. Raises C(SpecError)."""
    spec, _unused = resolve(cluster, node_group)
    if spec.family != "al2023":
        fix = "use user_data or node_files"
        raise SpecError(
            [
                Problem(
                    "output.no_node_config",
                    "node_group.family",
                    "has no NodeConfig: only nodeadm of al2023 reads it",
                    value=spec.family,
                    allowed="al2023",
                    fix=fix,
                )
            ]
        )
    # The documents of existing user data are shared with later renders, and a template can change what it gets.
    return copy.deepcopy(al2023.node_configs(spec))
