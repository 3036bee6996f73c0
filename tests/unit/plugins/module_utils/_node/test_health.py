# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a node is healthy, and how long that is waited for."""

from __future__ import annotations

import socket
import threading
import time
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import health as checks
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.systemd import Unit, read_units
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

SHOWN = "Id=containerd.service\nLoadState=loaded\nActiveState=active\nSubState=running\nUnitFileState=enabled\nMainPID=17\n"


def test_health_is_status_200_and_nothing_else(health: Any, golden_message: GoldenMessages) -> None:
    url, statuses = health
    assert checks.check(checks.parse_url(url)).is_healthy
    statuses[:] = [500]
    assert (
        not checks.check(checks.parse_url(url)).is_healthy and not checks.check(checks.parse_url("http://127.0.0.1:1/healthz")).is_healthy
    )
    for bad in ("https://127.0.0.1:1/x", "http://127.0.0.1/x", "http://127.0.0.1:1/a\r\nX: y", "http://127.0.0.1:99999/x", "http://[::1/x"):
        with pytest.raises(ApplyRefused) as caught:
            checks.parse_url(bad)
        golden_message(caught.value)


@pytest.mark.parametrize(
    ("answer", "is_healthy"),
    [
        (b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nok", True),
        (b"HTTP/1.1 200\r\n\r\nok\n", True),
        (b"HTTP/1.0 200 OK\r\n\r\nnot ok", False),
        (b"HTTP/1.0 200 OK\r\n\r\n", False),
        (b"HTTP/1.0 200 OK", False),
        (b"HTTP/1.0 500 Internal Server Error\r\n\r\nok", False),
        (b"SSH-2.0 200 \r\n\r\nok", False),
        (b"", False),
    ],
)
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_only_the_answer_ok_is_healthy(answer: bytes, is_healthy: bool, host: str) -> None:
    asked = []
    with socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as server:

        def serve() -> None:
            connection, _address = server.accept()
            with connection:
                asked.append(connection.recv(4096).split(b"\r\n"))
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        port = server.getsockname()[1]
        assert checks.is_healthy(checks.HealthUrl(host, port, "/healthz"), 30) is is_healthy
        thread.join()
    shown = f"[{host}]" if ":" in host else host
    assert asked == [[b"GET /healthz HTTP/1.0", f"Host: {shown}:{port}".encode(), b"", b""]]


def test_a_silent_kubelet_is_not_healthy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        began = time.monotonic()
        assert not checks.is_healthy(checks.HealthUrl("127.0.0.1", server.getsockname()[1], "/healthz"), 0.1)
        assert 0.1 <= time.monotonic() - began < 20
    assert not checks.is_healthy(checks.HealthUrl("a" * 64, 1, "/healthz"))


def test_waiting_ends_at_once_when_all_is_well_and_in_time_when_not(programs: Any, health: Any) -> None:
    url, statuses = health
    calls = programs("systemctl", f"cat <<'EOF'\n{SHOWN}EOF\n")
    verify = checks.Expected(["containerd.service"], url)
    known = read_units(verify.units)
    began = time.monotonic()
    assert checks.wait_until_healthy(verify, 300, known) == [] and time.monotonic() - began < 100
    assert len(calls.read_text().splitlines()) == 1
    statuses[:] = [500, 500, 200]
    assert checks.wait_until_healthy(verify, 30) == []
    statuses[:] = [500]
    assert checks.wait_until_healthy(verify, 0.2, known) == [f"no answer from {url}"]
    down = {"a.service": Unit("a.service", "loaded", "activating", "auto-restart", "enabled", 0)}
    gone = {"b.service": Unit("b.service", "not-found", "inactive", "dead", "", 0)}
    assert checks.wait_until_healthy(checks.Expected(["a.service", "b.service"], None), 0, {**down, **gone}) == [
        "a.service is activating (auto-restart)",
        "b.service is not installed",
    ]
    assert checks.wait_until_healthy(checks.Expected(["containerd.service"], None), 0, known) == []


KUBELET = Unit("kubelet.service", "loaded", "active", "running", "enabled", 7, main_started=100.0)
NODEADM = Unit("nodeadm-run.service", "loaded", "inactive", "dead", "enabled", 0)


@pytest.mark.parametrize(
    ("kubelet", "nodeadm", "since", "count"),
    [
        (KUBELET, NODEADM, 0.0, 0),
        (KUBELET, NODEADM, 99.0, 0),
        (KUBELET, NODEADM, 101.0, 1),
        (KUBELET._replace(has_job=True), NODEADM, 0.0, 1),
        (KUBELET, NODEADM._replace(has_job=True), 0.0, 1),
        (KUBELET, NODEADM._replace(active="activating", sub="start"), 0.0, 1),
        (KUBELET, NODEADM._replace(active="failed", sub="failed"), 0.0, 0),
        (KUBELET, NODEADM._replace(active="activating", sub="auto-restart"), 0.0, 0),
        (KUBELET._replace(main_started=None), NODEADM, 101.0, 0),
        (KUBELET._replace(active="inactive", sub="dead", has_job=True), NODEADM, 101.0, 2),
    ],
)
def test_pending_is_not_healthy(kubelet: Unit, nodeadm: Unit, since: float, count: int) -> None:
    expected = checks.Expected([kubelet.name], None, [nodeadm.name], kubelet.name, since)
    assert expected.names == [kubelet.name, nodeadm.name]
    missing = checks.wait_until_healthy(expected, 0, {kubelet.name: kubelet, nodeadm.name: nodeadm})
    assert len(missing) == count
