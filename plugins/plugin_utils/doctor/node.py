# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on one node, from the result of the module doctor_info."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..errors import SpecError
from ..formats import plain
from ..sources.node import Facts, failure, kubelet_version
from . import drift, observations, other_checks
from .generalize import generalize
from .intent import Described, intent
from .model import FAILED, NOT_JOINED, NOT_READY, READY, UNREACHABLE, Finding, NodeReport, Values, rule_of
from .observations import Observation

_UNKNOWN_RULE = "doctor.not_checked"


def node_report(name: str, result: Any, now: float, described: Described | None = None) -> NodeReport:
    """The report on the host C(name). It raises nothing.

    result: what the module returned, or what Ansible says about a host on which it did not run. now: seconds since the epoch.
    described: the variables of the host.
    """
    problem = failure(result)
    if problem is not None:
        state = UNREACHABLE if problem.rule == "doctor.unreachable" else FAILED
        return NodeReport(name, state, _findings([Observation(problem.rule, problem.message)], (name,)))
    facts = plain.mapping(result, "node")
    return NodeReport(
        name, _state(facts), _findings(_observations(facts, now, described or Described()), _names(name, facts)), _values(facts, now)
    )


def _state(facts: Facts) -> str:
    found = plain.mapping(facts, "join")
    if found.get("ready") is True:
        return READY
    return NOT_READY if found.get("registered") is True else NOT_JOINED


def _observations(facts: Facts, now: float, described: Described) -> Iterator[Observation]:
    checks: dict[str, Callable[[], Iterable[Observation]]] = {
        "join": lambda: other_checks.join(facts),
        "support": lambda: observations.support(facts, now),
        "certificates": lambda: observations.certificates(facts, now),
        "clock": lambda: observations.clock(facts),
        "disks": lambda: observations.disks(facts),
        "memory": lambda: observations.memory(facts),
        "failures": lambda: observations.failures(facts),
        "files": lambda: observations.files(facts),
        "settings": lambda: drift.observations(facts, intent(facts, described)),
        "image": lambda: other_checks.image(facts),
        "user_data": lambda: other_checks.user_data(facts),
    }
    for subject, check in checks.items():
        try:
            yield from list(check())
        except SpecError as error:
            more = f", and {len(error.problems) - 1} more" if len(error.problems) > 1 else ""
            yield Observation("doctor.not_checked", f"the variables of this host are invalid: {error.problems[0]}{more}")
        except Exception as error:  # reported as a finding: an answer that is not understood must not hide the others
            yield Observation("doctor.not_checked", f"{subject}: the result of the node has an unexpected form ({type(error).__name__})")
    problems = facts.get("problems")
    for problem in problems if isinstance(problems, list) else ():
        yield Observation("doctor.not_checked", plain.text(problem))


def _findings(found: Iterable[Observation], names: Iterable[str]) -> tuple[Finding, ...]:
    """The findings, worst first, each once."""
    names = tuple(names)
    findings = []
    for one in found:
        rule = rule_of(one.rule, _UNKNOWN_RULE)
        findings.append(Finding(rule, one.message, one.fix or rule.advice, one.general or generalize(one.message, names)))
    return tuple(sorted(dict.fromkeys(findings), key=lambda finding: finding.rank))


def _names(name: str, facts: Facts) -> tuple[str, ...]:
    info = plain.mapping(facts, "info")
    found = (name, info.get("hostname"), info.get("node_name"), plain.mapping(facts, "join").get("node"))
    return tuple(plain.text(one) for one in found)


def _values(facts: Facts, now: float) -> Values:
    image, info = plain.mapping(facts, "image"), plain.mapping(facts, "info")
    return Values(
        kubelet=kubelet_version(facts),
        containerd=plain.text(plain.mapping(info, "versions", "containerd").get("version")) or None,
        system=plain.text(plain.mapping(info, "os").get("name")) or None,
        image=plain.text(image.get("ami")) or None,
        instance=plain.text(image.get("instance")) or None,
        instance_type=plain.text(image.get("instance_type")) or None,
        support_days=observations.support_days(facts, now),
        certificate_days=observations.certificate_days(facts, now),
        disk_percent=observations.disk_percent(facts),
        clock_skew=plain.number(plain.mapping(facts, "clock").get("skew")),
    )
