# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a shell at one point of a script: variables, functions, and whether the script has ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .model import DYNAMIC, Pieces, known

if TYPE_CHECKING:
    from tree_sitter import Node

    from .source import Source

COMPUTED = frozenset(
    {
        "BASH", "BASHOPTS", "BASHPID", "BASH_ALIASES", "BASH_ARGC", "BASH_ARGV", "BASH_ARGV0", "BASH_CMDS", "BASH_COMMAND", "BASH_LINENO",
        "BASH_REMATCH", "BASH_SOURCE", "BASH_SUBSHELL", "BASH_VERSINFO", "BASH_VERSION", "COMP_WORDBREAKS", "COPROC", "DIRSTACK",
        "EPOCHREALTIME", "EPOCHSECONDS", "EUID", "FUNCNAME", "GROUPS", "HISTCMD", "HOSTNAME", "HOSTTYPE", "LINENO", "MACHTYPE", "MAPFILE",
        "OLDPWD", "OPTARG", "OPTERR", "OPTIND", "OSTYPE", "PIPESTATUS", "PPID", "PS4", "PWD", "RANDOM", "REPLY", "SECONDS", "SHELLOPTS",
        "SHLVL", "SRANDOM", "UID", "_",
    }
)  # fmt: skip
"""Variables that bash itself sets, or that do not keep what is assigned to them."""
_INHERITED = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER")
_INHERITED_PREFIXES = ("AWS_", "BASH_", "LC_", "PYTHON", "SYSTEMD_")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "FTP_PROXY")
_SERVICE = ("CREDENTIALS_DIRECTORY", "INSTANCE_ID", "INVOCATION_ID", "JOURNAL_STREAM", "MEMORY_PRESSURE_WATCH", "NOTIFY_SOCKET")
_LONGEST = 131_072
"""Linux passes no longer argument."""
_MOST_ELEMENTS = 500
ALL = "*"
"""Stands for the names of all variables."""

Array = tuple[Pieces, ...]
SEPARATORS = " \t\n"


@dataclass(frozen=True)
class Variable:
    """pieces: of a scalar. elements: of an array. Neither: the variable is not set."""

    pieces: Pieces | None = None
    elements: Array | None = None

    def first(self) -> Pieces | None:
        """What C($NAME) stands for; None if the variable is not set."""
        if self.elements is None:
            return self.pieces
        return self.elements[0] if self.elements else None


UNSET = Variable()
UNKNOWN = Variable(DYNAMIC)


def is_inherited(name: str) -> bool:
    """Whether a process may get the variable from systemd or cloud-init."""
    return name in COMPUTED or name in _INHERITED or name in _SERVICE or name.upper() in _PROXIES or name.startswith(_INHERITED_PREFIXES)


@dataclass
class State:
    """variables: those with a value that is known here.

    starts_empty: whether all others are not set; otherwise they are unknown. functions: None for one that is unknown. changed: the names
    that changed since the last copy. arguments: C($1)… has_ended: this point is never reached. may_have_ended: the script may have ended
    before without an error. may_have_returned: so may the function.
    """

    variables: dict[str, Variable]
    starts_empty: bool
    functions: dict[str, tuple[Source, Node] | None] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)
    readonly: set[str] = field(default_factory=set)
    volatile: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    arguments: tuple[Pieces, ...] | None = None
    exports_all: bool = False
    has_ended: bool = False
    has_failed: bool = False
    may_have_ended: bool = False
    has_returned: bool = False
    may_have_returned: bool = False

    @classmethod
    def start(cls, variables: Mapping[str, str], *, starts_empty: bool) -> State:
        """The state in which a script starts without arguments."""
        values = {name: Variable((value,) if value else ()) for name, value in variables.items()}
        values["IFS"] = Variable((SEPARATORS,))
        return cls(values, starts_empty, exported=set(variables), arguments=() if starts_empty else None)

    def copy(self) -> State:
        """A state that changes on its own."""
        return replace(
            self,
            variables=self.variables.copy(),
            functions=self.functions.copy(),
            exported=self.exported.copy(),
            readonly=self.readonly.copy(),
            volatile=self.volatile.copy(),
            changed=set(),
        )

    def get(self, name: str) -> Variable:
        """The value of a variable."""
        if ALL in self.volatile or name in self.volatile or name in COMPUTED:
            return UNKNOWN
        variable = self.variables.get(name)
        if variable is not None:
            return variable
        return UNSET if self.starts_empty and not is_inherited(name) else UNKNOWN

    def set(self, name: str, variable: Variable) -> None:
        """Set a variable. A very long value is unknown: each assignment could double it."""
        self.changed.add(name)
        if name in self.readonly:
            variable = UNKNOWN
            self.may_have_ended = True
        self.variables[name] = UNKNOWN if _size(variable) > _LONGEST else variable
        if self.exports_all:
            self.exported.add(name)

    def forget(self, names: Iterable[str]) -> None:
        """Make the values of variables unknown."""
        for name in names:
            if name == ALL:
                self.forget_all()
            else:
                self.set(name, UNKNOWN)

    def forget_all(self) -> None:
        """Make everything unknown that commands which are not read can change."""
        self.changed.add(ALL)
        self.variables = {}
        self.starts_empty = False
        self.functions = dict.fromkeys(self.functions)
        self.arguments = None

    def knows_separators(self) -> bool:
        """Whether words are split as in a new shell."""
        return self.get("IFS").pieces == (SEPARATORS,)

    def merge(self, branches: Sequence[State]) -> None:
        """Continue after branches of which one has run, each on a copy of this state."""
        alive = [one for one in branches if not one.has_ended]
        self.may_have_ended = any(one.may_have_ended or (one.has_ended and not one.has_failed) for one in branches)
        if not alive:
            self.has_ended = True
            self.has_failed = all(one.has_failed for one in branches)
            return
        names = set().union(*(one.changed for one in alive))
        functions = [one.functions for one in alive]
        if ALL in names:
            self.forget_all()
        else:
            for name in names:
                values = [one.get(name) for one in alive]
                self._take(name, values[0] if all(value == values[0] for value in values) else UNKNOWN)
        self.changed |= names
        for name in set().union(*functions):
            values_of_function = [one.get(name) for one in functions]
            self.functions[name] = values_of_function[0] if all(one == values_of_function[0] for one in values_of_function) else None
        if any(one.arguments != alive[0].arguments for one in alive):
            self.arguments = None
        else:
            self.arguments = alive[0].arguments
        self.exported = set.intersection(*(one.exported for one in alive))
        self.readonly = set().union(*(one.readonly for one in alive))
        self.volatile = set().union(*(one.volatile for one in branches))
        self.exports_all = any(one.exports_all for one in alive)
        self.has_returned = all(one.has_returned for one in alive)
        self.may_have_returned = any(one.has_returned or one.may_have_returned for one in alive)

    def _take(self, name: str, variable: Variable) -> None:
        self.variables[name] = variable


def weight(pieces: Pieces) -> int:
    """How much of a value there is, also if much of it is unknown."""
    return sum(len(piece or "") for piece in pieces) + 16 * len(pieces)


def _size(variable: Variable) -> int:
    if variable.elements is not None:
        size = sum(weight(pieces) for pieces in variable.elements)
        return size if len(variable.elements) <= _MOST_ELEMENTS else _LONGEST + 1
    return weight(variable.pieces or ())


def number(pieces: Pieces) -> int | None:
    """The value of a plain number."""
    text = known(pieces)
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 7 else None
