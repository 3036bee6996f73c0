# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a log archive of a node contains, in the order in which it is collected. Standard library, Python 3.7 and newer.

The programs only read. The user data is not part of it, and neither are the environments of processes.
"""

from __future__ import annotations

from typing import NamedTuple, Tuple, Union

from .._node import journald


class Files(NamedTuple):
    """Files in a folder whose names match C(pattern). C(**) are all files in the folder and below it.

    C(keep_end): whether the end of a long file is kept, and not its beginning.
    """

    folder: str
    pattern: str
    keep_end: bool = False


class Program(NamedTuple):
    """The output of a program. C(place): the path in the archive."""

    place: str
    argv: Tuple[str, ...]
    keep_end: bool = False


def _journal(unit: str) -> Program:
    return Program(f"journal/{unit}.log", journald.text_argv("-u", unit), keep_end=True)


def _program(*argv: str) -> Program:
    return Program("programs/" + "_".join(word.strip("-") for word in argv if word != "--no-pager") + ".txt", argv)


SOURCES: Tuple[Union[Files, Program], ...] = (
    *map(_journal, ("kubelet", "containerd", "nodeadm-config", "nodeadm-run", "cloud-init", "cloud-final")),
    Program("journal/kernel.log", journald.text_argv("-k"), keep_end=True),
    Files("/etc/eks", "**"),
    Files("/etc/kubernetes", "**"),
    Files("/etc/containerd", "**"),
    Files("/etc/cni/net.d", "**"),
    Files("/etc", "os-release"),
    Files("/etc", "resolv.conf"),
    Files("/proc", "mounts"),
    Files("/proc", "modules"),
    _program("systemctl", "status", "--no-pager", "kubelet", "containerd"),
    _program("systemctl", "cat", "--no-pager", "kubelet", "containerd"),
    _program("systemctl", "list-units", "--no-pager", "--failed"),
    _program("df", "-hl"),
    _program("df", "-il"),
    _program("ip", "addr"),
    _program("ip", "route"),
    _program("ip", "rule"),
    _program("iptables-save"),
    _program("nft", "list", "ruleset"),
    _program("sysctl", "-a"),
    _program("uname", "-a"),
    _program("uptime"),
    _program("free"),
    _program("timedatectl"),
    _program("crictl", "ps", "-a"),
    _program("crictl", "images"),
    _program("crictl", "pods"),
    _program("ctr", "version"),
    _program("rpm", "-qa"),
    _program("dpkg", "-l"),
    Files("/var/log", "cloud-init*.log", keep_end=True),
    Files("/var/log/aws-routed-eni", "*.log", keep_end=True),
    Files("/var/log", "messages", keep_end=True),
    Files("/var/log", "syslog", keep_end=True),
)
