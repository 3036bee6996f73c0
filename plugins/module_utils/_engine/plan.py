# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a node: what should be on it and what should run there. C(decode) reads the text that the action sends.

The text is base64 of compressed JSON and is always made by this collection. If it does not have the expected shape, action and module
have different versions or the transfer was damaged. C(decode) is the only place that checks the shape; everything after it gets typed
values.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from typing import Any, Mapping, NamedTuple, Union

from .._node.errors import ApplyRefused

FORMAT = 1
FORMS = ("text", "json", "unit", "containerd")
UNIT_FOLDER = "/etc/systemd/system/"
NODEADM_CONFIG = "nodeadm-config.service"


class Machine(NamedTuple):
    """The operating system that the plan is for, in the terms of os-release. No C(versions) means any version."""

    ids: tuple[str, ...]
    versions: tuple[str, ...]
    name: str


class Cluster(NamedTuple):
    """The cluster to join. C(endpoint) may be empty in a plan that only removes."""

    name: str
    endpoint: str


class Registration(NamedTuple):
    """Labels and taints with which a kubelet registers. Label values may contain placeholders."""

    labels: Mapping[str, str]
    taints: tuple[str, ...]


class Directory(NamedTuple):
    """A folder that must exist even if it is empty."""

    path: str
    mode: int


class PlannedFile(NamedTuple):
    """A file of the plan.

    C(form): one of C(FORMS), how two contents are compared. C(read_by): the steps that follow a change of it. C(sensitive): it may hold
    secrets, so no diff shows its content.
    """

    path: str
    content: bytes
    mode: int
    owner: str
    group: str
    form: str
    read_by: tuple[str, ...]
    sensitive: bool


class OnceStep(NamedTuple):
    """A script that runs once for each content, before anything else."""

    name: str
    script: bytes


class ServiceStep(NamedTuple):
    """Units that are restarted together if a file that they read has changed, or if one of C(active) is not active."""

    name: str
    units: tuple[str, ...]
    enable: tuple[str, ...]
    active: tuple[str, ...]
    wait: bool

    @property
    def runs_nodeadm(self) -> bool:
        """Whether this step runs nodeadm, which then restarts containerd and kubelet."""
        return NODEADM_CONFIG in self.units


class ImageScriptStep(NamedTuple):
    """A script of the plan that calls the image's own bootstrap script. C(writes): the files that the image's script writes.

    C(snap): the snap that contains kubelet, if any.
    """

    name: str
    path: str
    writes: tuple[str, ...]
    kubelet: str
    containerd: str
    snap: str | None

    @property
    def installed_units(self) -> tuple[str, ...]:
        """The services that the image's script installs and may enable."""
        paths = [path for path in self.writes if path.startswith(UNIT_FOLDER) and path.endswith(".service")]
        return tuple(path.rpartition("/")[2] for path in paths)


class SnapStep(NamedTuple):
    """Settings of a snap; its unit is restarted if one of them changes. C(unset): settings that must not be set."""

    name: str
    snap: str
    settings: Mapping[str, str]
    unset: tuple[str, ...]
    unit: str


Step = Union[OnceStep, ServiceStep, ImageScriptStep, SnapStep]


class SnapFacts(NamedTuple):
    """How a node finds its own name: C(ip-A-B-C-D.DOMAIN) if C(by_address), otherwise C(INSTANCE.DOMAIN)."""

    domain: str
    by_address: bool
    ipv6: bool


class Verify(NamedTuple):
    """When a node is healthy: these units are active and kubelet answers at C(healthz), if that is set."""

    units: tuple[str, ...]
    healthz: str | None


