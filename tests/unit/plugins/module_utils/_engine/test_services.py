# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemd, snapd and kubelet say, and the small programs that transactions carry."""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import services
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import Refused

SHOWN = """Id=containerd.service
LoadState=loaded
ActiveState=active
SubState=running
UnitFileState=enabled
MainPID=17

MainPID=0
Id=real-name.service
LoadState=not-found
ActiveState=inactive
SubState=dead
UnitFileState=
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Lay down a program that the code under test finds first."""
    folder = tmp_path / "bin"
    folder.mkdir()
    path = f"{folder}:/usr/bin:/bin"
    monkeypatch.setitem(services.ENVIRONMENT, "PATH", path)

    def lay(name: str, body: str) -> Path:
        program = folder / name
        program.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/calls\n{body}', encoding="utf-8")
        program.chmod(0o755)
        return tmp_path / "calls"

    return lay


def run(command: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command.argv, env=services.ENVIRONMENT, capture_output=True, text=True, check=False, timeout=900)


@pytest.fixture
def health() -> Iterator[tuple[str, list[int]]]:
    """(URL of a kubelet, the statuses that it answers with, the last one for ever)."""
    statuses = [200]

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(statuses.pop(0) if len(statuses) > 1 else statuses[0])
            self.end_headers()

        def log_message(self, *unused: Any) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/healthz", statuses
    server.shutdown()
    server.server_close()
    thread.join()


def test_one_call_for_all_units_in_the_order_of_the_question(programs: Any) -> None:
    calls = programs("systemctl", f"cat <<'EOF'\n{SHOWN}EOF\n")
    found = services.states(["containerd.service", "alias.service", "containerd.service"])
    assert len(calls.read_text().splitlines()) == 1
    assert found["containerd.service"] == ("containerd.service", "loaded", "active", "running", "enabled", 17)
    assert found["alias.service"].load == "not-found" and found["alias.service"].needs_enable
    assert services.states([]) == {}


def test_a_silent_systemd_is_refused(programs: Any) -> None:
    programs("systemctl", "echo 'no bus' >&2; exit 1\n")
    with pytest.raises(Refused, match=r"systemctl show failed: no bus\. Check that systemd runs"):
        services.states(["a.service"])


