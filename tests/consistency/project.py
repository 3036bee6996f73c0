# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the consistency tests look at: the files that git knows, and the plugins, roles and playbooks among them."""

from __future__ import annotations

import ast
import importlib
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

TOP = Path(__file__).resolve().parents[2]
NAME = "nodebootstrap.eks"
LIBRARY = "plugins/plugin_utils"

# Recorded, generated or golden: not written by hand.
DATA_FOLDERS = (
    "LICENSES/",
    "changelogs/changelog.yaml",
    "plugins/plugin_utils/_data/",
    "tests/golden/",
    "tests/known_good/texts/",
    "tests/oracle/data/",
)


@cache
def files() -> tuple[str, ...]:
    """Every file of the project, uncommitted ones too, as a path from its top folder."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=TOP, check=True, capture_output=True, text=True).stdout
    return tuple(sorted(name for name in listed.split("\0") if name and (TOP / name).is_file()))


def is_data(name: str) -> bool:
    """Whether C(name) is recorded, generated or golden."""
    return name.startswith(DATA_FOLDERS) or name.endswith((".json", ".sum"))


def text(name: str) -> str:
    """The content of a file."""
    return (TOP / name).read_text(encoding="utf-8")


def under(folder: str, suffix: str) -> tuple[str, ...]:
    """The files below C(folder) that end in C(suffix)."""
    return tuple(name for name in files() if name.startswith(f"{folder}/") and name.endswith(suffix))


def plugins(kind: str) -> dict[str, str]:
    """Public plugins of a kind (C(filter), C(test), C(action), C(modules) …): name → file."""
    found = (name for name in under(f"plugins/{kind}", ".py") if name.count("/") == 2)
    return {stem: name for name in found if not (stem := PurePosixPath(name).stem).startswith("_")}


def documentation(kind: str, stem: str) -> dict[str, Any]:
    """C(doc), C(examples) and C(return) of a plugin, from its sidecar file or from the plugin itself; {} where there is none."""
    sidecar = f"plugins/{kind}/{stem}.yml"
    if sidecar in files():
        content = yaml.safe_load(text(sidecar))
        doc = content.get("DOCUMENTATION")
        return {"doc": _with_fragments(doc) if doc else doc, "examples": content.get("EXAMPLES"), "return": content.get("RETURN")}
    if kind == "action":  # documented by the module of the same name
        return documentation("modules", stem)
    if stem not in plugins(kind):
        return {}
    blocks = constants(text(plugins(kind)[stem]))
    doc, returned = (yaml.safe_load(blocks.get(word, "")) for word in ("DOCUMENTATION", "RETURN"))
    return {"doc": _with_fragments(doc), "examples": blocks.get("EXAMPLES"), "return": returned} if doc else {}


@cache
def fragments() -> dict[str, dict[str, Any]]:
    """Return the fragments in plugins/doc_fragments: the name for C(extends_documentation_fragment) → content."""
    found: dict[str, dict[str, Any]] = {}
    for name in under("plugins/doc_fragments", ".py"):
        stem = PurePosixPath(name).stem
        module = importlib.import_module(f"ansible_collections.{NAME}.plugins.doc_fragments.{stem}")
        for block, content in vars(module.ModuleDocFragment).items():
            if block.isupper():
                path = (NAME, stem, *(() if block == "DOCUMENTATION" else (block.lower(),)))
                found[".".join(path)] = yaml.safe_load(content)
    return found


def _with_fragments(doc: dict[str, Any]) -> dict[str, Any]:
    """A module's documentation with its fragments, as Ansible merges them: an option's own words win over those of the fragment."""
    merged = dict(doc)
    for name in doc.get("extends_documentation_fragment", ()):
        for section, items in fragments()[name].items():
            if isinstance(items, list):
                merged[section] = [*merged.get(section, []), *items]
                continue
            own = merged.get(section) or {}
            merged[section] = own | {key: item | own.get(key, {}) for key, item in items.items()}
    return merged


def constants(source: str) -> dict[str, str]:
    """Names that a file sets to a plain text, read without running the file."""
    return _of_body(ast.parse(source).body)


def _of_body(body: Iterable[ast.stmt]) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            found |= {target.id: node.value.value for target in node.targets if isinstance(target, ast.Name)}
    return found


def callables(kind: str, name: str) -> dict[str, Any]:
    """What a filter or test plugin file registers: name → function."""
    problem = ""
    try:
        module = importlib.import_module("ansible_collections.nodebootstrap.eks." + name.removesuffix(".py").replace("/", "."))
    except Exception as error:
        problem = f"{name} cannot be imported: {type(error).__name__}: {error}"
    if problem:
        pytest.fail(problem, pytrace=False)
    return dict(module.FilterModule().filters() if kind == "filter" else module.TestModule().tests())


def roles() -> tuple[str, ...]:
    """Names of the roles."""
    return tuple(sorted({name.split("/")[1] for name in files() if name.startswith("roles/")}))


def argument_specs(role: str) -> dict[str, Any]:
    """A role's entry points: name → specification."""
    for suffix in ("yml", "yaml"):
        name = f"roles/{role}/meta/argument_specs.{suffix}"
        if name in files():
            return dict(yaml.safe_load(text(name))["argument_specs"])
    return {}


def playbooks() -> dict[str, str]:
    """Playbooks that can be run as nodebootstrap.eks.NAME: name → file. Beside them lie task files and the like in folders."""
    return {PurePosixPath(name).stem: name for name in under("playbooks", ".yml") if name.count("/") == 1}


def each_line(name: str) -> Iterator[tuple[int, str]]:
    """Numbered lines of a file; nothing for what is not text."""
    try:
        content = text(name)
    except UnicodeDecodeError:
        return
    yield from enumerate(content.splitlines(), start=1)


def none_of(problems: Iterable[str]) -> None:
    """Fail with one line a problem; what pytest shows of two unequal lists is cut."""
    found = list(problems)
    if found:
        pytest.fail("\n".join([f"{len(found)} problem(s)", *found]), pytrace=False)
