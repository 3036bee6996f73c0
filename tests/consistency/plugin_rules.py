# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds for every plugin: functions over its text or its documentation that say what is wrong."""

from __future__ import annotations

import ast
import inspect
import io
import tokenize
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import yaml

ENVELOPE_LIMIT = 40
DOCUMENTED_IN_CODE = {"DOCUMENTATION", "EXAMPLES", "RETURN"}
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER}


def code_lines(source: str) -> int:
    """Lines that hold code: no comments, no docstrings, no documentation blocks, no blank lines."""
    prose: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        is_block = isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id in DOCUMENTED_IN_CODE for t in node.targets)
        if is_docstring or is_block:
            prose |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - prose)


def envelope_problems(name: str, source: str) -> list[str]:
    """An envelope holds documentation, one call and the translation of errors, and fits one look."""
    count = code_lines(source)
    return [f"{name}: {count} lines of code; an envelope has at most {ENVELOPE_LIMIT}"] if count > ENVELOPE_LIMIT else []


def name_problems(name: str, stem: str, doc: Mapping[str, Any], registered: Iterable[str]) -> list[str]:
    """File name, documented name and registered name are one, and a file registers one plugin."""
    found = []
    if list(registered) != [stem]:
        found.append(f"{name}: registers {sorted(registered)}, not just {stem}")
    if doc.get("name") != stem:
        found.append(f"{name}: documented as {doc.get('name')!r}")
    return found


def doc_problems(name: str, stem: str, documentation: Mapping[str, Any]) -> list[str]:
    """Documentation, examples that use the full name, and return values are there."""
    doc = documentation.get("doc")
    if not doc:
        return [f"{name}: no documentation"]
    found = [
        f"{name}: the documentation lacks {word}"
        for word in ("short_description", "description", "version_added", "author")
        if not doc.get(word)
    ]
    examples = documentation.get("examples") or ""
    if f"nodebootstrap.eks.{stem}" not in examples:
        found.append(f"{name}: no example uses nodebootstrap.eks.{stem}")
    try:
        if not isinstance(yaml.safe_load(examples), list):
            found.append(f"{name}: the examples are no list of tasks or plays")
    except yaml.YAMLError as error:
        found.append(f"{name}: the examples are no YAML: {error}")
    if not documentation.get("return"):
        found.append(f"{name}: the return value is not documented")
    return found


def signature_problems(name: str, doc: Mapping[str, Any], function: Callable[..., Any]) -> list[str]:
    """A filter's options, without its input, are the parameters of its function: names, order, defaults."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    options = {key: value for key, value in (doc.get("options") or {}).items() if key != "_input"}
    found = []
    if [parameter.name for parameter in parameters] != list(options):
        found.append(f"{name}: parameters {[parameter.name for parameter in parameters]}, documented {list(options)}")
    for parameter in parameters:
        option = options.get(parameter.name, {})
        required = parameter.default is parameter.empty
        if required != bool(option.get("required")):
            found.append(f"{name}: {parameter.name} is {'' if required else 'not '}required, documented otherwise")
        elif not required and parameter.default != option.get("default"):
            found.append(f"{name}: {parameter.name} defaults to {parameter.default!r}, documented {option.get('default')!r}")
    return found


def role_problems(role: str, defaults: Mapping[str, Any], options: Mapping[str, Any]) -> list[str]:
    """defaults/main.yml and argument_specs agree, both ways, and every option has a type and a description."""
    found = []
    specified = {key: value["default"] for key, value in options.items() if "default" in value}
    for key in sorted({*defaults, *specified}):
        if key not in specified:
            found.append(f"{role}: {key} has a default that argument_specs does not know")
        elif key not in defaults:
            found.append(f"{role}: {key} has no default in defaults/main.yml")
        elif defaults[key] != specified[key]:
            found.append(f"{role}: {key} defaults to {defaults[key]!r}, specified {specified[key]!r}")
    found += [f"{role}: {key} lacks {word}" for key, value in options.items() for word in ("type", "description") if not value.get(word)]
    found += [f"{role}: {key} does not begin with eks_" for key in options if not key.startswith("eks_")]
    return found
