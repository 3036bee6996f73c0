# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How programs of the node are run."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import programs as runner
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages


def test_programs_get_no_environment_of_the_caller_and_end_in_time(
    programs: Any, monkeypatch: pytest.MonkeyPatch, golden_message: GoldenMessages
) -> None:
    monkeypatch.setenv("LD_PRELOAD_CANARY", "1")
    programs("show", "env; exec cat\n")
    status, output, _errors = runner.run(["show"])
    assert status == 0 and "CANARY" not in output and "LC_ALL=C\n" in output
    assert runner.run(["no-such-program"])[0] == 127
    programs("hang", "exec sleep 60\n")
    with pytest.raises(runner.ProgramTimedOut) as caught:
        runner.run(["hang"], 0.2)
    golden_message(caught.value)


def test_everything_that_a_program_started_ends_with_it(programs: Any, tmp_path: Path) -> None:
    sign = tmp_path / "sign"
    programs("parent", f"(while :; do echo >{sign}; sleep 0.05; done) &\nwait\n")
    with pytest.raises(runner.ProgramTimedOut):
        runner.run(["parent"], 3)
    assert sign.exists(), "the program has not even started"
    sign.unlink()
    time.sleep(0.5)
    assert not sign.exists()


def test_output_and_errors_in_the_order_of_writing(programs: Any) -> None:
    programs("both", "echo one; echo two >&2; echo three; exit 4\n")
    assert runner.run(["both"]) == (4, "one\nthree\n", "two\n")
    assert runner.execute(["both"], merge_errors=True) == (4, "one\ntwo\nthree\n", "")
    with pytest.raises(FileNotFoundError):
        runner.execute(["no-such-program"])


def test_a_program_that_prints_for_ever_or_hangs() -> None:
    began = time.monotonic()
    assert runner.first_lines(["sh", "-c", "yes line"], 5, 60, 10**6) == [b"line\n"] * 5
    assert sum(map(len, runner.first_lines(["sh", "-c", "yes line"], 10**6, 60, 1000))) <= 1000
    assert runner.first_lines(["sh", "-c", "echo first; exec sleep 60"], 5, 2.0, 1000) == [b"first\n"]
    assert runner.first_lines(["/no/such/journalctl"], 5, 60, 1000) == []
    assert time.monotonic() - began < 30
