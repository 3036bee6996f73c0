# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Validates the file of an EKS Anywhere cluster: reads it, and applies every rule, so that all problems are found at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import Problem, Problems
from ..rules import catalogue
from . import access_rules, cluster_rules, identity_rules, machine_rules, network_rules, provider_rules, references, tinkerbell_rules
from .documents import Documents, read
from .hardware import PATH as HARDWARE
from .hardware import check as check_hardware
from .model import Cluster
from .parse import cluster_of

SCOPES = ("file", "cluster")
"""C(file): all documents and the references between them. C(cluster): only the first Cluster, like the first check of EKS Anywhere."""


@dataclass(frozen=True)
class Validation:
    """What was found. cluster: None if there is none that can be read. problems: errors and warnings, sorted by line and path."""

    documents: Documents
    cluster: Cluster | None
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems because of which the file is refused."""
        return tuple(problem for problem in self.problems if is_error(problem))

    def rows(self) -> list[dict[str, Any]]:
        """Every problem as plain data, with its file (C(cluster) or C(hardware)), its line and its severity."""
        return [
            {**problem.plain(), "severity": catalogue()[problem.rule].severity, **self._place(problem.path)} for problem in self.problems
        ]

    def _place(self, path: str) -> dict[str, Any]:
        if not path.startswith(HARDWARE):
            return {"file": "cluster", "line": self.documents.line_of(path)}
        number = path.removeprefix(f"{HARDWARE}[").partition("]")[0]
        return {"file": "hardware", "line": int(number) if number.isdecimal() else 1}


def is_error(problem: Problem) -> bool:
    """Whether a problem refuses the file. Other problems are warnings."""
    return catalogue()[problem.rule].severity == "error"


def validate(text: str, scope: str = "file", *, allow_api_server_args: bool = False, hardware: str | None = None) -> Validation:
    """Validate a file. Reports every problem in the result, and raises nothing.

    scope: one of C(SCOPES). allow_api_server_args: whether C(API_SERVER_EXTRA_ARGS_ENABLED) is set for EKS Anywhere.
    hardware: the text of the CSV file with the machines of a Bare Metal cluster.
    """
    found = Problems()
    documents = read(text, found, only_cluster=scope == "cluster")
    warnings = [problem for problem in found if not is_error(problem)]
    # A value with a warning can break other rules, and they skip what has a problem.
    problems = Problems()
    problems.extend(problem for problem in found if is_error(problem))
    cluster = None if documents.cluster is None else cluster_of(documents.cluster)
    if cluster is not None:
        cluster_rules.check(cluster, problems)
        network_rules.check(cluster, problems)
        machine_rules.check(cluster, problems, allow_api_server_args=allow_api_server_args)
        access_rules.check(cluster, problems)
    if cluster is not None and scope == "file":
        references.check(documents, cluster, problems)
        provider_rules.check(documents, cluster, problems)
        tinkerbell_rules.check(documents, cluster, problems)
        identity_rules.check(documents, problems)
    if cluster is not None and hardware is not None:
        check_hardware(hardware, documents, cluster, problems)
    if cluster is not None:
        cluster_rules.check_support(cluster, problems)
    unique = {str(problem): problem for problem in (*warnings, *problems)}
    ordered = sorted(unique.values(), key=lambda one: (one.path.startswith(HARDWARE), documents.line_of(one.path) or 0, one.path, str(one)))
    return Validation(documents, cluster, tuple(ordered))
