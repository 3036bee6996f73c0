# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes of Node objects that the steps of an upgrade need, as merge patches: one request each."""

from __future__ import annotations

from typing import Any

from . import marks
from .model import Mark, Protect, Release, Reserve, SetMark


def patch_of(action: Reserve | SetMark | Release | Protect, resource_version: str) -> dict[str, Any]:
    """The patch for a step. resource_version: of the node as it was observed; a change by others makes the patch fail."""
    if isinstance(action, Protect):
        return _patch({marks.SCALE_DOWN_DISABLED: "true" if action.run else None, marks.PROTECTED: action.run or None})
    if isinstance(action, Reserve):
        patch = _patch(_mark(action.mark))
        patch["metadata"]["resourceVersion"] = resource_version
        return {**patch, "spec": {"unschedulable": True}}
    if isinstance(action, SetMark):
        patch = _patch(_mark(action.mark))
        if action.exclude:
            patch["metadata"]["labels"] = {marks.EXCLUDE: "true"}
        return patch
    patch = _patch(_mark(action.mark))
    if action.include:
        patch["metadata"]["labels"] = {marks.EXCLUDE: None}
    return {**patch, "spec": {"unschedulable": None}} if action.uncordon else patch


def _mark(mark: Mark | None) -> dict[str, str | None]:
    return {marks.NODE: None if mark is None else marks.write_mark(mark)}


def _patch(annotations: dict[str, str | None]) -> dict[str, Any]:
    return {"metadata": {"annotations": annotations}}
