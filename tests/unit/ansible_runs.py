# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs programs of Ansible for tests, without starting each of them anew: see C(ansible_server.py)."""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

_HERE = Path(__file__).parent
_HOME = {name: value for name, value in os.environ.items() if name == "HOME"}
"""A server has its temporary files there. It outlives a test whose own home is removed."""
_SETTINGS = {
    "ANSIBLE_ACTION_PLUGINS": str(_HERE / "action_plugins"),
    "ANSIBLE_FORKS": "1",
    "ANSIBLE_LOCALHOST_WARNING": "0",
    "ANSIBLE_NOCOLOR": "1",
}


def run(folder: Path, *command: str, settings: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run C(ansible-playbook) or another program of Ansible in C(folder). settings: more environment variables, or other values of them.

    Runs with the same C(ANSIBLE_) variables share a server, so anything that differs from test to test has a name of its own.
    """
    environment = os.environ | _SETTINGS | dict(settings or {})
    server = _server(_configuration(environment))
    with tempfile.TemporaryDirectory() as outputs:
        stdout, stderr = Path(outputs, "stdout"), Path(outputs, "stderr")
        files = {"stdout": str(stdout), "stderr": str(stderr)}
        request = {"command": list(command), "folder": str(folder), "environment": environment, **files}
        assert server.stdin and server.stdout
        print(json.dumps(request), file=server.stdin, flush=True)
        status = server.stdout.readline()
        assert status, f"the server of {command} has ended"
        return subprocess.CompletedProcess(command, int(status), stdout.read_text(encoding="utf-8"), stderr.read_text(encoding="utf-8"))


def start() -> None:
    """Start the server that most runs use. Processes that are forked later share it, one run at a time."""
    _server(_configuration(os.environ | _SETTINGS))


def _configuration(environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, value) for name, value in environment.items() if name.startswith("ANSIBLE_")))


@functools.cache
def _server(configuration: tuple[tuple[str, str], ...]) -> subprocess.Popen[str]:
    """The server for runs with this configuration of Ansible. It ends with this process."""
    server = subprocess.Popen(
        [sys.executable, str(_HERE / "ansible_server.py")],
        env=os.environ | _HOME | dict(configuration),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(server.communicate)
    return server
