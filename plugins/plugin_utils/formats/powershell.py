# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""PowerShell literals and calls, the tags of EC2Launch, and the command line of a Windows service."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..errors import Problem, Problems, SpecError
from .read_once import read_once

SINGLE_QUOTES, DOUBLE_QUOTES = "'\u2018\u2019\u201a\u201b", '"\u201c\u201d\u201e'
"""The characters that PowerShell takes for quotes (about_Quoting_Rules; C(IsSingleQuote) and C(IsDoubleQuote) of its tokenizer)."""
_SINGLE_QUOTE = re.compile(f"([{SINGLE_QUOTES}])")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x85\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# EC2Launch splits the text at these tags before PowerShell runs it, in upper and lower case and at any place.
_TAG = re.compile(r"<\s*(/?)\s*(powershell|script|persist|powershellArguments|runAsLocalSystem|detach|version)\s*>", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_VARIABLE = re.compile(r"\$[A-Za-z][A-Za-z0-9_]*")

_PLAIN_ARGUMENT = re.compile(r"[A-Za-z0-9_./:@+-]+(?:=[A-Za-z0-9_./:@+=-]*)?")
_FLAG = re.compile(r"(--?[A-Za-z0-9][A-Za-z0-9-]*=)(.*)", re.DOTALL)
# The service manager would replace this by an environment variable when it starts the service.
_EXPANSION = re.compile(r"%[A-Za-z_][A-Za-z0-9_()]*%")


def powershell_problem(value: str) -> str | None:
    """Why C(value) cannot be in a single-quoted string of user data, or None."""
    if "\n" in value or "\r" in value:
        return "contains a line break, which a one-line PowerShell string cannot contain"
    if "\0" in value:
        return "contains a NUL character, which PowerShell cannot pass to programs"
    if _CONTROL.search(value):
        return "contains a control character or a line separator"
    if _SURROGATE.search(value):
        return "contains a lone surrogate, which UTF-8 cannot represent"
    return _tag_problem(value)


def _tag_problem(text: str) -> str | None:
    if "<" in text and (tag := _TAG.search(text)):
        return f"contains the tag {tag[0].lower()}, at which EC2Launch cuts user data before PowerShell reads it"
    return None


def quote(value: str) -> str:
    """C(value) as a single-quoted literal: nothing in it is expanded. Raises C(SpecError) (see C(powershell_problem))."""
    if reason := powershell_problem(value):
        raise SpecError([Problem("powershell.unsafe_text", "powershell", reason, value=value)])
    # Inside a single-quoted string, each of them is written twice.
    doubled = _SINGLE_QUOTE.sub(r"\1\1", value)
    return f"'{doubled}'"


def call(script_var: str, parameters: Sequence[tuple[str, str | Sequence[str]]]) -> str:
    """One invocation: C(& $Script -Name 'value' …), in the order given; a list becomes C('a','b').

    script_var: a variable that holds the script's path, with its dollar sign. parameters: names without the dash.
    Raises C(SpecError) for invalid names and for values that cannot be written.
    """
    problems: list[Problem] = []
    if not _VARIABLE.fullmatch(script_var):
        problems.append(
            Problem("powershell.invalid_name", "powershell", "is not the name of a variable", value=script_var, allowed="$ and letters")
        )
    words = ["&", script_var]
    for name, value in parameters:
        if not _NAME.fullmatch(name):
            problems.append(
                Problem("powershell.invalid_name", "powershell", "is not the name of a parameter", value=name, allowed="letters and digits")
            )
        items = [value] if isinstance(value, str) else list(value)
        if not items:
            problems.append(
                Problem("powershell.empty_list", f"powershell.{name}", "is an empty list, which cannot be passed as a parameter")
            )
        bad = [
            Problem("powershell.unsafe_text", f"powershell.{name}", reason, value=item)
            for item in items
            if (reason := powershell_problem(item))
        ]
        problems.extend(bad)
        if not bad:
            words += [f"-{name}", ",".join(quote(item) for item in items)]
    if problems:
        raise SpecError(problems)
    return " ".join(words)


class Unwrapped(NamedTuple):
    """PowerShell lines without their tags. persist: the value of C(<persist>), or None if it is missing.

    blocks: the scripts, each with its offset in the text, whose lines end with LF; also of a text with problems. others: the offset and the
    name of each other tag, of user data of any tool.
    """

    lines: tuple[str, ...]
    persist: bool | None
    blocks: tuple[tuple[int, str], ...] = ()
    others: tuple[tuple[int, str], ...] = ()


@read_once
def unwrap(text: str, path: str, problems: Problems) -> Unwrapped:
    """The lines of every C(<powershell>) block of C(text), in order, and C(<persist>); text without any tag is all lines.

    Refused, because it would be lost or run otherwise: C(<script>) (cmd.exe), other tags, tags that do not close, and
    text outside of the blocks.
    """
    return _unwrap(text, path, problems, is_strict=True)


@read_once
def unwrap_foreign(text: str, path: str, problems: Problems) -> Unwrapped:
    """The same for user data of any tool: every tag that EC2Launch reads is accepted. The content of the others is left out."""
    return _unwrap(text, path, problems, is_strict=False)


def _unwrap(text: str, path: str, problems: Problems, *, is_strict: bool) -> Unwrapped:
    text = text.replace("\r\n", "\n")
    if not _TAG.search(text):
        return Unwrapped(_lines(text), None, ((0, text),))
    before = len(problems)
    blocks: list[tuple[int, str]] = []
    persists: set[str] = set()
    outside: list[str] = []
    others: list[tuple[int, str]] = []
    at = 0
    while opening := _TAG.search(text, at):
        outside.append(text[at : opening.start()])
        name = opening[2].lower()
        closing = _TAG.search(text, opening.end())
        if opening[1] or closing is None or not closing[1] or closing[2].lower() != name:
            problems.add(
                "powershell.unbalanced_tag",
                path,
                f"the tag {opening[0]} has no matching tag",
                fix=f"write <{name}>…</{name}> once around the lines",
            )
            return Unwrapped((), None)
        content = text[opening.end() : closing.start()]
        if name == "powershell":
            blocks.append((opening.end(), content))
        elif name == "persist":
            persists.add(content.strip().lower())
        elif not is_strict:
            others.append((opening.start(), name))
        elif name == "script":
            problems.add(
                "powershell.script_block", path, "contains a <script> block, which cmd.exe would run", fix="write its lines in PowerShell"
            )
        else:
            problems.add("powershell.unknown_tag", path, f"contains <{name}>, which is not used in node bootstrap", fix="remove it")
        at = closing.end()
    outside.append(text[at:])
    if any(part.strip() for part in outside):
        problems.add(
            "powershell.text_outside",
            path,
            "contains text outside of <powershell>, which is never run",
            fix="move it into the block or remove it",
        )
    if len(persists) > 1 or not persists <= {"true", "false"}:
        problems.add("powershell.invalid_persist", path, "<persist> must be true or false, once", allowed="true or false")
    if len(problems) > before:
        return Unwrapped((), None, tuple(blocks))
    lines = tuple(line for _offset, block in blocks for line in _lines(block))
    return Unwrapped(lines, persists == {"true"} if persists else None, tuple(blocks), tuple(others))


def _lines(text: str) -> tuple[str, ...]:
    stripped = text.strip("\n")
    return tuple(stripped.split("\n")) if stripped.strip() else ()


def wrap(lines: Sequence[str], persist: bool = False) -> str:
    """User data with one C(<powershell>) block, LF line ends, and C(<persist>true</persist>) if it runs at every boot.

    Raises C(SpecError) for a line that holds a tag of EC2Launch, NUL or a lone surrogate.
    """
    problems = []
    for number, line in enumerate(lines):
        reason = "contains a NUL character or a lone surrogate" if "\0" in line or _SURROGATE.search(line) else _tag_problem(line)
        if reason:
            problems.append(Problem("powershell.unsafe_text", f"powershell[{number}]", reason, value=line))
    if problems:
        raise SpecError(problems)
    end = "<persist>true</persist>\n" if persist else ""
    return "\n".join(["<powershell>", *lines, "</powershell>", end])


def kubelet_args_problem(word: str) -> str | None:
    """Why C(word) cannot be one argument of the kubelet service's command line, or None."""
    if expansion := _EXPANSION.search(word):
        return f"contains {expansion[0]}, which Windows replaces with the value of a variable when it starts the service"
    return powershell_problem(word)


def kubelet_extra_args(words: Sequence[str]) -> str:
    """The text for C(-KubeletExtraArgs): Windows (CommandLineToArgvW) splits it into exactly C(words).

    Values are quoted behind the equals sign, C(--node-labels="a=b,c=d"), as the EKS documentation writes them.
    Raises C(SpecError) (see C(kubelet_args_problem)).
    """
    problems = [
        Problem("kubelet.unsafe_flag_value", "kubelet-extra-args", reason, value=word)
        for word in words
        if (reason := kubelet_args_problem(word))
    ]
    if problems:
        raise SpecError(problems)
    return " ".join(_argument(word) for word in words)


def split_arguments(text: str) -> list[str] | None:
    """The words of a command line, as Windows splits it. None for text with a backslash before a quote, which is not read."""
    if re.search(r"\\\"", text) or text.count('"') % 2:
        return None
    return [word.replace('"', "") for word in re.findall(r"(?:[^\s\"]|\"[^\"]*\")+", text)]


def _argument(word: str) -> str:
    if _PLAIN_ARGUMENT.fullmatch(word):
        return word
    flag = _FLAG.fullmatch(word)
    head, value = (flag[1], flag[2]) if flag else ("", word)
    # Backslashes are special only before a quote: each of them is doubled, and the quote is escaped with one more.
    escaped = re.sub(r'(\\*)"', r'\1\1\\"', value)
    escaped = re.sub(r"(\\+)\Z", r"\1\1", escaped)
    return f'{head}"{escaped}"'
