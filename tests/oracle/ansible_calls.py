# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One module, sent to a laboratory node by Ansible."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from nodelab import Node

DOCKER = ("-c", "community.docker.docker")


def call(node: Node, folder: Path, module: str, *options: str, connection: tuple[str, ...] = DOCKER, host: str = "") -> dict[str, Any]:
    """The result of one call over a connection (docker), without anything in between that formats it."""
    name = host or node.container
    environment = os.environ | {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_HOME": str(folder / "home")}
    command = ["ansible", "all", "-i", f"{name},", *connection, "-t", str(folder / "results"), "-m", f"nodebootstrap.eks.{module}"]
    command += ["-e", "ansible_python_interpreter=/usr/bin/python3", *options]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=900)
    results = folder / "results" / name
    assert results.is_file(), done.stdout + done.stderr
    result: dict[str, Any] = json.loads(results.read_text(encoding="utf-8"))
    return result
