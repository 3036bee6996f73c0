# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a wait lasts, what ends it, and what it answers with; with a clock of the test's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import wait as join
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import Finding

TOP = Path(__file__).resolve().parents[5]
KEYS = {"node", "registered", "ready", "cause", "message", "fix", "evidence", "final", "waited"}
CNI = Finding("no_network_plugin", "no network plugin", "look", ("Node: not ready",))
AWAY = Finding("endpoint_refused", "refused", "look")
CA = Finding("wrong_certificate_authority", "another authority", "correct it", ("x",), True)
FLAG = Finding("unknown_flag", "a flag", "take it out", (), True)


class Course:
    """What is found as time goes by: C(steps) are (seconds from which on, finding, registered, ready)."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *steps: tuple[float, Finding | None, bool, bool]) -> None:
        self.steps = steps
        self.now = 0.0
        self.looks = 0
        monkeypatch.setattr(join.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(join.time, "sleep", self._sleep)
        monkeypatch.setattr(join.diagnosis, "diagnose", lambda seen: seen["finding"])
        monkeypatch.setattr(join.diagnosis, "standing", lambda seen: seen["standing"])

    def _sleep(self, seconds: float) -> None:
        self.now += seconds

    def _look(self) -> dict[str, Any]:
        self.looks += 1
        self.now += 0.1
        _since, finding, registered, ready = next(step for step in reversed(self.steps) if step[0] <= self.now)
        return {"name": "n", "finding": finding, "standing": (registered, ready)}

    def wait(self, timeout: float, wait_for: str = "ready") -> dict[str, Any]:
        found: dict[str, Any] = join.wait(join.Options(wait_for, timeout, self._look))
        assert found.keys() == KEYS and self.looks < 1000
        assert (found["cause"] is None) is (found["message"] is None) is (found["fix"] is None)
        return found


@pytest.fixture
def course(monkeypatch: pytest.MonkeyPatch) -> Any:
    return lambda *steps: Course(monkeypatch, *steps)


def test_a_node_that_is_ready_costs_one_look(course: Any) -> None:
    found = course((0, None, True, True))
    result = found.wait(180)
    assert found.looks == 1 and result["ready"] and result["registered"] and result["node"] == "n" and result["waited"] == 0.1


def test_it_waits_for_what_may_come(course: Any) -> None:
    result = course((0, AWAY, False, False), (7, CNI, True, False), (30, None, True, True)).wait(180)
    assert result["cause"] is None and 30 <= result["waited"] < 31


def test_the_time_is_over(course: Any) -> None:
    result = course((0, CNI, True, False)).wait(12)
    assert (result["cause"], result["final"], result["evidence"]) == ("no_network_plugin", False, ["Node: not ready"])
    assert 12 <= result["waited"] < 13


def test_no_time_is_one_look(course: Any) -> None:
    for finding in (CNI, CA):
        found = course((0, finding, False, False))
        assert found.wait(0)["cause"] == finding.cause and found.looks == 1


def test_what_nothing_changes_ends_the_wait_when_it_has_settled(course: Any) -> None:
    result = course((0, CA, False, False)).wait(180)
    assert result["final"] and join.SETTLE <= result["waited"] < join.SETTLE + 1.5
    late = course((0, AWAY, False, False), (9.5, CA, False, False)).wait(10)
    assert late["cause"] == CA.cause and 9.5 + join.SETTLE <= late["waited"] < 16, "it lasts longer than it was asked to"


def test_what_passes_ends_nothing(course: Any) -> None:
    assert course((0, CA, False, False), (3, AWAY, False, False), (5, CA, False, False), (8, None, True, True)).wait(180)["cause"] is None
    other = course((0, CA, False, False), (3, FLAG, False, False)).wait(180)
    assert other["cause"] == FLAG.cause and other["waited"] >= 3 + join.SETTLE, "another cause settles anew"
    short = course((0, CA, False, False), (3, AWAY, False, False)).wait(2)
    assert short["cause"] == AWAY.cause and short["waited"] < 4, "it is not waited for any more"


def test_final_findings_that_take_turns_hold_no_wait_open(course: Any) -> None:
    turns = [(float(moment), (CA, FLAG)[moment // 2 % 2], False, False) for moment in range(0, 60, 2)]
    result = course(*turns).wait(10)
    assert result["final"] and 10 <= result["waited"] < 10 + join.SETTLE + 1


def test_registered_is_enough_for_who_asks_no_more(course: Any) -> None:
    result = course((0, AWAY, False, False), (5, CNI, True, False)).wait(180, "registered")
    assert result["cause"] is None and result["registered"] and not result["ready"] and result["waited"] < 6
    assert course((0, CNI, False, False)).wait(3, "registered")["cause"] == CNI.cause, "the kubelet that made it does not run"


def test_something_final_counts_on_a_node_that_is_ready(course: Any) -> None:
    for wait_for in join.WAIT_FOR:
        found = course((0, FLAG, True, True))
        result = found.wait(180, wait_for)
        assert result["ready"] and result["cause"] == FLAG.cause and found.looks == 1


def test_a_surprise_is_told_and_is_no_traceback() -> None:
    def broken() -> Any:
        raise KeyError("http://u:cAnArY@h")

    result = join.wait(join.Options("ready", 0, broken))
    assert result.keys() == KEYS and result["cause"] == "look_failed" and not result["final"]
    assert "KeyError" in result["message"] and "cAnArY" not in result["message"]


@pytest.mark.parametrize(
    ("node", "api", "finding", "certain"),
    [
        ({"ready": "False"}, {"kind": "answer", "status": 200}, CNI, False),
        (None, {"kind": "answer", "status": 404, "kubernetes": True}, None, True),
        (None, {"kind": "answer", "status": 403, "kubernetes": True}, AWAY, True),
        (None, {"kind": "answer", "status": 401, "kubernetes": True}, AWAY, True),
        (None, {"kind": "answer", "status": 403, "kubernetes": False}, AWAY, False),
        (None, {"kind": "authority"}, CA, True),
        (None, {"kind": "refused"}, AWAY, False),
        (None, {"kind": "answer", "status": 503}, AWAY, False),
        (None, None, FLAG, True),
        (None, None, AWAY, False),
    ],
)
def test_that_a_node_never_joined_has_to_be_certain(course: Any, node: Any, api: Any, finding: Any, certain: bool) -> None:
    course()
    assert join.never_joined(lambda: {"node": node, "api": api, "finding": finding}) is certain


def test_a_look_that_fails_is_not_certain_of_anything() -> None:
    assert join.never_joined(lambda: 1 // 0) is False


def test_tls_and_http_are_imported_when_somebody_is_asked(tmp_path: Path) -> None:
    """Whoever waits for a healthy kubelet pays for none of it, and a kubelet that does not run asks nobody."""
    link = tmp_path / "ansible_collections/nodebootstrap/eks"
    link.parent.mkdir(parents=True)
    link.symlink_to(TOP, target_is_directory=True)
    package = "ansible_collections.nodebootstrap.eks.plugins.module_utils"
    program = (
        f"import sys\nfrom {package}._engine import apply\nfirst = set(sys.modules)\n"
        f"from {package}._join import wait\nwait.wait(wait.Options())\nthen = set(sys.modules) - first\n"
        "assert not [name for name in first if '._join.' in name or 'kubeconfig' in name], first\n"
        "assert not {'ssl', '_ssl', 'http.client', 'urllib.parse', 'ipaddress', 'tempfile'} & then, then\n"
    )
    environment = {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1", "PATH": "/nowhere"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False, timeout=900)
    assert (done.returncode, done.stderr) == (0, "")
