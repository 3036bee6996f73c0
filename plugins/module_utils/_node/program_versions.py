# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The versions of kubelet and containerd. Standard library, Python 3.7 and newer.

The program itself is asked first: a file of the image says which version was installed when the image was built, and stays the same when
the program is replaced.
"""

from __future__ import annotations

import re
from typing import Iterable, NamedTuple, Sequence

from .host import Host

_SNAP = "/snap/kubelet-eks/current"
_VERSION = re.compile(r"(?<![\w.])v?([0-9]+\.[0-9]+(?:\.[0-9]+)?[0-9A-Za-z.+~-]*)")


class ProgramVersion(NamedTuple):
    """The version of a program, without a leading V(v). C(source): the program with its argument, or the file that says it."""

    version: str
    source: str


class _Program(NamedTuple):
    """C(name): as the program calls itself in its output. C(paths): of the program. C(files): of the image, which contain the version."""

    name: str
    paths: Sequence[str]
    files: Sequence[str]


_KUBELET = _Program(
    "Kubernetes",
    ("/usr/bin/kubelet", f"{_SNAP}/kubelet", "/usr/local/bin/kubelet"),
    ("/etc/eks/kubelet-version.txt", f"{_SNAP}/meta/snap.yaml"),
)
_CONTAINERD = _Program("containerd", ("/usr/bin/containerd", "/usr/local/bin/containerd"), ("/etc/eks/containerd-version.txt",))


def of_kubelet(host: Host, pid: int = 0, started_from: Iterable[str] = ()) -> ProgramVersion | None:
    """The version of kubelet. C(pid): of a running kubelet. C(started_from): paths of the program in its unit, which come first."""
    return _find(host, _KUBELET._replace(paths=(*started_from, *_KUBELET.paths, *([f"/proc/{pid}/exe"] if pid else []))))


def of_containerd(host: Host) -> ProgramVersion | None:
    """The version of containerd."""
    return _find(host, _CONTAINERD)


def _find(host: Host, program: _Program) -> ProgramVersion | None:
    for path in dict.fromkeys(program.paths):
        output = (host.run(path, "--version") or "") if host.exists(path) else ""
        match = _VERSION.search(output) if program.name in output else None
        if match:
            return ProgramVersion(match.group(1), f"{path} --version")
    for path in program.files:
        match = _VERSION.search(_line_with_version(host.text(path) or ""))
        if match:
            return ProgramVersion(match.group(1), path)
    return None


def _line_with_version(text: str) -> str:
    """The field C(version) of a file in YAML; otherwise the whole text."""
    return next((line for line in text.splitlines() if line.startswith("version:")), text)
