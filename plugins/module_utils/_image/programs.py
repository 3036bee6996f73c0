# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs of a node: whether they exist and can run, and whether their versions fit. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import re
from typing import Callable, Iterator, Sequence

from .._node import containerd_config
from . import tree
from .model import ERROR, WARNING, Finding, Machine, Rule, minor_of

_DIRECTORIES = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/snap/bin")
_SNAP = "/snap/kubelet-eks/current/kubelet"
_CREDENTIAL_PROVIDER = "/etc/eks/image-credential-provider/ecr-credential-provider"
_RUN_BY_ROOT = ("kubelet", "containerd", "runc", "nodeadm", "aws-iam-authenticator")

_MAX_SKEW = 3
_CONTAINERD_1_UNTIL = 35
_MAJOR = re.compile(r"([0-9]+)\.")

# Bytes of an ELF header: its mark, and the processor.
_ELF, _PROCESSOR = b"\x7fELF", slice(18, 20)
_PROCESSORS = {b"\x3e\x00": "x86_64", b"\xb7\x00": "aarch64"}


def find(machine: Machine, name: str) -> str | None:
    """The path of a program, None if the machine does not have it."""
    return tree.first_of(machine.host, [f"{directory}/{name}" for directory in _DIRECTORIES])


def _find_kubelet(machine: Machine) -> str | None:
    return find(machine, "kubelet") or tree.first_of(machine.host, [_SNAP])


def _kubelet(machine: Machine) -> Iterator[Finding]:
    if not _find_kubelet(machine):
        yield Finding("/usr/bin/kubelet", "kubelet is not installed, so a node of the image cannot join", "install kubelet")


def _missing(names: Sequence[str], message: str, fix: str) -> Callable[[Machine], Iterator[Finding]]:
    """A check that reports programs that are not installed."""

    def check(machine: Machine) -> Iterator[Finding]:
        for name in names:
            if not find(machine, name):
                yield Finding(f"/usr/bin/{name}", message, fix)

    return check


def _nodeadm(machine: Machine) -> Iterator[Finding]:
    if machine.family == "al2023" and not find(machine, "nodeadm"):
        message = "nodeadm is not installed, so nothing reads the NodeConfig of the user data"
        yield Finding("/usr/bin/nodeadm", message, "install nodeadm and its units")


def _credential_provider(machine: Machine) -> Iterator[Finding]:
    is_needed = machine.family in ("al2", "al2023") and (machine.minor is None or machine.minor >= 27)
    if is_needed and not machine.host.exists(_CREDENTIAL_PROVIDER):
        message = "kubelet has no credential provider for ECR, so it cannot pull private images, such as that of the network plugin"
        yield Finding(_CREDENTIAL_PROVIDER, message, "install ecr-credential-provider")


def _authenticator(machine: Machine) -> Iterator[Finding]:
    if not find(machine, "aws-iam-authenticator") and not find(machine, "aws"):
        message = "neither the AWS CLI nor aws-iam-authenticator is installed, so kubelet cannot log in to the API server"
        yield Finding("/usr/bin/aws", message, "install the AWS CLI version 2, or aws-iam-authenticator")


def _not_executable(machine: Machine) -> Iterator[Finding]:
    for path in _own_programs(machine):
        mode = tree.mode(machine.host, path)
        if mode is not None and not mode & 0o100:
            yield Finding(path, f"root cannot run the program: its mode is {mode & 0o7777:04o}", "set the mode 0755")


def _writable(machine: Machine) -> Iterator[Finding]:
    for path in _own_programs(machine):
        mode = tree.mode(machine.host, path)
        if mode is not None and mode & 0o022:
            message = f"other users than root can replace the program, which root runs: its mode is {mode & 0o7777:04o}"
            yield Finding(path, message, "set the mode 0755")


def _own_programs(machine: Machine) -> Iterator[str]:
    paths = [find(machine, name) for name in _RUN_BY_ROOT]
    yield from (path for path in [*paths, _CREDENTIAL_PROVIDER] if path)


def _architecture(machine: Machine) -> Iterator[Finding]:
    shell = _processor(machine, "/usr/bin/bash") or _processor(machine, "/bin/sh")
    for path in _own_programs(machine):
        processor = _processor(machine, path)
        if processor and shell and processor != shell:
            names = [_PROCESSORS.get(code, "another processor") for code in (processor, shell)]
            message = f"the program is built for {names[0]}, and the system for {names[1]}"
            yield Finding(path, message, f"install the program for {names[1]}")


