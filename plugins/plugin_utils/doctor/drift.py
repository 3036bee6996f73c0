# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drift of the settings of kubelet: what its files say, compared by meaning with what the running kubelet reports."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..difference.fact import Key, leaves, path_of, typed
from ..difference.facts import row_of
from ..difference.shown import shown
from ..kubelet_effective import effective_config, flag_fields
from . import plain
from .observations import Facts, Observation, kubelet_version, minor

_OF_DOCUMENT = ("apiVersion", "kind")
_MAX_VALUE = 100
"""Characters of a value in a message. The plain data has all."""


@dataclass(frozen=True)
class Difference:
    """A setting with different values. disk: with the files and flags of kubelet. running: in C(/configz). None: not set, or not known."""

    path: str
    disk: Any
    running: Any


def observations(facts: Facts) -> Iterator[Observation]:
    """The settings that drift."""
    for row in differences(facts):
        message = f"{row.path} is {_text(row.disk)} on disk, but kubelet runs with {_text(row.running)}"
        yield Observation("drift.not_running", message, general=f"kubelet runs with another value of {row.path} than its files have")
    if not _running(facts):
        yield from _changed_files(facts)


def differences(facts: Facts) -> list[Difference]:
    """The settings whose value on disk is not the one that runs, by path. Empty if either is not known."""
    if not _running(facts):
        return []
    disk, running = _on_disk(facts), dict(leaves(_running(facts), ()))
    stated = {key for key, _value in leaves(plain.mapping(facts, "info", "kubelet", "config", "effective"), ())}
    found = []
    for key in sorted(disk, key=path_of):
        if key[0] in _OF_DOCUMENT or (key not in running and (key not in stated or not disk[key])):
            # kubelet leaves out values that are zero.
            continue
        row = row_of(key)
        if typed(disk[key], row) != typed(running.get(key), row):
            found.append(Difference(path_of(key), shown(disk[key], key[-1]), shown(running.get(key), key[-1])))
    return found


def _on_disk(facts: Facts) -> dict[Key, Any]:
    """What kubelet would run with if it started now with the same flags, its defaults included. Empty if it is not known."""
    kubelet, version = plain.mapping(facts, "info", "kubelet"), minor(kubelet_version(facts))
    config = plain.mapping(kubelet, "config", "effective")
    if version is None or not config:
        return {}
    flags = {name: tuple(value) if isinstance(value, list) else (value,) for name, value in plain.mapping(kubelet, "flags").items()}
    texts = {name: values for name, values in flags.items() if all(isinstance(value, str) for value in values)}
    fields = dict(flag_fields(texts).values())
    return {key: value for key, value in leaves(effective_config(version, config, None, fields), ()) if key}


def _running(facts: Facts) -> Mapping[str, Any]:
    """The answer of C(/configz). Empty without one."""
    return plain.mapping(facts, "info", "kubelet", "configz", "config")


def _changed_files(facts: Facts) -> Iterator[Observation]:
    files = plain.mappings(plain.mapping(facts, "info", "kubelet", "config").get("files"))
    paths = sorted(plain.text(file.get("path")) for file in files if file.get("changed_since_start") is True)
    if paths:
        yield Observation("drift.changed_since_start", f"{', '.join(paths)}: changed after kubelet started")


def _text(value: Any) -> str:
    """A value for people."""
    if value is None:
        return "not set"
    text = plain.text(value if isinstance(value, str) else json.dumps(value, sort_keys=True))
    return text if len(text) <= _MAX_VALUE else f"{text[:_MAX_VALUE]}…"
