# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks before anything on a node changes. Each raises ApplyRefused with what is wrong and how to fix it."""

from __future__ import annotations

import os
import re
import sys
from typing import Callable, Iterable, Mapping, NamedTuple, Sequence

from .._node.errors import ApplyRefused
from .._node.files import Change
from .._node.systemd import Unit
from .observe import Membership
from .plan import Cluster, ImageScriptStep, OnceStep, Plan, ServiceStep, Step

_FAMILIES = {("amzn", "2"): "al2", ("amzn", "2023"): "al2023", ("ubuntu", ""): "ubuntu", ("bottlerocket", ""): "bottlerocket"}


def check_python(version: Sequence[int] = sys.version_info[:2]) -> None:
    """Refuse a Python that is too old."""
    if tuple(version[:2]) < (3, 7):
        raise ApplyRefused(
            f"this node's Python is {version[0]}.{version[1]}, and 3.7 or newer is needed",
            "on Amazon Linux 2: amazon-linux-extras install python3.8, then set ansible_python_interpreter: /usr/bin/python3.8",
        )


def check_system(uid: int | None = None, systemd: str = "/run/systemd/system") -> None:
    """Refuse a user other than root, and a machine without systemd."""
    if (os.geteuid() if uid is None else uid) != 0:
        raise ApplyRefused("only root can set up a node", "set become: true")
    if not os.path.isdir(systemd):
        raise ApplyRefused(
            "systemd does not run on this machine, and a node needs it to start containerd and kubelet", "use a machine, not a container"
        )


def check_machine(plan: Plan, os_release: Mapping[str, str]) -> None:
    """Refuse a machine with the operating system of another family."""
    wanted = plan.machine
    identity, version = os_release.get("ID", ""), os_release.get("VERSION_ID", "")
    if identity in wanted.ids and (not wanted.versions or version in wanted.versions):
        return
    name = os_release.get("PRETTY_NAME") or os_release.get("NAME") or "an unknown system"
    family = _FAMILIES.get((identity, version)) or _FAMILIES.get((identity, ""))
    fix = f"set family: {family} in its node group" if family and family != plan.family else "give the host the node group that fits it"
    raise ApplyRefused(
        f"this machine runs {name} (os-release: ID={identity or '?'}, VERSION_ID={version or '?'}), and its node group of family "
        f"{plan.family} is for {wanted.name}",
        fix,
    )


def check_cluster(wanted: Cluster, membership: Membership | None, may_move: Callable[[], bool]) -> bool:
    """Refuse a node of another cluster. Returns whether the node moves to another cluster.

    C(may_move): called only for a node of another cluster. If C(wanted) has no endpoint, the name decides.
    """
    if membership is None:
        return False
    has_name = membership.name in (None, wanted.name)
    if not membership.problem and has_name and (not wanted.endpoint or _normal_url(membership.endpoint) == _normal_url(wanted.endpoint)):
        return False
    if may_move():
        return True
    if membership.problem:
        raise ApplyRefused(
            f"it is not known whether this node belongs to a cluster: {membership.problem}",
            f"repair {membership.source}; if the node has no cluster, remove that file, or set take_over: true (role: "
            "eks_node_take_over: true)",
        )
    current = f"cluster {membership.name} ({membership.endpoint})" if membership.name else f"the cluster at {membership.endpoint}"
    ours = f"{wanted.name} ({wanted.endpoint})" if wanted.endpoint else wanted.name
    raise ApplyRefused(
        f"this node belongs to {current} according to {membership.source}, and its node group is for cluster {ours}",
        "drain it and remove it from the old cluster first, then set take_over: true (role: eks_node_take_over: true)",
    )


def _normal_url(url: str) -> str:
    return re.sub(r":443\Z", "", url.strip().rstrip("/").lower())


def check_file_systems(changes: Sequence[Change], written: Iterable[str], state: str, needs_state: bool) -> None:
    """Refuse changes on a read-only or full file system, before anything is written. So check mode sees them, too.

    C(written): files that programs of the image write. C(state): the state directory. C(needs_state): whether the run writes to it.
    """
    needed: dict[int, _Room] = {}
    paths = [change.path for change in changes] + list(written) + ([os.path.join(state, "manifest.json")] if needs_state else [])
    sizes = {change.path: len(change.content) for change in changes if change.content is not None}
    for path in dict.fromkeys(paths):
        folder = _existing_folder(path)
        if not os.access(folder, os.W_OK):
            what = "is on a read-only file system" if os.statvfs(folder).f_flag & os.ST_RDONLY else "is in a folder that cannot be changed"
            raise ApplyRefused(f"{path} {what} ({folder})", "remount it writable, or remove the attribute (chattr -i), then run again")
        device = os.stat(folder).st_dev
        room = needed.setdefault(device, _Room(folder, 0, 0))
        size = sizes.get(path)
        needed[device] = _Room(room.folder, room.size + (size or 0), room.files + (size is not None))
    for room in needed.values():
        _check_room(room)


class _Room(NamedTuple):
    """What is needed on one file system: bytes and new files. C(folder): a directory on it."""

    folder: str
    size: int
    files: int


def _existing_folder(path: str) -> str:
    folder = os.path.dirname(path)
    while not os.path.isdir(folder) and folder != "/":
        folder = os.path.dirname(folder)
    return folder


def _check_room(room: _Room) -> None:
    found = os.statvfs(room.folder)
    # Each file needs whole blocks, and the lists of the transaction need some, too.
    blocks = -(-room.size // (found.f_frsize or 4096)) + room.files
    # Some file systems do not count inodes.
    if blocks > found.f_bfree or (found.f_files and room.files > found.f_ffree):
        what = "bytes" if blocks > found.f_bfree else "inodes"
        raise ApplyRefused(
            f"no space left on the file system of {room.folder}: {room.files} files with {room.size} bytes do not fit (too few {what})",
            "free space there, then run again",
        )


def check_units(plan: Plan, units: Mapping[str, Unit]) -> None:
    """Refuse a machine on which a unit is masked, or is missing and not part of the plan."""
    provided = {os.path.basename(path) for path in plan.paths}
    for step in plan.steps:
        for name in _required_units(step):
            unit = units.get(name)
            if unit is not None and unit.load == "masked":
                raise ApplyRefused(f"{name} is masked on this node", f"systemctl unmask {name}")
            if unit is not None and unit.load == "not-found" and name not in provided:
                raise ApplyRefused(f"{name} does not exist on this node", f"use an EKS image of {plan.machine.name}")


def _required_units(step: Step) -> Sequence[str]:
    """The units that must exist before a step. The image's script installs the others by itself."""
    if isinstance(step, ServiceStep):
        return step.units
    if isinstance(step, ImageScriptStep):
        return (step.containerd,)
    return () if isinstance(step, OnceStep) else (step.unit,)
