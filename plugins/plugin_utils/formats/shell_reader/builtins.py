# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What commands of bash itself change in the shell: variables, arguments, options."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .model import DYNAMIC, Pieces, Word
from .state import ALL, UNKNOWN, UNSET, State, number

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LEADING_NAME = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[.*?\])?(\+?=)?", re.DOTALL)
_HARMLESS_OPTIONS = frozenset(
    {
        "checkhash", "checkwinsize", "cmdhist", "dotglob", "extglob", "failglob", "globstar", "histappend", "huponexit", "inherit_errexit",
        "login_shell", "nocaseglob", "nullglob", "progcomp", "promptvars", "shift_verbose",
    }
)  # fmt: skip
"""Options of C(shopt) without effect on words that are known."""
_HARMLESS_FLAGS = frozenset("abefhmopuvxBCEHPT")
"""Options of C(set) that do not change how words are read."""
_OTHER_RULES = ("posix", "keyword", "noexec", "braceexpand")
_NAMED = ("read", "mapfile", "readarray", "getopts", "let", "coproc")
"""Commands that set the variables which their arguments name."""
_WITH_VALUE = {"read": "dinNptu", "mapfile": "cdnOsu", "readarray": "cdnOsu"}
"""Their options with a value that is not the name of a variable."""


def run(program: str, words: Sequence[Word], state: State) -> None:
    """Apply the effects of a command of bash. words: its arguments."""
    if program in _NAMED:
        _named(program, words, state)
    elif program == "printf":
        first = words[0] if words else None
        if first is not None and (first.pieces == DYNAMIC or (first.value or "").startswith("-v")):
            _named(program, words[:2], state)
    elif program == "wait" and any(word.value is None or word.value.startswith("-p") for word in words):
        _named(program, [word for word in words if word.value is not None], state)
    elif program == "unset":
        _unset(words, state)
    elif program == "set":
        _set(words, state)
    elif program == "shift":
        _shift(words, state)
    elif program == "shopt":
        _shopt(words, state)
    elif program == "enable" and words:
        state.volatile.add(ALL)
    elif program in ("source", "."):
        state.forget_all()
        state.may_have_ended = True


def declare(program: str, words: Sequence[Word], state: State) -> None:
    """C(export) and its like, where bash has expanded the arguments before."""
    for word in words:
        text = word.value if word.value is not None else (word.pieces[0] if word.is_single and word.pieces else None)
        if text is None:
            state.forget_all()
        elif text[:1] not in ("-", "+"):
            match = _LEADING_NAME.match(text)
            if match is None or (word.value is None and match[2] is None):
                state.forget_all()
            elif match[2]:
                state.set(match[1], UNKNOWN)
            elif program == "export":
                state.exported.add(match[1])
            elif program == "readonly":
                state.readonly.add(match[1])
            else:
                state.set(match[1], UNKNOWN)
        elif set(text) & set("nilucAag"):
            state.forget_all()
            state.volatile.add(ALL)


def split_declared(pieces: Pieces) -> tuple[str, str, Pieces] | None:
    """The name, the operator and the value of an argument such as C("NAME=value"). None if the name is unknown."""
    first = pieces[0] if pieces else None
    match = _LEADING_NAME.match(first) if first else None
    if first is None or match is None or (match[2] is None and (len(pieces) > 1 or match.end() != len(first))) or "[" in match[0]:
        return None
    rest = first[match.end() :]
    return match[1], match[2] or "", ((rest,) if rest else ()) + pieces[1:]


def _named(program: str, words: Sequence[Word], state: State) -> None:
    """Forget the variables that the arguments name."""
    if program == "getopts":
        words = words[1:2]
    takes_value = _WITH_VALUE.get(program, "")
    is_value = False
    for word in words:
        value = word.value
        if is_value and word.is_single:
            is_value = False
        elif value is None or (program != "let" and value.startswith("-C")):
            state.forget_all()
            return
        elif value.startswith("-") and takes_value:
            is_value = value[-1] in takes_value
            state.forget(_IDENTIFIER.findall(value[2:]))
        else:
            state.forget(_IDENTIFIER.findall(value))


def _unset(words: Sequence[Word], state: State) -> None:
    is_function = bool(words) and words[0].value == "-f"
    for word in words:
        name = word.value
        if name is None or (name.startswith("-") and name not in ("-v", "-f")):
            state.forget_all()
        elif is_function:
            state.functions.pop(name, None)
        elif name in ("-v", "-f"):
            continue
        elif not _IDENTIFIER.fullmatch(name):
            state.forget(_IDENTIFIER.findall(name))
        elif name in state.functions:
            state.functions[name] = None
            state.set(name, UNKNOWN)
        else:
            state.set(name, UNSET)
            state.exported.discard(name)


def _set(words: Sequence[Word], state: State) -> None:
    is_name = False
    for index, word in enumerate(words):
        value = word.value
        if value is None or value == "-":
            state.forget_all()
            return
        if is_name:
            is_name = False
            if value in _OTHER_RULES:
                state.volatile.add(ALL)
            state.exports_all = state.exports_all or value == "allexport"
        elif value == "--" or value[:1] not in ("-", "+"):
            arguments = words[index + 1 :] if value == "--" else words[index:]
            state.arguments = tuple(one.pieces for one in arguments) if all(one.is_single for one in arguments) else None
            return
        else:
            is_name = value.endswith("o")
            if not set(value[1:]) <= _HARMLESS_FLAGS:
                state.volatile.add(ALL)
                # C(-t) and C(-n) end the script. With C(-r), bash refuses programs with a slash.
                state.may_have_ended = True
            if "a" in value:
                state.exports_all = value[0] == "-"


def _shift(words: Sequence[Word], state: State) -> None:
    count = number(words[0].pieces) if words else 1
    arguments = state.arguments
    if arguments is None or count is None:
        state.arguments = None
    elif count <= len(arguments):
        state.arguments = arguments[count:]


def _shopt(words: Sequence[Word], state: State) -> None:
    names = [word.value for word in words]
    if "-q" not in names and any(name is None or (name[:1] != "-" and name not in _HARMLESS_OPTIONS) for name in names):
        state.volatile.add(ALL)
