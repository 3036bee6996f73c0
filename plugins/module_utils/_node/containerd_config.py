# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration with which containerd runs: its file, and the settings in it and in the files that it imports.

Standard library, Python 3.7 and newer.
"""

from __future__ import annotations

import os
from typing import Any, Callable, List, Mapping, NamedTuple, Sequence, TypeVar

from . import toml
from .host import Host, command_line

DEFAULT_PATH = "/etc/containerd/config.toml"

_FLAGS = ("-c", "--c", "-config", "--config")
"""The flag for the file: containerd takes one dash or two."""

Settings = Mapping[str, Any]
"""Settings as C({"table.key": value})."""

_Value = TypeVar("_Value")


class ContainerdConfig(NamedTuple):
    """C(path): the file. C(settings): of the file alone; None if it does not exist or cannot be parsed.

    C(is_running): whether containerd runs, so that it can print all of its settings.
    """

    path: str
    settings: Settings | None
    is_running: bool

    @property
    def imports(self) -> List[str]:
        """The absolute patterns of the files that the file imports."""
        given = (self.settings or {}).get("imports")
        directory = os.path.dirname(self.path)
        return [os.path.join(directory, str(pattern)) for pattern in given] if isinstance(given, list) else []


def read(host: Host, pid: int) -> ContainerdConfig:
    """The configuration of the containerd with this pid. C(pid) 0 means that it does not run."""
    argv = command_line(host, pid)
    path = _path_in(argv[1:]) or DEFAULT_PATH
    try:
        settings = toml.parse(host.text(path) or "") if host.exists(path) else None
    except ValueError:
        settings = None
    return ContainerdConfig(path, settings, bool(argv))


def _path_in(words: Sequence[str]) -> str | None:
    found = None
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in _FLAGS:
            found = value if equals else "".join(words[index + 1 : index + 2])
    return found


def find(host: Host, config: ContainerdConfig, look: Callable[[Settings], _Value | None]) -> _Value | None:
    """A value of the configuration. C(look): returns it for settings, None if they do not contain it.

    If the file does not contain the value, or imports other files, containerd itself prints its settings.
    """
    value = None if config.settings is None or "imports" in config.settings else look(config.settings)
    if value is not None or not config.is_running:
        return value
    try:
        return look(toml.parse(host.run("containerd", "--config", config.path, "config", "dump") or ""))
    except ValueError:
        return None


def changed_after(host: Host, config: ContainerdConfig, moment: float) -> bool:
    """Whether one of the files changed after a time in seconds since 1970. containerd has not read such a change."""
    # If the file was deleted, its directory has the time of that.
    paths = [config.path] if host.exists(config.path) else [os.path.dirname(config.path)]
    for directory in map(os.path.dirname, config.imports):
        paths += [directory, *(f"{directory}/{name}" for name in host.names(directory))]
    return any((host.changed_at(path) or 0) > moment for path in paths)
