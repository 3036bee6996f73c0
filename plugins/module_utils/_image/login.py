# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Logins: whether the modules of PAM that sshd and sudo require are installed. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import re
from typing import Dict, Iterator, List, NamedTuple, Tuple

from . import tree
from .model import ERROR, Finding, Machine, Rule

_SERVICES = ("sshd", "sudo")
_CONFIGURATION = ("/etc/pam.d", "/usr/lib/pam.d")
_MODULES = ("/lib*/security", "/lib/*/security", "/usr/lib*/security", "/usr/lib/*/security")
_INCLUDE = re.compile(r"(?:@include|-?[a-z]+\s+(?:include|substack))\s+(?P<file>\S+)")
_CALL = re.compile(r"(?P<kind>-?[a-z]+)\s+(?P<control>\[[^\]]*\]|\S+)\s+(?P<module>\S+)")

# New passwords are not needed for a login. PAM ignores an absent module of a kind that begins with a dash.
_NEEDED_KINDS = ("auth", "account", "session")
_IGNORED_CONTROLS = ("optional", "sufficient")
_IGNORED_RESULTS = ("default=ignore", "module_unknown=ignore")


class _Call(NamedTuple):
    """A module that a service requires. C(path): the file that says so."""

    path: str
    module: str


def _calls(machine: Machine, service: str, including: Tuple[str, ...] = ()) -> Iterator[_Call]:
    """The modules that a service requires, also in the files that its own includes. C(including): the files that lead to this one."""
    path = tree.first_of(machine.host, [f"{directory}/{service}" for directory in _CONFIGURATION])
    if path is None or path in including:
        return
    for line in (machine.host.text(path) or "").replace("\\\n", " ").splitlines():
        include, call = _INCLUDE.match(line.strip()), _CALL.match(line.strip())
        if include:
            yield from _calls(machine, include.group("file"), (*including, path))
        elif call and call.group("kind") in _NEEDED_KINDS and _is_required(call.group("control")):
            yield _Call(path, call.group("module"))


def _is_required(control: str) -> bool:
    results = control.strip("[]").split()
    return control not in _IGNORED_CONTROLS and not any(ignored in results for ignored in _IGNORED_RESULTS)


def _is_installed(machine: Machine, module: str) -> bool:
    patterns = [module] if module.startswith("/") else [f"{directory}/{module}" for directory in _MODULES]
    return any(tree.matches(machine.host, pattern) for pattern in patterns)


def _pam_module(machine: Machine) -> Iterator[Finding]:
    found: Dict[_Call, List[str]] = {}
    for service in _SERVICES:
        for call in dict.fromkeys(_calls(machine, service)):
            if not _is_installed(machine, call.module):
                found.setdefault(call, []).append(service)
    for (path, module), services in found.items():
        message = f"PAM rejects every user of {' and '.join(services)}, because the module {module} is not installed"
        yield Finding(path, message, f"remove the lines with {module}, or install the package that contains it")


RULES: Tuple[Rule, ...] = (Rule("image.pam_module", ERROR, _pam_module),)
