# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks an image or a node with every rule. Reads only. Standard library, Python 3.7 and newer."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, Collection, Dict, List, NamedTuple, Tuple

from .._node.host import Host, read_system
from . import audit, boot, clock, disk, kernel, kernel_modules, leftovers, login, programs
from .model import Finding, Machine, Rule, read_machine

_SUBJECTS = (leftovers, kernel, kernel_modules, programs, boot, clock, audit, login, disk)
RULES: Tuple[Rule, ...] = tuple(rule for subject in _SUBJECTS for rule in subject.RULES)


class Verification(NamedTuple):
    """C(findings): of the rules that were checked. C(rules): their ids. C(problems): what could not be read.

    C(system): C(id) and C(version_id) of the operating system, and C(architecture) of the machine.
    """

    findings: List[Dict[str, Any]]
    rules: List[str]
    problems: List[str]
    family: str
    system: Dict[str, str]


def unknown_rules(ids: Collection[str]) -> List[str]:
    """A text for each id that no rule has, with the most similar one."""
    # All ids begin with the same word, which says nothing about how similar they are.
    known = {rule.id.partition(".")[2]: rule.id for rule in RULES}
    found = []
    for one in sorted(set(ids) - set(known.values())):
        similar = get_close_matches(one.rpartition(".")[2], known, 1)
        found.append(f"{one} is not a rule of image_verify" + (f", did you mean {known[similar[0]]}?" if similar else ""))
    return found


def verify(host: Host, profile: str, kubernetes_version: str | None = None, ignore: Collection[str] = ()) -> Verification:
    """The findings, errors first."""
    machine = read_machine(host, profile, kubernetes_version)
    rules = [rule for rule in RULES if profile in rule.profiles and rule.id not in ignore]
    findings = [_describe(rule, finding) for rule in rules for finding in _check(rule, machine)]
    findings.sort(key=lambda finding: str(finding["severity"]))
    return Verification(findings, [rule.id for rule in rules], host.problems, machine.family, read_system(host))


def _check(rule: Rule, machine: Machine) -> List[Finding]:
    """The findings of a rule. An unexpected error must not hide those of the other rules."""
    try:
        return list(rule.check(machine))
    except Exception as error:  # reported as a problem
        machine.host.report(f"{rule.id} could not be checked: {type(error).__name__}: {error}")
        return []


def _describe(rule: Rule, finding: Finding) -> Dict[str, Any]:
    return {"rule": rule.id, "severity": rule.severity, **finding._asdict()}
