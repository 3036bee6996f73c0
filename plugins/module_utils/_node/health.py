# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether kubelet and its units are healthy. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import re
import time
from typing import Iterable, Mapping, NamedTuple

from .errors import ApplyRefused
from .redaction import redact_string
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
    from . import http

    try:
        answer = http.send(http.Target(url.host, url.port), http.Request(url.path), None, time.monotonic() + timeout, _MAX_ANSWER_BYTES)
    except http.Failure as failure:
        return HealthCheck(False, None, f"no answer within {timeout:g} s" if failure.kind == "silent" else failure.said)
    is_healthy = answer.status == 200 and answer.body.strip() == b"ok"
    text = redact_string(answer.body[:200].decode("utf-8", "replace").strip())
    return HealthCheck(is_healthy, answer.status, None if is_healthy else f"it answers: {text}")


def wait_until_healthy(units: Iterable[str], healthz: str | None, timeout: float, known: Mapping[str, Unit] | None = None) -> list[str]:
    """Wait until the units are active and C(healthz) answers. Returns what is still missing, [] when the node is healthy.

    C(known): the current state of the units, if the caller knows it already.
    """
    names = list(units)
    deadline = time.monotonic() + timeout
    pause = 0.05
    while True:
        current = known if known is not None else read_units(names)
        missing = [f"{name} is {_describe(unit)}" for name, unit in current.items() if unit.active != "active"]
        if not missing and healthz and not check(parse_url(healthz)).is_healthy:
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
