# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The small programs that transactions run."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import service_commands
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.programs import ENVIRONMENT
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions


def run(command: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command.argv, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=900)


STATE = "ActiveState={}\nSubState={}\n"


@pytest.mark.parametrize(
    ("state", "status"),
    [
        (("active", "running"), 0),
        (("activating", "start-pre"), 0),
        (("activating", "auto-restart"), 1),
        (("failed", "failed"), 1),
        (("inactive", "dead"), 1),
    ],
)
def test_the_watch_fails_for_a_unit_that_does_not_stay(programs: Any, state: tuple[str, str], status: int) -> None:
    programs("systemctl", f"cat <<'EOF'\n{STATE.format('active', 'running')}\n{STATE.format(*state)}EOF\n")
    done = run(service_commands.watch(["a.service", "b.service"], None, 0.1))
    assert (done.returncode, done.stderr.strip()) == (status, f"b.service is {state[0]} ({state[1]})" if status else "")


def test_the_watch_fails_without_an_answer_of_systemd(programs: Any) -> None:
    programs("systemctl", "exit 4\n")
    done = run(service_commands.watch(["a.service"], None, 0.1))
    assert done.returncode == 1 and mentions(done.stderr, "systemctl show")


def test_the_watch_ends_with_a_healthy_kubelet(programs: Any, health: Any) -> None:
    url, statuses = health
    statuses[:] = [500, 200]
    programs("systemctl", f"cat <<'EOF'\n{STATE.format('active', 'running')}EOF\n")
    began = time.monotonic()
    command = service_commands.watch(["a.service"], url, 300)
    assert run(command).returncode == 0 and time.monotonic() - began < 100
    assert command.unless_boot and service_commands.describe(command) == "the watch over a.service" and command.argv[0] == sys.executable


@pytest.mark.parametrize(("enabled", "status"), [("", 0), ("kept.service", 1)])
def test_disabling_fails_only_for_a_unit_that_stays_enabled(programs: Any, tmp_path: Path, enabled: str, status: int) -> None:
    body = f'case "$2" in disable) [ "$3" = last.service ] && exit 0; exit 1 ;; is-enabled) [ "$3" = "{enabled}" ] ;; esac\n'
    calls = programs("systemctl", body)
    command = service_commands.disable(["gone.service", "kept.service", "last.service"])
    assert run(command).returncode == status
    assert "--quiet disable last.service" in calls.read_text().splitlines()
    assert command.optional and service_commands.describe(command) == "systemctl disable gone.service kept.service last.service"


def test_an_unknown_unit_does_not_keep_others_from_being_reset(programs: Any) -> None:
    calls = programs("systemctl", 'case "$*" in "--quiet reset-failed limited.service") exit 0 ;; *) exit 1 ;; esac\n')
    command = service_commands.reset_failed(["unknown.service", "limited.service"])
    assert run(command).returncode == 0 and command.optional
    assert [call for call in calls.read_text().splitlines() if "reset-failed" in call] == [
        "--quiet reset-failed unknown.service limited.service",
        "--quiet reset-failed unknown.service",
        "--quiet reset-failed limited.service",
    ]
    assert service_commands.describe(command) == "systemctl reset-failed unknown.service limited.service"


def test_units_that_systemd_knows_are_one_call(programs: Any) -> None:
    calls = programs("systemctl", "exit 0\n")
    assert run(service_commands.disable(["one.service", "two.service"])).returncode == 0
    assert calls.read_text().splitlines() == ["--quiet disable one.service two.service"]


def test_hostile_settings_reach_snap_as_words(programs: Any, tmp_path: Path) -> None:
    words = tmp_path / "words"
    programs("snap", f"printf '%s\\n' \"$@\" >{words}\n")
    hostile = "a b;$(touch /x)`id`'\"\\ *"
    assert run(service_commands.snap_set("kubelet-eks", {"args": hostile, "old": None})).returncode == 0
    assert words.read_text().splitlines() == ["set", "kubelet-eks", f"args={hostile}", "old!"]


def test_a_busy_snapd_is_asked_again_another_error_is_not(programs: Any) -> None:
    busy = 'error: snap "kubelet-eks" has "auto-refresh" change in progress'
    calls = programs("snap", f"[ $(wc -l <$0.calls 2>/dev/null || echo 0) -ge 2 ] && exit 0; echo >>$0.calls; echo '{busy}' >&2; exit 1\n")
    programs("sleep", "exit 0\n")
    assert run(service_commands.snap_set("kubelet-eks", {"a": "b"})).returncode == 0
    assert calls.read_text().splitlines().count("set kubelet-eks a=b") == 3 and "2" in calls.read_text().splitlines()
    os.unlink(calls)
    programs("snap", f"echo '{busy}' >&2; exit 1\n")
    done = run(service_commands.snap_set("kubelet-eks", {"a": "b"}))
    assert done.returncode == 1 and busy in done.stderr and calls.read_text().splitlines().count("set kubelet-eks a=b") == 8
    os.unlink(calls)
    programs("snap", "echo 'error-4711' >&2; exit 1\n")
    done = run(service_commands.snap_start("kubelet-eks"))
    assert done.returncode == 1 and "error-4711" in done.stderr and len(calls.read_text().splitlines()) == 1
