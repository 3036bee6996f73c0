# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a live Windows node, as the role C(eks_node_windows) sends it there."""

from __future__ import annotations

from typing import Any

from ..artifacts import windows_live
from ..errors import Problem, SpecError
from ..families import windows
from ..families.registry import resolve


def windows_node_plan(cluster: Any, node_group: Any, instance_type: Any = None) -> str:
    """The encoded plan of a node of C(node_group) in C(cluster). Raises C(SpecError).

    instance_type: that of the running node, where C(max_pods) or reservations are computed from it; None or empty when it is not known.
    """
    if instance_type is not None and not isinstance(instance_type, str):
        raise SpecError([Problem("instance_type", "is not the name of an instance type", value=instance_type)])
    spec, _unused = resolve(cluster, node_group, instance_type or None)
    if spec.family != "windows":
        message = "is no Windows node group"
        raise SpecError([Problem("node_group.family", message, value=spec.family, allowed="windows", fix="use the role of that family")])
    return windows_live.encoded(windows.live_plan(spec))
