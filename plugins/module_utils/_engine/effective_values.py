# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings in a file that a program of the image wrote: C({name: value}), independent of order, blanks and comments.

A certificate, and a file that cannot be parsed, has one value: its digest. Standard library, Python 3.7 and newer.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from typing import Any, Dict, Iterator, List, Tuple

from .._node import kubeconfig, kubelet_process
from .file_changes import unit_directives

CONTENT = "content"
"""The name of the one value of a file that is not parsed."""

_ARGUMENTS = re.compile(r"(?:NODEADM_)?KUBELET_(?:EXTRA_)?ARGS\Z")
_QUOTED = r'"(?:[^"\\]|\\.)*"' + r"|'[^']*'"
_LONG = r'"""(?:[^\\]|\\.)*?"""' + "|'''.*?'''"
_TOML_TOKEN = re.compile(rf"{_LONG}|{_QUOTED}|#[^\n]*|[\[\]{{}}\n]|[^\[\]{{}}\n#\"']+", re.DOTALL)
_TOML_WORD = re.compile(rf"{_LONG}|{_QUOTED}|[^\s\"']+|\s+", re.DOTALL)
_KEY_PART = re.compile(rf"\s*({_QUOTED}|[\w-]+)\s*(?:\.|\Z)")
_BARE = re.compile(r"[\w-]+\Z")


def parse(path: str, content: bytes) -> Dict[str, Any]:
    """The settings of a file. Values are JSON values."""
    text = content.decode("utf-8", "surrogateescape")
    try:
        if path.endswith(".crt"):
            raise ValueError("a certificate")
        if path.endswith("kubeconfig"):
            return flatten(kubeconfig.parse_document(text, path))
        if path.endswith(".toml"):
            return _toml(text)
        if text.lstrip().startswith("{"):
            return flatten(json.loads(text))
        if path.endswith((".service", ".conf")):
            return _unit(content)
        if path.endswith("/environment"):
            return _environment_file(text)
    except (ValueError, RecursionError, kubeconfig.Unusable):
        pass
    return {CONTENT: "sha256:" + hashlib.sha256(content).hexdigest()}


def flatten(value: Any, name: str = "") -> Dict[str, Any]:
    """C({"a.b": 1}) of C({"a": {"b": 1}}). A list is one value, unless all of its items are mappings with a name."""
    if isinstance(value, list) and value and all(isinstance(item, dict) and isinstance(item.get("name"), str) for item in value):
        value = {item["name"]: {key: part for key, part in item.items() if key != "name"} for item in value}
    if not isinstance(value, dict) or not value:
        return {name: value}
    found: Dict[str, Any] = {}
    for key, item in value.items():
        found.update(flatten(item, f"{name}.{key}" if name else str(key)))
    return found


# --- systemd -----------------------------------------------------------------------------------------------------------------------------


def _unit(content: bytes) -> Dict[str, Any]:
    """The directives of a unit, a drop-in, or another file of this format. A directive that is given more than once is a list."""
    section = ""
    found: Dict[str, List[str]] = {}
    variables: Dict[str, Any] = {}
    for line in unit_directives(content):
        if line.startswith("["):
            section = line.strip("[]")
            continue
        name, equals, value = line.partition("=")
        if not equals:
            raise ValueError("a line is not a directive")
        name, value = f"{section}.{name.strip()}", value.strip()
        if name in ("Service.Environment", "Manager.DefaultEnvironment") and value:
            for word in shlex.split(value):
                variables.update((f"{name}.{key}", item) for key, item in _variable(word).items())
        else:
            found.setdefault(name, []).append(value)
    return {**{name: values[0] if len(values) == 1 else values for name, values in found.items()}, **variables}


