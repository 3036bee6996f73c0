# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The preflight checks inside a run of create and upgrade: the same table, before the lock is taken. A failed check refuses the run.

A run that continues is not refused for what the run before it made: its containers, ports and addresses, and the memory that they use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import Problem, SpecError
from . import preflight
from .check import CAPI, FAILED, Check, Facts, Wanted
from .cluster_file import Read, boot_address, read_cluster
from .preflight_task import MODULE

COMMANDS = ("create", "upgrade")
PATH = "preflight"
_READING = ("tool_docker", "tool_kind", "tool_clusterctl", "tool_kubectl", "docker_daemon")
"""Checks without which a run cannot find out where the cluster stands."""

Call = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""Runs a module on the admin machine, by its name and options."""


@dataclass(frozen=True)
class Preflights:
    """The results of the checks. problem: why the machine could not be observed at all."""

    checks: tuple[Check, ...] = ()
    problem: str = ""

    @property
    def must_pass(self) -> bool:
        """Do checks fail without which no cluster can be read?"""
        return bool(self.problem) or any(one.name in _READING for one in self.failed)

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(one for one in self.checks if one.result == FAILED)

    def plain(self) -> list[dict[str, str]]:
        """The checks for the result of the task."""
        return [one.plain() for one in self.checks]

    def refuse(self) -> None:
        """Raise C(SpecError) with every check that failed."""
        found = [Problem("anywhere.preflight", PATH, self.problem, fix="correct it, and run again")] if self.problem else []
        for one in self.failed:
            fix = f"{one.cure}; to go on without the check, add {one.name} to eks_anywhere_skip_checks"
            found.append(Problem("anywhere.preflight", f"{PATH}.{one.name}", one.found, fix=fix))
        if found:
            raise SpecError(found)


def wanted(options: Mapping[str, Any], read: Read) -> Wanted:
    """What is checked for a run. The file of the cluster is valid."""
    cluster, found = read_cluster(options["cluster_file"], read)
    registries = None if options["registries"] is None else tuple(options["registries"])
    engine, work_dir = options.get("engine") or CAPI, options["work_dir"].rstrip("/")
    return Wanted(cluster, engine, work_dir, boot_address(found), registries, tuple(options["ports"]), False, bool(options.get("packages")))


def observe(want: Wanted, command: str, skip: list[str], call: Call) -> Preflights:
    """Observe the admin machine, and check it. Skipped checks connect to nothing."""
    if set(skip) >= set(preflight.NAMES):
        return Preflights()
    answer = call(MODULE, preflight.request(want, skip))
    if "machine" not in answer:
        return Preflights(problem=f"the admin machine could not be observed: {answer.get('msg') or 'no answer'}")
    facts = answer["machine"]
    return Preflights(preflight.check_all(facts, replace(want, is_continued=is_continued(facts, want, command)), skip))


def is_continued(facts: Facts, want: Wanted, command: str) -> bool:
    """Did a run of this work folder begin to make the cluster? Its ledger is written before its first step."""
    return command != "create" or bool(facts["files"].get(want.ledger) or facts["files"].get(want.kubeconfig))
