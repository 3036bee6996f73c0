# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of all actions on live nodes, and the selection of phases by options and tags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..errors import Problem, Problems, SpecError

PHASES = ("preflight", "configure", "validate", "start", "verify")
"""The phases, in the order of a run."""

WAIT_FOR = ("healthy", "registered", "ready")

WAIT_TIMEOUT = 300
"""Seconds: the default of C(wait_timeout). A first boot can take minutes, and a node that cannot join fails much earlier."""

OPTIONS: dict[str, Any] = {
    "cluster": {"type": "raw", "required": True},
    "node_group": {"type": "raw", "required": True},
    "files_dir": {"type": "path", "default": "."},
    "state": {"type": "str", "default": "present", "choices": ["present", "absent"]},
    "restart": {"type": "str", "default": "when_changed", "choices": ["when_changed", "never"]},
    "take_over": {"type": "bool", "default": False},
    "reconcile": {"type": "bool", "default": False},
    "wait_for": {"type": "str", "default": "healthy", "choices": list(WAIT_FOR)},
    "wait_timeout": {"type": "int", "default": WAIT_TIMEOUT},
    "phases": {"type": "list", "elements": "str", "choices": list(PHASES)},
}
"""Argument spec for Ansible; documented in plugins/doc_fragments/live.py."""

LINUX_ONLY: dict[str, Any] = {
    "drift": {"type": "str", "choices": ["repair", "report", "ignore"]},
    "lock_timeout": {"type": "int"},
}
"""Options that other actions refuse if a task sets them."""

_WITHOUT = {
    "drift": "the action always compares the node with the node group, and changes what differs",
    "lock_timeout": "a run does not wait for another run on the same node",
}


COLLECTIONS = {"ansible.windows": ">=3.0.0", "kubernetes.core": ">=5.0.0"}
"""Other collections that some nodes need, with their versions. galaxy.yml does not list them: most users need none."""

_NEEDED_FOR = {
    "ansible.windows": "live Windows nodes need it",
    "kubernetes.core": "reconcile needs it to change labels and taints of registered nodes",
}


def with_missing_fields_together(error: SpecError) -> SpecError:
    """C(error), for a role: a role that gets C(name) and C(region) of the cluster reads the other fields from EKS."""
    missing = [problem for problem in error.problems if problem.rule == "cluster.missing_field"]
    if not any(problem.path == "cluster.endpoint" for problem in missing):
        return error
    others = [problem for problem in error.problems if problem not in missing]
    if any(problem.rule == "input.unknown_field" and problem.path.startswith("cluster.") for problem in others):
        # With the right name of this field, the role may find the missing ones.
        return SpecError(others)
    message = f"has no {', '.join(problem.path.removeprefix('cluster.') for problem in missing)}"
    fix = "set name and region, so that the role reads the other fields from EKS, or copy them from `aws eks describe-cluster`"
    return SpecError([*others, Problem("cluster.missing_field", "cluster", message, fix=fix)])


def check_collections(needed: Iterable[str], is_installed: Callable[[str], bool]) -> None:
    """Raise C(SpecError) for collections of C(COLLECTIONS) that are not installed on the controller."""
    problems = Problems()
    for name in needed:
        if not is_installed(name):
            fix = f"ansible-galaxy collection install '{name}:{COLLECTIONS[name]}'"
            problems.add("live.missing_collection", name, f"is not installed on the controller, and {_NEEDED_FOR[name]}", fix=fix)
    problems.raise_any()


def check_options(options: Mapping[str, Any], system: str, states: tuple[str, ...] = WAIT_FOR) -> None:
    """Raise C(SpecError) for options that are not possible on this operating system. states: the possible values of C(wait_for)."""
    problems = Problems()
    for name, reason in _WITHOUT.items() if states != WAIT_FOR else ():
        if name in options and options[name] is not None:
            fix = f"remove it, or set it (in roles: eks_node_{name}) only for al2, al2023 and ubuntu"
            problems.add("live.linux_only", name, f"is not possible on {system}: {reason}", value=options[name], fix=fix)
    if options["wait_for"] not in states:
        problems.add(
            "live.wait_for",
            "wait_for",
            f"is not possible on {system}: the node cannot ask its cluster",
            value=options["wait_for"],
            allowed=", ".join(states),
            fix=f"set wait_for (in roles: eks_node_wait_for) to {states[-1]} for {system}, or remove it",
        )
    if options["wait_timeout"] < 0:
        problems.add(
            "live.wait_timeout",
            "wait_timeout",
            "is not a number of seconds",
            value=options["wait_timeout"],
            allowed="0 (check once) or more",
        )
    problems.raise_any()


def choose_phases(asked: Sequence[str] | None, run_tags: Iterable[str], skip_tags: Iterable[str]) -> tuple[str, ...]:
    """Return the phases to run.

    asked: what the task says; it decides alone. Otherwise the tags of the run do: tags that name phases select them, a
    run that names none means all of them, and what is skipped is taken off.
    """
    if asked:
        return tuple(phase for phase in PHASES if phase in asked)
    wanted, unwanted = set(run_tags), set(skip_tags)
    named = [phase for phase in PHASES if phase in wanted]
    return tuple(phase for phase in named or PHASES if phase not in unwanted)