class Plan(NamedTuple):
    """Everything that a node needs. C(owned): files that programs of the plan write on the node."""

    family: str
    strategy: str | None
    machine: Machine
    cluster: Cluster
    registration: Registration
    directories: tuple[Directory, ...]
    files: tuple[PlannedFile, ...]
    owned: tuple[str, ...]
    snap_facts: SnapFacts | None
    steps: tuple[Step, ...]
    verify: Verify

    @property
    def kubelet_unit(self) -> str | None:
        """The unit that runs kubelet."""
        return next((unit for unit in self.verify.units if "kubelet" in unit), None)

    @property
    def paths(self) -> set[str]:
        """The paths of all files of the plan."""
        return {file.path for file in self.files}

    @property
    def is_sensitive(self) -> bool:
        """Whether a file of the plan may hold secrets."""
        return any(file.sensitive for file in self.files)

    @property
    def runs_nodeadm(self) -> bool:
        """Whether a step runs nodeadm."""
        return any(isinstance(step, ServiceStep) and step.runs_nodeadm for step in self.steps)

    @property
    def awaited_units(self) -> tuple[str, ...]:
        """The units that must have nothing left to do before the node counts as healthy."""
        steps = [step for step in self.steps if isinstance(step, ServiceStep) and step.wait and step.active]
        return tuple(dict.fromkeys([*self.verify.units, *(unit for step in steps for unit in step.units)]))

    def units(self) -> tuple[str, ...]:
        """Every unit that the plan mentions, each once."""
        names = list(self.verify.units)
        for step in self.steps:
            names += _units_of(step)
        return tuple(dict.fromkeys(names))


def decode(text: str) -> Plan:
    """Decode a plan. Raises ApplyRefused if the text is not a plan of this format."""
    return parse(_unpack(text))


