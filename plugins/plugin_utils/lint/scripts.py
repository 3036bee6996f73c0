# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of scripts: their syntax, and lines that do not do on the family's image what they are meant to do."""

from __future__ import annotations

import re

from ..bootstrap_calls import is_shell
from ..formats.shell_reader import PackageMissing, Script, read
from ..script_lines.find import hits
from . import bootstrap_calls
from .kubelet_settings import is_unexpanded
from .report import Report
from .shell_texts import ShellText, shell_texts
from .subject import Subject

_TEMPLATE = re.compile(r"%\{|\{\{|<%")
"""A directive of a template, which another program replaces."""
_OPTION = re.compile(r"--[a-z]")


def check(subject: Subject, report: Report) -> None:
    """Report what is wrong in the scripts and in their calls of the image's bootstrap script."""
    texts = list(shell_texts(subject))
    try:
        bootstrap_calls.check(texts, subject, report)
        bootstrap_calls.check_names(texts, subject, report)
        for text in texts:
            _check_script(text, subject, report)
    except PackageMissing as missing:
        report.problems.add("shell.missing_package", "", f"contains shell scripts, which were not checked: {missing}")


def _check_script(text: ShellText, subject: Subject, report: Report) -> None:
    if is_shell(text.text):
        _check_syntax(text, read(text.text), report)
    for hit in hits(text.text, subject.family):
        row, match = hit.row, hit.match
        place = text.place(match.line, hit.text_at)
        path = report.locate(f"{text.path} line {match.line} {row.name} {match.word}", place, match.word)
        report.problems.add(row.rule, path, row.message, fix=row.fix)


def _check_syntax(text: ShellText, script: Script, report: Report) -> None:
    """Report what bash cannot read, or reads as another command than it looks like."""
    for one in script.unfinished:
        path = report.locate(f"{text.path} {one.kind} {one.place.line}", text.at(one.place), "the script")
        if one.kind == "quote":
            report.problems.add("shell.open_quote", path, "has a quote without an end, and bash does not run the commands behind it")
        elif one.kind == "open-document":
            message = "has a here-document without an end, so that all lines behind it belong to its text, and are not run"
            report.problems.add("shell.open_document", path, message)
        else:
            message = "has a here-document whose end is indented, so that the lines behind it belong to its text, and are not run"
            report.problems.add("shell.indented_end", path, message)
    if script.errors and not script.unfinished and not _TEMPLATE.search(text.text):
        path = report.locate(f"{text.path} syntax", text.at(script.errors[0]), "the script")
        report.problems.add("shell.not_understood", path, "has text that the grammar of bash does not allow here, and was checked in part")
    for command in script.commands:
        name = command.values[0] if command.values else None
        if name is not None and _OPTION.match(name) and command.condition != "unreadable" and not is_unexpanded(name):
            path = report.locate(f"{text.path} option {command.line}", text.at(command.words[0].place), name)
            report.problems.add("shell.option_as_command", path, "begins a command, because the line before it does not continue here")
