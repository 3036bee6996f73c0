# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of PowerShell for Windows: the tags of EC2Launch, and the call of EKS's bootstrap script."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..formats.powershell import SINGLE_QUOTES, Unwrapped, split_arguments, unwrap_foreign
from ..formats.powershell_text import STRING, scan
from ..readers.built_parts import TASK
from ..readers.model import Place, ReadPart
from ..windows_calls import EXTRA_ARGS, NAME, flags_of, read_calls, unknown_parameters
from . import instance, powershell
from .kubelet_settings import Flag, check_flags, is_unexpanded
from .report import Report
from .subject import Subject

_QUOTE, _OTHER = f"[{SINGLE_QUOTES}]", rf"[^{SINGLE_QUOTES}\n]"
_SINGLE_QUOTED = re.compile(rf"-{EXTRA_ARGS}\s+{_QUOTE}({_OTHER}*\$[({{A-Za-z]{_OTHER}*){_QUOTE}", re.IGNORECASE)
_FIRST_WITHOUT_DOCKER = (1, 24)


def check(subject: Subject, report: Report) -> None:
    """Report what EC2Launch does not run, and what the script or kubelet refuses."""
    for part in subject.parts("powershell"):
        if part.content_type == TASK:
            unwrapped = Unwrapped(tuple(part.text.split("\n")), None, ((0, part.text),))
        else:
            unwrapped = unwrap_foreign(part.text, part.path, report.problems)
        for offset, name in unwrapped.others:
            if name == "script":
                tag = _place(part.index, part.text.replace("\r\n", "\n"), offset, len("<script>"))
                at = report.locate(f"{part.path} {name} {offset}", tag, "<script>")
                report.problems.add("windows.batch_script", at, "is run by cmd.exe, and was not checked")
        for offset, block in unwrapped.blocks:
            _check_block(part, offset, block, report)
        for index, call in enumerate(read_calls("\n".join(unwrapped.lines), {}).calls):
            path = _at(part, NAME, report)
            if index:
                report.problems.add("user_data.bootstraps_twice", path, "is called a second time", fix="remove one of the calls")
            if "EKSClusterName" not in call:
                report.problems.add("windows.missing_cluster_name", path, "is called without -EKSClusterName, and ends with an error")
            if call.get("ContainerRuntime") == ("docker",) and (subject.version is None or subject.version >= _FIRST_WITHOUT_DOCKER):
                where = _at(part, "ContainerRuntime", report)
                report.problems.add("windows.removed_runtime", where, "is docker, which images for Kubernetes 1.24 and newer do not have")
            _check_words(part, call, report)
            found = flags_of(call) or {}
            flags = [Flag(name, value, _at(part, f"--{name}", report), True) for name, values in found.items() for value in values]
            check_flags(flags, subject, report.problems)
            instance.check(instance.of_kubelet({}, {}, flags), subject, report.problems)


def _check_words(part: ReadPart, call: Mapping[str, tuple[str, ...] | None], report: Report) -> None:
    """Report words of -KubeletExtraArgs that kubelet does not take for flags."""
    value = call.get(EXTRA_ARGS)
    for word in (split_arguments(value[0]) or ()) if value is not None and len(value) == 1 else ():
        if is_unexpanded(word) or word.startswith("--"):
            continue
        path = _at(part, word, report)
        if word.startswith("-"):
            message = "has one dash, so kubelet takes it for several short flags, and exits"
            report.problems.add("kubelet.unknown_flag", path, message, fix=f"write -{word}")
        else:
            message = "is a word that belongs to no flag, and kubelet exits"
            fix = "separate the values of a flag with commas, without spaces"
            report.problems.add("bootstrap.broken_quoting", path, message, fix=fix)


def _check_block(part: ReadPart, offset: int, block: str, report: Report) -> None:
    """Report problems of one script. offset: of the script in the part."""
    script, text = scan(block), part.text.replace("\r\n", "\n")

    def locate(start: int, length: int, name: str) -> str:
        return report.locate(f"{part.path} {offset + start}", _place(part.index, text, offset + start, length), name)

    powershell.check(block, script, locate, report)
    for match in unknown_parameters(block, script.code):
        path = locate(match.start(), len(match[0]), match[0])
        report.problems.add("windows.unknown_parameter", path, "is not a parameter of the script, so PowerShell does not run it")
    for match in _SINGLE_QUOTED.finditer(block):
        if script.code[match.start()] != STRING:
            path = locate(match.start(1), len(match[1]), f"-{EXTRA_ARGS}")
            report.problems.add("windows.unexpanded_variable", path, "has single quotes, in which PowerShell does not replace variables")


def _at(part: ReadPart, word: str, report: Report) -> str:
    """The path of the first place of a word."""
    start = part.text.find(word)
    return part.path if start < 0 else report.locate(f"{part.path} {word}", _place(part.index, part.text, start, len(word)), word)


def _place(index: int, text: str, start: int, length: int) -> Place:
    line = text.count("\n", 0, start) + 1
    return Place(index, line, start - text.rfind("\n", 0, start), length)
