# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cures for descriptions of images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image.plan import image_plan
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.row import Cure, edited
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.image.descriptions import BUILDERS, minimal, source


def _planned(given: Any) -> None:
    image_plan(given["image"], given["builder"])


def _cure(rule: str, image: Mapping[str, Any], builder: str, edits: dict[str, Any]) -> Cure:
    given = {"image": image, "builder": BUILDERS[builder]}
    return Cure(rule, _planned, given, edited(given, edits), tuple(edits))


MOTD = {"files": [{"path": "/run/motd", "content": ""}]}

ROWS = (
    _cure(
        "bake.missing_program", {**minimal("al2023"), "packages": ["containerd.io"]}, "rocky", {"image.programs.nodeadm": source("nodeadm")}
    ),
    _cure(
        "bake.missing_program",
        {**minimal("al2023"), "programs": {"nodeadm": source("nodeadm")}},
        "rocky",
        {"image.programs.containerd": source("containerd.tar.gz")},
    ),
    _cure("bake.volatile_path", {**minimal("al2023"), **MOTD}, "al2023", {"image.files[0].path": "/etc/motd"}),
    _cure("bake.wrong_system", minimal("al2"), "al2023", {"image.family": "al2023"}),
)
