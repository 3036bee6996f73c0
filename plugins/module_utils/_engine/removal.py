# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""C(state: absent): kubelet stops, and everything in the manifest is removed or restored. Data of containerd stay."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any, Iterable, Mapping, NamedTuple, Sequence

from .._node import files, snapd
from .._node.diff import Diff
from .._node.errors import ApplyRefused
from .._node.files import Reader
from .._node.systemd import Unit
from .._transaction.recovery import Command
from . import file_changes, service_commands, trust_store
from .file_changes import FileChange, Originals
from .manifest import Manifest
from .plan import UNIT_FOLDER


class Removal(NamedTuple):
    """What has to be done. C(actions): how the result describes it. C(diffs): diffs of snap settings."""

    changes: Sequence[FileChange]
    actions: Sequence[str]
    forward: Sequence[Command]
    back: Sequence[Command]
    diffs: Sequence[Diff]


def units_of(manifest: Manifest) -> list[str]:
    """The units to observe for a removal."""
    return list(dict.fromkeys([*manifest.units, *_created_units(manifest), *manifest.enabled]))


def decide(manifest: Manifest, originals: Originals, units: Mapping[str, Unit], read: Reader | None = None) -> Removal:
    """Decide how to remove what a manifest lists. C(units): the state of C(units_of)."""
    changes = _file_changes(manifest, originals, read or files.read)
    actions: list[str] = []
    forward: list[Command] = []
    back: list[Command] = []
    diffs: list[Diff] = []
    kubelet = manifest.kubelet
    running = [name for name in [kubelet, *_created_units(manifest)] if name and units[name].is_running]
    enabled = [name for name in manifest.enabled if not units[name].needs_enable and units[name].exists]
    if running:
        actions.append(f"stop {' '.join(running)}")
        forward.append(service_commands.stop(running))
    if enabled:
        actions.append(f"disable {' '.join(enabled)}")
        forward.append(service_commands.disable(enabled))
        back.append(service_commands.enable(enabled))
    for snap, before in manifest.snap.items():
        current = snapd.read_settings(snap)
        changed = [key for key, old in sorted(before.items()) if current.get(key) != old]
        if changed:
            actions.append(f"set {snap}: {', '.join(changed)}")
            forward.append(
                service_commands.snap_set(snap, _as_texts(changed, {key: before[key] for key in changed if before[key] is not None}))
            )
            back.append(service_commands.snap_set(snap, _as_texts(changed, current)))
            shown = [{key: values[key] for key in changed if values.get(key) is not None} for values in (current, before)]
            diffs.append(snapd.settings_diff(snap, shown[0], shown[1], manifest.is_sensitive))
    if kubelet and kubelet.startswith("snap.") and kubelet in enabled:
        # snapd itself also records which services are enabled.
        forward.append(service_commands.snap_stop(kubelet.split(".")[1], True))
    if file_changes.changes_units(changes):
        actions.insert(0, "reload systemd")
        forward.append(service_commands.reload())
        back.insert(0, service_commands.reload())
    trust = trust_store.update_commands(item.change.path for item in changes)
    actions += [trust_store.action(command) for command in trust]
    forward += [command._replace(optional=True) for command in trust]
    back += trust
    containerd = [name for name in manifest.units if name.startswith("containerd") and units[name].is_running]
    if containerd and (trust or any(item.has_effect and "/containerd" in item.change.path for item in changes)):
        actions.append(f"restart {' '.join(containerd)}")
        forward += [command._replace(optional=True) for command in service_commands.restart_afresh(containerd)]
        back += service_commands.restart_afresh(containerd)
    if running:
        back += service_commands.restart_afresh(running)
    return Removal(changes, [item.action for item in changes] + actions, forward, back, diffs)


def remove_empty_folders(folders: Iterable[str]) -> None:
    """Remove the folders that we made, unless something else is in them."""
    for path in sorted(folders, reverse=True):
        with suppress(OSError, ApplyRefused), files.folder_of(path) as (parent, name):
            if parent is not None:
                os.rmdir(name, dir_fd=parent)


def _file_changes(manifest: Manifest, originals: Originals, read: Reader) -> list[FileChange]:
    entries = {path: (file.original, file.sensitive) for path, file in manifest.files.items()}
    entries.update((path, (None, True)) for path in manifest.owned if path not in entries)
    # Programs of the image copy what we gave them to their own files.
    entries.update((path, (original, manifest.is_sensitive)) for path, original in manifest.image.items())
    found = [
        file_changes.restore(path, original, originals, read, is_secret=is_secret)
        for path, (original, is_secret) in sorted(entries.items())
    ]
    return [change for change in found if change is not None]


def _created_units(manifest: Manifest) -> list[str]:
    """The services whose unit file did not exist before us."""
    paths = [path for path, file in manifest.files.items() if path.startswith(UNIT_FOLDER) and file.original is None]
    names = [path[len(UNIT_FOLDER) :] for path in paths]
    return [name for name in sorted(names) if "/" not in name and name.endswith(".service")]


def _as_texts(names: Iterable[str], settings: Mapping[str, Any]) -> dict[str, str | None]:
    """Settings as C(snap set) takes them; None, to unset it, for a name that has none."""
    return {name: json.dumps(settings[name]) if name in settings else None for name in names}
