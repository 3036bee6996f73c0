# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The HTTP client: one request with a deadline, which can say which step failed. Standard library, Python 3.7 and newer.

Only the health check (health.py) opens connections, too. Nothing is read from the environment, no redirect is followed.
"""

from __future__ import annotations

import errno
import http.client
import io
import queue
import re
import socket
import ssl
import threading
import time
from email.utils import parsedate_to_datetime
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Union, cast

MAX_ANSWER_BYTES = 4 * 1024 * 1024
_MAX_HEAD_BYTES = 65536

# Numbers of OpenSSL's x509_vfy.h.
_DATE_ERRORS = {9: "is not valid yet", 10: "has expired"}
_NAME_ERRORS = (62, 64)
# Go trusts every certificate in the file of authorities, also one that is not self-signed.
_PARTIAL_CHAIN = 0x80000

_NOT_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNKNOWN_PROTOCOL", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")


class Failure(Exception):
    """Why there is no answer.

    C(kind): dns, dns_silent, refused, unreachable, silent, broken, proxy, no_tls, no_http, authority, names, dates.
    C(said): a message. C(connected): whether there was a connection. C(facts): more about the failure.
    """

    def __init__(self, kind: str, said: str, connected: bool = True, **facts: Any) -> None:
        super().__init__(said)
        self.kind = kind
        self.said = said
        self.connected = connected
        self.facts = facts


class Answer(NamedTuple):
    """C(moment): the time of the server in seconds since 1970, None when it does not say."""

    status: int
    moment: float | None
    body: bytes


class Proxy(NamedTuple):
    """C(authorization): value of the header Proxy-Authorization, secret. C(shown): a description without secrets."""

    scheme: str
    host: str
    port: int
    authorization: str | None
    shown: str


class Target(NamedTuple):
    """Where to connect. C(name): the name in the certificate, None to accept any."""

    host: str
    port: int
    name: str | None = None
    proxy: Any = None


class Request(NamedTuple):
    """What to ask."""

    path: str
    method: str = "GET"
    headers: Mapping[str, str] = {}


def context(authorities: str | None) -> ssl.SSLContext:
    """TLS that trusts only the certificates of a PEM text. None trusts every server: send nothing secret then.

    Raises ssl.SSLError or ValueError when the text contains no certificate.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if authorities is None:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
        return made
    if ssl.HAS_NEVER_CHECK_COMMON_NAME:
        made.hostname_checks_common_name = False
    made.verify_flags |= _PARTIAL_CHAIN
    # Most requests are plain HTTP.
    from . import certificates

    found = certificates.split(authorities)
    if not found:
        raise ValueError("no certificate")
    made.load_verify_locations(cadata="\n".join(found))
    return made


def get(target: Target, path: str, headers: Mapping[str, str], tls: ssl.SSLContext | None, deadline: float) -> Answer:
    """The answer to one GET until a deadline of C(time.monotonic). Raises Failure."""
    return send(target, Request(path, "GET", {"Accept": "application/json", **headers}), tls, deadline)


def send(target: Target, request: Request, tls: ssl.SSLContext | None, deadline: float, max_bytes: int = MAX_ANSWER_BYTES) -> Answer:
    """The answer to one request until a deadline of C(time.monotonic), over TLS if C(tls) is given. Raises Failure."""
    connection = None
    try:
        connection = _open(target, tls, deadline)
        return _exchange(connection, target, request, deadline, max_bytes)
    except socket.timeout:
        raise Failure("silent", "it accepts the connection, but the answer timed out") from None
    except OSError as error:
        raise Failure("broken", _message(error)) from None
    finally:
        if connection is not None:
            connection.close()


def certificate(target: Target, tls: ssl.SSLContext, deadline: float) -> Dict[str, Any] | None:
    """The certificate of the server as C(ssl.SSLSocket.getpeercert) has it, whatever names it contains. None when it is unknown."""
    connection, check_hostname = None, tls.check_hostname
    tls.check_hostname = False
    try:
        connection = _open(target, tls, deadline)
        if isinstance(connection, (ssl.SSLSocket, _InnerTls)):
            return cast("Dict[str, Any] | None", connection.getpeercert())
        return None
    except (Failure, OSError):
        return None
    finally:
        tls.check_hostname = check_hostname
        if connection is not None:
            connection.close()


def has_certificate(host: str, port: int, deadline: float) -> bool | None:
    """Whether the server at an address has a certificate. None when no TLS server written in Go answers there."""
    connection = None
    try:
        connection = socket.create_connection((host, port), timeout=_remaining(deadline))
        connection = context(None).wrap_socket(connection)
        return True
    except ssl.SSLError as error:
        return False if error.reason == "TLSV1_ALERT_INTERNAL_ERROR" else None
    except OSError:
        return None
    finally:
        if connection is not None:
            connection.close()


