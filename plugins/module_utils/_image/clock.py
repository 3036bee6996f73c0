# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The clock: whether a program sets it, and from which servers. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import re
from typing import Iterator

from . import tree, unit_files
from .model import IMAGE, WARNING, Finding, Machine, Rule

_CHRONY = ("/etc/chrony.conf", "/etc/chrony/chrony.conf", "/etc/chrony.d/*", "/etc/chrony/conf.d/*.conf", "/etc/chrony/sources.d/*.sources")
_NTP = ("/etc/ntp.conf", "/etc/ntpsec/ntp.conf", "/etc/ntpsec/ntp.d/*.conf")
_CONFIGURATION = {
    "chronyd.service": _CHRONY,
    "chrony.service": _CHRONY,
    "systemd-timesyncd.service": (),
    "ntpd.service": _NTP,
    "ntp.service": _NTP,
    "ntpsec.service": _NTP,
}
"""The units that set the clock, and the files that name their servers. What timesyncd uses by default is part of the program."""

_SERVER = re.compile(r"^\s*(?:server|pool|peer)\s+(?P<name>\S+)", re.MULTILINE)
_PUBLIC = ".pool.ntp.org"
_FOUND_AT_BOOT = "/run/chrony.d"
"""Amazon Linux 2023 writes the address of the Amazon Time Sync Service to this directory at every boot."""


def _no_time(machine: Machine) -> Iterator[Finding]:
    if not any(unit_files.is_enabled(machine.host, name) for name in _CONFIGURATION):
        message = "no program sets the clock, and AWS rejects the requests of a node whose clock is wrong by five minutes"
        yield Finding(unit_files.SYSTEM, message, "install and enable chrony")


def _public_time(machine: Machine) -> Iterator[Finding]:
    patterns = {pattern: None for name, files in _CONFIGURATION.items() for pattern in files if unit_files.is_enabled(machine.host, name)}
    texts = {path: machine.host.text(path) or "" for pattern in patterns for path in tree.matches(machine.host, pattern)}
    servers = {match.group("name"): path for path, text in texts.items() for match in _SERVER.finditer(text)}
    if servers and all(name.endswith(_PUBLIC) for name in servers) and not any(_FOUND_AT_BOOT in text for text in texts.values()):
        message = "the clock is set only by servers on the internet, which nodes of private subnets cannot reach"
        yield Finding(min(servers.values()), message, "add the Amazon Time Sync Service: server 169.254.169.123 prefer iburst")


RULES = (
    Rule("image.no_time_source", WARNING, _no_time, (IMAGE,)),
    Rule("image.public_time_source", WARNING, _public_time, (IMAGE,)),
)
