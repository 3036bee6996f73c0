# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The family of a node group, without checks of its other fields."""

from __future__ import annotations

from typing import Any

from ..errors import Problems, SpecError
from ..model.fields import FAMILY_ALIASES, NODE_GROUP
from ..model.plain import INVALID


def node_family(node_group: Any, default: Any = None) -> Any:
    """The family of C(node_group), with the names of eksctl resolved: al2, al2023, bottlerocket, ubuntu or windows.

    default: the result for a family that is missing or unknown. Without it, such a family raises C(SpecError).
    """
    problems = Problems()
    if not isinstance(node_group, dict):
        problems.add("input.wrong_type", "node_group", "is not a mapping", value=node_group)
    elif "family" not in node_group:
        problems.add(
            "input.missing_field", "node_group.family", "is missing", fix="set the operating system of the node, for example family: al2023"
        )
    else:
        family = NODE_GROUP["family"](node_group["family"], "node_group.family", problems)
        if family is not INVALID:
            return FAMILY_ALIASES[family][0] if family in FAMILY_ALIASES else str(family)
    if default is not None:
        return default
    raise SpecError(problems)
