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
from typing import Any, Dict, List

from .._node import kubelet_process, toml, yaml_reader
from .file_changes import unit_directives

CONTENT = "content"
"""The name of the one value of a file that is not parsed."""

_ARGUMENTS = re.compile(r"(?:NODEADM_)?KUBELET_(?:EXTRA_)?ARGS\Z")


def parse(path: str, content: bytes) -> Dict[str, Any]:
    """The settings of a file. Values are JSON values."""
    text = content.decode("utf-8", "surrogateescape")
    try:
        if path.endswith(".crt"):
            raise ValueError("a certificate")
        if path.endswith("kubeconfig"):
            return flatten(yaml_reader.parse(text))
        if path.endswith(".toml"):
            return toml.parse(text)
        if text.lstrip().startswith("{"):
            return flatten(json.loads(text))
        if path.endswith((".service", ".conf")):
            return _unit(content)
        if path.endswith("/environment"):
            return _environment_file(text)
    except (ValueError, RecursionError):
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
