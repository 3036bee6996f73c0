# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user data on the disk of a node, and what decides how it is checked, from the result of the module doctor_info."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..capacity import InstanceShape, instance_shape
from ..errors import Problem, SpecError
from ..formats import plain
from ..kubelet_fields import Version
from ..rules import catalogue
from .model import SourceText

Facts = Mapping[str, Any]
"""What doctor_info found on a node."""

HIDDEN = "********"
"""What doctor_info writes instead of a secret."""

USER_DATA = "/var/lib/cloud/instance/user-data.txt"
NODE_CONFIGS = "/etc/eks/nodeadm.d"
"""Where cloud-init stores the user data, and the directory from which nodeadm reads more NodeConfigs."""

_MINOR = re.compile(r"v?1\.(\d{1,3})(?:\.|\Z)")
_MAX_LINE = 200


@dataclass(frozen=True)
class NodeText:
    """User data, or one NodeConfig, on the disk of a node.

    is_redacted: whether C(HIDDEN) stands for values that may be secrets. is_alone: whether the node has no other text.
    """

    path: str
    text: str
    is_redacted: bool
    is_alone: bool = True


@dataclass(frozen=True)
class Machine:
    """What decides how the texts of a node are checked. None for a value that is unknown."""

    family: str | None = None
    version: Version = None
    instance: InstanceShape | None = None


def failure(result: Any) -> Problem | None:
    """Why there are no facts of a node: Ansible did not reach it, or the module failed. None if there are facts."""
    answer = plain.mapping(result)
    if isinstance(answer.get("node"), dict):
        return None
    rule = "doctor.unreachable" if answer.get("unreachable") is True else "doctor.failed"
    return Problem(rule, "", _reason(answer), fix=catalogue()[rule].advice)


def _reason(answer: Facts) -> str:
    """Why the module has no result. If Ansible did not understand its output, the last line of that says more."""
    outputs = (answer.get(name) for name in ("module_stderr", "module_stdout"))
    lines = [plain.text(line) for output in outputs if isinstance(output, str) for line in output.splitlines() if line.strip()]
    message = plain.text(answer.get("msg")).removeprefix("Task failed: ") or (
        "no reason given" if answer else "the module did not run on this host"
    )
    return f"{message}: {lines[-1][:_MAX_LINE]}" if lines else message


def texts(facts: Facts) -> list[NodeText]:
    """The user data, and the NodeConfigs in the directory of nodeadm, in the order in which nodeadm merges them. Empty ones are left
    out."""
    rows = [plain.mapping(facts, "user_data"), *plain.mappings(facts.get("node_configs"))]
    found = [row for row in rows if isinstance(row.get("text"), str) and row["text"]]
    return [NodeText(plain.text(row.get("path")), row["text"], row.get("redacted") is True, len(found) == 1) for row in found]


def reading_problems(facts: Facts) -> list[Problem]:
    """Why a text could not be read. Errors, if the node has no other text."""
    problems, rule = facts.get("problems"), "doctor.not_checked" if texts(facts) else "doctor.failed"
    named = (USER_DATA, NODE_CONFIGS, "user_data:", "node_configs:")
    found = [plain.text(problem) for problem in problems] if isinstance(problems, list) else []
    fix = catalogue()[rule].advice
    return [Problem(rule, "", problem, fix=fix) for problem in found if any(name in problem for name in named)]


def missing() -> Problem:
    """A node without a text."""
    message = f"has no user data: neither in {USER_DATA} nor in {NODE_CONFIGS}"
    return Problem("sources.no_user_data", "", message, fix="check how the node was set up, or remove it from the sources")


def source_text(host: str, result: Any) -> SourceText:
    """The user data of a node for a migration, which needs all of it."""
    problem, facts = failure(result), plain.mapping(result, "node")
    found = [text for text in texts(facts) if text.path == USER_DATA]
    if problem is None and not found:
        problem = next(iter(reading_problems(facts)), missing())
    if problem is None and found[0].is_redacted:
        message = f"{USER_DATA}: contains values that may be secrets, which were removed on the node"
        problem = Problem("doctor.not_checked", "", message, fix="migrate the file or the launch template from which it comes")
    if problem is not None:
        return SourceText(host, "", problem=problem)
    return SourceText(host, found[0].text, plain.text(facts.get("family")) or None)


def machine_of(facts: Facts) -> Machine:
    """The family, the version of kubelet and the instance type of a node."""
    version = minor(kubelet_version(facts))
    return Machine(plain.text(facts.get("family")) or None, None if version is None else (1, version), instance_of(facts))


def minor(version: Any) -> int | None:
    """The minor version of Kubernetes."""
    match = _MINOR.match(plain.text(version))
    return int(match[1]) if match else None


def kubelet_version(facts: Facts) -> str | None:
    """The version of kubelet."""
    return plain.text(plain.mapping(facts, "info", "versions", "kubelet").get("version")) or None


def instance_of(facts: Facts) -> InstanceShape | None:
    """The shape of the instance; None if the table of instance types does not have it."""
    try:
        return instance_shape(plain.text(plain.mapping(facts, "image").get("instance_type")))
    except SpecError:
        return None
