# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layers of the library, and what a file in each may import and do: pure functions over one file's text."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TypeGuard

ORDER = (
    "rules",
    "errors",
    "data",
    "quantities",
    "network",
    "kubernetes",
    "kubelet_fields",
    "kubelet_flags",
    "kubelet_settings",
    "versions",
    "kubelet",
    "kubelet_effective",
    "kubelet_findings",
    "kubelet_values",
    "kubelet_gates",
    "kubelet_conflicts",
    "kubelet_managers",
    "kubelet_rules",
    "capacity",
    "bottlerocket_settings",
    "formats",
    "nodeconfig",
    "bootstrap_calls",
    "script_lines",
    "windows_calls",
    "model",
    "access",
    "images",
    "artifacts",
    "image",
    "families",
    "importers",
    "readers",
    "sources",
    "launch_templates",
    "lint",
    "difference",
    "explanation",
    "migration",
    "publish",
    "outputs",
    "live",
    "doctor",
    "anywhere",
    "workloads",
    "drain",
    "upgrade",
)
"""A module imports what stands left of it, or inside its own package."""

ANYWHERE = "anywhere"
ANYWHERE_SHARED = {"rules", "errors", "data", "quantities", "network", "kubernetes", "kubelet_fields", "versions", "formats"}
"""The library of clusters is beside the library of nodes. Both may import these: problems, facts with a date, syntax, and formats."""

BORDER = {"ansible_adapter", "ansible_imports"}
"""What knows Ansible, and how it imports. They may import all of the library, and nothing in the library imports them."""

FAMILY_SHARED = {"__init__", "registry"}
"""Files in families/ that are no family; the registry alone knows all families."""

THIRD_PARTY = {"cryptography", "yaml", "jinja2", "tomlkit", "tree_sitter", "tree_sitter_bash"}
LAZY = {"cryptography", "tomlkit", "tomllib", "email", "tree_sitter", "tree_sitter_bash"}
"""Loaded inside the function that needs them: most runs do not, and a filter's first call should be quick."""

READS_FILES = {"data.py", "rules.py"}
"""The files that read the data files of the library."""

TOUCHES_THE_WORLD = {
    "outputs/downloads.py",
    "outputs/folder.py",
    "outputs/image_inputs.py",
    "outputs/named_files.py",
    "outputs/source_files.py",
}
"""Modules that write what was rendered, that read the files that a node group or a lint names, and that fetch the inputs of an image;
everything else of the library is pure."""

WORLD = {
    "asyncio", "concurrent", "ctypes", "fcntl", "fileinput", "ftplib", "getpass", "glob", "grp", "http", "locale", "logging",
    "mmap", "multiprocessing", "os", "pickle", "platform", "pty", "pwd", "random", "resource", "sched", "secrets", "select",
    "shutil", "signal", "smtplib", "socket", "socketserver", "ssl", "subprocess", "sysconfig", "tempfile", "threading", "time",
    "urllib.request", "uuid", "xmlrpc", "zoneinfo",
}  # fmt: skip
"""Standard modules through which clock, chance, environment, network or other processes come in."""

IMPURE_CALLS = {"breakpoint", "eval", "exec", "hash", "id", "input", "open", "print"}
"""Built-ins that touch the world or, like hash() of a text, differ from one run to the next."""

CLOCK = {"now", "today", "utcnow"}
FILE_METHODS = {"read_text", "read_bytes", "write_text", "write_bytes", "unlink", "mkdir", "iterdir"}


def module_path(name: str) -> tuple[str, ...]:
    """A file below the library as module parts: C(spec/model.py) → C((spec, model)); a package is its own name."""
    parts = PurePosixPath(name).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def imports(tree: ast.AST, name: str, all_modules: set[tuple[str, ...]]) -> Iterator[tuple[int, tuple[str, ...] | None, str]]:
    """Every import: line, module parts inside the library (None for others), and the name as it is written."""
    path = PurePosixPath(name)
    package = path.with_suffix("").parts[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, None, alias.name
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.lineno, None, node.module or ""
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - (node.level - 1)] + tuple((node.module or "").split(".") if node.module else ())
            for alias in node.names:
                target = (*base, alias.name)
                yield node.lineno, target if target in all_modules else base, "." * node.level + (node.module or "") + f" {alias.name}"


def import_problems(name: str, source: str, all_modules: set[tuple[str, ...]]) -> list[str]:
    """What C(name), a file path below the library, imports against the order of layers."""
    found: list[str] = []
    own = module_path(name)
    if not own or own[0] in BORDER:
        return found
    if own[0] not in ORDER:
        return [f"{name}: {own[0]} has no place in the order of layers (tests/consistency/layers.py)"]
    for line, target, written in imports(ast.parse(source), name, all_modules):
        if target is None:
            continue
        where = f"{name}:{line}: imports '{written}'"
        if not target:
            found.append(f"{where}: the library's own package is not a layer")
        elif target[0] in BORDER:
            found.append(f"{where}: nothing in the library knows the border to Ansible")
        elif target[0] not in ORDER:
            found.append(f"{where}: {target[0]} has no place in the order of layers")
        elif target[0] != own[0] and ORDER.index(target[0]) > ORDER.index(own[0]):
            found.append(f"{where}: {target[0]} does not stand left of {own[0]}")
        elif own[0] == ANYWHERE and target[0] not in {ANYWHERE, *ANYWHERE_SHARED}:
            found.append(f"{where}: {ANYWHERE} imports only {', '.join(sorted(ANYWHERE_SHARED))}")
        elif _between_families(own, target):
            found.append(f"{where}: families never import each other; what they share belongs to artifacts")
    return found