def _environment_file(text: str) -> Dict[str, Any]:
    """The variables of an environment file of systemd. A value extends to the end of its line and can be in quotes."""
    found: Dict[str, Any] = {}
    for line in map(str.strip, text.splitlines()):
        if line and line[0] not in "#;":
            name, equals, value = line.partition("=")
            words = shlex.split(value) if value[:1] in ("'", '"') else [value]
            found.update(_variable(f"{name}{equals}{' '.join(words)}"))
    return found


def _variable(assignment: str) -> Dict[str, Any]:
    """An environment variable. The arguments of kubelet become one setting for each flag."""
    name, equals, value = assignment.partition("=")
    if not equals:
        raise ValueError("a word is not a variable")
    return flags(name, value) if _ARGUMENTS.match(name) else {name: value}


def flags(variable: str, text: str) -> Dict[str, Any]:
    """The flags of kubelet in a variable, C({"VARIABLE.--max-pods": "5"}). A mapping such as the labels is one setting for each key."""
    found: Dict[str, Any] = {}
    for flag, value in kubelet_process.parse(shlex.split(text)).items():
        name = f"{variable}.--{flag}"
        items = [item for one in value for item in one.split(",")] if isinstance(value, list) else []
        if items and all("=" in item for item in items):
            found.update((f"{name}.{key}", item) for key, _equals, item in (one.partition("=") for one in items))
        else:
            found[name] = items if isinstance(value, list) else value
    return found


# --- TOML --------------------------------------------------------------------------------------------------------------------------------


def _toml(text: str) -> Dict[str, Any]:
    """The settings of TOML, as far as order, comments and blanks go: Python 3.7 has no parser of it."""
    table = ""
    found: Dict[str, Any] = {}
    counts: Dict[str, int] = {}
    for statement in _toml_statements(text):
        if statement.startswith("[["):
            name = _toml_key(statement[2:-2])
            counts[name] = counts.get(name, -1) + 1
            table = f"{name}[{counts[name]}]."
        elif statement.startswith("["):
            table = _toml_key(statement[1:-1]) + "."
        else:
            key, value = _toml_pair(statement)
            found.update(flatten(value, table + key))
    return found


def _toml_statements(text: str) -> Iterator[str]:
    """Tables and pairs, one at a time, without comments."""
    statement, depth = "", 0
    for token in _TOML_TOKEN.findall(text + "\n"):
        if token.startswith("#"):
            continue
        if token == "\n" and not depth:
            if statement.strip():
                yield statement.strip()
            statement = ""
            continue
        depth += (token in ("[", "{")) - (token in ("]", "}"))
        statement += " " if token == "\n" else token
    if statement.strip():
        raise ValueError("a bracket is not closed")


def _toml_key(text: str) -> str:
    parts, at = [], 0
    while at < len(text.rstrip()):
        match = _KEY_PART.match(text, at)
        if match is None:
            raise ValueError("a key cannot be read")
        part = match.group(1)
        bare = part[1:-1] if part[0] in "\"'" else part
        parts.append(bare if _BARE.match(bare) else json.dumps(bare))
        at = match.end()
    return ".".join(parts)


def _toml_pair(statement: str) -> Tuple[str, Any]:
    match = re.match(rf"((?:{_QUOTED}|[^\"'=])+)=(.*)\Z", statement, re.DOTALL)
    if match is None:
        raise ValueError("a line is not a setting")
    return _toml_key(match.group(1).strip()), _toml_value(match.group(2).strip())


def _toml_value(text: str) -> Any:
    """The value as JSON where it is like JSON; otherwise its text with one blank between words."""
    words = [word[1:-1] if word[0] == "'" and word[1:2] != "'" else word for word in _TOML_WORD.findall(text)]
    if len(words) == 1 and text[0] == "'":
        return words[0]
    text = "".join(json.dumps(word) if original[0] == "'" else word for word, original in zip(words, _TOML_WORD.findall(text)))
    try:
        return json.loads(re.sub(r",\s*\]", "]", text))
    except ValueError:
        return " ".join(text.split())
