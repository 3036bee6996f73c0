# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The node half passes frozen values: an object has all its attributes from its start, a module keeps no state, and no function changes
what it is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from ansible_collections.nodebootstrap.eks.tests.consistency import project

FOLDERS = ("plugins/module_utils/", "plugins/modules/")

ALLOWED = {
    "certificate changes its parameter: tls.check_hostname": "a context of ssl has no copy; the function restores it",
}
"""What would be found otherwise, with the reason."""

MUTATORS = {
    "add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault", "sort", "update",
}  # fmt: skip


def _functions(node: ast.AST) -> Iterator[ast.FunctionDef]:
    return (child for child in ast.walk(node) if isinstance(child, ast.FunctionDef))


def _targets(node: ast.AST) -> list[ast.expr]:
    """What a statement assigns to or deletes; tuples are taken apart."""
    if isinstance(node, (ast.Assign, ast.Delete)):
        found = node.targets
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        found = [node.target]
    else:
        return []
    return [part for target in found for part in (target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target])]


def _changed(node: ast.AST) -> Iterator[ast.expr]:
    """The attributes, items and methods through which a statement or call changes an object."""
    yield from (target for target in _targets(node) if isinstance(target, (ast.Attribute, ast.Subscript)))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
        yield node.func


def _root(node: ast.expr) -> str | None:
    """The name at the start of C(name.attribute[item])."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def late_attributes(tree: ast.AST) -> Iterator[str]:
    """The attributes of objects that a method other than C(__init__) assigns first."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        assigned = {
            method.name: {
                target.attr
                for child in ast.walk(method)
                for target in _targets(child)
                if isinstance(target, ast.Attribute) and _root(target) == "self" and isinstance(target.value, ast.Name)
            }
            for method in node.body
            if isinstance(method, ast.FunctionDef)
        }
        first = assigned.pop("__init__", set())
        yield from (f"{node.name}.{name} assigns {attribute} first" for name, found in assigned.items() for attribute in found - first)


def module_state(tree: ast.Module) -> Iterator[str]:
    """Names of a module that are assigned or changed after its import, and constants that could be: lists and sets."""
    names = {target.id: node for node in tree.body for target in _targets(node) if isinstance(target, ast.Name)}
    for name, node in names.items():
        value = getattr(node, "value", None)
        if isinstance(value, (ast.List, ast.Set, ast.ListComp, ast.SetComp)):
            yield f"{name} should be a tuple or a frozenset"
    for function in _functions(tree):
        own = {child.id for child in ast.walk(function) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store)}
        own |= {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
        for child in ast.walk(function):
            if isinstance(child, ast.Global):
                yield f"{function.name} assigns the module's {', '.join(child.names)}"
            for changed in _changed(child):
                if _root(changed) in names.keys() - own:
                    yield f"{function.name} changes the module's {ast.unparse(changed)}"


def changed_parameters(tree: ast.AST) -> Iterator[str]:
    """Parameters whose attributes or items a function assigns, or on which it calls a method that changes a mapping, list or set."""
    for function in _functions(tree):
        parameters = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)} - {"self", "cls"}
        assigned = {child.id for child in ast.walk(function) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store)}
        for child in ast.walk(function):
            for changed in _changed(child):
                if _root(changed) in parameters - assigned:
                    yield f"{function.name} changes its parameter: {ast.unparse(changed)}"


def problems_in(source: str) -> list[str]:
    tree = ast.parse(source)
    return sorted({*late_attributes(tree), *module_state(tree), *changed_parameters(tree)})


def found() -> dict[str, list[str]]:
    names = [name for name in project.files() if name.startswith(FOLDERS) and name.endswith(".py")]
    return {name: problems_in(project.text(name)) for name in names}


def test_values_of_the_node_half_are_frozen() -> None:
    project.none_of(f"{name}: {problem}" for name, problems in found().items() for problem in problems if problem not in ALLOWED)


def test_every_exception_is_used() -> None:
    assert ALLOWED.keys() <= {problem for problems in found().values() for problem in problems}


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n    def look(self): self.found = 1",
        "class A:\n    def __init__(self): self.a = 1\n    def look(self): self.a, self.b = 1, 2",
        "NAMES = []",
        "NAMES: set[str] = {'a'}",
        "CACHE = {}\ndef read(name): CACHE[name] = 1",
        "CACHE = {}\ndef read(name): CACHE.setdefault(name, 1)",
        "count = 0\ndef read():\n    global count\n    count += 1",
        "def read(flags): flags['a'] = 1",
        "def read(*, flags): flags.update(a=1)",
        "def read(flags): del flags['a']",
        "def read(run): run.result.actions.append('a')",
        "def read(run): run.changed = True",
    ],
)
def test_what_is_found(source: str) -> None:
    assert len(problems_in(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n    def __init__(self): self.a = None\n    def read(self): self.a = 1",
        "NAMES = ('a',)\nTABLE = {'a': 1}",
        "def read(flags):\n    flags = dict(flags)\n    flags['a'] = 1\n    return flags",
        "TABLE = {}\ndef read():\n    TABLE = {}\n    TABLE['a'] = 1",
        "def read(names):\n    found = []\n    found.append(names)\n    return found",
    ],
)
def test_what_is_accepted(source: str) -> None:
    assert problems_in(source) == []