def test_programs_get_no_environment_of_the_caller_and_end_in_time(programs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD_CANARY", "1")
    programs("show", "env; exec cat\n")
    status, output, _unused = services.run(["show"])
    assert status == 0 and "CANARY" not in output and "LC_ALL=C\n" in output
    assert services.run(["no-such-program"])[0] == 127
    programs("hang", "exec sleep 60\n")
    with pytest.raises(Refused, match=r"hang did not end within 0\.2 seconds"):
        services.run(["hang"], 0.2)


def test_health_is_status_200_and_nothing_else(health: Any) -> None:
    url, statuses = health
    assert services.answers(url)
    statuses[:] = [500]
    assert not services.answers(url) and not services.answers("http://127.0.0.1:1/healthz")
    for bad in ("https://127.0.0.1:1/x", "http://127.0.0.1/x", "http://127.0.0.1:1/a\r\nX: y", "http://127.0.0.1:99999/x", "http://[::1/x"):
        with pytest.raises(Refused, match="the plan is damaged"):
            services.answers(bad)


def test_waiting_ends_at_once_when_all_is_well_and_in_time_when_not(programs: Any, health: Any) -> None:
    url, statuses = health
    calls = programs("systemctl", f"cat <<'EOF'\n{SHOWN.partition(chr(10) * 2)[0]}\nEOF\n")
    verify = {"units": ["containerd.service"], "healthz": url}
    known = services.states(verify["units"])
    began = time.monotonic()
    assert services.missing(verify, 30, known) == [] and time.monotonic() - began < 5
    assert len(calls.read_text().splitlines()) == 1
    statuses[:] = [500, 500, 200]
    assert services.missing(verify, 30) == []
    statuses[:] = [500]
    assert services.missing(verify, 0.2, known) == [f"no answer from {url}"]
    down = {"a.service": services.Unit("a.service", "loaded", "activating", "auto-restart", "enabled", 0)}
    gone = {"b.service": services.Unit("b.service", "not-found", "inactive", "dead", "", 0)}
    assert services.missing(verify, 0, {**down, **gone}) == ["a.service is activating (auto-restart)", "b.service is not there"]
    assert services.missing({"units": ["containerd.service"], "healthz": None}, 0, known) == []


def test_the_journal_between_two_moments(programs: Any) -> None:
    entries: list[dict[str, Any]] = [{"__REALTIME_TIMESTAMP": str(int(t * 1e6)), "MESSAGE": f"at {t}"} for t in (1, 2, 3, 4)]
    entries.insert(2, {"__REALTIME_TIMESTAMP": "2500000", "MESSAGE": [1, 2]})
    text = "\n".join(["no JSON", *map(json.dumps, entries)])
    programs("journalctl", f"cat <<'EOF'\n{text}\nEOF\n")
    assert services.journal("a.service", 2, 3) == ["at 2", "at 3"]
    assert services.journal("a.service", 0, None, lines=1) == ["at 4"]
    programs("journalctl", "exit 1\n")
    assert services.journal("a.service", 0) == []


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
    done = run(services.watch({"units": ["a.service", "b.service"], "healthz": None}, 0.1))
    assert (done.returncode, done.stderr.strip()) == (status, f"b.service is {state[0]} ({state[1]})" if status else "")


def test_the_watch_ends_with_a_healthy_kubelet(programs: Any, health: Any) -> None:
    url, statuses = health
    statuses[:] = [500, 200]
    programs("systemctl", f"cat <<'EOF'\n{STATE.format('active', 'running')}EOF\n")
    began = time.monotonic()
    command = services.watch({"units": ["a.service"], "healthz": url}, 50)
    assert run(command).returncode == 0 and time.monotonic() - began < 20
    assert command.unless_boot and services.shown(command) == "the watch over a.service" and command.argv[0] == sys.executable


@pytest.mark.parametrize(("enabled", "status"), [("", 0), ("kept.service", 1)])
def test_disabling_fails_only_for_a_unit_that_stays_enabled(programs: Any, tmp_path: Path, enabled: str, status: int) -> None:
    body = f'case "$2" in disable) [ "$3" = last.service ] && exit 0; exit 1 ;; is-enabled) [ "$3" = "{enabled}" ] ;; esac\n'
    calls = programs("systemctl", body)
    command = services.disable(["gone.service", "kept.service", "last.service"])
    assert run(command).returncode == status
    assert "--quiet disable last.service" in calls.read_text().splitlines()
    assert command.optional and services.shown(command) == "systemctl disable gone.service kept.service last.service"


def test_snap_settings_as_snapd_prints_them(programs: Any) -> None:
    programs("snap", 'echo \'{"a": "b", "n": 3}\'\n')
    assert services.snap_settings("kubelet-eks") == {"a": "b", "n": 3}
    programs("snap", "echo 'error: snap \"kubelet-eks\" has no configuration' >&2; exit 1\n")
    assert services.snap_settings("kubelet-eks") == {}
    programs("snap", "echo 'error: snap \"kubelet-eks\" is not installed' >&2; exit 1\n")
    with pytest.raises(Refused, match=r"is not installed.*one of Canonical's EKS images"):
        services.snap_settings("kubelet-eks")
    programs("snap", "echo '[]'\n")
    with pytest.raises(Refused, match="no mapping"):
        services.snap_settings("kubelet-eks")


def test_hostile_settings_reach_snap_as_words(programs: Any, tmp_path: Path) -> None:
    words = tmp_path / "words"
    programs("snap", f"printf '%s\\n' \"$@\" >{words}\n")
    hostile = "a b;$(touch /x)`id`'\"\\ *"
    assert run(services.snap_set("kubelet-eks", {"args": hostile, "old": None})).returncode == 0
    assert words.read_text().splitlines() == ["set", "kubelet-eks", f"args={hostile}", "old!"]


def test_a_busy_snapd_is_asked_again_another_error_is_not(programs: Any) -> None:
    busy = 'error: snap "kubelet-eks" has "auto-refresh" change in progress'
    calls = programs("snap", f"[ $(wc -l <$0.calls 2>/dev/null || echo 0) -ge 2 ] && exit 0; echo >>$0.calls; echo '{busy}' >&2; exit 1\n")
    programs("sleep", "exit 0\n")
    assert run(services.snap_set("kubelet-eks", {"a": "b"})).returncode == 0
    assert calls.read_text().splitlines().count("set kubelet-eks a=b") == 3 and "2" in calls.read_text().splitlines()
    os.unlink(calls)
    programs("snap", f"echo '{busy}' >&2; exit 1\n")
    done = run(services.snap_set("kubelet-eks", {"a": "b"}))
    assert done.returncode == 1 and busy in done.stderr and calls.read_text().splitlines().count("set kubelet-eks a=b") == 8
    os.unlink(calls)
    programs("snap", "echo 'error: cannot do it' >&2; exit 1\n")
    done = run(services.snap_start("kubelet-eks"))
    assert done.returncode == 1 and "cannot do it" in done.stderr and len(calls.read_text().splitlines()) == 1
