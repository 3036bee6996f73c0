# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The disk: free space, mount options, and the labels of SELinux. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import re
from typing import Iterator

from .._node import programs
from .._node.errors import ApplyRefused
from . import mounts, tree
from .model import ERROR, IMAGE, WARNING, Finding, Machine, Rule

MIN_FREE_BYTES = 1024**3

_RUN_FROM = ("/", "/usr", "/opt", "/opt/cni", "/opt/cni/bin", "/var", "/var/lib", "/var/lib/containerd", "/var/lib/kubelet", "/etc/eks")
"""Where programs of a node or of its containers are started from."""

_SELINUX = "/etc/selinux/config"
_IS_SELINUX_ON = re.compile(r"^\s*SELINUX=(?:enforcing|permissive)\s*$", re.MULTILINE)
_LABELLED = (
    "/usr/bin/kubelet", "/usr/bin/containerd", "/usr/bin/containerd-shim-runc-v2", "/usr/bin/runc", "/usr/sbin/runc", "/usr/bin/nodeadm",
    "/usr/bin/nerdctl", "/usr/bin/aws-iam-authenticator", "/etc/eks", "/etc/containerd", "/etc/kubernetes", "/opt/cni/bin",
    "/etc/eks/image-credential-provider/ecr-credential-provider", "/etc/systemd/system/kubelet.service",
    "/etc/systemd/system/containerd.service", "/var/lib/kubelet", "/var/lib/containerd",
)  # fmt: skip
_WRONG_LABEL = re.compile(r"^(?P<path>/.*) has context (?P<found>\S+), should be (?P<right>\S+)$", re.MULTILINE)


def _space(machine: Machine) -> Iterator[Finding]:
    free = machine.host.free_space("/")
    if free is not None and free.free_bytes < MIN_FREE_BYTES:
        message = f"only {free.free_bytes // 1024**2} MiB are free; kubelet evicts pods and removes images when the disk is almost full"
        yield Finding("/", message, "make the volume larger, or remove files: at least 1024 MiB must be free")


def _noexec(machine: Machine) -> Iterator[Finding]:
    rows = [(mounts.FSTAB, mount) for mount in mounts.read_fstab(machine.host)]
    rows += [] if machine.is_image else [(mount.path, mount) for mount in machine.mounts]
    for place, mount in rows:
        if mount.path in _RUN_FROM and "noexec" in mount.options:
            message = f"{mount.path} is mounted with noexec, so programs of the node, of its network plugin or of containers cannot run"
            yield Finding(place, message, f"remove noexec from the options of {mount.path}")


def _labels(machine: Machine) -> Iterator[Finding]:
    host = machine.host
    if not _IS_SELINUX_ON.search(host.text(_SELINUX) or ""):
        return
    paths = [path for path in _LABELLED if tree.matches(host, path)]
    try:
        result = host.run_program(["matchpathcon", "-V", *paths])
    except ApplyRefused as error:
        host.report(str(error))
        return
    if result.status == programs.NOT_INSTALLED:
        host.report("matchpathcon is not installed, so the labels of SELinux are not checked")
    for match in _WRONG_LABEL.finditer(result.output):
        message = f"SELinux may deny access: the label is {match.group('found')}, and the policy says {match.group('right')}"
        yield Finding(match.group("path"), message, f"run restorecon -R {match.group('path')}")


def _fstab_device(machine: Machine) -> Iterator[Finding]:
    for mount in mounts.read_fstab(machine.host):
        is_optional = {"nofail", "noauto"} & set(mount.options)
        if mount.device.startswith("/dev/") and mount.path.startswith("/") and mount.path != "/" and not is_optional:
            message = f"the boot stops without {mount.device} ({mount.path}), which has another name on other instance types"
            yield Finding(mounts.FSTAB, message, "use the UUID or the label of the file system, or add the option nofail")


RULES = (
    Rule("image.disk_space", ERROR, _space),
    Rule("image.noexec", ERROR, _noexec),
    Rule("image.fstab_device", WARNING, _fstab_device, (IMAGE,)),
    Rule("image.selinux_label", ERROR, _labels),
)
