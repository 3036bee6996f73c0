# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Patches with which the controller changes the labels and taints of a registered node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def label_patches(registration: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Merge patches for the Node object, each a complete definition. A label that is null is removed.

    registration: what the module says, or None when the node is registered as the plan wants it.
    """
    labels = (registration or {}).get("labels")
    if not registration or not labels:
        return []
    return [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": registration["node"], "labels": dict(labels)}}]


def taint_changes(registration: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Changes of taints, each with the options C(name), C(state) and C(taints) of C(kubernetes.core.k8s_taint).

    No merge patch can do this: it would replace the whole list, and with it the taints that others have set.
    """
    changes = (registration or {}).get("taints") or {}
    wanted = [_taint(text, "present") for text in changes.get("set") or ()]
    stay = [(taint["key"], taint["effect"]) for taint in wanted]
    # The second step replaces a taint that has another value. Removing it first would report a change in every run.
    gone = [
        taint for taint in (_taint(text, "absent") for text in changes.get("remove") or ()) if (taint["key"], taint["effect"]) not in stay
    ]
    found = []
    for state, taints in (("absent", gone), ("present", wanted)):
        if registration and taints:
            found.append({"name": registration["node"], "state": state, "taints": taints})
    return found


def _taint(text: str, state: str) -> dict[str, str]:
    pair, _unused, effect = text.rpartition(":")
    key, _unused, value = pair.partition("=")
    # A taint is matched by key and effect. A value would be an additional condition.
    return {"key": key, "effect": effect} | ({"value": value} if value and state == "present" else {})
