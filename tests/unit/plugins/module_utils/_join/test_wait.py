# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a wait lasts, what ends it, and its result, with a clock of the test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import wait as join
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import ApiResult, Evidence, Finding, NodeObject
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

TOP = Path(__file__).resolve().parents[5]
KEYS = {"node", "registered", "ready", "cause", "message", "fix", "evidence", "final", "waited", "kubelet_settings"}
CNI = Finding("no_network_plugin", "no network plugin", "look", ("Node: not ready",))
AWAY = Finding("endpoint_refused", "refused", "look")
CA = Finding("wrong_certificate_authority", "another authority", "correct it", ("x",), True)
FLAG = Finding("unknown_flag", "a flag", "take it out", (), True)


class Course:
    """A join as time goes by. `steps`: (seconds from which on, finding, whether it is registered, whether it is Ready)."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *steps: tuple[float, Finding | None, bool, bool]) -> None:
        self.steps = steps
        self.now = 0.0
        self.checks = 0
        self.step = steps[0] if steps else (0, None, False, False)
        monkeypatch.setattr(join.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(join.time, "sleep", self._sleep)
        monkeypatch.setattr(join.diagnosis, "diagnose", lambda _evidence: self.step[1])
        monkeypatch.setattr(join.diagnosis, "is_registered", lambda _evidence: self.step[2])
        monkeypatch.setattr(join.diagnosis, "is_ready", lambda _evidence: self.step[3])

    def _sleep(self, seconds: float) -> None:
        self.now += seconds

    def _collect(self) -> Evidence:
        self.checks += 1
        self.now += 0.1
        self.step = next(step for step in reversed(self.steps) if step[0] <= self.now)
        return Evidence(node_name="n")

    def wait(self, timeout: float, wait_for: str = "ready") -> dict[str, Any]:
        result = join.wait(join.Options(wait_for, timeout, self._collect)).plain()
        assert result.keys() == KEYS and self.checks < 1000
        assert (result["cause"] is None) is (result["message"] is None) is (result["fix"] is None)
        return result


@pytest.fixture
def course(monkeypatch: pytest.MonkeyPatch) -> Any:
    return lambda *steps: Course(monkeypatch, *steps)


def test_a_node_that_is_ready_costs_one_check(course: Any) -> None:
    found = course((0, None, True, True))
    result = found.wait(180)
    assert found.checks == 1 and result["ready"] and result["registered"] and result["node"] == "n" and result["waited"] == 0.1


def test_it_waits_for_causes_that_may_pass(course: Any) -> None:
    result = course((0, AWAY, False, False), (7, CNI, True, False), (30, None, True, True)).wait(180)
    assert result["cause"] is None and 30 <= result["waited"] < 31


def test_the_timeout(course: Any) -> None:
    result = course((0, CNI, True, False)).wait(12)
    assert (result["cause"], result["final"], result["evidence"]) == ("no_network_plugin", False, ["Node: not ready"])
    assert 12 <= result["waited"] < 13


def test_without_a_timeout_there_is_one_check(course: Any) -> None:
    for finding in (CNI, CA):
        found = course((0, finding, False, False))
        assert found.wait(0)["cause"] == finding.cause and found.checks == 1


def test_a_final_cause_ends_the_wait_when_it_is_stable(course: Any) -> None:
    result = course((0, CA, False, False)).wait(180)
    assert result["final"] and join.STABLE_FOR <= result["waited"] < join.STABLE_FOR + 1.5
    late = course((0, AWAY, False, False), (9.5, CA, False, False)).wait(10)
    assert late["cause"] == CA.cause and 9.5 + join.STABLE_FOR <= late["waited"] < 16, "it exceeds the timeout"


def test_a_final_cause_that_goes_away_does_not_end_the_wait(course: Any) -> None:
    assert course((0, CA, False, False), (3, AWAY, False, False), (5, CA, False, False), (8, None, True, True)).wait(180)["cause"] is None
    other = course((0, CA, False, False), (3, FLAG, False, False)).wait(180)
    assert other["cause"] == FLAG.cause and other["waited"] >= 3 + join.STABLE_FOR, "another cause must be stable itself"
    short = course((0, CA, False, False), (3, AWAY, False, False)).wait(2)
    assert short["cause"] == AWAY.cause and short["waited"] < 4, "the timeout is over"


def test_final_causes_that_alternate_do_not_keep_the_wait_open(course: Any) -> None:
    turns = [(float(moment), (CA, FLAG)[moment // 2 % 2], False, False) for moment in range(0, 60, 2)]
    result = course(*turns).wait(10)
    assert result["final"] and 10 <= result["waited"] < 10 + join.STABLE_FOR + 1


def test_with_wait_for_registered_a_registered_node_is_enough(course: Any) -> None:
    result = course((0, AWAY, False, False), (5, CNI, True, False)).wait(180, "registered")
    assert result["cause"] is None and result["registered"] and not result["ready"] and result["waited"] < 6
    assert course((0, CNI, False, False)).wait(3, "registered")["cause"] == CNI.cause, "the kubelet that registered it does not run"


def test_a_final_cause_counts_on_a_node_that_is_ready(course: Any) -> None:
    for wait_for in join.WAIT_FOR:
        found = course((0, FLAG, True, True))
        result = found.wait(180, wait_for)
        assert result["ready"] and result["cause"] == FLAG.cause and found.checks == 1


def test_an_unexpected_error_becomes_a_finding() -> None:
    def broken() -> Any:
        raise KeyError("http://u:cAnArY@h")

    result = join.wait(join.Options("ready", 0, broken)).plain()
    assert result.keys() == KEYS and result["cause"] == "check_failed" and not result["final"]
    assert mentions(result["message"], "KeyError") and "cAnArY" not in result["message"]


NOT_FOUND = ApiResult("answer", status=404, is_kubernetes=True)


@pytest.mark.parametrize(
    ("api", "finding", "certain"),
    [
        (ApiResult("answer", status=200, is_kubernetes=True, node=NodeObject("False")), CNI, False),
        (NOT_FOUND, None, True),
        (NOT_FOUND._replace(status=403), AWAY, True),
        (NOT_FOUND._replace(status=401), AWAY, True),
        (NOT_FOUND._replace(status=403, is_kubernetes=False), AWAY, False),
        (ApiResult("authority"), CA, True),
        (ApiResult("refused"), AWAY, False),
        (ApiResult("answer", status=503), AWAY, False),
        (None, FLAG, True),
        (None, AWAY, False),
    ],
)
def test_whether_a_node_certainly_never_joined(
    monkeypatch: pytest.MonkeyPatch, api: ApiResult | None, finding: Finding | None, certain: bool
) -> None:
    monkeypatch.setattr(join.diagnosis, "diagnose", lambda _evidence: finding)
    assert join.never_joined(lambda: Evidence(api=api)) is certain


def test_a_check_that_fails_proves_nothing() -> None:
    assert join.never_joined(lambda: 1 // 0) is False


def test_tls_and_http_are_imported_only_for_a_request(tmp_path: Path) -> None:
    """A wait for a healthy kubelet does not need them, and neither does a kubelet that does not run."""
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