# --- connection --------------------------------------------------------------------------------------------------------------------


def _open(target: Target, tls: ssl.SSLContext | None, deadline: float) -> Connection:
    connection = _connect(target, deadline)
    try:
        if target.proxy is not None:
            connection = _open_tunnel(connection, target, deadline)
        return connection if tls is None else _start_tls(connection, target, tls, deadline)
    except BaseException:
        connection.close()
        raise


def _connect(target: Target, deadline: float) -> socket.socket:
    """A socket to the server, or to the proxy in front of it."""
    proxy = target.proxy
    host, port = (proxy.host, proxy.port) if proxy is not None else (target.host, target.port)
    try:
        return _connect_to_one(_resolve(host, port, deadline), deadline)
    except Failure as failure:
        if proxy is None:
            raise
        raise Failure("proxy", f"{proxy.shown}: {failure.said}", connected=False) from None


def _resolve(host: str, port: int, deadline: float) -> List[Any]:
    """The addresses of a name. The resolver has no deadline, so it runs in a thread that is left behind."""
    results: queue.Queue[Any] = queue.Queue()

    def resolve() -> None:
        try:
            results.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except Exception as error:  # the other thread judges every failure
            results.put(error)

    threading.Thread(target=resolve, daemon=True).start()
    try:
        result = results.get(timeout=max(0.01, deadline - time.monotonic()))
    except queue.Empty:
        raise Failure("dns_silent", f"no name server answers the question for {host}", connected=False) from None
    if isinstance(result, list) and result:
        return result
    said = f"{host}: {_message(result) if isinstance(result, Exception) else 'no address'}"
    if isinstance(result, socket.gaierror):
        is_unknown = result.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))
    else:
        is_unknown = isinstance(result, (list, UnicodeError))
    # Anything else, such as too many open files, says nothing about the name and may be temporary.
    raise Failure("dns" if is_unknown else "dns_silent", said, connected=False)


def _connect_to_one(addresses: List[Any], deadline: float) -> socket.socket:
    """A socket to the first address that accepts. Each address gets its share of the time, as in Go."""
    failure = None
    for number, (family, kind, protocol, _unused, address) in enumerate(addresses):
        share = (deadline - time.monotonic()) / (len(addresses) - number)
        if share <= 0:
            break
        connection = None
        try:
            connection = socket.socket(family, kind, protocol)
            connection.settimeout(share)
            connection.connect(address)
            return connection
        except OSError as error:
            if connection is not None:
                connection.close()
            failure = _no_connection(error, address[0])
    raise failure or Failure("silent", "it timed out before there was a connection", connected=False)


def _no_connection(error: OSError, address: str) -> Failure:
    if isinstance(error, socket.timeout) or error.errno == errno.ETIMEDOUT:
        return Failure("silent", f"the connection to {address} timed out", connected=False)
    if error.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EADDRNOTAVAIL):
        return Failure("unreachable", f"{address}: {_message(error)}", connected=False)
    return Failure("refused", f"{address}: {_message(error)}", connected=False)


def _open_tunnel(connection: socket.socket, target: Target, deadline: float) -> socket.socket:
    """A socket to the server through the proxy."""
    proxy = target.proxy
    try:
        if proxy.scheme == "https":
            trusting = ssl.create_default_context()
            connection.settimeout(_remaining(deadline))
            connection = trusting.wrap_socket(connection, server_hostname=proxy.host)
        place = f"{f'[{target.host}]' if ':' in target.host else target.host}:{target.port}"
        words = f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n"
        if proxy.authorization is not None:
            words += f"Proxy-Authorization: {proxy.authorization}\r\n"
        connection.settimeout(_remaining(deadline))
        connection.sendall(f"{words}\r\n".encode("ascii"))
        head = _read_head(connection, deadline)
    except socket.timeout:
        raise Failure("proxy", f"{proxy.shown} accepts the connection and does not answer") from None
    except OSError as error:
        raise Failure("proxy", f"{proxy.shown}: {_message(error)}") from None
    match = re.match(rb"HTTP/1\.[01] (?P<status>[0-9]{3}) ?(?P<reason>[ -~]{0,60})", head)
    if match is None:
        raise Failure("proxy", f"{proxy.shown} does not speak HTTP")
    if match.group("status") != b"200":
        said = f"{match.group('status').decode()} {match.group('reason').decode()}".strip()
        raise Failure("proxy", f"{proxy.shown} refuses to connect to {place}: {said}")
    return connection


def _read_head(connection: socket.socket, deadline: float) -> bytes:
    """The head of the proxy's answer. No byte more is read, because the rest is TLS."""
    head = b""
    while not head.endswith(b"\r\n\r\n") and len(head) < _MAX_HEAD_BYTES:
        connection.settimeout(_remaining(deadline))
        part = connection.recv(1)
        if not part:
            break
        head += part
    return head


