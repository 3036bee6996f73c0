# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read from systemd's journal."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import journald
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages


def test_the_journal_between_two_moments(programs: Any) -> None:
    entries: list[dict[str, Any]] = [
        {"__REALTIME_TIMESTAMP": str(int(t * 1e6)), "__MONOTONIC_TIMESTAMP": "5", "MESSAGE": f"at {t}"} for t in (1, 2, 3, 4)
    ]
    entries.insert(2, {"__REALTIME_TIMESTAMP": "2500000", "__MONOTONIC_TIMESTAMP": "5", "MESSAGE": [104, 105]})
    text = "\n".join(["no JSON", *map(json.dumps, entries[::-1])])
    programs("journalctl", f"cat <<'EOF'\n{text}\nEOF\n")
    assert journald.messages_between("a.service", 2, 3) == ["at 2", "hi", "at 3"]
    assert journald.messages_between("a.service", 0, None, lines=1) == ["at 4"]
    programs("journalctl", "exit 1\n")
    assert journald.messages_between("a.service", 0) == []


def of_systemd(moment: float, text: str) -> journald.Entry:
    return journald.Entry(moment, True, text)


EXIT = "kubelet.service: Main process exited, code=exited, status=1/FAILURE"
OLD_EXIT = "kubelet.service: main process exited, code=killed, status=9/KILL"


@pytest.mark.parametrize("text", [EXIT, OLD_EXIT], ids=["exit", "signal"])
def test_the_last_failure_of_a_loop(text: str, golden_message: GoldenMessages) -> None:
    found = [
        of_systemd(1, "Started kubelet."), journald.Entry(2, False, "unknown flag"), of_systemd(3, text),
        of_systemd(4, "kubelet.service: Scheduled restart job, restart counter is at 1."), of_systemd(5, "Started kubelet."),
    ]  # fmt: skip
    failure = journald.last_failure(found, 5)
    assert failure is not None and failure.lines == ["unknown flag"]
    golden_message(failure.how)
    assert journald.count_restarts(found) == 1
    assert journald.last_failure(found[:3], 5) is None and journald.last_failure([], 5) is None
