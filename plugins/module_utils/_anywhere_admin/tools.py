# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the tools of an admin machine, such as kind and kubectl, as its user does. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import os
import re
import shutil
from typing import Any, Dict, Mapping, NamedTuple, Sequence

from .._node import programs
from .._node.errors import ApplyRefused

TIMED_OUT = 124
"""The status of a tool that took too long, as of timeout(1)."""

_VERSION = re.compile(r"(?<![\w.])v?(?P<version>[0-9]+\.[0-9]+\.[0-9]+)(?![0-9])")
_ASKS = {
    "docker": ("docker", "version", "--format", "{{.Client.Version}}"),
    "kind": ("kind", "version"),
    "clusterctl": ("clusterctl", "version", "-o", "short"),
    "kubectl": ("kubectl", "version", "--client"),
    "helm": ("helm", "version", "--short"),
    "eksctl": ("eksctl", "version"),
    "eksctl-anywhere": ("eksctl-anywhere", "version"),
}
NAMES = tuple(_ASKS)
"""The tools whose version can be asked."""


class Tool(NamedTuple):
    """A tool. C(path) and C(version), without a leading V(v), are None if it is not installed or does not say its version."""

    path: str | None
    version: str | None
    problem: str


class Tools:
    """Runs tools with the environment of the user: Docker's host, the proxies and the C(PATH) are set there.

    C(timeout): seconds that one tool may take.
    """

    def __init__(self, timeout: float, environment: Mapping[str, str] | None = None) -> None:
        self._timeout = timeout
        given = os.environ if environment is None else environment
        # clusterctl asks the internet for a newer version of itself otherwise, which takes minutes without a network.
        self._environment = {**given, "LC_ALL": "C", "CLUSTERCTL_DISABLE_VERSIONCHECK": "true"}

    def find(self, name: str) -> str | None:
        """The path of a tool, None when it is not installed."""
        return shutil.which(name, path=self._environment.get("PATH", programs.PATH))

    def run(self, argv: Sequence[str], timeout: float | None = None) -> programs.Result:
        """How a tool ended. Without a tool that can be run, and when the time is over, the status says so."""
        path = self.find(argv[0])
        if path is None:
            return programs.Result(programs.NOT_INSTALLED, "", f"{argv[0]} is not installed")
        try:
            return programs.execute([path, *argv[1:]], self._timeout if timeout is None else timeout, self._environment)
        except ApplyRefused as error:
            return programs.Result(TIMED_OUT, "", str(error))
        except OSError as error:
            return programs.Result(programs.NOT_RUNNABLE, "", f"{argv[0]} cannot be run: {error.strerror or error}")

    def versions(self, names: Sequence[str]) -> Dict[str, Dict[str, Any]]:
        """Every tool of C(NAMES) by its name."""
        return {name: dict(self._version(name)._asdict()) for name in names}

    def _version(self, name: str) -> Tool:
        path = self.find(name)
        if path is None:
            return Tool(None, None, "is not installed")
        result = self.run(_ASKS[name])
        # docker prints its own version, and then fails if the daemon does not answer.
        found = _VERSION.search(result.output)
        return Tool(path, found.group("version") if found else None, "" if found else last_line(result))


def said_version(name: str, path: str, timeout: float) -> Tool:
    """The version that the program at C(path) prints, which is the tool C(name). It gets nothing of the environment of the user."""
    environment = {**programs.ENVIRONMENT, "CLUSTERCTL_DISABLE_VERSIONCHECK": "true"}
    try:
        result = programs.execute([path, *_ASKS[name][1:]], timeout, environment)
    except ApplyRefused as error:
        return Tool(path, None, str(error))
    except OSError as error:
        return Tool(path, None, f"cannot be run: {error.strerror or error}")
    found = _VERSION.search(result.output)
    return Tool(path, found.group("version") if found else None, "" if found else last_line(result))


def last_line(result: programs.Result) -> str:
    """Why a tool failed: the last line of its errors, or of its output."""
    lines = result.errors.strip().splitlines() or result.output.strip().splitlines()
    return lines[-1][:300] if lines else f"status {result.status} without a message"
