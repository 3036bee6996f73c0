# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drift: differences between what programs of the image left after the last verified success and what the node has now.

The record has the digest and the settings of every file that the image's script or nodeadm writes, and the settings of kubelet's snap. A
file with the same digest is not parsed. Running the image's program again repairs a difference.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Iterable, Mapping, NamedTuple, Sequence

from .._node import nodeadm_files, snapd
from .._node.diff import Diff
from .._node.files import Reader
from .._node.kubelet_process import BOOTSTRAP_KUBECONFIG, KUBECONFIG
from .._node.systemd import Unit
from .file_changes import written_by_programs
from .manifest import Effective, Manifest
from .plan import ImageScriptStep, Plan, SnapStep, Step

REPAIR, REPORT, IGNORE = "repair", "report", "ignore"

UNITS = "units"
"""The source that lists which units start at boot."""

WHOLE = ""
"""The name of the difference if a file appeared or disappeared."""

SNAP = "snap "
"""The source of a snap's settings is this and its name."""

_NOT_SHOWN = "(a value that is not shown)"
_CACHES = ("/run/eks/nodeadm/config.json",)
"""Files that only the program itself reads, to compare."""

Record = Mapping[str, "Effective | None"]


class Drift(NamedTuple):
    """One difference. C(source): a path, or C(snap NAME). C(name): the setting; C(WHOLE) for the file itself.

    C(recorded): the value that it should have. C(found): the value now. Both are None for no value.
    """

    source: str
    name: str
    recorded: Any
    found: Any

    @property
    def key(self) -> str:
        """Identifies the setting in the manifest."""
        return f"{self.source}: {self.name}"


class Snaps:
    """The settings of snaps, each read once."""

    def __init__(self) -> None:
        self._settings: dict[str, Mapping[str, Any]] = {}

    def settings(self, snap: str) -> Mapping[str, Any]:
        """All settings of a snap. Raises ApplyRefused."""
        if snap not in self._settings:
            self._settings[snap] = snapd.read_settings(snap)
        return self._settings[snap]


def has_record(plan: Plan) -> bool:
    """Whether programs of the image leave something that is recorded."""
    return any(_writes_more(step) for step in plan.steps)


def _writes_more(step: Step) -> bool:
    return isinstance(step, (ImageScriptStep, SnapStep)) or getattr(step, "runs_nodeadm", False)


def sources_of(plan: Plan, step: Step) -> list[str]:
    """The sources that a step writes when it runs."""
    found: list[str] = []
    if isinstance(step, ImageScriptStep):
        found += step.writes
    elif getattr(step, "runs_nodeadm", False):
        found += nodeadm_files.WRITES
    if isinstance(step, (ImageScriptStep, SnapStep)) and step.snap:
        found.append(SNAP + step.snap)
    return [path for path in found if path not in plan.paths and path not in _CACHES]


def _paths(plan: Plan) -> list[str]:
    return sorted(path for path in written_by_programs(plan) if path not in plan.paths and path not in _CACHES)


def _snap_names(plan: Plan) -> list[str]:
    return [step.snap for step in plan.steps if isinstance(step, (ImageScriptStep, SnapStep)) and step.snap]


# --- record ------------------------------------------------------------------------------------------------------------------------------


def record(plan: Plan, read: Reader, units: Mapping[str, Unit], snaps: Snaps | None = None) -> dict[str, Effective | None]:
    """What the node has now. A source that is not there is None."""
    from . import effective_values

    found: dict[str, Effective | None] = {}
    for path in _paths(plan):
        current = read(path)
        found[path] = None if current is None else Effective(_digest(current.content), effective_values.parse(path, current.content))
    if found.get(BOOTSTRAP_KUBECONFIG) is not None:
        # kubelet itself writes the kubeconfig, once the cluster has signed its certificate.
        found.pop(KUBECONFIG, None)
    snaps = snaps or Snaps()
    for name in _snap_names(plan):
        found[SNAP + name] = Effective("", dict(snaps.settings(name)))
    enabled = {name: "enabled" for name in plan.verify.units if name in units and units[name].exists and not units[name].needs_enable}
    found[UNITS] = Effective("", enabled)
    return found


