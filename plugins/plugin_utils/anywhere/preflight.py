# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The checks of an admin machine before a cluster is created: each with its result, what was found, and the cure.

C(check_all) decides from facts that were observed. It contacts nothing, and checks nothing twice that C(validate) checks in the file.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from . import preflight_leftovers, preflight_machine, preflight_network, preflight_tools
from .check import FAILED, RESULTS, SKIPPED, Check, Facts, Wanted
from .table import table

NAMES = (
    *preflight_tools.NAMES,
    "docker_daemon",
    "docker_memory",
    "memory",
    "disk_docker",
    "disk_work_dir",
    "inotify",
    "cgroup",
    "clock",
    "cluster_name",
    "bootstrap_cluster",
    "other_clusters",
    "tools_containers",
    "kubeconfig",
    "ports",
    "addresses",
    "registries",
)
"""The names of all checks, by which they can be skipped, in the order of the report."""

_NEED_DOCKER = {"docker_memory", "cluster_name", "bootstrap_cluster", "other_clusters", "tools_containers"}


def request(wanted: Wanted, skip: Collection[str]) -> dict[str, Any]:
    """The options with which the module C(anywhere_machine_info) observes what C(check_all) needs. Skipped checks connect to nothing."""
    return {
        "tools": list(preflight_tools.needed(wanted)),
        "work_dir": wanted.work_dir,
        "files": [wanted.kubeconfig, wanted.ledger],
        "addresses": [] if "addresses" in skip else list(preflight_network.addresses(wanted)),
        "registries": [] if "registries" in skip else list(preflight_network.registries(wanted)),
    }


def check_all(facts: Facts, wanted: Wanted, skip: Collection[str]) -> tuple[Check, ...]:
    """Every check in the order of C(NAMES). skip: the names of checks that are not made."""
    found = (
        *preflight_tools.check(facts, wanted),
        *preflight_machine.check(facts, wanted),
        *preflight_leftovers.check(facts, wanted),
        *preflight_network.check(facts, wanted),
    )
    return tuple(_decide(one, facts, skip) for one in found)


def _decide(check: Check, facts: Facts, skip: Collection[str]) -> Check:
    if check.name in skip:
        return Check(check.name, SKIPPED, "was skipped by name")
    if check.name in _NEED_DOCKER and facts["docker"]["problem"]:
        return replace(check, result=SKIPPED, found="Docker does not answer", cure="")
    return check


def failed(checks: Sequence[Check]) -> list[str]:
    """The names of the checks that failed."""
    return [one.name for one in checks if one.result == FAILED]


def counts(checks: Sequence[Check]) -> dict[str, int]:
    """The number of checks with each result."""
    return {result: sum(one.result == result for one in checks) for result in RESULTS}


def report(checks: Sequence[Check]) -> str:
    """A table of all checks, and the cures, worst first."""
    rows = [(one.name, one.result, one.found) for one in checks]
    ordered = sorted((one for one in checks if one.cure), key=lambda one: RESULTS.index(one.result))
    cures = [f"{one.name} ({one.result}): {one.cure}" for one in ordered]
    return "\n".join([*table(("CHECK", "RESULT", "FOUND"), rows), *(["", "What to do:"] if cures else []), *cures])
