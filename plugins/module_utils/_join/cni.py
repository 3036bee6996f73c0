# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The CNI configuration that containerd loads, and why it cannot. Reads only. Standard library, Python 3.7 and newer.

containerd loads the first file in lexical order (Go modules github.com/containerd/go-cni and github.com/containernetworking/cni).
"""

from __future__ import annotations

import json
import re
from typing import Any

from .._node import journald
from .._node.host import Host
from .model import NetworkConfig, to_plain_text

DEFAULT_DIRECTORY = "/etc/cni/net.d"

_SUFFIXES = (".conf", ".conflist", ".json")
_LOGGED = re.compile(r"cni config(?:uration)? load failed|failed to (?:re)?load cni config", re.IGNORECASE)
_LOGGED_FILE = re.compile(r"CNI config (?:list )?file (?P<path>/[^\s:]+): (?P<why>.+?)(?:: invalid cni config.*|\"\s*\Z|\Z)")


def read_network_config(host: Host, unit: str, directory: str) -> NetworkConfig:
    """The first file of the CNI configuration in a directory, and its problem. `unit`: of containerd."""
    names = [name for name in host.names(directory) if name.endswith(_SUFFIXES)]
    lines = tuple(to_plain_text(entry.text) for entry in journald.entries(unit) if _LOGGED.search(entry.text))[-1:]
    if not names:
        return NetworkConfig(directory, lines=lines)
    path = f"{directory}/{names[0]}"
    problem = find_problem(names[0], host.text(path))
    if problem is None and lines:
        # containerd finds more than the parser here, such as a version that it does not support.
        logged = _LOGGED_FILE.search(lines[-1].replace('\\"', '"'))
        problem = logged.group("why") if logged and logged.group("path") == path else None
    return NetworkConfig(directory, path, problem, lines)


def find_problem(name: str, text: str | None) -> str | None:
    """Why containerd cannot load a file; None if it can, as far as this parser knows."""
    if text is None:
        return "it cannot be read"
    if not text.strip():
        return "the file is empty"
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"it is not valid JSON: {to_plain_text(str(error), 200)}"
    if not isinstance(document, dict):
        return "it is not a JSON object"
    if not name.endswith(".conflist"):
        return None if document.get("type") else "it has no type. A list of plugins belongs in a file whose name ends in .conflist"
    if "name" not in document:
        return "it has no name"
    return _find_plugin_problem(document.get("plugins"))


def _find_plugin_problem(plugins: Any) -> str | None:
    if not isinstance(plugins, list) or not plugins:
        return "its list of plugins is missing or empty"
    missing = [index for index, plugin in enumerate(plugins) if not isinstance(plugin, dict) or not plugin.get("type")]
    return f"plugins[{missing[0]}] has no type" if missing else None
