# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The packages of an image, and the files that make package managers read more repositories.

Source of the lists: install-worker.sh of amazon-eks-ami (July 2026), and the images that Canonical builds for EKS.
"""

from __future__ import annotations

import configparser
import io
import re
from collections.abc import Iterator

from ..artifacts.model import File
from .model import Builder, Image, Repository

_COMMON = ("chrony", "ethtool", "ipvsadm", "jq", "mdadm", "pigz", "socat", "unzip", "wget", "xfsprogs")
_RPM = (*_COMMON, "conntrack-tools", "nfs-utils", "nftables", "tar")
_AMAZON_LINUX_2023 = (
    "amazon-ssm-agent",
    "aws-cfn-bootstrap",
    "awscli-2",
    "ec2-instance-connect",
    "iptables-nft",
    "python3-dnf-plugin-versionlock",
)
_RHEL = ("iptables-nft", "python3-dnf-plugin-versionlock")
_AMAZON_LINUX_2 = (
    "amazon-ssm-agent",
    "aws-cfn-bootstrap",
    "awscli",
    "ec2-instance-connect",
    "iptables",
    "yum-plugin-versionlock",
)
_UBUNTU = (*_COMMON, "ca-certificates", "conntrack", "curl", "ipset", "iptables", "nfs-common")
_RUNTIME = ("containerd", "runc")
"""Packages that a program replaces. Their version is held, because kubelet is tested with it."""

_APT_PIN = re.compile(r"(?P<name>[^=]+)=(?P<version>.+)")
_RPM_PIN = re.compile(r"(?P<name>.+?)-(?P<version>[0-9][^-]*(-[^-]+)?)")


def packages(image: Image, builder: Builder) -> list[str]:
    """What the package manager installs: names, and names with versions. A package that the user pins is not listed twice."""
    pins = {pin["name"] for pin in map(_pin_of(image).fullmatch, image.packages) if pin}
    names = {
        "ubuntu": _UBUNTU,
        "al2": (*_RPM, *_AMAZON_LINUX_2),
        "al2023": (*_RPM, *(_AMAZON_LINUX_2023 if builder.is_amazon_linux else _RHEL)),
    }[image.family]
    return sorted({*names, *_runtime(image, builder), *image.packages} - pins)


def held(image: Image, builder: Builder) -> list[str]:
    """The names of the packages that keep their version: the container runtime, and what the user pins."""
    pins = [pin["name"] for pin in map(_pin_of(image).fullmatch, image.packages) if pin]
    return sorted({*pins, *_runtime(image, builder)})


def _runtime(image: Image, builder: Builder) -> list[str]:
    # The package of containerd contains runc on RHEL and its relatives, and has several names.
    has_packages = image.family != "al2023" or builder.is_amazon_linux
    return [name for name in _RUNTIME if name not in image.programs] if has_packages else []


def _pin_of(image: Image) -> re.Pattern[str]:
    return _APT_PIN if image.family == "ubuntu" else _RPM_PIN


def repository_files(image: Image) -> Iterator[File]:
    """The keys and the files of the repositories."""
    for repository in image.repositories:
        yield from _apt(repository) if image.family == "ubuntu" else _rpm(repository)


def _apt(repository: Repository) -> Iterator[File]:
    key = f"/etc/apt/keyrings/{repository.name}.asc"
    fields = {"Types": "deb", "URIs": repository.url, "Suites": repository.suite or "./"}
    if repository.suite:
        fields["Components"] = " ".join(repository.components)
    if repository.key:
        yield File(key, repository.key.strip() + "\n")
    fields |= {"Signed-By": key} if repository.key else {"Trusted": "yes"}
    # No value contains a line break or begins with a blank (fields.py).
    yield File(f"/etc/apt/sources.list.d/{repository.name}.sources", "".join(f"{name}: {value}\n" for name, value in fields.items()))


def _rpm(repository: Repository) -> Iterator[File]:
    key = f"/etc/pki/rpm-gpg/RPM-GPG-KEY-{repository.name}"
    fields = {"name": repository.name, "baseurl": repository.url, "enabled": "1", "gpgcheck": "1" if repository.key else "0"}
    if repository.key:
        yield File(key, repository.key.strip() + "\n")
        fields["gpgkey"] = f"file://{key}"
    parser = configparser.RawConfigParser()
    parser[repository.name] = fields
    text = io.StringIO()
    parser.write(text, space_around_delimiters=False)
    yield File(f"/etc/yum.repos.d/{repository.name}.repo", text.getvalue())
