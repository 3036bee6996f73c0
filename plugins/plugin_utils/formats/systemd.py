# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Quotes values for systemd units: C(Environment=) and C(ExecStart=) (systemd.exec(5), systemd.service(5), systemd.syntax(7)).

systemd undoes quotes, C escapes and C(%) specifiers in C(Environment=); in C(ExecStart=) it also expands C($).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ..errors import Problem, SpecError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECTION = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Unicode noncharacters: systemd treats a line that contains one as invalid UTF-8 and ignores it.
_NONCHARACTER = re.compile("[\ufdd0-\ufdef" + "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF)) + "]")
SPECIFIER = re.compile(r"%[A-Za-z]")
"""What systemd can replace. It keeps a percent sign in front of anything else, such as in C(memory.available<5%,nodefs.available<10%)."""
_PLAIN = re.compile(r"[A-Za-z0-9_./:=,+@-]+")


def systemd_problem(value: str) -> str | None:
    """Why C(value) cannot be written in a unit (line breaks, control characters), or None."""
    if "\n" in value or "\r" in value:
        return "contains a line break: in a unit, the rest would become a new directive"
    if "\0" in value:
        return "contains a NUL character, which systemd rejects"
    if _CONTROL.search(value):
        return "contains a control character, which systemd rejects in values"
    if _SURROGATE.search(value):
        return "contains a lone surrogate, which UTF-8 cannot represent"
    if _NONCHARACTER.search(value):
        return "contains a Unicode noncharacter, which makes systemd ignore the whole line"
    return None


def environment_assignment(name: str, value: str) -> str:
    """One word for an C(Environment=) line: C(NAME=value), quoted and with C(%) doubled where needed."""
    _check(name, value)
    text = f"{name}={value}"
    if _PLAIN.fullmatch(text):
        return text
    return _double_quoted(text.replace("%", "%%"))


def exec_word(value: str) -> str:
    """One argument of C(ExecStart=): C(%) and C($) doubled, quoted if needed. Do not use it for the path of the program."""
    if reason := systemd_problem(value):
        raise SpecError([Problem("systemd.unsafe_text", "systemd", reason, value=value)])
    if _PLAIN.fullmatch(value):
        return value
    return _double_quoted(value.replace("%", "%%").replace("$", "$$"))


def unit(sections: Mapping[str, Iterable[tuple[str, str]]]) -> str:
    """A unit or drop-in: sections and directives in the order given, LF, a final newline.

    sections: name → C((directive, value)) pairs; a value is written as it stands, so build it with the functions above.
    A directive may be repeated; an empty value resets a list. Raises C(SpecError) for anything that systemd would read
    as something else: a line break, a control character, blanks around a value, a backslash at its end.
    """
    problems: list[Problem] = []
    blocks: list[str] = []
    for section, pairs in sections.items():
        if not _SECTION.fullmatch(section):
            problems.append(Problem("systemd.invalid_name", "unit", "is not the name of a section", value=section))
        lines = [f"[{section}]\n"]
        for key, value in pairs:
            if reason := _directive_problem(key, value):
                problems.append(Problem("systemd.unsafe_text", f"unit.{section}.{key}", reason, value=value))
            lines.append(f"{key}={value}\n")
        blocks.append("".join(lines))
    if problems:
        raise SpecError(problems)
    return "\n".join(blocks)


def _directive_problem(key: str, value: str) -> str | None:
    if not _SECTION.fullmatch(key):
        return "is not the name of a directive"
    if value != value.strip():
        return "begins or ends with spaces, which systemd removes"
    if value.endswith("\\"):
        return "ends with a backslash, which joins the next line to it"
    return systemd_problem(value)


def al2_extra_args_problem(word: str) -> str | None:
    """Why C(word) cannot reach kubelet through bootstrap.sh's C(--kubelet-extra-args) of the AL2 image, or None.

    The image pastes the text unescaped between single quotes into C(Environment='KUBELET_EXTRA_ARGS=…'), and systemd
    splits it at blanks later, honouring quotes (amazon-eks-ami, al2 branch, December 2025). So both kinds of quotes and
    the backslash would be undone at one of the two steps.
    """
    if not word:
        return "is empty, and systemd drops empty arguments when it splits the text"
    for char, name in (("'", "a single quote"), ('"', "a double quote"), ("\\", "a backslash")):
        if char in word:
            return f"contains {name}, which the AL2 image writes unescaped into a systemd unit"
    if "\t" in word:
        return "contains a tab, at which systemd splits the text"
    return systemd_problem(word)


def al2_extra_args(words: Sequence[str]) -> str:
    """The text for C(--kubelet-extra-args) that reaches kubelet as exactly C(words): C(%) doubled, blanks quoted.

    Raises C(SpecError) with the reasons of C(al2_extra_args_problem).
    """
    problems = [
        Problem("kubelet.unsafe_flag_value", "kubelet-extra-args", reason, value=word)
        for word in words
        if (reason := al2_extra_args_problem(word))
    ]
    if problems:
        raise SpecError(problems)
    return " ".join(f'"{word}"' if " " in word else word for word in words).replace("%", "%%")


def split_variable(value: str) -> list[str]:
    """The arguments that systemd makes of C($NAME) in C(ExecStart=): split at blanks. Quotes and backslashes are undone.

    A quote without its pair ends with the text.
    """
    words: list[str] = []
    word: str | None = None
    quote = ""
    is_escaped = False
    for character in value:
        if is_escaped:
            word, is_escaped = (word or "") + character, False
        elif character == "\\":
            is_escaped = True
        elif character == quote:
            quote = ""
        elif quote or character not in " \t\n\r\"'":
            word = (word or "") + character
        elif character in "\"'":
            word, quote = word or "", character
        elif word is not None:
            words.append(word)
            word = None
    return words if word is None else [*words, word]


def _check(name: str, value: str) -> None:
    problems = []
    if not _NAME.fullmatch(name):
        problems.append(
            Problem("systemd.invalid_name", "environment", "is not the name of a variable", value=name, allowed="letters, digits and _")
        )
    if reason := systemd_problem(value):
        problems.append(Problem("systemd.unsafe_text", f"environment.{name}", reason, value=value))
    if problems:
        raise SpecError(problems)


def _double_quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return f'"{escaped}"'
