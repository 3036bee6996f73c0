# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faulty proxies between a node and the lab's API server: the connection fails while the API server stays up for the other tests.

Each proxy listens on the lab's side of the network, in a thread of this program, and ends with its `with` block.
"""

from __future__ import annotations

import contextlib
import datetime
import email.utils
import http.client
import http.server
import itertools
import select
import socket
import ssl
import threading
import time
from pathlib import Path
from types import TracebackType

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from .lab import Lab

#: Ports of the proxies; the lab itself uses 6443 and 5000.
PORTS = itertools.cycle(range(20443, 20943))


class TcpProxy:
    """Forwards every byte to the API server. After `shut`, it refuses connections, and open ones are closed."""

    def __init__(self, lab: Lab, *, is_open: bool = True) -> None:
        self._target = (lab.network.gateway, 6443)
        self._host = lab.network.gateway
        self._port = _free_port(self._host)
        self._listener: socket.socket | None = None
        self._links: set[socket.socket] = set()
        #: Wall-clock seconds of the last `open` and `shut`.
        self.changed = 0.0
        if is_open:
            self.open()

    @property
    def endpoint(self) -> str:
        return f"https://{self._host}:{self._port}"

    def open(self) -> None:
        self._listener = listener = _listen(self._host, self._port)
        self.changed = time.time()
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def shut(self) -> None:
        self.changed = time.time()
        _close(self._listener)
        self._listener = None
        for link in list(self._links):
            _close(link)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                inner, _peer = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._join, args=(inner,), daemon=True).start()

    def _join(self, inner: socket.socket) -> None:
        try:
            outer = socket.create_connection(self._target, 5)
        except OSError:
            _close(inner)
            return
        self._links |= {inner, outer}
        with contextlib.suppress(OSError, ValueError):
            _copy(inner, outer)
        for link in (inner, outer):
            self._links.discard(link)
            _close(link)

    def __enter__(self) -> TcpProxy:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.shut()


class SilentServer:
    """Accepts connections and never answers."""

    def __init__(self, lab: Lab) -> None:
        self._listener = _listen(lab.network.gateway, _free_port(lab.network.gateway))
        self.endpoint = f"https://{lab.network.gateway}:{self._listener.getsockname()[1]}"

    def __enter__(self) -> SilentServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        _close(self._listener)


class TlsProxy:
    """An API server with another certificate and another clock. It forwards requests to the real one.

    names    in the certificate; without them, the address that it listens on
    ahead    seconds by which its clock (the Date header) runs ahead of the node's
    valid    (first, last) seconds from now in which its certificate is valid
    signer   PEM of key and certificate of the authority that signs, as a folder with ca.key and ca.crt; the cluster's own without it
    plain    no TLS at all
    """

    def __init__(
        self,
        lab: Lab,
        *,
        names: tuple[str, ...] = (),
        ahead: float = 0,
        valid: tuple[float, float] = (-3600, 86400),
        signer: Path | None = None,
        plain: bool = False,
    ) -> None:
        address = lab.network.gateway
        self._port = _free_port(address)
        self.endpoint = f"https://{address}:{self._port}"
        self._server = _Server((address, self._port), _handler(lab, ahead))
        self._server.daemon_threads = True
        if not plain:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            pair = _certificate(signer or lab.folder / "pki", names or (address,), valid)
            path = lab.folder / f"proxy-{self._port}.pem"
            path.touch(mode=0o600)
            path.write_bytes(pair)
            context.load_cert_chain(path)
            self._server.context = context
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self) -> TlsProxy:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(http.server.ThreadingHTTPServer):
    context: ssl.SSLContext | None = None

    def finish_request(self, request: socket.socket, client_address: object) -> None:
        """The handshake in the connection's own thread: one that hangs must not hold up the others."""
        if self.context is not None:
            request.settimeout(60)
            request = self.context.wrap_socket(request, server_side=True)
        super().finish_request(request, client_address)

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore errors: a kubelet that rejects the certificate closes the connection, as intended."""


def _handler(lab: Lab, ahead: float) -> type[http.server.BaseHTTPRequestHandler]:
    trusting = ssl.create_default_context(cadata=lab.state.authority)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def date_time_string(self, timestamp: float | None = None) -> str:
            return email.utils.formatdate(time.time() + ahead, usegmt=True)

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            real = http.client.HTTPSConnection(lab.network.gateway, 6443, timeout=30, context=trusting)
            try:
                real.request(self.command, self.path, body, {**dict(self.headers), "Accept-Encoding": "identity"})
                answer = real.getresponse()
                content = answer.read()
            finally:
                real.close()
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers.get("Content-Type", "text/plain"))
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

        def log_message(self, *_words: object) -> None:
            """Log nothing."""

    return Handler


def _certificate(signer: Path, names: tuple[str, ...], valid: tuple[float, float]) -> bytes:
    """Key and certificate, PEM: for `names`, valid between two moments in seconds from now."""
    from .pki import _san

    authority = x509.load_pem_x509_certificate((signer / "ca.crt").read_bytes())
    authority_key = serialization.load_pem_private_key((signer / "ca.key").read_bytes(), None)
    assert isinstance(authority_key, ec.EllipticCurvePrivateKey)
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.timezone.utc)
    first, last = (now + datetime.timedelta(seconds=moment) for moment in valid)
    made = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "another")]))
        .issuer_name(authority.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(first)
        .not_valid_after(last)
        .add_extension(x509.SubjectAlternativeName([_san(name) for name in names]), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return key.private_bytes(*form) + made.public_bytes(serialization.Encoding.PEM)


def _free_port(host: str) -> int:
    """A port that no proxy of this program used lately, so that a closed proxy is not replaced by another one."""
    for port in itertools.islice(PORTS, 500):
        with contextlib.suppress(OSError):
            _listen(host, port).close()
            return port
    raise OSError(f"no free port on {host}")


def _listen(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(64)
    except OSError:
        listener.close()
        raise
    return listener


def _copy(one: socket.socket, other: socket.socket) -> None:
    ways = {one: other, other: one}
    while True:
        for ready in select.select(list(ways), [], [])[0]:
            chunk = ready.recv(1 << 16)
            if not chunk:
                return
            ways[ready].sendall(chunk)


def _close(link: socket.socket | None) -> None:
    if link is None:
        return
    # Wakes a thread that waits in it, which close alone would not.
    with contextlib.suppress(OSError):
        link.shutdown(socket.SHUT_RDWR)
    link.close()
