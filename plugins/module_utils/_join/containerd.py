# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cgroup driver containerd uses, from its configuration. Reads only. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import os
import re
from typing import Match

from .._node.host import Host, command_line
from .._node.kubelet_process import last, parse

DEFAULT_CONFIG = "/etc/containerd/config.toml"

_SECTION = re.compile(r"\s*\[+(?P<name>[^\]]+)\]+\s*(?:#.*)?\Z")
_CRI = re.compile(r"plugins\.[\"']?io\.containerd\.(?:grpc\.v1\.cri|cri\.v1\.runtime)[\"']?\.containerd")
_SETTING = re.compile(r"\s*(?P<name>default_runtime_name|SystemdCgroup)\s*=\s*(?P<value>\"[^\"]*\"|'[^']*'|true|false)\s*(?:#.*)?\Z")
_IMPORTS = re.compile(r"^\s*imports\s*=(?:\s*\[(?P<list>[^\]]*))?", re.MULTILINE)


def uses_systemd_cgroup(host: Host, pid: int, started: float = float("inf")) -> bool | None:
    """Whether the default runtime of containerd uses systemd for cgroups; None if it is not known.

    `started`: when containerd started, in seconds since 1970. It has not read what changed after that.
    """
    argv = command_line(host, pid)
    flags = parse(argv[1:])
    path = last(flags, "config") or last(flags, "c") or DEFAULT_CONFIG
    text = host.text(path)
    imports = _IMPORTS.search(text or "")
    if any((host.changed_at(file) or 0) > started for file in _config_paths(host, path, text, imports)):
        return None
    result = None if text is None or imports else parse_systemd_cgroup(text)
    if result is None and argv:
        result = parse_systemd_cgroup(host.run("containerd", "--config", path, "config", "dump") or "")
    return result


def _config_paths(host: Host, path: str, text: str | None, imports: Match[str] | None) -> list[str]:
    """The paths whose change times show whether containerd has read its present configuration."""
    directory = path.rpartition("/")[0]
    # If the file was deleted, its directory has the time of that.
    paths = [path] if text is not None else [directory]
    for pattern in re.findall(r"[\"']([^\"']+)[\"']", (imports and imports.group("list")) or ""):
        where = os.path.join(directory, pattern).rpartition("/")[0]
        paths += [where, *(f"{where}/{name}" for name in host.names(where))]
    return paths


def parse_systemd_cgroup(text: str) -> bool | None:
    """SystemdCgroup of the default runtime in a containerd configuration; None if it is not set there in a plain form."""
    section, runtime, settings = "", "runc", {}
    for line in text.splitlines():
        header = _SECTION.match(line)
        if header:
            section = re.sub(r"\s*\.\s*", ".", header.group("name").strip())
            continue
        setting = _SETTING.match(line)
        cri = _CRI.match(section) if setting else None
        if setting is None or cri is None:
            continue
        below = [part.strip("\"'") for part in section[cri.end() :].strip(".").split(".") if part]
        if setting.group("name") == "default_runtime_name" and not below:
            runtime = setting.group("value").strip("\"'")
        elif setting.group("name") == "SystemdCgroup" and len(below) == 3 and below[::2] == ["runtimes", "options"]:
            settings[below[1]] = setting.group("value") == "true"
    return settings.get(runtime)
