# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubelet makes of NodeConfigs: a second reader, written without the code under test.

nodeadm merges the configurations and appends the flags. kubelet reads its flags over its configuration: the last one of a single value,
all items of a list, all keys of a map; only feature gates leave the keys of the configuration that they do not name.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.data import kubelet_flags

TABLE = kubelet_flags()["flags"]
SEPARATORS = {"map": "=", "map_bool": "=", "thresholds": "<"}


def in_force(documents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Path of a KubeletConfiguration field → its value as text, list of texts, or texts by key. Flags without a field: C(--name)."""
    config: dict[str, Any] = {}
    words: list[str] = []
    for document in documents:
        kubelet = document["spec"].get("kubelet") or {}
        _merge(config, kubelet.get("config") or {})
        for line in kubelet.get("flags") or []:
            words += shlex.split(line)
    found = dict(_leaves(config, ""))
    by_flag: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.removeprefix("--").partition("=")
        _add(by_flag, name, value if equals else "true")
    for name, value in by_flag.items():
        path = TABLE.get(name, {}).get("config", f"--{name}")
        old = found.get(path)
        found[path] = {**old, **value} if path == "featureGates" and isinstance(old, dict) else value
    return found


def _add(by_flag: dict[str, Any], name: str, value: str) -> None:
    kind = TABLE.get(name, {}).get("type")
    if kind in SEPARATORS:
        pairs = dict(pair.split(SEPARATORS[kind], 1) for pair in value.split(",") if pair)
        by_flag[name] = {**by_flag.get(name, {}), **pairs}
    elif kind == "list":
        by_flag[name] = [*by_flag.get(name, []), *value.split(",")]
    elif kind == "taints":
        by_flag[name] = [dict(zip(("key", "value", "effect"), re.split("[=:]", text), strict=True)) for text in value.split(",")]
    else:
        by_flag[name] = value


def _merge(old: dict[str, Any], new: Mapping[str, Any]) -> None:
    for key, value in new.items():
        if isinstance(value, Mapping):
            child = old[key] if isinstance(old.get(key), dict) else {}
            old[key] = child
            _merge(child, value)
        else:
            old[key] = value


_PATHS = {row["config"] for row in TABLE.values() if "config" in row}


def _leaves(value: Any, path: str) -> Iterable[tuple[str, Any]]:
    """Fields that a flag sets are leaves, also if they are maps."""
    if isinstance(value, Mapping) and path not in _PATHS:
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else key)
    else:
        yield path, as_text(value)


def as_text(value: Any) -> Any:
    """C(value) with every scalar as the text that a flag has for it."""
    if isinstance(value, Mapping):
        return {key: as_text(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_text(item) for item in value]
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)
