# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packages, their files, and what every package manager can do. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import os
import re
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Sequence

from .._node import programs
from .._node.errors import ApplyRefused
from .._node.host import Host, read_release_time
from .._node.redaction import redact_string
from .tree import digest_of

_PROXY_VARIABLES = ("http_proxy", "https_proxy", "no_proxy", "all_proxy")
_EVIDENCE_LINES = 12
_CAUSE = re.compile(r"\b(?:cannot|error|failed|no space)\b", re.IGNORECASE)


class Package(NamedTuple):
    """An installed package. C(version): as in a lock, with the epoch if it is not 0."""

    name: str
    version: str
    architecture: str

    def __str__(self) -> str:
        return f"{self.name} {self.version} {self.architecture}"


class PackageFile(NamedTuple):
    """A package file of a lock."""

    package: Package
    file: str
    url: str
    sha256: str
    size: int


class Result(NamedTuple):
    """How a package manager ended. C(output): what it printed, errors included."""

    status: int
    output: str


Run = Callable[[Sequence[str]], Result]
"""Runs a program with the proxies of the task."""


def runner(timeout: float, environment: Mapping[str, str]) -> Run:
    """A function that runs programs. environment: of the task, for its proxies."""
    variables = dict(programs.ENVIRONMENT)
    # Questions of packages, and of services that would be restarted, have no answer here.
    variables.update(DEBIAN_FRONTEND="noninteractive", NEEDRESTART_MODE="a")
    variables.update((name, value) for name, value in environment.items() if name.lower() in _PROXY_VARIABLES)
    # Packages write dates into configuration files, and useradd into /etc/shadow. With the date of the system, all builds write the same.
    released = read_release_time(Host())
    if released is not None:
        variables["SOURCE_DATE_EPOCH"] = str(released)

    def run(argv: Sequence[str]) -> Result:
        try:
            done = programs.execute(argv, timeout, variables, merge_errors=True)
        except OSError as error:
            return Result(programs.NOT_RUNNABLE, f"{argv[0]} cannot be run: {error.strerror or error}")
        return Result(done.status, done.output)

    return run


def output_of(run: Run, argv: Sequence[str], what: str) -> str:
    """What a program prints. Raises ApplyRefused with lines of it if it fails. what: what was tried, for the message."""
    done = run(argv)
    if done.status:
        lines = [line for line in done.output.strip().splitlines() if line.strip()]
        # Repositories may have URLs with passwords, which package managers print.
        evidence = [redact_string(line) for line in _evidence(lines)]
        raise ApplyRefused(f"{what} failed ({os.path.basename(argv[0])} exited {done.status})", evidence=evidence)
    return done.output


def _evidence(lines: Sequence[str]) -> List[str]:
    """The first lines that tell a cause, which dpkg prints long before it ends, and the last lines."""
    causes = [number for number, line in enumerate(lines) if _CAUSE.search(line)][: _EVIDENCE_LINES // 2]
    last = range(max(0, len(lines) - _EVIDENCE_LINES + len(causes)), len(lines))
    return [lines[number] for number in sorted({*causes, *last})]


def of_lock(entry: Mapping[str, Any]) -> PackageFile:
    """A package file of the document of a lock."""
    package = Package(entry["name"], entry["version"], entry["architecture"])
    return PackageFile(package, entry["file"], entry["url"], entry["sha256"], entry["size"])


def to_lock(found: PackageFile) -> Dict[str, Any]:
    """The entry of a package file in a lock."""
    rest = {name: value for name, value in found._asdict().items() if name != "package"}
    return {**found.package._asdict(), **rest}


def check_files(folder: str, files: Iterable[PackageFile]) -> List[str]:
    """What is wrong with package files in a directory."""
    problems = []
    for one in files:
        path = os.path.join(folder, one.file)
        try:
            is_right = os.path.getsize(path) == one.size and digest_of(path) == one.sha256
        except OSError as error:
            problems.append(f"{path}: {error.strerror or error}")
            continue
        if not is_right:
            problems.append(f"{path}: does not have the size and the digest of the lock")
    return problems


def write_files(files: Iterable[Mapping[str, Any]], folder: str) -> List[str]:
    """Write files of the plan (repositories and their keys) to a directory instead of their paths. Returns the new paths.

    Their contents name each other, so the paths in them are replaced, too.
    """
    moved = {one["path"]: os.path.join(folder, os.path.basename(one["path"])) for one in files}
    for one in files:
        content = one["content"]
        for old, new in moved.items():
            content = content.replace(old, new)
        with open(moved[one["path"]], "w", encoding="utf-8") as file:
            file.write(content)
    return list(moved.values())
