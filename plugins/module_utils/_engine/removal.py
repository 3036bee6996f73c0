# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way back: kubelet stops, what the manifest lists goes, and what lay there before us comes back. containerd's data stay."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any, NamedTuple

from .._node import files, snapd
from .._node.errors import ApplyRefused
from . import file_changes, service_commands
from .validation import ETC_UNITS


class Removal(NamedTuple):
    """What has to be done: items of files, actions for the user, commands, units that stop running, diffs of snap settings."""

    items: Any
    actions: Any
    forward: Any
    back: Any
    diffs: Any


def units_of(manifest):
    """The units that matter for the way back."""
    return list(dict.fromkeys([*manifest.get("units", ()), *_created(manifest), *manifest.get("enabled", ())]))


def decide(manifest, originals, units, read=None):
    """The Removal for what a manifest lists. C(units): {name: Unit} of C(units_of)."""
    read = read or files.read
    items = _items(manifest, originals, read)
    actions, diffs, forward, back = [], [], [], []
    kubelet = manifest.get("kubelet")
    snap = kubelet.split(".")[1] if kubelet and kubelet.startswith("snap.") else None
    stopping = [name for name in [kubelet, *_created(manifest)] if name and units[name].is_running]
    enabled = [name for name in manifest.get("enabled", ()) if not units[name].needs_enable and units[name].load != "not-found"]
    if stopping:
        actions.append(f"stop {' '.join(stopping)}")
        forward.append(service_commands.stop(stopping))
    if enabled:
        actions.append(f"disable {' '.join(enabled)}")
        forward.append(service_commands.disable(enabled))
        back.append(service_commands.enable(enabled))
    for name, before in manifest.get("snap", {}).items():
        _settings(name, before, _secret(manifest), actions, diffs, forward, back)
    if snap and kubelet in enabled:
        # snapd keeps a record of its own of which services are enabled.
        forward.append(service_commands.snap_stop(snap, True))
    reload = file_changes.touches_units(items)
    if reload:
        actions.insert(0, "reload systemd")
        forward.append(service_commands.reload())
        back.insert(0, service_commands.reload())
    runtime = [name for name in manifest.get("units", ()) if name.startswith("containerd") and units[name].is_running]
    if runtime and any(item.effect and "/containerd" in item.change.path for item in items):
        actions.append(f"restart {' '.join(runtime)}")
        forward.append(service_commands.restart(runtime)._replace(optional=True))
        back.append(service_commands.restart(runtime))
    if stopping:
        back.append(service_commands.restart(stopping))
    return Removal(items, [item.action for item in items] + actions, forward, back, diffs)


def leave(folders):
    """Remove the folders that we made and that nobody else put something into."""
    for path in sorted(folders, reverse=True):
        with suppress(OSError, ApplyRefused), files.folder_of(path) as (parent, name):
            if parent is not None:
                os.rmdir(name, dir_fd=parent)


def _items(manifest, originals, read):
    entries = {path: (entry["original"], entry["sensitive"]) for path, entry in manifest.get("files", {}).items()}
    entries.update((path, (None, True)) for path in manifest.get("owned", ()) if path not in entries)
    # What we told the image's programs stands in their files, too.
    entries.update((path, (entry, _secret(manifest))) for path, entry in manifest.get("image", {}).items())
    found = [file_changes.put_back(path, entry, originals, read, (), secret) for path, (entry, secret) in sorted(entries.items())]
    return [item for item in found if item is not None]


def _secret(manifest):
    """Whether what we wrote may hold secrets."""
    return any(entry["sensitive"] for entry in manifest.get("files", {}).values())


def _created(manifest):
    """The services whose unit file is ours alone."""
    paths = [path for path, entry in manifest.get("files", {}).items() if path.startswith(ETC_UNITS) and entry["original"] is None]
    names = [path[len(ETC_UNITS) :] for path in paths]
    return [name for name in sorted(names) if "/" not in name and name.endswith(".service")]


def _settings(name, before, secret, actions, diffs, forward, back):
    now = snapd.read_settings(name)
    changing = [key for key, old in sorted(before.items()) if now.get(key) != old]
    if not changing:
        return
    actions.append(f"set {name}: {', '.join(changing)}")
    forward.append(service_commands.snap_set(name, {key: None if before[key] is None else json.dumps(before[key]) for key in changing}))
    back.append(service_commands.snap_set(name, {key: json.dumps(now[key]) if key in now else None for key in changing}))
    shown = [{key: values[key] for key in changing if values.get(key) is not None} for values in (now, before)]
    diffs.append(snapd.settings_diff(name, *shown, secret))
