# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the controller has to tell the API server so that a registered node gets other labels and taints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def label_patches(registration: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Merge patches for the Node object, each a whole definition: a label that is null goes away.

    registration: what the module says, or None when the node is registered as the plan wants it.
    """
    labels = (registration or {}).get("labels")
    if not registration or not labels:
        return []
    return [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": registration["node"], "labels": dict(labels)}}]


def taint_changes(registration: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Changes of taints, each what C(kubernetes.core.k8s_taint) takes: C(name), C(state) and C(taints).

    No merge patch can do this: it would replace the whole list, and with it the taints that others have set.
    """
    changes = (registration or {}).get("taints") or {}
    found = []
    for state, key in (("absent", "remove"), ("present", "set")):
        taints = [_taint(text, state) for text in changes.get(key) or ()]
        if registration and taints:
            found.append({"name": registration["node"], "state": state, "taints": taints})
    return found


def _taint(text: str, state: str) -> dict[str, str]:
    pair, _unused, effect = text.rpartition(":")
    key, _unused, value = pair.partition("=")
    # A taint is found by key and effect; a value would be one condition more.
    return {"key": key, "effect": effect} | ({"value": value} if value and state == "present" else {})
