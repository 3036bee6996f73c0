# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the state of systemd units. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import re
from typing import Callable, Dict, Iterable, NamedTuple, Sequence, Tuple

from . import programs
from .errors import ApplyRefused

_PROPERTIES = (
    "Id", "LoadState", "ActiveState", "SubState", "UnitFileState", "MainPID", "NRestarts", "Result", "ExecMainStatus",
    "ExecMainStartTimestampMonotonic", "ActiveEnterTimestampMonotonic", "InactiveEnterTimestampMonotonic",
    "InactiveExitTimestampMonotonic", "Job",
)  # fmt: skip
_STARTS_AT_BOOT = ("enabled", "enabled-runtime", "static", "indirect", "generated", "alias", "transient", "linked", "linked-runtime")

Run = Callable[[Sequence[str]], programs.Result]


class Unit(NamedTuple):
    """What systemd reports of a unit. C(load): loaded, not-found, masked and so on. C(pid): 0 when no main process runs.

    C(restarts): None before systemd 235 (Amazon Linux 2), which does not count them. The times are seconds of the monotonic clock,
    None for "never": C(main_started) of the main process, the others of the unit. C(has_job): systemd still has to start or stop the unit.
    """

    name: str
    load: str
    active: str
    sub: str
    file_state: str
    pid: int
    restarts: int | None = None
    result: str = ""
    exit_status: str = ""
    main_started: float | None = None
    active_entered: float | None = None
    inactive_entered: float | None = None
    inactive_exited: float | None = None
    has_job: bool = False

    @property
    def exists(self) -> bool:
        """Whether systemd knows the unit, even if it is masked."""
        return self.load not in ("", "not-found")

    @property
    def is_auto_restarting(self) -> bool:
        """Whether systemd waits before it starts the unit again after a failure."""
        return self.sub.startswith("auto-restart")

    @property
    def is_up(self) -> bool:
        """Whether the unit is active or starts by itself. A unit that systemd starts again after a failure is not up."""
        return self.active in ("active", "reloading") or (self.active == "activating" and not self.is_auto_restarting)

    @property
    def is_changing(self) -> bool:
        """Whether the unit is on its way to another state. A unit that systemd starts again after a failure is not."""
        return self.active in ("activating", "deactivating", "reloading") and not self.is_auto_restarting

    @property
    def is_running(self) -> bool:
        """Whether stopping the unit would end something."""
        return self.active in ("active", "reloading", "activating", "deactivating")

    @property
    def needs_enable(self) -> bool:
        """Whether systemd would not start the unit at the next boot."""
        return self.file_state not in _STARTS_AT_BOOT


def read_units(names: Iterable[str], run: Run = programs.run) -> Dict[str, Unit]:
    """The state of units, one call for all: {name: Unit} in the order of C(names). Raises ApplyRefused."""
    names = list(dict.fromkeys(names))
    if not names:
        return {}
    result = run(["systemctl", "show", "--no-pager", "-p", ",".join(_PROPERTIES), "--", *names])
    blocks = [block for block in result.output.split("\n\n") if block.strip()]
    if result.status != 0 or len(blocks) != len(names):
        raise ApplyRefused(f"systemctl show failed: {result.errors.strip() or 'no error message'}. Check that systemd runs on the node")
    # In the order of the names: for an alias, Id is the name of another unit.
    return {name: _unit(name, block) for name, block in zip(names, blocks)}


_FILES = re.compile(r"(?:FragmentPath|DropInPaths|EnvironmentFiles?)=(?P<paths>.*)")


def read_unit_files(name: str, run: Run = programs.run) -> list[str]:
    """The files of a unit in the order in which they take effect: the unit, its drop-ins, its environment files.

    Raises ApplyRefused.
    """
    result = run(["systemctl", "show", "--no-pager", "-p", "FragmentPath,DropInPaths,EnvironmentFiles", "--", name])
    found: dict[str, list[str]] = {}
    for line in result.output.splitlines() if result.status == 0 else ():
        match = _FILES.match(line)
        if match:
            # An environment file is followed by (ignore_errors=no). systemd has one line for each of them.
            found.setdefault(line[:1], []).extend(word for word in match.group("paths").split() if word.startswith("/"))
    return [path for kind in "FDE" for path in found.get(kind, ())]


class UnitCommand(NamedTuple):
    """A command of a unit. C(setting): ExecStartPre and so on. C(text): its words, without quotes."""

    setting: str
    text: str


class UnitCommands(NamedTuple):
    """The commands of a unit as systemd runs them. C(files): the unit file, then its drop-ins in the order in which they take effect."""

    files: Tuple[str, ...]
    commands: Tuple[UnitCommand, ...]


_COMMAND_SETTINGS = ("ExecCondition", "ExecStartPre", "ExecStart", "ExecStartPost", "ExecReload", "ExecStop", "ExecStopPost")
_COMMAND = re.compile(
    r"^(?P<setting>Exec[A-Za-z]+)=\{ path=.*? ; argv\[\]=(?P<text>.*?) ; ignore_errors=(?:yes|no) ; start_time=", re.MULTILINE | re.DOTALL
)


def read_commands(name: str, run: Run = programs.run) -> UnitCommands:
    """The commands of a unit, with the files that set them. Nothing for a unit that systemd does not know. Raises ApplyRefused."""
    properties = ",".join(("FragmentPath", "DropInPaths", *_COMMAND_SETTINGS))
    result = run(["systemctl", "show", "--no-pager", "-p", properties, "--", name])
    output = result.output if result.status == 0 else ""
    found = {key: values.split() for key, values in re.findall(r"^(FragmentPath|DropInPaths)=(.*)$", output, re.MULTILINE)}
    files = (*found.get("FragmentPath", ()), *found.get("DropInPaths", ()))
    return UnitCommands(files, tuple(UnitCommand(*match.group("setting", "text")) for match in _COMMAND.finditer(output)))


def read_memory_limit(name: str, run: Run = programs.run) -> int | None:
    """The bytes of memory that the processes of a unit may use. None without a limit. Raises ApplyRefused."""
    # MemoryMax is new in systemd 231; MemoryLimit is the same for cgroup v1.
    result = run(["systemctl", "show", "--no-pager", "-p", "MemoryMax,MemoryLimit", "--", name])
    limits = [int(number) for number in re.findall(r"^Memory(?:Max|Limit)=([0-9]+)$", result.output, re.MULTILINE)]
    # systemd 219 prints the largest number for "no limit".
    finite = [limit for limit in limits if limit < 2**63 - 1]
    return min(finite) if finite and result.status == 0 else None


def _unit(name: str, block: str) -> Unit:
    values = {key: value for key, _equals, value in (line.partition("=") for line in block.splitlines())}
    return Unit(
        name=name,
        load=values.get("LoadState", ""),
        active=values.get("ActiveState", ""),
        sub=values.get("SubState", ""),
        file_state=values.get("UnitFileState", ""),
        pid=_number(values.get("MainPID")) or 0,
        restarts=_number(values.get("NRestarts")),
        result=values.get("Result", ""),
        exit_status=values.get("ExecMainStatus", ""),
        main_started=_seconds(values.get("ExecMainStartTimestampMonotonic")),
        active_entered=_seconds(values.get("ActiveEnterTimestampMonotonic")),
        inactive_entered=_seconds(values.get("InactiveEnterTimestampMonotonic")),
        inactive_exited=_seconds(values.get("InactiveExitTimestampMonotonic")),
        has_job=bool(_number(values.get("Job"))),
    )


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def _seconds(microseconds: str | None) -> float | None:
    number = _number(microseconds)
    return number / 1e6 if number else None
