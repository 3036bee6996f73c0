# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Follows the advice of a message literally, as an impatient user would, without knowledge of the rule.

Most messages advise one of a few things: remove it, rename it, set another field, use one of the allowed words. C(alternatives)
returns the input for each thing that the message advises, and nothing for advice that needs judgement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problem
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.fields import CLUSTER, NODE_GROUP
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.row import REMOVED, split

_REMOVE = re.compile(r"remove (it|the field)(?: \(.*\)|: .*)?")
_RENAME = re.compile(r"rename it to (\S+)")
_SET = re.compile(r"(?:set|use|write) ((?:[a-zA-Z_][\w.-]*)): ([\w.{}]+|\{.*\})(?: \(.*\)|, .*)?")
_MOVE = re.compile(r"write (?:it as )?(?:node_group\.)?kubelet\.((?:flags|config)\.[\w.-]+)(?:, which .*)?")
_WRITE = re.compile(r'(?:write|use) ((?:[0-9][\w./:-]*|\[.*\]|"[\w.-]+"))(?:: .*)?')
_QUOTE = re.compile(r"quote it(?:: .*| with .*)?")
_NUMBER_OR = re.compile(r"set a number")
_WORDS = re.compile(r"[A-Za-z0-9_-]+(?:, [A-Za-z0-9_-]+)*")


def alternatives(problem: Problem, given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The edits of each piece of advice in the message that can be followed literally: path → new value."""
    path = problem.path
    if not path.startswith(("cluster.", "node_group.", "encoding")) or not _is_path_of(given, path):
        return
    fix = problem.fix or ""
    for advice in re.split(r", or (?!also)|; ", fix) if fix else []:
        if _REMOVE.fullmatch(advice):
            yield {path: REMOVED}
        elif match := _RENAME.fullmatch(advice):
            yield {path: REMOVED, _sibling(path, match[1]): _value(given, path)}
        elif (match := _SET.fullmatch(advice)) and (place := path if match[1] == split(path)[-1] else _place(match[1])):
            yield {place: yaml.safe_load(match[2])}
        elif match := _MOVE.fullmatch(advice):
            yield {path: REMOVED, f"node_group.kubelet.{match[1]}": _moved(_value(given, path), path, match[1])}
        elif match := _WRITE.fullmatch(advice):
            yield {path: yaml.safe_load(match[1]) if match[1].startswith(("[", '"')) else match[1]}
        elif _QUOTE.fullmatch(advice):
            yield {path: str(_value(given, path))}
        elif _NUMBER_OR.fullmatch(advice):
            yield {path: 20}
    if not fix and problem.nearest and problem.has_value and problem.nearest != "instance_id":
        yield {path: problem.nearest}
    elif not fix and problem.allowed and problem.rule != "input.wrong_type" and _WORDS.fullmatch(problem.allowed):
        for word in problem.allowed.split(", "):
            yield {path: word}


def _moved(value: Any, path: str, place: str) -> Any:
    """The value of a flag as the value of a field of the configuration, or the other way round."""
    if isinstance(value, Mapping) and path.endswith("kubelet.config"):  # the whole configuration, with one field
        (value,) = value.values()
    flag = data.kubelet_flags()["flags"].get(place.removeprefix("flags."), {})
    while isinstance(value, Mapping) and "config" in flag and flag["type"] not in ("map", "map_bool", "thresholds"):
        (value,) = value.values()
    if isinstance(value, Mapping):
        sign = "<" if "eviction" in place and "grace" not in place and "reclaim" not in place else "="
        return ",".join(f"{key}{sign}{str(item).lower()}" for key, item in value.items())
    if place == "config.clusterDNS":
        return str(value).split(",")
    return yaml.safe_load(value) if place.startswith("config.") and isinstance(value, str) else value


def _sibling(path: str, name: str) -> str:
    """The path of another key of the same mapping."""
    last = split(path)[-1]
    above = path[: path.rindex(str(last))].rstrip('."[')
    return f"{above}.{name}"


def _place(name: str) -> str | None:
    """The path of a field that a message names, or None if it is not a field."""
    first, _unused, rest = name.partition(".")
    if first in ("node_group", "cluster"):
        return name if rest else None
    if first in NODE_GROUP:
        return f"node_group.{name}"
    if first in CLUSTER:
        return f"cluster.{name}"
    return name if name == "encoding" else None


def _is_path_of(given: Mapping[str, Any], path: str) -> bool:
    """Is C(path) a place in the input, or a missing key of a mapping? The path of a problem in a document is not."""
    node: Any = given
    for key in split(path)[:-1]:
        if isinstance(node, Mapping) and key not in node:
            return True
        if not isinstance(node, Mapping if isinstance(key, str) else list):
            return False
        node = node[key]
    return isinstance(node, (Mapping, list))


def _value(given: Mapping[str, Any], path: str) -> Any:
    node: Any = given
    for key in split(path):
        node = node[key]
    return node
