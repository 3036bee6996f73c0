# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has to be on a live node and what has to run there, as data: the module C(apply_plan) compares it with the node.

A plan knows nothing of the node's state. The same node group always gives the same plan, and the same text of it.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..errors import Problem, SpecError
from ..formats import json
from .model import File

FORMAT = 1
"""Version of the encoded form. The module refuses a plan of another one."""

FORMS = ("text", "json", "unit", "containerd")
"""How two contents of a file are compared: byte for byte, or by what their reader understands."""


@dataclass(frozen=True)
class Machine:
    """For which machines a plan is, in the words of os-release. versions: none means any."""

    ids: tuple[str, ...]
    versions: tuple[str, ...]
    name: str
    """How people call it."""


@dataclass(frozen=True)
class Directory:
    """A folder that has to exist even while it is empty. C(mode) is octal text."""

    path: str
    mode: str = "0755"


@dataclass(frozen=True)
class PlannedFile:
    """A file with what its change means.

    form: one of C(FORMS). read_by: names of the steps that have to run again when the content changed in effect.
    sensitive: it may hold a secret, so no diff shows its content.
    """

    file: File
    form: str = "text"
    read_by: tuple[str, ...] = ()
    sensitive: bool = False

    def plain(self) -> dict[str, Any]:
        """The file as plain data."""
        return {**vars(self.file), "form": self.form, "read_by": list(self.read_by), "sensitive": self.sensitive}


@dataclass(frozen=True)
class Once:
    """A script that runs once for each content, before anything else is done."""

    name: str
    script: str

    def plain(self) -> dict[str, Any]:
        """The step as plain data."""
        return {"name": self.name, "do": "once", "script": self.script}


@dataclass(frozen=True)
class Service:
    """Units that are restarted together when a file that the step reads changed, or one of C(active) is not active.

    active: None means C(units); empty means that the units run only when a file of theirs changed.
    wait: False returns before the units have started.
    """

    name: str
    units: tuple[str, ...]
    enable: tuple[str, ...] = ()
    active: tuple[str, ...] | None = None
    wait: bool = True

    def plain(self) -> dict[str, Any]:
        """The step as plain data."""
        active = self.units if self.active is None else self.active
        return {
            "name": self.name,
            "do": "service",
            "units": list(self.units),
            "enable": list(self.enable),
            "active": list(active),
            "wait": self.wait,
        }


@dataclass(frozen=True)
class ImageScript:
    """A script of ours that calls the image's own. writes: files that the image's script writes or edits.

    containerd: the unit of the container runtime that the script starts. snap: kubelet's snap, where it is one.
    """

    name: str
    path: str
    writes: tuple[str, ...]
    kubelet: str
    containerd: str
    snap: str | None = None

    def plain(self) -> dict[str, Any]:
        """The step as plain data."""
        return {**vars(self), "do": "image_script", "writes": list(self.writes)}


@dataclass(frozen=True)
class Snap:
    """Settings of a snap, whose values may hold C(${NAME}) of C(SnapFacts); its unit is restarted when one of them changed.

    unset: settings that must not be there.
    """

    name: str
    snap: str
    unit: str
    settings: Mapping[str, str]
    unset: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """The step as plain data."""
        return {**vars(self), "do": "snap", "settings": dict(self.settings), "unset": list(self.unset)}


Step: TypeAlias = Once | Service | ImageScript | Snap


@dataclass(frozen=True)
class SnapFacts:
    """How the node finds out its name and address: C(by_address) means C(ip-A-B-C-D.DOMAIN), else C(INSTANCE.DOMAIN)."""

    domain: str
    by_address: bool
    ipv6: bool


@dataclass(frozen=True)
class Verify:
    """When a node counts as healthy. healthz: the URL that kubelet answers; None when it was told not to."""

    units: tuple[str, ...]
    healthz: str | None


@dataclass(frozen=True)
class Plan:
    """All that a live node needs.

    labels, taints: as the user means them, with placeholders such as C({instance_id}) as they stand.
    owned: files that programs of ours write on the node. They go when the plan no longer lists them, and with C(state: absent).
    warnings, unchecked: what the controller tells; the node does not get it.
    """

    family: str
    strategy: str | None
    machine: Machine
    cluster_name: str
    endpoint: str
    verify: Verify
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[str, ...] = ()
    directories: tuple[Directory, ...] = ()
    files: tuple[PlannedFile, ...] = ()
    owned: tuple[str, ...] = ()
    snap_facts: SnapFacts | None = None
    steps: tuple[Step, ...] = ()
    warnings: tuple[Problem, ...] = ()
    unchecked: tuple[Problem, ...] = ()

    def plain(self) -> dict[str, Any]:
        """The plan as plain data, as the module reads it."""
        machine = self.machine
        return {
            "format": FORMAT,
            "family": self.family,
            "strategy": self.strategy,
            "os": {"ID": list(machine.ids), "VERSION_ID": list(machine.versions), "name": machine.name},
            "cluster": {"name": self.cluster_name, "endpoint": self.endpoint},
            "registration": {"labels": dict(self.labels), "taints": list(self.taints)},
            "directories": [dict(vars(one)) for one in self.directories],
            "files": [one.plain() for one in self.files],
            "owned": list(self.owned),
            "snap_facts": None if self.snap_facts is None else dict(vars(self.snap_facts)),
            "steps": [step.plain() for step in self.steps],
            "verify": {"units": list(self.verify.units), "healthz": self.verify.healthz},
        }

    def encoded(self) -> str:
        """The plan as one word of base64: compressed JSON with sorted keys. Raises C(SpecError) for what no file can hold."""
        try:
            text = json.dump(self.plain())
        except json.JsonError as error:
            raise SpecError(
                [Problem("live.unencodable_plan", "node_group", f"cannot be sent to a node: {error}", fix="write it as plain text")]
            ) from None
        return base64.b64encode(zlib.compress(text.encode("ascii"), 9)).decode("ascii")