def _between_families(own: tuple[str, ...], target: tuple[str, ...]) -> bool:
    if own[0] != "families" or target[0] != "families" or own[-1] in FAMILY_SHARED or len(own) < 2:
        return False
    return target[1:2] != own[1:2] and not (target[-1].startswith("_") and len(target) == 2)


def purity_problems(name: str, source: str) -> list[str]:
    """What in C(name) reaches for the world: imports, calls."""
    if module_path(name)[:1] and module_path(name)[0] in BORDER:
        return []
    tree = ast.parse(source)
    found: list[str] = []
    if name in TOUCHES_THE_WORLD:
        return found
    top_level = {id(node) for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))}
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) or _is_typing_guard(function):
            top_level -= {id(node) for node in ast.walk(function)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            written = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            written = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call):
            found.extend(f"{name}:{node.lineno}: {problem}" for problem in _call_problems(name, node))
            continue
        else:
            continue
        for module in written:
            found.extend(f"{name}:{node.lineno}: {problem}" for problem in _module_problems(module, id(node) in top_level))
    return found


def _is_typing_guard(node: ast.AST) -> TypeGuard[ast.If]:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _module_problems(module: str, at_top: bool) -> Iterator[str]:
    root = module.split(".")[0]
    if root in WORLD or any(module == word or module.startswith(f"{word}.") for word in WORLD):
        yield f"imports {module}: the library uses no clock, randomness, environment, network or process"
    elif root not in sys.stdlib_module_names and root not in THIRD_PARTY:
        yield f"imports {module}: the library may use the standard library, {', '.join(sorted(THIRD_PARTY))}"
    elif root in LAZY and at_top:
        yield f"imports {module} at the top: import it inside the function that needs it"


def _call_problems(name: str, node: ast.Call) -> Iterator[str]:
    function = node.func
    if isinstance(function, ast.Name) and function.id in IMPURE_CALLS:
        yield f"calls {function.id}()"
    elif isinstance(function, ast.Attribute) and function.attr in CLOCK:
        yield f"asks the clock: .{function.attr}()"
    elif isinstance(function, ast.Attribute) and function.attr in FILE_METHODS and name not in READS_FILES:
        yield f"touches files: .{function.attr}()"


# --- the node half -----------------------------------------------------------------------------------------------------------------

NODE_LAYERS: dict[str, frozenset[str]] = {
    "_node": frozenset(),
    "_aws": frozenset(),
    "_kubernetes": frozenset({"_aws", "_node"}),
    "_transaction": frozenset({"_node"}),
    "_inspect": frozenset({"_node"}),
    "_join": frozenset({"_node"}),
    "_image": frozenset({"_node"}),
    "_anywhere": frozenset({"_node"}),
    "_engine": frozenset({"_node", "_transaction", "_inspect", "_join"}),
    "_doctor": frozenset({"_node", "_inspect", "_join", "_image"}),
    "_anywhere_admin": frozenset({"_node", "_join", "_doctor"}),
}
"""Package of C(plugins/module_utils) → the packages that it may import, beside itself."""

NODE_THIRD_PARTY = {
    "_node": {"yaml"},
    "_aws": {"ansible", "boto3", "botocore"},
    "_kubernetes": {"ansible", "botocore", "kubernetes", "urllib3"},
}
"""What a package may import beside the standard library. PyYAML is optional on nodes: its absence is handled."""


def node_import_problems(name: str, source: str, all_modules: set[tuple[str, ...]]) -> list[str]:
    """What C(name), a file path below C(plugins/module_utils), imports against the layers of the node half."""
    found: list[str] = []
    own = module_path(name)
    if own[0] not in NODE_LAYERS:
        return [f"{name}: {own[0]} has no place among the layers of the node half (tests/consistency/layers.py)"]
    for line, target, written in imports(ast.parse(source), name, all_modules):
        where = f"{name}:{line}: imports '{written}'"
        root = written.split(".")[0]
        if target is None and root == "ansible_collections":
            found.append(f"{where}: write a relative import")
        elif target is None and root not in sys.stdlib_module_names and root not in NODE_THIRD_PARTY.get(own[0], set()):
            found.append(f"{where}: a node has the standard library only")
        elif target is not None and (not target or target[0] not in NODE_LAYERS):
            found.append(f"{where}: it is not a layer of the node half")
        elif target is not None and target[0] != own[0] and target[0] not in NODE_LAYERS[own[0]]:
            found.append(f"{where}: {own[0]} does not import {target[0]}")
    return found


def import_cycles(sources: dict[str, str], all_modules: set[tuple[str, ...]]) -> list[str]:
    """The groups of files that import each other, directly or not. Imports inside functions count, imports for types only do not."""
    graph: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for name, source in sources.items():
        tree = ast.parse(source)
        for guard in [node for node in ast.walk(tree) if _is_typing_guard(node)]:
            guard.body = []
        own = module_path(name)
        graph[own] = {target for _line, target, _written in imports(tree, name, all_modules) if target in all_modules and target != own}
    reachable = {module: _reachable(module, graph) for module in graph}
    groups = {frozenset(other for other in reached if module in reachable[other]) for module, reached in reachable.items()}
    return sorted(
        "import each other: " + ", ".join(sorted("/".join(module) + ".py" for module in group)) for group in groups if len(group) > 1
    )


def _reachable(start: tuple[str, ...], graph: dict[tuple[str, ...], set[tuple[str, ...]]]) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    waiting = [start]
    while waiting:
        for module in graph.get(waiting.pop(), ()):
            if module not in found:
                found.add(module)
                waiting.append(module)
    return found
