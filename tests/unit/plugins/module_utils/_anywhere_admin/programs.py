# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-ins for the programs of an admin machine: scripts that print what the real ones print, and record how they were called."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

VERSIONS = {
    "kind": "kind v0.33.0 go1.26.8 linux/amd64",
    "clusterctl": "v1.14.0",
    "kubectl": "Client Version: v1.34.1\nKustomize Version: v5.7.1",
    "helm": "v4.3.1+gdeadbee",
}
INFO = {"ServerVersion": "28.0.1", "MemTotal": 33331486720, "NCPU": 8, "DockerRootDir": "/", "CgroupVersion": "2"}
CONTAINERS = (
    ("dev-eks-a-cluster-control-plane", "exited", "kindest/node:v1.34.0", "dev-eks-a-cluster", "control-plane"),
    ("eksa_1700000000", "running", "tools:1", "", ""),
    ("web", "running", "nginx:1", "", ""),
)


def script(folder: Path, name: str, answers: Mapping[str, str | tuple[int, str, str]]) -> None:
    """A program that answers by its arguments: the first pattern of C(case) that matches decides. Unknown arguments fail.

    answers: pattern → standard output, or status, standard output and standard error.
    """
    lines = ["#!/bin/sh", f'printf "%s\\n" "{name} $*" >> {shlex.quote(str(folder / "calls"))}', 'case "$*" in']
    for pattern, answer in answers.items():
        status, output, errors = (0, answer, "") if isinstance(answer, str) else answer
        quoted = "*".join(shlex.quote(part) if part else "" for part in pattern.split("*"))
        lines.append(f"{quoted}) printf '%s\\n' {shlex.quote(output)}; printf '%s\\n' {shlex.quote(errors)} >&2; exit {status};;")
    lines += ["esac", 'echo "unexpected: $*" >&2', "exit 64", ""]
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / name
    place.write_text("\n".join(lines), encoding="utf-8")
    place.chmod(0o755)


def docker(folder: Path, info: Mapping[str, Any] = INFO, containers: tuple[tuple[str, ...], ...] = CONTAINERS) -> None:
    """A docker with a daemon and containers."""
    rows = "\n".join("\t".join(row) for row in containers)
    answers = {"version*": "28.0.1", "info*": json.dumps(dict(info)), "ps*": rows, "logs*": "one line of a log"}
    script(folder, "docker", answers)


def machine(folder: Path) -> dict[str, str]:
    """All tools. Returns the environment in which they are found."""
    docker(folder)
    for name, text in VERSIONS.items():
        script(folder, name, {"version*": text})
    return {"PATH": f"{folder}:/usr/bin:/bin"}


def calls(folder: Path) -> list[str]:
    """How the programs were called."""
    return (folder / "calls").read_text(encoding="utf-8").splitlines()
