# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Linux audit system: whether it stops the node. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import re
from typing import Iterator

from . import tree, unit_files
from .model import WARNING, Finding, Machine, Rule

_UNIT = "auditd.service"
_SETTINGS = "/etc/audit/auditd.conf"
_RULES = ("/etc/audit/audit.rules", "/etc/audit/rules.d/*.rules")
_ACTION = re.compile(
    r"^\s*(?P<name>(?:admin_)?space_left_action|disk_full_action|disk_error_action)\s*=\s*(?P<action>halt|single)\s*$",
    re.MULTILINE | re.IGNORECASE,
)
_PANIC = re.compile(r"^\s*-f\s+2\s*$", re.MULTILINE)


def _stops_the_node(machine: Machine) -> Iterator[Finding]:
    if not unit_files.is_enabled(machine.host, _UNIT):
        return
    for match in _ACTION.finditer(machine.host.text(_SETTINGS) or ""):
        name, action = match.group("name"), match.group("action")
        message = f"{name} is {action}: auditd stops the node when the disk of its log is almost full, instead of kubelet making space"
        yield Finding(_SETTINGS, message, f"set {name} = syslog and max_log_file_action = rotate")
    for path in [path for pattern in _RULES for path in tree.matches(machine.host, pattern)]:
        if _PANIC.search(machine.host.text(path) or ""):
            yield Finding(path, "the kernel panics if it cannot write an audit event (-f 2)", "set -f 1")


RULES = (Rule("image.audit_stops_node", WARNING, _stops_the_node),)
