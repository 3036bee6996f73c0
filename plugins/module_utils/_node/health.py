# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether kubelet and its units are healthy. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import re
import socket
import time
from typing import Iterable, Mapping, NamedTuple

from .errors import ApplyRefused
from .systemd import Unit, read_units

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


def is_healthy(url: str, timeout: float = 0.5) -> bool:
    """Whether C(http://HOST:PORT/PATH) answers with status 200."""
    host, port, path = parse_url(url)
    try:
        with socket.create_connection((host, port), timeout) as connection:
            connection.sendall(f"GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
            return connection.recv(64).split(b" ")[1:2] == [b"200"]
    except OSError:
        return False


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
        if not missing and healthz and not is_healthy(healthz):
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