def units_to_enable(manifest: Manifest) -> list[str]:
    """The units that started at boot after the last verified success."""
    entry = (manifest.effective or {}).get(UNITS)
    return [] if entry is None else sorted(entry.values)


# --- compare -----------------------------------------------------------------------------------------------------------------------------


def find(plan: Plan, manifest: Manifest, read: Reader, snaps: Snaps) -> list[Drift]:
    """The differences from the record, sorted by source and setting. None without a record."""
    recorded = manifest.effective or {}
    found: list[Drift] = []
    for path in _paths(plan):
        if path in recorded:
            found += _compare_file(path, recorded[path], read)
    for name in _snap_names(plan):
        entry = recorded.get(SNAP + name)
        if entry is not None:
            found += _differences(SNAP + name, entry.values, snaps.settings(name))
    return found


def _compare_file(path: str, entry: Effective | None, read: Reader) -> list[Drift]:
    current = read(path)
    if current is None or entry is None:
        was_there, is_there = entry is not None, current is not None
        return [] if was_there == is_there else [Drift(path, WHOLE, _presence(was_there), _presence(is_there))]
    if _digest(current.content) == entry.sha256:
        return []
    # Imported only if needed, because Python compiles every imported module at each call.
    from . import effective_values

    return _differences(path, entry.values, effective_values.parse(path, current.content))


def _presence(is_there: bool) -> str | None:
    return "present" if is_there else None


def _differences(source: str, recorded: Mapping[str, Any], found: Mapping[str, Any]) -> list[Drift]:
    names = sorted(set(recorded) | set(found))
    pairs = ((name, recorded.get(name), found.get(name)) for name in names)
    return [Drift(source, name, before, now) for name, before, now in pairs if not is_same(before, now)]


def is_same(one: Any, other: Any) -> bool:
    """Whether two values of a setting are the same."""
    # Texts are compared, because true and 1 are equal as values.
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def of_step(plan: Plan, step: Step, found: Iterable[Drift]) -> list[Drift]:
    """The differences that running a step again repairs."""
    sources = set(sources_of(plan, step))
    return [item for item in found if item.source in sources]


# --- show --------------------------------------------------------------------------------------------------------------------------------


def shown(item: Drift, is_secret: bool) -> Drift:
    """A difference with values that can be shown. C(is_secret): files of the plan may hold secrets, so programs may have copied them."""
    if is_secret:
        hidden = [None if value is None else _NOT_SHOWN for value in (item.recorded, item.found)]
        return item if item.name == WHOLE else item._replace(recorded=hidden[0], found=hidden[1])
    from .._node.redaction import redact_value

    name = item.name.rpartition(".")[2].lstrip("-")
    return item._replace(recorded=redact_value(item.recorded, name), found=redact_value(item.found, name))


def actions(found: Sequence[Drift]) -> list[str]:
    """One action for each source: C(repair PATH: maxPods, clusterDNS)."""
    names: dict[str, list[str]] = {}
    for item in found:
        names.setdefault(item.source, []).append(item.name)
    return [f"repair {source}" + (f": {', '.join(filter(None, listed))}" if any(listed) else "") for source, listed in names.items()]


def diffs(found: Sequence[Drift]) -> list[Diff]:
    """The differences as C(--diff) shows them, one entry for each source. The values must be ones that can be shown."""
    texts: dict[str, tuple[list[str], list[str]]] = {}
    for item in found:
        before, after = texts.setdefault(item.source, ([], []))
        before += _lines(item.name, item.found)
        after += _lines(item.name, item.recorded)
    return [
        Diff(f"{source} (as it is now)", f"{source} (as the last run left it)", "".join(before), "".join(after))
        for source, (before, after) in texts.items()
    ]


def _lines(name: str, value: Any) -> list[str]:
    return [] if value is None else [f"{name or 'the file'}: {text(value)}\n"]


def text(value: Any) -> str:
    """A value as messages show it."""
    return "not set" if value is None else value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def describe(item: Drift) -> str:
    """A difference as a sentence. The values must be ones that can be shown."""
    if item.name == WHOLE:
        return f"{item.source} was {'removed' if item.found is None else 'added'} since the last run"
    return f"{item.source}: {item.name} is {text(item.found)}, and should be {text(item.recorded)}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
