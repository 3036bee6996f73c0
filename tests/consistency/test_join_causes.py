# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The causes of a failed join: complete in the code, in the catalogue of rules, and on the page about joining."""

from __future__ import annotations

import ast

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import exit_causes
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import CAUSES
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import rules
from ansible_collections.nodebootstrap.eks.tools import join_causes

PACKAGE = join_causes.TOP / "plugins/module_utils/_join"


def causes_in_code() -> set[str]:
    """The first argument of each call that builds a Finding, and the table of exits."""
    causes = {cause for cause, _pattern, _explain in exit_causes.CAUSES}
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Finding", "_connection_finding"):
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    causes.add(str(first.value))
    return causes


def test_the_list_of_causes_is_complete() -> None:
    assert causes_in_code() == set(CAUSES)
    assert len(CAUSES) == len(set(CAUSES))


def test_the_catalogue_has_every_cause_and_no_other() -> None:
    prefix = join_causes.PREFIX
    assert {rule_id for rule_id in rules.catalogue() if rule_id.startswith(prefix)} == {prefix + cause for cause in CAUSES}


def test_the_page_shows_the_catalogue() -> None:
    assert join_causes.page() == join_causes.PAGE.read_text(encoding="utf-8"), "run make golden and review the diff"
    assert join_causes.table() in join_causes.page()
