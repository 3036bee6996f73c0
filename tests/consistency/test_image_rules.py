# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of image_verify: the code and the catalogue have the same, with the same severity, and each has a planted defect."""

from __future__ import annotations

from ansible_collections.nodebootstrap.eks.plugins.module_utils._image.verify import RULES
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import rules
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils._image.defects import DEFECTS

PREFIX = "image."


def test_the_catalogue_has_every_rule_and_no_other() -> None:
    catalogue = {rule.id: rule.severity for rule in rules.catalogue().values() if rule.id.startswith(PREFIX)}
    assert {rule.id: rule.severity for rule in RULES} == catalogue
    assert len(RULES) == len(catalogue)


def test_every_rule_has_a_planted_defect() -> None:
    assert {rule.id for rule in RULES} == {defect.rule for defect in DEFECTS}
