# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of PowerShell for Windows: the tags of EC2Launch, and the call of EKS's bootstrap script."""

from __future__ import annotations

import re

from ..formats.powershell import unwrap
from ..readers.model import Place, ReadPart
from ..windows_calls import EXTRA_ARGS, NAME, flags_of, read_calls, unknown_parameters
from . import instance
from .kubelet_settings import Flag, check_flags
from .report import Report
from .subject import Subject

_SINGLE_QUOTED = re.compile(rf"-{EXTRA_ARGS}\s+'([^'\n]*\$[({{A-Za-z][^'\n]*)'", re.IGNORECASE)
_FIRST_WITHOUT_DOCKER = (1, 24)


def check(subject: Subject, report: Report) -> None:
    """Report what EC2Launch does not run, and what the script or kubelet refuses."""
    for part in subject.parts("powershell"):
        lines = unwrap(part.text, part.path, report.problems).lines
        for index, call in enumerate(read_calls("\n".join(lines), {}).calls):
            path = _at(part, NAME, report)
            if index:
                report.problems.add("user_data.bootstraps_twice", path, "is called a second time", fix="remove one of the calls")
            if "EKSClusterName" not in call:
                report.problems.add("windows.missing_cluster_name", path, "is called without -EKSClusterName, and ends with an error")
            if call.get("ContainerRuntime") == ("docker",) and (subject.version is None or subject.version >= _FIRST_WITHOUT_DOCKER):
                where = _at(part, "ContainerRuntime", report)
                report.problems.add("windows.removed_runtime", where, "is docker, which images for Kubernetes 1.24 and newer do not have")
            found = flags_of(call) or {}
            flags = [Flag(name, value, _at(part, f"--{name}", report), True) for name, values in found.items() for value in values]
            check_flags(flags, subject, report.problems)
            instance.check(instance.of_kubelet({}, {}, flags), subject, report.problems)
        for match in unknown_parameters(part.text):
            path = report.locate(f"{part.path} {match.start()}", _place(part, match.start(), len(match[0])), match[0])
            report.problems.add("windows.unknown_parameter", path, "is not a parameter of the script, so PowerShell does not run it")
        for match in _SINGLE_QUOTED.finditer(part.text):
            path = report.locate(f"{part.path} {match.start()}", _place(part, match.start(1), len(match[1])), f"-{EXTRA_ARGS}")
            report.problems.add("windows.unexpanded_variable", path, "has single quotes, in which PowerShell does not replace variables")


def _at(part: ReadPart, word: str, report: Report) -> str:
    """The path of the first place of a word."""
    start = part.text.find(word)
    return part.path if start < 0 else report.locate(f"{part.path} {word}", _place(part, start, len(word)), word)


def _place(part: ReadPart, start: int, length: int) -> Place:
    line = part.text.count("\n", 0, start) + 1
    return Place(part.index, line, start - part.text.rfind("\n", 0, start), length)
