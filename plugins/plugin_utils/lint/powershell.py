# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of PowerShell as a language: strings without an end, and paths that do not start a program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ..formats.powershell import DOUBLE_QUOTES, SINGLE_QUOTES
from ..formats.powershell_text import Script
from .report import Report

Locate = Callable[[int, int, str], str]
"""Gives the path of a problem: for an offset in the script, a length, and a name in messages."""

_UNQUOTED = re.compile(
    r"(?:\b[A-Z]:|\$\{?env:SystemDrive\}?)\\(?:Program Files|Documents and Settings)(?![\w`])(?: \(x86\))?[\w.:\\-]*", re.IGNORECASE
)
"""The directories of Windows with a space in their name. Other words with backslashes can be two arguments."""
_PROGRAM = re.compile(r"(?:[A-Z]:|\.{1,2}|\$\w+|\$\{?env:[\w()]+\}?|\\)[\\/].*\.(?:ps1|exe|cmd|bat)", re.IGNORECASE)
_OPERATORS = (
    r"-(?:[ci]?(?:eq|ne|gt|ge|lt|le|like|notlike|match|notmatch|contains|notcontains|in|notin|replace|split)"
    r"|join|is|isnot|as|f|and|or|xor|not|band|bor|bxor|bnot|shl|shr)"
)
_OPERATOR = re.compile(rf"[ \t]*{_OPERATORS}(?![\w-])", re.IGNORECASE)
_CONTINUES = re.compile(rf"(?:[-,|=+*/%&.!(\[@<>:]|\s{_OPERATORS}|\b(?:return|in|throw|exit))\s*\Z", re.IGNORECASE)
"""The end of the text before a string that belongs to the same statement."""
_LOOK_BACK = 200
"""Characters before a string that show where its statement begins."""
_BROKEN_CONTINUATION = re.compile(r"`[ \t]+(?=\r?\n[ \t]*\S)")
_BRACKET = re.compile(r"`.|[{}()]", re.DOTALL)
"""A bracket, or a character that a backtick escapes."""
_COUNTERPART = {"}": "{", ")": "("}
_ARGUMENT = re.compile(r"[ \t]+(?:-{1,2}[A-Za-z]|/[A-Za-z?]|[A-Za-z$])")
_END = re.compile(r"[ \t]*(?:[\n;}]|\Z)")


def check(text: str, script: Script, locate: Locate, report: Report) -> None:
    """Report what keeps PowerShell from running a script, or from starting a program. script: of the text."""
    problems = report.problems
    if script.open_string is not None:
        path = locate(script.open_string, 1 + (text[script.open_string] == "@"), "the script")
        if script.is_bad_head:
            message = "begins a here-string with text on the same line, and PowerShell runs nothing of the script"
            problems.add("powershell.open_string", path, message, fix="begin the text of the here-string on the next line")
        else:
            problems.add("powershell.open_string", path, "begins a string without an end, and PowerShell runs nothing of the script")
    elif (bracket := _unbalanced(script.code)) is not None:
        path = locate(bracket, 1, "the bracket")
        report.problems.add("powershell.open_bracket", path, "has no counterpart, and PowerShell runs nothing of the script")
    for match in _BROKEN_CONTINUATION.finditer(script.code):
        path = locate(match.start(), len(match[0]), "the backtick")
        report.problems.add("powershell.broken_continuation", path, "has a blank behind it, so the command ends here")
    for match in _UNQUOTED.finditer(script.code):
        path = locate(match.start(), len(match[0]), "the path")
        problems.add("powershell.unquoted_path", path, "has a space and no quotes, so PowerShell takes only the part before the space")
    for start, end, has_arguments in _not_called(text, script):
        path = locate(start, end - start, "the path")
        effect = "PowerShell runs nothing of the script" if has_arguments else "PowerShell prints it and starts nothing"
        problems.add("powershell.path_not_called", path, f"is in quotes without & in front of it, so {effect}")


def _not_called(text: str, script: Script) -> Iterator[tuple[int, int, bool]]:
    """The strings with the path of a program that stand where a command begins, and whether arguments follow."""
    code, depth, at = script.code, 0, 0
    for start, end in script.strings:
        between = code[at:start]
        depth += sum(between.count(one) for one in "{([") - sum(between.count(one) for one in "})]")
        at = end
        if end == script.open_string or not _PROGRAM.fullmatch(text[start:end].strip(SINGLE_QUOTES + DOUBLE_QUOTES)):
            continue
        if not _begins_statement(code, start):
            continue
        has_arguments = _ARGUMENT.match(code, end) is not None and not _OPERATOR.match(code, end)
        # In a block, a string alone can be the value of the block.
        if has_arguments or (depth == 0 and _END.match(code, end)):
            yield start, end, has_arguments


def _unbalanced(code: str) -> int | None:
    """The place of a bracket without its counterpart, or None."""
    opened: list[int] = []
    for match in _BRACKET.finditer(code):
        sign = match[0]
        if sign in _COUNTERPART.values():
            opened.append(match.start())
        elif sign in _COUNTERPART and (not opened or code[opened.pop()] != _COUNTERPART[sign]):
            return match.start()
    return opened[-1] if opened else None


def _begins_statement(code: str, start: int) -> bool:
    before = code[max(0, start - _LOOK_BACK) : start].rstrip(" \t")
    return before[-1:] in ("", ";", "{", "}") or (before[-1] == "\n" and not _CONTINUES.search(before))
