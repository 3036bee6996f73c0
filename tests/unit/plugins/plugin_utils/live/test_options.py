# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every option has an effect or is refused on every operating system. A refused option contacts no node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import resolve
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live import apply, bottlerocket, options, report, windows
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live.options import PHASES
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.live.read_options import ReadOptions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

Apply = Callable[[dict[str, Any]], dict[str, Any]]


class Contacted(Exception):
    """The node was asked to run something."""


def contact(*_options: Any) -> Any:
    raise Contacted


def say(_line: str) -> None:
    """Print nothing."""


def clock() -> float:
    return 0.0


def pause(_seconds: float) -> None:
    """Wait for no time."""


LINUX = apply.Node("node", contact, say, clock, pause, str, "2.19.1")
WINDOWS = windows.Node("node", contact, lambda name: name, say, clock, pause)
BOTTLEROCKET = bottlerocket.Instance("node", contact, "transaction", say, clock)
SYSTEMS: dict[str, tuple[Apply, dict[str, Any], tuple[str, ...]]] = {
    "al2": (lambda given: apply.apply(LINUX, given, PHASES), apply.OPTIONS, options.WAIT_FOR),
    "al2023": (lambda given: apply.apply(LINUX, given, PHASES), apply.OPTIONS, options.WAIT_FOR),
    "ubuntu": (lambda given: apply.apply(LINUX, given, PHASES), apply.OPTIONS, options.WAIT_FOR),
    "windows": (lambda given: windows.apply(WINDOWS, given, PHASES), windows.OPTIONS, ("healthy",)),
    "bottlerocket": (lambda given: bottlerocket.apply(BOTTLEROCKET, given, PHASES), bottlerocket.OPTIONS, ("healthy",)),
}
"""Family → its action, the options of the action, and the states that it can wait for."""


def apply_with(family: str, **changed: Any) -> dict[str, Any]:
    """Run the action of a family with its defaults and C(changed)."""
    run, known, _states = SYSTEMS[family]
    given = {name: option.get("default") for name, option in known.items()}
    given |= {"cluster": COMPLETE, "node_group": {"name": "web", "family": family, "max_pods": 20}}
    return run(given | {"instance_id": "i-0123456789abcdef0"} | changed)


@pytest.mark.parametrize("family", SYSTEMS)
def test_the_defaults_reach_the_node(family: str) -> None:
    with pytest.raises(Contacted):
        apply_with(family)


@pytest.mark.parametrize("wait_for", options.WAIT_FOR)
@pytest.mark.parametrize("family", SYSTEMS)
def test_a_state_that_cannot_be_waited_for_is_refused_before_any_contact(family: str, wait_for: str) -> None:
    possible = wait_for in SYSTEMS[family][2]
    with pytest.raises(Contacted if possible else SpecError) as caught:
        apply_with(family, wait_for=wait_for)
    if isinstance(caught.value, SpecError):
        assert [(problem.rule, problem.path) for problem in caught.value.problems] == [("live.wait_for", "wait_for")]


@pytest.mark.parametrize("name", options.LINUX_ONLY)
@pytest.mark.parametrize("family", SYSTEMS)
def test_options_that_have_no_effect_are_refused_before_any_contact(family: str, name: str) -> None:
    is_linux = SYSTEMS[family][2] == options.WAIT_FOR
    with pytest.raises(Contacted if is_linux else SpecError) as caught:
        apply_with(family, **{name: {"drift": "ignore", "lock_timeout": 0}[name]})
    if isinstance(caught.value, SpecError):
        assert [(problem.rule, problem.path) for problem in caught.value.problems] == [("live.linux_only", name)]


@pytest.mark.parametrize("family", SYSTEMS)
def test_a_negative_timeout_is_refused_before_any_contact(family: str) -> None:
    with pytest.raises(SpecError) as caught:
        apply_with(family, wait_timeout=-1)
    assert [(problem.rule, problem.path) for problem in caught.value.problems] == [("live.wait_timeout", "wait_timeout")]
    with pytest.raises(Contacted):
        apply_with(family, wait_timeout=0)


@pytest.mark.parametrize("family", ["windows", "bottlerocket"])
def test_both_problems_of_a_wait_are_reported(family: str) -> None:
    with pytest.raises(SpecError) as caught:
        apply_with(family, wait_for="ready", wait_timeout=-1)
    assert [problem.rule for problem in caught.value.problems] == ["live.wait_for", "live.wait_timeout"]


READ_BY_THE_ADAPTER = {"files_dir", "phases"}
WELL = {"problem": "", "actions": [], "restarted": [], "recovered": None, "warnings": [], "missing": [], "registration": None}


@pytest.mark.parametrize("system", ["linux", "windows"])
def test_a_run_ignores_no_option(system: str) -> None:
    """The same check of Bottlerocket: tests/oracle/test_bottlerocket_live.py."""
    family = {"linux": "al2023", "windows": "windows"}[system]
    known = SYSTEMS[family][1]
    given = ReadOptions({name: option.get("default") for name, option in known.items()})
    given |= {"cluster": COMPLETE, "node_group": {"family": family, "max_pods": 20}}
    if system == "linux":
        result = apply.apply(apply.Node("node", lambda *_call: {"healthy": True}, say, clock, pause, str, "2.19.1"), given, PHASES)
    else:
        answer = {"changed": False, "result": WELL}
        result = windows.apply(windows.Node("node", lambda *_call: answer, lambda name: name, say, clock, pause), given, PHASES)
    assert result["healthy"] is True
    assert known.keys() - given.read == READ_BY_THE_ADAPTER


@pytest.mark.parametrize("family", SYSTEMS)
def test_a_skipped_check_is_one_warning_without_the_name_of_the_group(family: str) -> None:
    """Ansible shows equal warnings of several hosts once in a run."""
    cluster = {name: value for name, value in COMPLETE.items() if name != "kubernetes_version"}
    spec, _unused = resolve(cluster, {"name": "web", "family": family, "max_pods": 20})
    found = report.warnings([], spec.unchecked)
    assert len(found) == 1
    assert "web" not in found[0]
