# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drift of the settings of kubelet: what was described, what its files say, and what the running kubelet reports, compared by meaning."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..difference.fact import Key, leaves, path_of, typed
from ..difference.facts import row_of
from ..difference.shown import shown
from ..formats import plain
from ..kubelet_effective import effective_config, flag_fields
from ..sources.node import Facts, kubelet_version, minor
from .intent import TAINTS_FIELD, Intent, registration
from .observations import Observation

_OF_DOCUMENT = ("apiVersion", "kind")
_MAX_VALUE = 100
"""Characters of a value in a message. The plain data has all."""


@dataclass(frozen=True)
class Difference:
    """A setting with different values. before: the one that counts. after: what follows from it. None: not set, or not known."""

    path: str
    before: Any
    after: Any


def observations(facts: Facts, described: Intent | None = None) -> Iterator[Observation]:
    """The settings that drift. described: what the node should have."""
    if described is not None:
        yield from _not_as_described(facts, described)
    for row in from_disk(facts):
        message = f"{row.path} is {_text(row.before)} on disk, but kubelet runs with {_text(row.after)}"
        yield Observation("drift.not_running", message, general=f"kubelet runs with a value of {row.path} that differs from its files")
    if not _running(facts):
        yield from _changed_files(facts)


def _not_as_described(facts: Facts, described: Intent) -> Iterator[Observation]:
    for row in from_intent(facts, described):
        message = f"{row.path} is {_text(row.after)} on disk, but {described.origin} says {_text(row.before)}"
        general = f"the value of {row.path} on disk differs from {described.origin}"
        yield Observation("drift.not_as_described", message, general=general)


def from_intent(facts: Facts, described: Intent) -> list[Difference]:
    """The settings whose value on disk is not the one that was described, by path. What is not described is not compared."""
    disk = {path_of(key): (key, value) for key, value in _on_disk(facts).items()}
    found = []
    for path, value in sorted(described.config.items()) if disk else ():
        key, other = disk.get(path, ((), None))
        row = row_of(key)
        if path != TAINTS_FIELD and typed(value, row) != typed(other, row):
            found.append(Difference(path, shown(value, path), shown(other, path)))
    flags = plain.mapping(facts, "info", "kubelet", "flags")
    if flags:
        on_disk = registration(flags, plain.mapping(facts, "info", "kubelet", "config", "effective"))
        wanted = registration(described.flags, described.config)
        rows = ((path, value, on_disk.get(path)) for path, value in sorted(wanted.items()))
        found += [Difference(path, shown(value, path), shown(other, path)) for path, value, other in rows if value != other]
    return found


def from_disk(facts: Facts) -> list[Difference]:
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
