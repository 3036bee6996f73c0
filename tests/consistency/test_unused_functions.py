# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every function and class of the plugins is used by the plugins: one that only tests use is dead."""

from __future__ import annotations

import ast
import re
from collections import Counter

from ansible_collections.nodebootstrap.eks.tests.consistency import project

USED_ELSEWHERE = {
    "TestModule": "Ansible loads it",
    "ModuleDocFragment": "Ansible loads it",
    "with_rules": "the golden files of errors show the rules with it",
    "predict": "the checks before a launch will call it",
    "scan_plain": "PyYAML calls it",
    "scan_to_next_token": "PyYAML calls it",
}


def test_no_function_is_used_by_tests_only() -> None:
    sources = {name: project.text(name) for name in project.under("plugins", ".py")}
    words = Counter(word for source in sources.values() for word in re.findall(r"\w+", source))
    defined = {
        node.name: f"{name}:{node.lineno}: {node.name}"
        for name, source in sources.items()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and not node.name.startswith("__")
    }
    project.none_of(place for name, place in sorted(defined.items()) if words[name] == 1 and name not in USED_ELSEWHERE)
