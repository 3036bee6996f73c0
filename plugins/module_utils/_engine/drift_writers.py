# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the program that writes a file or a setting again after it was repaired: among units, cron jobs and running processes.

Only a program whose unit, script or command line names the file can be found. For the units of the plan, systemd says which commands it
runs; of other units, the files of the administrator are read. Used only when a repair did not last.
"""

from __future__ import annotations

import os
import re
from typing import Collection, Iterable, Iterator, Sequence

from .._node import redaction, systemd
from .._node.errors import ApplyRefused
from .._node.host import Host, command_line

_UNIT_FOLDERS = ("/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system")
_CRON_FILES = ("/etc/crontab",)
_CRON_FOLDERS = (
    "/etc/cron.d", "/etc/cron.hourly", "/etc/cron.daily", "/etc/cron.weekly", "/var/spool/cron", "/var/spool/cron/crontabs",
)  # fmt: skip
_EXEC = re.compile(r"^[ \t]*(Exec[A-Za-z]+)[ \t]*=[ \t]*((?:.*\\\n)*.*)$", re.MULTILINE)
"""A setting and its value, which may continue on the next line."""
_PROGRAM = re.compile(r"(?:^|[\s\"';&|=@:+!-])(/[\w./+-]+)")
_READERS = ("kubelet", "containerd", "nodeadm", "snapd")
"""Programs whose command lines name the files that they read."""
_IS_NOT_READ = r"(?<!--config )(?<!--config=)(?<!--kubeconfig )(?<!--kubeconfig=)"
"""A name of a file is not the value of a flag with which kubelet reads the file."""


def find(source: str, ours: Collection[str], units: Iterable[str] = (), host: Host | None = None) -> list[str]:
    """The possible writers of a source, as a path or C(snap NAME). C(ours): paths that are not searched.

    C(units): the units of the plan.
    """
    host = host or Host()
    needle = f"snap set {source.partition(' ')[2]}" if source.startswith("snap ") else source
    of_plan = (found for unit in units for found in _loaded_unit(host, unit, needle, ours))
    return list(dict.fromkeys([*of_plan, *_unit_files(host, needle, ours), *_cron_jobs(host, needle), *_processes(host, needle)]))


def _loaded_unit(host: Host, unit: str, needle: str, ours: Collection[str]) -> Iterator[str]:
    """The commands of a unit as systemd runs them, wherever they are set."""
    try:
        loaded = systemd.read_commands(unit, host.run_program)
    except ApplyRefused:
        return
    for setting, text in loaded.commands:
        for word in _named(host, text, needle, ours):
            path = _set_in(host, loaded.files, setting, word)
            if path not in ours:
                yield _unit_writer(setting, unit, path, word, needle)


def _set_in(host: Host, files: Sequence[str], setting: str, word: str) -> str:
    """The file that sets a command with this word. A later file wins. systemd replaces specifiers, so the word may be in none of them."""
    settings = [(path, value) for path in reversed(files) for key, value in _EXEC.findall(host.text(path) or "") if key == setting]
    paths = [path for path, value in settings if word in value] + [path for path, _value in settings]
    return next(iter([*paths, *files]), "")


def _unit_files(host: Host, needle: str, ours: Collection[str]) -> Iterator[str]:
    for folder in _UNIT_FOLDERS:
        for path in _files(host, folder):
            text = "" if path in ours or not path.endswith((".service", ".conf")) else host.text(path) or ""
            unit = path[len(folder) + 1 :].split("/")[0]
            unit = unit[: -len(".d")] if unit.endswith(".d") else unit
            for setting, line in _EXEC.findall(text):
                for word in _named(host, line, needle, ours):
                    yield _unit_writer(setting, unit, path, word, needle)


def _unit_writer(setting: str, unit: str, path: str, word: str, needle: str) -> str:
    return f"{setting} of {unit} ({path})" + (f", which runs {word}" if word != needle else "")


def _named(host: Host, line: str, needle: str, ours: Collection[str]) -> list[str]:
    """The words of a command that make it a possible writer: the file itself, and scripts that name it."""
    return ([needle] if _writes(line, needle) else []) + list(_scripts(host, line, needle, ours))


def _cron_jobs(host: Host, needle: str) -> Iterator[str]:
    for path in [*_CRON_FILES, *(path for folder in _CRON_FOLDERS for path in _files(host, folder))]:
        text = host.text(path) or ""
        if needle in text:
            yield f"the cron job {path}"
        for line in text.splitlines():
            for script in _scripts(host, line, needle, ()):
                yield f"the cron job {path}, which runs {script}"


def _processes(host: Host, needle: str) -> Iterator[str]:
    for name in host.names("/proc"):
        if name.isdigit() and int(name) not in (os.getpid(), os.getppid()):
            words = command_line(host, int(name))
            if words and any(needle in word for word in [*words, " ".join(words)]) and all(map(_is_writer, words[:5])):
                yield f"the process {name} ({' '.join(redaction.redact_command_line(words))[:200]})"


def _is_writer(program: str) -> bool:
    return os.path.splitext(os.path.basename(program))[0] not in _READERS


def _writes(line: str, needle: str) -> bool:
    """Whether a command names the file other than as the value of a flag, as kubelet's own command does."""
    return re.search(r"(?<![=\w])" + _IS_NOT_READ + re.escape(needle), line) is not None and _is_writer(line.split()[0])


def _scripts(host: Host, line: str, needle: str, ours: Collection[str]) -> Iterator[str]:
    """The scripts in a command that name the file."""
    for path in dict.fromkeys(_PROGRAM.findall(line)):
        text = "" if path in ours or path == needle else host.text(path) or ""
        if text.startswith("#!") and re.search(_IS_NOT_READ + re.escape(needle), text):
            yield path


def _files(host: Host, folder: str) -> Iterator[str]:
    """The files of a folder and of the folders in it."""
    for name in host.names(folder):
        path = f"{folder}/{name}"
        if os.path.isdir(host.path(path)) and not os.path.islink(host.path(path)):
            for below in host.names(path):
                yield f"{path}/{below}"
        else:
            yield path
