# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of one preflight check, and what the checks are about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from . import names
from .model import DOCKER, TINKERBELL, Cluster

OK, WARNING, FAILED, SKIPPED = "ok", "warning", "failed", "skipped"
RESULTS = (FAILED, WARNING, SKIPPED, OK)
"""Worst first. Only C(failed) stops a creation."""

CAPI, EKSCTL = "capi", "eksctl"
ENGINES = (CAPI, EKSCTL)

Facts = Mapping[str, Any]
"""What the module C(anywhere_machine_info) observed."""


@dataclass(frozen=True)
class Check:
    """A check with its result. found: what was observed. cure: what to do, C('') if nothing is to be done."""

    name: str
    result: str
    found: str
    cure: str = ""

    def plain(self) -> dict[str, str]:
        """The check as plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Wanted:
    """What is to be created. work_dir: the folder of the files on the admin machine. boot_address: of the services of Bare Metal.

    registries: hosts instead of the default ones. ports: TCP ports that must be free, in addition to the ports of the provider.
    is_continued: whether a run of this work folder began to make the cluster. has_packages: whether helm installs something. Both are
    None if that is not known.
    """

    cluster: Cluster
    engine: str
    work_dir: str
    boot_address: str | None = None
    registries: tuple[str, ...] | None = None
    ports: tuple[int, ...] = ()
    is_continued: bool | None = None
    has_packages: bool | None = None

    @property
    def is_docker(self) -> bool:
        """Are the machines containers of the admin machine?"""
        return self.cluster.provider == DOCKER

    @property
    def is_bare_metal(self) -> bool:
        """Does the admin machine boot the machines?"""
        return self.cluster.provider == TINKERBELL

    @property
    def kubeconfig(self) -> str:
        """The path of the kubeconfig of the cluster below the folder."""
        name = self.cluster.name
        return f"{name}/{names.kubeconfig_file(name)}"

    @property
    def ledger(self) -> str:
        """The path of the ledger of creations below the folder: a run that began has written it."""
        return f"{self.cluster.name}/ledger-create.json"


def unknown(name: str, what: str, cure: str = "") -> Check:
    """A check of something that could not be observed."""
    return Check(name, WARNING, f"{what} could not be determined", cure)