def _remaining(deadline: float) -> float:
    remaining = deadline - time.monotonic()
    if remaining <= 0:
        raise socket.timeout("timed out")
    return remaining


# --- TLS ---------------------------------------------------------------------------------------------------------------------------


def _start_tls(connection: socket.socket, target: Target, tls: ssl.SSLContext, deadline: float) -> Connection:
    connection.settimeout(_remaining(deadline))
    try:
        if isinstance(connection, ssl.SSLSocket):
            return _InnerTls(connection, tls, target.name, deadline)
        return tls.wrap_socket(connection, server_hostname=target.name)
    except ssl.SSLCertVerificationError as error:
        code, said = error.verify_code, str(error.verify_message)
        kind = "dates" if code in _DATE_ERRORS else "names" if code in _NAME_ERRORS else "authority"
        raise Failure(kind, said, how=_DATE_ERRORS.get(code)) from None
    except ssl.SSLError as error:
        if error.reason in _NOT_TLS:
            raise Failure("no_tls", "what answers there does not speak TLS") from None
        raise Failure("broken", f"TLS: {error.reason or error}") from None


class _InnerTls:
    """TLS inside the TLS of a proxy, through buffers in memory: over a TLS socket, ssl would bypass the outer TLS."""

    def __init__(self, connection: ssl.SSLSocket, tls: ssl.SSLContext, name: str | None, deadline: float) -> None:
        self._connection = connection
        self._deadline = deadline
        self._received, self._to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = tls.wrap_bio(self._received, self._to_send, server_hostname=name)
        self._carry(self._tls.do_handshake)
        self.getpeercert = self._tls.getpeercert

    def _carry(self, step: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a TLS step. What it wants to send is sent, and what it has to read is received."""
        while True:
            try:
                result = step(*arguments)
            except ssl.SSLWantReadError:
                self._send()
                self.settimeout(_remaining(self._deadline))
                part = self._connection.recv(65536)
                if part:
                    self._received.write(part)
                else:
                    self._received.write_eof()
                continue
            self._send()
            return result

    def _send(self) -> None:
        waiting = self._to_send.read()
        if waiting:
            self.settimeout(_remaining(self._deadline))
            self._connection.sendall(waiting)

    def settimeout(self, seconds: float) -> None:
        self._connection.settimeout(seconds)

    def sendall(self, data: bytes) -> None:
        while data:
            data = data[self._carry(self._tls.write, data) :]

    def recv_into(self, buffer: Any) -> int:
        try:
            return int(self._carry(self._tls.read, len(buffer), buffer))
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            return 0

    def close(self) -> None:
        self._connection.close()


Connection = Union[socket.socket, _InnerTls]


# --- request and answer ------------------------------------------------------------------------------------------------------------


def _exchange(connection: Connection, target: Target, request: Request, deadline: float, max_bytes: int) -> Answer:
    host = f"[{target.host}]" if ":" in target.host else target.host
    headers = {"Host": host if target.port in (80, 443) else f"{host}:{target.port}", "Connection": "close", **request.headers}
    if request.method != "GET":
        headers["Content-Length"] = "0"
    lines = [f"{request.method} {request.path} HTTP/1.1"] + [f"{name}: {value}" for name, value in headers.items()]
    connection.settimeout(_remaining(deadline))
    connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("ascii"))
    response = http.client.HTTPResponse(cast("socket.socket", _UntilDeadline(connection, deadline)), method=request.method)
    try:
        response.begin()
        body = response.read(max_bytes + 1)
        # A limited read takes a connection that ends too early for the end of the answer.
        if len(body) <= max_bytes and response.length:
            raise http.client.IncompleteRead(body, response.length)
    except (http.client.RemoteDisconnected, http.client.IncompleteRead):
        raise Failure("broken", "it closed the connection before the answer was complete") from None
    except (http.client.HTTPException, ValueError):
        raise Failure("no_http", "what answers there does not speak HTTP") from None
    if len(body) > max_bytes:
        raise Failure("broken", f"the answer is longer than {max_bytes} bytes", is_too_long=True)
    return Answer(response.status, _parse_date(response.getheader("Date")), body)


def _parse_date(date: str | None) -> float | None:
    try:
        return parsedate_to_datetime(cast(str, date)).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


class _UntilDeadline(io.RawIOBase):
    """Reads from a connection until a deadline, so that a server cannot extend it by sending single bytes."""

    def __init__(self, connection: Connection, deadline: float) -> None:
        super().__init__()
        self._connection = connection
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._connection.settimeout(_remaining(self._deadline))
        return self._connection.recv_into(buffer)

    def makefile(self, *_unused: object) -> io.BufferedReader:
        """What http.client calls on a socket."""
        return io.BufferedReader(self)


def _message(error: Exception) -> str:
    """The message of an error, without Python's decoration."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
