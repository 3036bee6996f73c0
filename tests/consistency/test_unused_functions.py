# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every function and class of the plugins is used by the plugins: one that only tests use is dead."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from ansible_collections.nodebootstrap.eks.tests.consistency import project

USED_ELSEWHERE = {
    "TestModule": "Ansible loads it",
    "ModuleDocFragment": "Ansible loads it",
    "with_rules": "the golden files of errors show the rules with it",
    "makefile": "http.client calls it",
    "check_token": "PyYAML's parser calls it",
    "get_token": "PyYAML's parser calls it",
}


def definitions(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the functions and classes of a file, without the methods that a base class can call."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if not node.name.startswith("__"):
                yield node.name, node.lineno
            if isinstance(node, ast.ClassDef) and node.bases:
                continue
        yield from definitions(node)


def test_no_function_is_used_by_tests_only() -> None:
    sources = {name: project.text(name) for name in project.under("plugins", ".py")}
    words = Counter(word for source in sources.values() for word in re.findall(r"\w+", source))
    unused = {
        f"{file}:{line}: {name}"
        for file, source in sources.items()
        for name, line in definitions(ast.parse(source))
        if words[name] == 1 and name not in USED_ELSEWHERE
    }
    project.none_of(sorted(unused))
