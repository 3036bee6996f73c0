# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One row of the error table: an input that is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE


@dataclass(frozen=True)
class Row:
    """C(id) says in words what is wrong with the input; the message is in C(tests/golden/errors)."""

    id: str
    call: Callable[[], Any]
    secrets: tuple[str, ...] = field(default=())
    """What no message may repeat."""
    given: Mapping[str, Any] | None = None
    """C({cluster, node_group, encoding}), if the row is a node group."""


def group(id: str, node_group: Any, cluster: Mapping[str, Any] | None = None, *, encoding: str = "plain", secret: str = "") -> Row:
    """A node group in the complete cluster of C(strategies), changed by C(cluster); null takes a fact away."""
    facts = COMPLETE | dict(cluster or {})
    given = {"cluster": facts, "node_group": node_group, "encoding": encoding}
    return Row(id, lambda: render(facts, node_group, encoding), (secret,) if secret else (), given)


def cluster(id: str, change: Mapping[str, Any], node_group: Any = None) -> Row:
    """The complete cluster with a change, and an AL2023 node group unless another one is given."""
    return group(id, {"family": "al2023"} if node_group is None else node_group, change)
