# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An instance metadata service on the loopback address, version 2 only, that can also misbehave."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN_PATH = "/latest/api/token"
IDENTITY_PATH = "/latest/dynamic/instance-identity/document"
MAC = "0a:58:0a:00:00:05"
IPV6_PATH = f"/latest/meta-data/network/interfaces/macs/{MAC}/ipv6s"
IDENTITY: dict[str, Any] = {
    "accountId": "111122223333",
    "architecture": "x86_64",
    "availabilityZone": "eu-central-1a",
    "billingProducts": None,
    "devpayProductCodes": None,
    "marketplaceProductCodes": ["6njl1pau431dv1qxipg63mvah"],
    "imageId": "ami-0123456789abcdef0",
    "instanceId": "i-1234567890abcdef0",
    "instanceType": "m5.large",
    "kernelId": None,
    "pendingTime": "2026-01-01T00:00:00Z",
    "privateIp": "10.0.0.5",
    "ramdiskId": None,
    "region": "eu-central-1",
    "version": "2017-09-30",
}
PLAIN = {
    "/latest/meta-data/instance-life-cycle": "on-demand",
    "/latest/meta-data/local-hostname": "ip-10-0-0-5.eu-central-1.compute.internal",
    "/latest/meta-data/mac": MAC,
    IPV6_PATH: "2001:db8::5\n2001:db8::6",
}
FACTS: dict[str, Any] = {
    "account_id": "111122223333",
    "architecture": "x86_64",
    "availability_zone": "eu-central-1a",
    "billing_products": [],
    "devpay_product_codes": [],
    "document_version": "2017-09-30",
    "image_id": "ami-0123456789abcdef0",
    "instance_id": "i-1234567890abcdef0",
    "instance_life_cycle": "on-demand",
    "instance_type": "m5.large",
    "ipv6": ["2001:db8::5", "2001:db8::6"],
    "kernel_id": None,
    "local_hostname": "ip-10-0-0-5.eu-central-1.compute.internal",
    "local_ipv4": "10.0.0.5",
    "mac": MAC,
    "marketplace_product_codes": ["6njl1pau431dv1qxipg63mvah"],
    "pending_time": "2026-01-01T00:00:00Z",
    "ramdisk_id": None,
    "region": "eu-central-1",
}
"""What imds_info makes of an untouched stand-in."""


class StandIn:
    """What is served, and what was asked. Change C(answers) and C(faults) before asking."""

    def __init__(self) -> None:
        #: path → text, or (status, bytes).
        self.answers: dict[str, str | tuple[int, bytes]] = {**PLAIN, IDENTITY_PATH: json.dumps(IDENTITY, indent=2)}
        #: path → faults, each taken by one request: a status, bytes sent instead of an answer, 'silent', 'close' or 'drip'.
        self.faults: dict[str, list[int | bytes | str]] = {}
        #: (method, path, status) of every request; status 0 where a fault was no status.
        self.requests: list[tuple[str, str, int]] = []
        self.lifetimes: list[int] = []
        #: Seconds before every answer.
        self.latency = 0.0
        self.tokens: dict[str, float] = {}
        #: Seconds after which a token has ended, whatever was asked for.
        self.expiry: float | None = None
        self.endpoint = ""
        self.ended = threading.Event()

    def count(self, path: str) -> int:
        """How often a path was asked for."""
        return sum(asked == path for _unused, asked, _status in self.requests)

    def judge(self, method: str, path: str, headers: Any) -> tuple[int, bytes]:
        """Status and body, as EC2 decides it with version 1 switched off."""
        if path == TOKEN_PATH:
            lifetime = headers.get("X-aws-ec2-metadata-token-ttl-seconds", "")
            if method != "PUT":
                return 405, b""
            if not (lifetime.isdigit() and 1 <= int(lifetime) <= 21600):
                return 400, b""
            self.lifetimes.append(int(lifetime))
            token = f"AQAEA{len(self.tokens)}-token=="
            self.tokens[token] = time.monotonic() + (int(lifetime) if self.expiry is None else self.expiry)
            return 200, token.encode()
        if self.tokens.get(headers.get("X-aws-ec2-metadata-token", ""), 0) <= time.monotonic():
            return 401, b""
        answer = self.answers.get(path, (404, b"<html><title>404 - Not Found</title></html>"))
        return answer if isinstance(answer, tuple) else (200, answer.encode())


def _handler(service: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            service.ended.wait(service.latency)
            waiting = service.faults.get(self.path) or [0]
            fault = waiting.pop(0)
            if isinstance(fault, int):
                status, body = (fault, b"") if fault else service.judge(self.command, self.path, self.headers)
                service.requests.append((self.command, self.path, status))
                head = f"HTTP/1.1 {status} x\r\nContent-Length: {len(body)}\r\nLocation: {service.endpoint}/elsewhere\r\n\r\n"
                self.wfile.write(head.encode() + body)
                return
            service.requests.append((self.command, self.path, 0))
            self.close_connection = True
            if isinstance(fault, bytes):
                self.wfile.write(fault)
            elif fault == "silent":
                service.ended.wait(30)
            elif fault == "drip":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n")
                for _unused in range(9999):
                    if service.ended.wait(0.05):
                        break
                    self.wfile.write(b"a")

        do_GET = do_PUT = answer

        def log_message(self, *_words: Any) -> None:
            """Tests are quiet."""

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_unused: Any) -> None:
        """A client that went away is what some tests are about."""


@contextmanager
def serving() -> Iterator[StandIn]:
    """A stand-in that listens, until the block ends."""
    service = StandIn()
    with _Server(("127.0.0.1", 0), _handler(service)) as server:
        service.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield service
        finally:
            service.ended.set()
            server.shutdown()
            thread.join()
