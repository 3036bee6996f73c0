# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which mutants are tried: for every layer of tests, changes to what that layer is there to show."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import operators
from .operators import Candidate, Operators
from .trees import locate

#: Languages by what a file is called; the first that fits.
PYTHON: Operators = (operators.python,)


class Pool(NamedTuple):
    """Files of a layer, as patterns, and what is done to them."""

    patterns: tuple[str, ...]
    operators: Operators


class Layer(NamedTuple):
    """A layer of tests: how many mutants it gets, and from where."""

    count: int
    pools: tuple[Pool, ...]


LIBRARY = "plugins/plugin_utils"
LAYERS = {
    "unit": Layer(13, (Pool((f"{LIBRARY}/**/*.py", "plugins/filter/*.py", "plugins/action/*.py"), PYTHON),)),
    "units": Layer(8, (
        Pool(("plugins/module_utils/**/*.py", "plugins/modules/*.py"), PYTHON),
        Pool(("plugins/module_utils/**/*.py", "plugins/modules/*.py"), PYTHON),
        Pool(("plugins/module_utils/**/*.py",), (operators.newer_python,)),
    )),
    "consistency": Layer(7, (
        Pool(("docs/*.md", "README.md", "roles/*/README.md"), (operators.page_lines,)),
        Pool(("roles/*/defaults/main.yml", "roles/*/meta/argument_specs.yml", "examples/**/*.yml"), (operators.yaml_lines,)),
        Pool((f"{LIBRARY}/**/*.py",), (operators.impure,)),
    )),
    "sanity, lint": Layer(7, (
        Pool(("plugins/modules/*.py", "plugins/doc_fragments/*.py"), (operators.module_documentation,)),
        Pool((f"{LIBRARY}/**/*.py",), (operators.annotation,)),
        Pool(("tools/*.sh",), (operators.shell_lines,)),
    )),
    "package": Layer(5, (
        Pool(("galaxy.yml",), (operators.yaml_lines,)),
        Pool(("galaxy.yml",), (operators.yaml_lines,)),
        Pool(("meta/*.yml", "meta/*.txt"), (operators.yaml_lines, operators.requirement_lines)),
    )),
    "oracle": Layer(8, (
        Pool((f"{LIBRARY}/formats/*.py", f"{LIBRARY}/artifacts/*.py", f"{LIBRARY}/families/*.py"), PYTHON),
        Pool(("plugins/module_utils/_transaction/*.py",), PYTHON),
        Pool((f"{LIBRARY}/_powershell/*.ps1",), (operators.powershell_lines,)),
    )),
    "molecule": Layer(6, (
        Pool(("roles/*/tasks/*.yml", "roles/*/handlers/*.yml", "playbooks/*.yml"), (operators.yaml_lines,)),
    )),
    "lab": Layer(6, (Pool(("plugins/module_utils/_join/*.py", "plugins/modules/join_check.py"), PYTHON),)),
}  # fmt: skip


def choose(tree: Path, seed: str, others: list[Path]) -> list[dict[str, Any]]:
    """The mutants of every layer. C(others) are trees in which each of them must be found, too."""
    return [mutant for name in LAYERS for mutant in _of_layer(tree, name, seed, others)]


def _of_layer(tree: Path, name: str, seed: str, others: list[Path]) -> Iterator[dict[str, Any]]:
    layer, randomly = LAYERS[name], random.Random(f"{seed}/{name}")
    taken: set[str] = set()
    chosen: set[tuple[str, str]] = set()
    number = 0
    while number < layer.count:
        pool = layer.pools[number % len(layer.pools)]
        path = randomly.choice(_files(tree, pool.patterns))
        file = path.relative_to(tree).as_posix()
        candidates = _candidates(path.read_text(encoding="utf-8"), pool.operators)
        if file in taken or not candidates:
            continue
        operator = randomly.choice(sorted(candidates))
        candidate = randomly.choice(candidates[operator])
        mutant = {"id": f"{name.split(',')[0]}-{number + 1}", "layer": name, "file": file, **candidate._asdict()}
        if (file, candidate.after) in chosen or (file, candidate.before) in chosen:
            continue
        if not _is_valid(candidate, path) or not all(locate(mutant, one) for one in [tree, *others]):
            continue
        # A layer looks at as many files as it can, as long as it has enough of them.
        if len(_files(tree, pool.patterns)) > layer.count:
            taken.add(file)
        chosen |= {(file, candidate.before), (file, candidate.after)} - {(file, "# dropped")}
        number += 1
        yield mutant


def _files(tree: Path, patterns: tuple[str, ...]) -> list[Path]:
    return sorted(path for pattern in patterns for path in tree.glob(pattern) if path.is_file())


def _candidates(text: str, used: Operators) -> dict[str, list[Candidate]]:
    """By operator, in the order of the file; only those whose text stands once in its symbol."""
    result: dict[str, list[Candidate]] = {}
    for operator in used:
        for candidate in operator(text):
            if candidate.before.strip() and candidate.before != candidate.after:
                result.setdefault(candidate.operator, []).append(candidate)
    return result


def _is_valid(candidate: Candidate, path: Path) -> bool:
    if path.suffix != ".py":
        return True
    text = path.read_text(encoding="utf-8")
    try:
        ast.parse(text.replace(candidate.before, candidate.after, 1))
    except SyntaxError:
        return False
    return True
