# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether kubelet and its units are healthy. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import re
import socket
import time
from typing import Mapping, NamedTuple, Sequence

from .errors import ApplyRefused
from .systemd import Unit, read_units

_MAX_ANSWER_BYTES = 1024 * 1024
_URL = re.compile(r"http://(?:\[([0-9A-Fa-f:.]+)\]|([0-9A-Za-z.-]+)):([0-9]{1,5})(/[!-~]*)\Z")


class HealthUrl(NamedTuple):
    """The parts of C(http://HOST:PORT/PATH)."""

    host: str
    port: int
    path: str


def parse_url(url: str) -> HealthUrl:
    """The parts of a health URL. Raises ApplyRefused."""
    match = _URL.match(url)
    if not match or int(match.group(3)) > 65535:
        raise ApplyRefused(f"the plan is damaged: {url!r} does not have the form http://HOST:PORT/PATH")
    return HealthUrl(match.group(1) or match.group(2), int(match.group(3)), match.group(4))


class HealthCheck(NamedTuple):
    """The answer of kubelet's health endpoint. C(status) is None without an answer; C(problem) says what is wrong, None if healthy."""

    is_healthy: bool
    status: int | None
    problem: str | None


def check(url: HealthUrl, timeout: float = 0.5) -> HealthCheck:
    """Ask kubelet's health endpoint once. A healthy kubelet answers 200 and C(ok)."""
    # Python reads and compiles every import of a module again on each run, and most runs do not get here.
    from . import http_client

    try:
        answer = http_client.send(
            http_client.Target(url.host, url.port), http_client.Request(url.path), None, time.monotonic() + timeout, _MAX_ANSWER_BYTES
        )
    except http_client.Failure as failure:
        return HealthCheck(False, None, f"no answer within {timeout:g} s" if failure.kind == "silent" else failure.said)
    is_healthy = answer.status == 200 and answer.body.strip() == b"ok"
    if is_healthy:
        return HealthCheck(True, answer.status, None)
    from .redaction import redact_string

    text = redact_string(answer.body[:200].decode("utf-8", "replace").strip())
    return HealthCheck(False, answer.status, f"it answers: {text}")


def is_healthy(url: HealthUrl, timeout: float = 0.5) -> bool:
    """Ask once, without the reason if kubelet is not healthy.

    Every run asks, so this does without the HTTP client, which takes longer to load than a run has to do on an unchanged node. The answer
    to HTTP/1.0 is simple: it ends with the connection.
    """
    deadline = time.monotonic() + timeout
    host = f"[{url.host}]" if ":" in url.host else url.host
    answer = b""
    try:
        with socket.create_connection((url.host, url.port), timeout) as connection:
            connection.sendall(f"GET {url.path} HTTP/1.0\r\nHost: {host}:{url.port}\r\n\r\n".encode("ascii"))
            part = b"-"
            while part and len(answer) < _MAX_ANSWER_BYTES:
                connection.settimeout(max(deadline - time.monotonic(), 0.001))
                part = connection.recv(65536)
                answer += part
    except (OSError, ValueError):
        return False
    head, _separator, body = answer.partition(b"\r\n\r\n")
    return head.startswith(b"HTTP/1.") and head.split(b" ", 2)[1:2] == [b"200"] and body.strip() == b"ok"


class Expected(NamedTuple):
    """When a node is healthy: C(units) are active, C(healthz) answers if it is set, and nothing is pending.

    C(awaited): more units that systemd must not be about to start or stop. C(kubelet) must have started after C(since), in seconds of the
    monotonic clock: an older one runs with an older configuration.
    """

    units: Sequence[str]
    healthz: str | None
    awaited: Sequence[str] = ()
    kubelet: str | None = None
    since: float = 0.0

    @property
    def names(self) -> list[str]:
        """All units to look at, each once."""
        return list(dict.fromkeys([*self.units, *self.awaited]))

    def missing(self, current: Mapping[str, Unit]) -> list[str]:
        """What the state of the units lacks."""
        found = [f"{name} is {_describe(current[name])}" for name in self.units if current[name].active != "active"]
        pending = [
            name
            for name, unit in current.items()
            if unit.has_job or (name not in self.units and unit.is_changing and not unit.is_auto_restarting)
        ]
        found += [f"{name} is about to {'start' if current[name].active != 'active' else 'restart'}" for name in pending]
        started = current[self.kubelet].main_started if self.kubelet in current and self.kubelet else None
        if not found and started is not None and started < self.since:
            found.append(f"{self.kubelet} was not restarted after the last change, so it runs with the configuration before it")
        return found


def wait_until_healthy(expected: Expected, timeout: float, known: Mapping[str, Unit] | None = None) -> list[str]:
    """Wait until the node is as expected. Returns what is still missing, [] when the node is healthy.

    C(known): the current state of the units, if the caller knows it already.
    """
    healthz = expected.healthz
    deadline = time.monotonic() + timeout
    pause = 0.05
    while True:
        current = known if known is not None else read_units(expected.names)
        missing = expected.missing(current)
        if not missing and healthz and not is_healthy(parse_url(healthz)):
            missing = [f"no answer from {healthz}"]
        remaining = deadline - time.monotonic()
        if not missing or remaining <= 0:
            return missing
        time.sleep(min(pause, remaining))
        pause = min(pause * 1.5, 0.5)
        known = None


def _describe(unit: Unit) -> str:
    if unit.load == "not-found":
        return "not installed"
    if unit.load == "masked":
        return "masked"
    return unit.active if unit.sub in ("", unit.active) else f"{unit.active} ({unit.sub})"
