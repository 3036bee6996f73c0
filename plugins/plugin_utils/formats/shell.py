# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Quotes words, commands and files for bash.

Everything here can be pasted into a script that starts with C(#!/bin/bash) or C(#!/bin/sh). Nothing can hold NUL or a
lone surrogate: no program argument can, so both are refused with the reason.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from ..errors import Problem, SpecError

_SURROGATE = re.compile("[\ud800-\udfff]")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_RESERVED = frozenset(
    {
        "!",
        "[[",
        "]]",
        "{",
        "}",
        "case",
        "coproc",
        "do",
        "done",
        "elif",
        "else",
        "esac",
        "fi",
        "for",
        "function",
        "if",
        "in",
        "select",
        "then",
        "time",
        "until",
        "while",
    }
)
_MODE = re.compile(r"[0-7]{3,4}")


def text_problem(text: str) -> str | None:
    """The reason why a file or argument of a script cannot contain C(text) (NUL, lone surrogates), or None."""
    if "\0" in text:
        return "contains a NUL character, which a shell cannot process"
    if _SURROGATE.search(text):
        return "contains a lone surrogate, which UTF-8 cannot represent"
    return None


def shell_problem(value: str) -> str | None:
    """The reason why C(value) cannot be one word of a one-line command (NUL, line breaks, lone surrogates), or None."""
    if "\n" in value or "\r" in value:
        return "contains a line break, which a command-line argument cannot contain"
    return text_problem(value)


def quote(value: str) -> str:
    """C(value) as one shell word. Raises C(SpecError) with the reason of C(shell_problem)."""
    if reason := shell_problem(value):
        raise SpecError([Problem("shell.unsafe_text", "shell", reason, value=value)])
    return shlex.quote(value)


def command(words: Sequence[str]) -> str:
    """One simple command: the program and its arguments, quoted if necessary.

    The first word is quoted when bash would take it for an assignment or a keyword.
    """
    quoted = [quote(word) for word in words]
    if words and (words[0] in _RESERVED or _ASSIGNMENT.match(words[0])) and quoted[0] == words[0]:
        quoted[0] = f"'{words[0]}'"
    return " ".join(quoted)


def write_file(path: str, content: str, mode: str = "0644") -> str:
    """Script lines that write exactly C(content) to C(path) as root. They end with a line feed.

    path: absolute. content: any text without NUL, with or without a final newline. mode: three or four octal digits.
    Missing parents are created with mode 0755. The file exists with its mode before anything is written into it, whatever
    the umask, so a secret is never readable for a moment; what was there before is replaced.
    Raises C(SpecError) for a path, a content or a mode that cannot be written.
    """
    _check_file(path, content, mode)
    target = quote(path)
    made = f"install -Dm{mode.lstrip('0') or '0'} /dev/null {target}\n"
    if not content:
        return made
    if content.endswith("\n"):
        end = _delimiter(content)
        return f"{made}cat >{target} <<'{end}'\n{content}{end}\n"
    return f"{made}printf %s {shlex.quote(content)} >{target}\n"


def _check_file(path: str, content: str, mode: str) -> None:
    problems = []
    if reason := shell_problem(path):
        problems.append(Problem("shell.unsafe_text", "path", reason, value=path))
    elif not path.startswith("/") or path.endswith(("/", "/.", "/..")):
        problems.append(Problem("shell.invalid_path", "path", "is not the absolute path of a file", value=path))
    if reason := text_problem(content):
        problems.append(Problem("shell.unsafe_text", path, f"the content {reason}"))
    if not _MODE.fullmatch(mode):
        problems.append(
            Problem("shell.invalid_mode", path, "is not a file mode", value=mode, allowed="three or four octal digits, for example 0644")
        )
    if problems:
        raise SpecError(problems)


def _delimiter(content: str) -> str:
    """The first of E, E1, E2 … that does not occur as a line of C(content), so that only it ends the here-document."""
    lines = set(content.split("\n"))
    number = 0
    while (word := f"E{number or ''}") in lines:
        number += 1
    return word