def parse(content: Any) -> Plan:
    """Check the shape of a decoded plan and turn it into typed values. Raises ApplyRefused."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        found = content.get("format") if isinstance(content, dict) else None
        raise ApplyRefused(
            f"the plan has format {found!r}, this module reads format {FORMAT}: action and module are from two versions of "
            "nodebootstrap.eks",
            _FIX,
        )
    fields = _fields(content, _PLAN, "the plan")
    machine = _fields(fields["os"], {"ID": _TEXTS, "VERSION_ID": _TEXTS, "name": _TEXT}, "os")
    snap_facts = fields["snap_facts"]
    plan = Plan(
        family=fields["family"],
        strategy=fields["strategy"],
        machine=Machine(machine["ID"], machine["VERSION_ID"], machine["name"]),
        cluster=Cluster(**_fields(fields["cluster"], {"name": _TEXT, "endpoint": _TEXT}, "cluster")),
        registration=Registration(**_fields(fields["registration"], {"labels": _TEXT_MAP, "taints": _TEXTS}, "registration")),
        directories=tuple(_directory(folder) for folder in fields["directories"]),
        files=tuple(_file(file) for file in fields["files"]),
        owned=fields["owned"],
        snap_facts=None if snap_facts is None else SnapFacts(**_fields(snap_facts, _SNAP_FACTS, "snap_facts")),
        steps=tuple(_step(step) for step in fields["steps"]),
        verify=Verify(**_fields(fields["verify"], {"units": _TEXTS, "healthz": _OPTIONAL_TEXT}, "verify")),
    )
    for unit in plan.units():
        if not _UNIT.match(unit):
            raise _damaged(f"{unit!r} is not the name of a unit")
    return plan


# --- the shape -----------------------------------------------------------------------------------------------------------------------

_LARGEST = 16 * 1024 * 1024
_FIX = "install the collection again on the controller"
_UNIT = re.compile(r"[A-Za-z0-9:_.][A-Za-z0-9:_.@\\-]*\.(service|mount|socket|target)\Z")
_MODE = re.compile(r"0?[0-7]{3}\Z")

_TEXT, _OPTIONAL_TEXT, _FLAG, _TEXTS = "a text", "a text or null", "a boolean", "a list of strings"
_MAPS, _MAP, _OPTIONAL_MAP, _TEXT_MAP = "a list of mappings", "a mapping", "a mapping or null", "a mapping of texts"


def _damaged(problem: str) -> ApplyRefused:
    return ApplyRefused(f"the plan is damaged: {problem}", _FIX)


def _fits(value: Any, kind: str) -> bool:
    if kind in (_TEXTS, _MAPS):
        return isinstance(value, list) and all(isinstance(item, str if kind == _TEXTS else dict) for item in value)
    if kind == _TEXT_MAP:
        return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())
    if kind in (_OPTIONAL_TEXT, _OPTIONAL_MAP) and value is None:
        return True
    types = {_TEXT: str, _OPTIONAL_TEXT: str, _FLAG: bool, _MAP: dict, _OPTIONAL_MAP: dict}
    return isinstance(value, types[kind])


_PLAN = {
    "family": _TEXT, "strategy": _OPTIONAL_TEXT, "os": _MAP, "cluster": _MAP, "registration": _MAP, "directories": _MAPS, "files": _MAPS,
    "owned": _TEXTS, "snap_facts": _OPTIONAL_MAP, "steps": _MAPS, "verify": _MAP,
}  # fmt: skip
_FILE = {
    "path": _TEXT, "content": _TEXT, "mode": _TEXT, "owner": _TEXT, "group": _TEXT, "form": _TEXT, "read_by": _TEXTS, "sensitive": _FLAG,
}  # fmt: skip
_SNAP_FACTS = {"domain": _TEXT, "by_address": _FLAG, "ipv6": _FLAG}
_STEPS = {
    "once": {"name": _TEXT, "script": _TEXT},
    "service": {"name": _TEXT, "units": _TEXTS, "enable": _TEXTS, "active": _TEXTS, "wait": _FLAG},
    "image_script": {
        "name": _TEXT, "path": _TEXT, "writes": _TEXTS, "kubelet": _TEXT, "containerd": _TEXT, "snap": _OPTIONAL_TEXT,
    },
    "snap": {"name": _TEXT, "snap": _TEXT, "settings": _TEXT_MAP, "unset": _TEXTS, "unit": _TEXT},
}  # fmt: skip


def _unpack(text: str) -> Any:
    try:
        packed = base64.b64decode(text, validate=True)
        stream = zlib.decompressobj()
        plain = stream.decompress(packed, _LARGEST)
        if not stream.eof:
            raise ValueError("it is cut off or too large")
        return json.loads(plain.decode("utf-8"))
    except (binascii.Error, zlib.error, ValueError, RecursionError) as error:
        raise ApplyRefused(
            f"the plan cannot be read ({error})", "let the action nodebootstrap.eks.apply make the plan, do not write it by hand"
        ) from None


def _fields(value: Mapping[str, Any], kinds: Mapping[str, str], where: str) -> dict[str, Any]:
    """Those fields of a mapping, lists as tuples; ApplyRefused if one is missing or of another kind."""
    for name, kind in kinds.items():
        if name not in value or not _fits(value[name], kind):
            raise _damaged(f"{name} of {where} is not {kind}")
    return {name: tuple(value[name]) if isinstance(value[name], list) else value[name] for name in kinds}


def _directory(value: Mapping[str, Any]) -> Directory:
    fields = _fields(value, {"path": _TEXT, "mode": _TEXT}, "directories")
    return Directory(fields["path"], _mode(fields["mode"], fields["path"]))


def _file(value: Mapping[str, Any]) -> PlannedFile:
    fields = _fields(value, _FILE, f"file {value.get('path')!r}")
    path = fields["path"]
    if fields["form"] not in FORMS:
        raise _damaged(f"{path} has the unknown form {fields['form']!r}")
    fields.update(mode=_mode(fields["mode"], path), content=_bytes(fields["content"], f"content of file {path!r}"))
    return PlannedFile(**fields)


def _step(value: Mapping[str, Any]) -> Step:
    fields = _fields(value, {"name": _TEXT, "do": _TEXT}, "a step")
    name, kind = fields["name"], fields["do"]
    if kind not in _STEPS:
        raise _damaged(f"step {name!r} does {kind!r}, which this module does not know")
    fields = _fields(value, _STEPS[kind], f"step {name!r}")
    if kind == "once":
        return OnceStep(name, _bytes(fields["script"], f"script of step {name!r}"))
    if kind == "service":
        return ServiceStep(**fields)
    if kind == "image_script":
        return ImageScriptStep(**fields)
    return SnapStep(**fields)


def _units_of(step: Step) -> tuple[str, ...]:
    if isinstance(step, ServiceStep):
        return step.units + step.enable + step.active
    if isinstance(step, ImageScriptStep):
        return (step.kubelet, step.containerd, *step.installed_units)
    return (step.unit,) if isinstance(step, SnapStep) else ()


def _mode(text: str, path: str) -> int:
    if not _MODE.match(text):
        raise _damaged(f"{path} has the mode {text!r}")
    return int(text, 8)


def _bytes(text: str, what: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise _damaged(f"the {what} cannot be written to a file") from None
