# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An API server and a proxy on the loopback address, over real TLS with certificates of their own. They can also misbehave."""

from __future__ import annotations

import datetime
import email.utils
import ipaddress
import json
import select
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

# With moto, which needs it.
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

TOKEN = "k8s-aws-v1.cAnArYtOkEn"
NAME = "ip-10-0-0-5.eu-central-1.compute.internal"


class Authority:
    """A certificate authority in a directory: `ca.crt` and the certificates that it signs."""

    def __init__(self, folder: Path, name: str = "kubernetes") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        made = self._builder(self._name, self._key.public_key(), (-3600, 86400))
        made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self.path = folder / "ca.crt"
        self.path.write_bytes(made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def sign(self, name: str, hosts: tuple[str, ...] = (), valid: tuple[float, float] = (-3600, 86400)) -> Path:
        """A file with a key and a certificate. `valid`: first and last time, in seconds from now."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = self._builder(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), key.public_key(), valid)
        if hosts:
            made = made.add_extension(x509.SubjectAlternativeName([_general(host) for host in hosts]), critical=False)
        form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        path = self.folder / f"{name}.pem"
        path.write_bytes(key.private_bytes(*form) + made.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        return path

    def _builder(self, subject: x509.Name, key: Any, valid: tuple[float, float]) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.timezone.utc)
        first, last = (now + datetime.timedelta(seconds=moment) for moment in valid)
        made = x509.CertificateBuilder().subject_name(subject).issuer_name(self._name).public_key(key)
        return made.serial_number(x509.random_serial_number()).not_valid_before(first).not_valid_after(last)


def _general(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def status(code: int, message: str) -> tuple[int, bytes]:
    """An answer of the API server without an object."""
    return code, json.dumps({"kind": "Status", "apiVersion": "v1", "message": message, "code": code}).encode()


def a_node(name: str = NAME, ready: str = "True", message: str = "kubelet is posting ready status") -> tuple[int, bytes]:
    condition = {"type": "Ready", "status": ready, "reason": "KubeletReady", "message": message}
    condition["lastHeartbeatTime"] = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    document = {"kind": "Node", "metadata": {"name": name}, "spec": {}, "status": {"conditions": [condition]}}
    return 200, json.dumps(document).encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def date_time_string(self, timestamp: float | None = None) -> str:
        server: Any = self.server
        return email.utils.formatdate(time.time() + server.ahead, usegmt=True)

    def do_GET(self) -> None:
        server: Any = self.server
        peer = self.request.getpeercert() if isinstance(self.request, ssl.SSLSocket) else None
        server.requests.append((self.path, dict(self.headers), bool(peer)))
        code, body = server.answer
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_unused: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    tls: ssl.SSLContext | None = None

    def finish_request(self, request: Any, client_address: Any) -> None:
        if self.tls is not None:
            request.settimeout(10)
            request = self.tls.wrap_socket(request, server_side=True)
        super().finish_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class _Server6(_Server):
    address_family = socket.AF_INET6


@contextmanager
def serving(
    pem: Path | None, answer: tuple[int, bytes] = (200, b""), *, ahead: float = 0, clients: Path | None = None, host: str = "127.0.0.1"
) -> Iterator[Any]:
    """A server with `requests` (path, headers, whether the client has a certificate), `answer` and `url`. Without `pem`: no TLS."""
    server: Any = (_Server6 if ":" in host else _Server)((host, 0), _Handler)
    server.answer, server.requests, server.ahead = answer, [], ahead
    if pem is not None:
        server.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.tls.load_cert_chain(pem)
        if clients is not None:
            server.tls.load_verify_locations(clients)
            server.tls.verify_mode = ssl.CERT_OPTIONAL
    server.url = f"https://{f'[{host}]' if ':' in host else host}:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def listening(handle: Any) -> Iterator[int]:
    """The port of a socket. `handle` is called with each connection."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _unused = listener.accept()
            except OSError:
                return
            threading.Thread(target=_handle_and_close, args=(handle, connection), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()


def _handle_and_close(handle: Any, connection: socket.socket) -> None:
    with suppress(OSError), connection:
        handle(connection)


@contextmanager
def proxying(refusal: bytes = b"", pem: Path | None = None) -> Iterator[tuple[int, list[bytes]]]:
    """(port, heads of the requests) of a proxy that connects, or refuses with a status line. With `pem` it speaks TLS itself."""
    heads: list[bytes] = []

    def handle(connection: socket.socket) -> None:
        if pem is not None:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(pem)
            connection = tls.wrap_socket(connection, server_side=True)
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += connection.recv(1)
        heads.append(head)
        if refusal:
            connection.sendall(refusal + b"\r\n\r\n")
            return
        host, _unused, port = head.split(b" ")[1].decode().rpartition(":")
        with socket.create_connection((host.strip("[]"), int(port))) as server:
            connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            peers = {connection: server, server: connection}
            while True:
                buffered = [connection] if isinstance(connection, ssl.SSLSocket) and connection.pending() else []
                for one in buffered or select.select(list(peers), [], [])[0]:
                    part = one.recv(65536)
                    if not part:
                        return
                    peers[one].sendall(part)

    with listening(handle) as port:
        yield port, heads
