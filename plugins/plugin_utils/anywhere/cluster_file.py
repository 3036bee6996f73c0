# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the file of a cluster for actions that need a valid cluster."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import Problem, SpecError
from .model import TINKERBELL, Cluster
from .validate import Validation, validate

Read = Callable[[str, str], str]
"""Returns the text of a file that an option names: path, name of the option. Raises C(SpecError)."""


def read_file(path: str, read: Read) -> str:
    """The text of the file. Raises C(SpecError)."""
    if not path:
        fix = "set it to the path of the file; for the playbook, in eks_anywhere_cluster_file"
        raise SpecError([Problem("input.missing_field", "cluster_file", "is empty", fix=fix)])
    return read(path, "cluster_file")


def read_cluster(path: str, read: Read) -> tuple[Cluster, Validation]:
    """The cluster of a valid file. Raises C(SpecError) with every error of the file."""
    found = validate(read_file(path, read))
    if found.errors or found.cluster is None:
        raise SpecError(found.errors)
    return found.cluster, found


def boot_address(found: Validation) -> str | None:
    """The address of the services that boot Bare Metal machines, None for other providers."""
    cluster = found.cluster
    document = found.documents.find(TINKERBELL, cluster.datacenter.name) if cluster is not None else None
    address = document.spec.get("tinkerbellIP") if document is not None else None
    return address if isinstance(address, str) else None