def _processor(machine: Machine, path: str) -> bytes | None:
    """The processor of a program. None if it is a script or does not exist."""
    header = machine.host.head(path, 20)
    return header[_PROCESSOR] if header.startswith(_ELF) and len(header) == 20 else None


def _skew(machine: Machine) -> Iterator[Finding]:
    kubelet = minor_of(machine.kubelet.version) if machine.kubelet else None
    cluster = machine.cluster_minor
    if kubelet is None or cluster is None or machine.kubelet is None:
        return
    problem = None
    if kubelet > cluster:
        problem = "must not be newer than the API server"
    elif cluster - kubelet > _MAX_SKEW:
        problem = f"must not be more than {_MAX_SKEW} minor versions older than the API server"
    if problem:
        message = f"kubelet {machine.kubelet.version} does not fit a cluster with Kubernetes 1.{cluster}: it {problem}"
        yield Finding(machine.kubelet.source, message, f"install kubelet 1.{cluster}")


def _containerd_version(machine: Machine) -> Iterator[Finding]:
    minor, containerd = machine.minor, machine.containerd
    if minor is not None and minor > _CONTAINERD_1_UNTIL and containerd is not None and _major(containerd.version) == 1:
        message = f"Kubernetes 1.{minor} does not support containerd {containerd.version}"
        yield Finding(containerd.source, message, "install containerd 2")


def _major(version: str) -> int | None:
    match = _MAJOR.match(version)
    return int(match.group(1)) if match else None


def _containerd_config(machine: Machine) -> Iterator[Finding]:
    config = containerd_config.read(machine.host, 0)
    if not machine.host.exists(config.path):
        return
    if config.settings is None:
        yield Finding(config.path, "the file cannot be parsed, so containerd does not start", "correct the file, or remove it")
        return
    version, containerd = config.settings.get("version"), machine.containerd
    if version == 3 and containerd is not None and _major(containerd.version) == 1:
        message = f"the file has the format of containerd 2 (version = 3), and containerd {containerd.version} does not start with it"
        yield Finding(config.path, message, "write the file with version = 2, or install containerd 2")


def _no_cri(machine: Machine) -> Iterator[Finding]:
    config = containerd_config.read(machine.host, 0)
    disabled = (config.settings or {}).get("disabled_plugins")
    # nodeadm and bootstrap.sh write the file when a node boots; on a node it counts.
    is_written_later = machine.is_image and bool(machine.family == "al2023" or machine.host.exists("/etc/eks/bootstrap.sh"))
    if isinstance(disabled, list) and not is_written_later and any("cri" in str(name).split(".") for name in disabled):
        message = "containerd runs without its CRI plugin, so kubelet has no container runtime"
        yield Finding(config.path, message, "remove cri from disabled_plugins")


_RUNTIME = _missing(("containerd", "runc"), "the program is not installed, so kubelet cannot start pods", "install containerd and runc")
_IPTABLES = _missing(
    ("iptables",), "iptables is not installed: the unit of kubelet and kube-proxy need it", "install iptables, on new systems iptables-nft"
)
_UNPIGZ = _missing(("unpigz",), "without unpigz, containerd unpacks images with one processor, so that pods start later", "install pigz")

RULES = (
    Rule("image.missing_kubelet", ERROR, _kubelet),
    Rule("image.missing_runtime", ERROR, _RUNTIME),
    Rule("image.missing_nodeadm", ERROR, _nodeadm),
    Rule("image.missing_credential_provider", ERROR, _credential_provider),
    Rule("image.missing_authenticator", ERROR, _authenticator),
    Rule("image.missing_iptables", ERROR, _IPTABLES),
    Rule("image.missing_unpigz", WARNING, _UNPIGZ),
    Rule("image.not_executable", ERROR, _not_executable),
    Rule("image.writable_program", ERROR, _writable),
    Rule("image.wrong_architecture", ERROR, _architecture),
    Rule("image.kubelet_version", ERROR, _skew),
    Rule("image.containerd_version", ERROR, _containerd_version),
    Rule("image.containerd_config", ERROR, _containerd_config),
    Rule("image.no_cri_plugin", ERROR, _no_cri),
)
