# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine that image_verify checks, and the form of a rule and of a finding. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import re
from typing import Any, Callable, Iterable, Mapping, NamedTuple, Tuple

from .._node import kubelet_process, nodeadm_files, program_versions
from .._node.errors import ApplyRefused
from .._node.host import Host, Process, read_os_release, read_process
from .._node.kubelet_config import read_config
from .._node.kubelet_process import Flags
from .._node.program_versions import ProgramVersion
from .._node.systemd import read_units
from . import mounts
from .mounts import Mount

IMAGE, LIVE = "image", "live"
PROFILES = (IMAGE, LIVE)

ERROR, WARNING = "error", "warning"

_USES_NODEADM = ("fedora", "rhel", "centos", "rocky", "almalinux")
_MINOR = re.compile(r"1\.([0-9]{1,3})(?:\.|\Z)")


class Machine(NamedTuple):
    """An image or a node. C(family): al2, al2023 (everything that boots with nodeadm), ubuntu, or '' for another system.

    C(cluster_minor): minor version of Kubernetes of the cluster, None if it is not given. C(kubelet_config): merged, without C(flags).
    """

    host: Host
    profile: str
    family: str
    cluster_minor: int | None
    kubelet: ProgramVersion | None
    containerd: ProgramVersion | None
    kubelet_config: Mapping[str, Any]
    flags: Flags
    mounts: Tuple[Mount, ...]

    @property
    def minor(self) -> int | None:
        """The minor version of Kubernetes: of the cluster, or else of kubelet."""
        if self.cluster_minor is not None or self.kubelet is None:
            return self.cluster_minor
        return minor_of(self.kubelet.version)

    @property
    def is_image(self) -> bool:
        """Whether the machine is going to be an image."""
        return self.profile == IMAGE

    def is_in_image(self, path: str) -> bool:
        """Whether a path is saved with an image: nothing is mounted there, and it is not in memory."""
        return mounts.is_saved(self.mounts, path)


class Finding(NamedTuple):
    """A place that breaks a rule. C(message) says why it matters. Both texts are single lines without a final full stop."""

    path: str
    message: str
    fix: str


class Rule(NamedTuple):
    """A rule of the catalogue. C(check): returns the findings on a machine. C(profiles): to which it applies."""

    id: str
    severity: str
    check: Callable[[Machine], Iterable[Finding]]
    profiles: Tuple[str, ...] = PROFILES


def minor_of(version: str) -> int | None:
    """The minor version of a version of Kubernetes."""
    match = _MINOR.match(version)
    return int(match.group(1)) if match else None


def read_machine(host: Host, profile: str, kubernetes_version: str | None) -> Machine:
    """Everything that several rules need."""
    process = _kubelet_process(host) if profile == LIVE else None
    flags: Flags = kubelet_process.parse(process.argv[1:]) if process else {}
    is_running = bool(process and process.argv)
    usual: Flags = {"config-dir": nodeadm_files.KUBELET_DROP_IN.rpartition("/")[0]}
    return Machine(
        host=host,
        profile=profile,
        family=read_family(host),
        cluster_minor=minor_of(kubernetes_version or ""),
        kubelet=program_versions.of_kubelet(host),
        containerd=program_versions.of_containerd(host),
        kubelet_config=read_config(host, flags if is_running else usual, is_running).merged,
        flags=flags,
        mounts=mounts.read(host),
    )


def read_family(host: Host) -> str:
    """The family of a machine, as in Machine."""
    fields = read_os_release(host)
    name = fields.get("ID", "")
    if name == "amzn":
        return "al2" if fields.get("VERSION_ID") == "2" else "al2023"
    if name in _USES_NODEADM:
        return "al2023"
    return "ubuntu" if name == "ubuntu" else ""


def _kubelet_process(host: Host) -> Process | None:
    try:
        units = read_units(kubelet_process.UNITS, host.run_program)
    except ApplyRefused as error:
        host.report(str(error))
        return None
    name = kubelet_process.find_unit([name for name, unit in units.items() if unit.exists])
    return read_process(host, units[name].pid) if name else None
