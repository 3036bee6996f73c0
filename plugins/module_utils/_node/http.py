# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One HTTPS request of a known kind, and which step of it failed: name, connection, proxy, certificate, answer.

Standard library, Python 3.7 and newer. Every step ends by one deadline. No environment is read and no redirect followed.
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
from typing import Any, NamedTuple

LARGEST_ANSWER = 4 * 1024 * 1024
_LARGEST_HEAD = 65536

# Numbers of OpenSSL's x509_vfy.h.
_DATES = {9: "is not valid yet", 10: "has expired"}
_NAMES = (62, 64)
# Go trusts whatever stands in the file of authorities, also when it is not signed by itself.
_PARTIAL_CHAIN = 0x80000

_CERTIFICATE = re.compile("-----BEGIN CERTIFICATE-----[!-~\\s]+?-----END CERTIFICATE-----")


class Failure(Exception):
    """C(kind): dns, dns_silent, refused, unreachable, silent, broken, proxy, no_tls, no_http, authority,
    names, dates. C(facts): more of it."""

    def __init__(self, kind, said, **facts):
        super().__init__(said)
        self.kind = kind
        self.said = said
        self.facts = facts


class Answer(NamedTuple):
    """C(moment): seconds since 1970 by the server's clock, None where it does not say. C(body): bytes."""

    status: int
    moment: Any
    body: bytes


class Target(NamedTuple):
    """What to ask, and on which way. C(name): of the certificate. C(proxy): a Proxy or None."""

    host: str
    port: int
    name: str
    proxy: Any = None


def context(authorities):
    """TLS that trusts the certificates of a PEM text alone; None trusts anybody, and nothing secret may be sent then.

    Raises ssl.SSLError or ValueError when the text holds none.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if authorities is None:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
        return made
    if ssl.HAS_NEVER_CHECK_COMMON_NAME:
        made.hostname_checks_common_name = False
    made.verify_flags |= _PARTIAL_CHAIN
    found = _CERTIFICATE.findall(authorities)
    if not found:
        raise ValueError("no certificate")
    made.load_verify_locations(cadata="\n".join(found))
    return made


def get(target, path, headers, tls, moment):
    """The Answer to one GET until C(moment) of C(time.monotonic). Raises Failure."""
    link = None
    try:
        link = _connected(target, moment)
        if target.proxy is not None:
            link = _through(link, target, moment)
        link = _secured(link, target, tls, moment)
        return _asked(link, target, path, headers, moment)
    except socket.timeout:
        raise Failure("silent", "it takes the connection, and then timed out without an answer") from None
    except OSError as error:
        raise Failure("broken", _words(error)) from None
    finally:
        if link is not None:
            link.close()


def certificate(target, tls, moment):
    """What the server's certificate says when its names and dates are not looked at: C(ssl.SSLSocket.getpeercert), None when unknown."""
    link, names = None, tls.check_hostname
    tls.check_hostname = False
    try:
        link = _connected(target, moment)
        if target.proxy is not None:
            link = _through(link, target, moment)
        link = _secured(link, target, tls, moment)
        return link.getpeercert()
    except (Failure, OSError):
        return None
    finally:
        tls.check_hostname = names
        if link is not None:
            link.close()


def has_certificate(host, port, moment):
    """Whether the server at an address has any certificate; None when nobody answers there as a TLS server of Go's does."""
    link = None
    try:
        link = socket.create_connection((host, port), timeout=_left(moment))
        link = context(None).wrap_socket(link)
        return True
    except ssl.SSLError as error:
        return False if error.reason == "TLSV1_ALERT_INTERNAL_ERROR" else None
    except OSError:
        return None
    finally:
        if link is not None:
            link.close()


# --- connection --------------------------------------------------------------------------------------------------------------------


def _connected(target, moment):
    """A socket to the server, or to the proxy before it."""
    proxy = target.proxy
    host, port = (proxy.host, proxy.port) if proxy is not None else (target.host, target.port)
    try:
        return _dialled(_resolved(host, port, moment), moment)
    except Failure as failed:
        if proxy is None:
            raise
        raise Failure("proxy", f"{proxy.shown}: {failed.said}") from None


def _resolved(host, port, moment):
    """Addresses of a name. The resolver knows no deadline, so it works in a thread that is left behind."""
    done = queue.Queue()

    def resolve():
        try:
            done.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except Exception as error:  # every failure is the other thread's to judge
            done.put(error)

    threading.Thread(target=resolve, daemon=True).start()
    try:
        found = done.get(timeout=max(0.01, moment - time.monotonic()))
    except queue.Empty:
        raise Failure("dns_silent", f"no name server answers the question for {host}") from None
    if isinstance(found, list) and found:
        return found
    said = f"{host}: {_words(found) if isinstance(found, Exception) else 'no address'}"
    if isinstance(found, socket.gaierror):
        nobody = found.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))
    else:
        nobody = isinstance(found, (list, UnicodeError))
    # Everything else, such as too many open files, says nothing about the name, and may pass.
    raise Failure("dns" if nobody else "dns_silent", said)


def _dialled(addresses, moment):
    """A socket to the first address that takes it; each gets its part of the time, as Go does it."""
    failed = None
    for number, (family, kind, protocol, _unused, address) in enumerate(addresses):
        left = (moment - time.monotonic()) / (len(addresses) - number)
        if left <= 0:
            break
        link = None
        try:
            link = socket.socket(family, kind, protocol)
            link.settimeout(left)
            link.connect(address)
            return link
        except OSError as error:
            if link is not None:
                link.close()
            failed = _no_connection(error, address[0])
    raise failed or Failure("silent", "it timed out before there was a connection")


def _no_connection(error, address):
    if isinstance(error, socket.timeout) or error.errno == errno.ETIMEDOUT:
        return Failure("silent", f"the connection to {address} timed out")
    if error.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EADDRNOTAVAIL):
        return Failure("unreachable", f"{address}: {_words(error)}")
    return Failure("refused", f"{address}: {_words(error)}")


def _through(link, target, moment):
    """A socket through the proxy."""
    proxy = target.proxy
    try:
        if proxy.scheme == "https":
            trusting = ssl.create_default_context()
            link.settimeout(_left(moment))
            link = trusting.wrap_socket(link, server_hostname=proxy.host)
        place = f"{f'[{target.host}]' if ':' in target.host else target.host}:{target.port}"
        words = f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n"
        if proxy.authorization is not None:
            words += f"Proxy-Authorization: {proxy.authorization}\r\n"
        link.settimeout(_left(moment))
        link.sendall(f"{words}\r\n".encode("ascii"))
        status = _head_of(link, moment)
    except socket.timeout:
        raise Failure("proxy", f"{proxy.shown} takes the connection and does not answer") from None
    except OSError as error:
        raise Failure("proxy", f"{proxy.shown}: {_words(error)}") from None
    match = re.match(rb"HTTP/1\.[01] (?P<status>[0-9]{3}) ?(?P<reason>[ -~]{0,60})", status)
    if match is None:
        raise Failure("proxy", f"{proxy.shown} does not speak HTTP")
    if match.group("status") != b"200":
        said = f"{match.group('status').decode()} {match.group('reason').decode()}".strip()
        raise Failure("proxy", f"{proxy.shown} refuses to connect to {place}: {said}")
    return link


def _head_of(link, moment):
    """The head of the proxy's answer; not a byte more is read, for the rest is TLS."""
    found = b""
    while not found.endswith(b"\r\n\r\n") and len(found) < _LARGEST_HEAD:
        link.settimeout(_left(moment))
        part = link.recv(1)
        if not part:
            break
        found += part
    return found


def _left(moment):
    left = moment - time.monotonic()
    if left <= 0:
        raise socket.timeout("timed out")
    return left


# --- TLS ---------------------------------------------------------------------------------------------------------------------------


def _secured(link, target, tls, moment):
    link.settimeout(_left(moment))
    try:
        if isinstance(link, ssl.SSLSocket):
            return _Inner(link, tls, target.name, moment)
        return tls.wrap_socket(link, server_hostname=target.name)
    except ssl.SSLCertVerificationError as error:
        code, said = error.verify_code, str(error.verify_message)
        kind = "dates" if code in _DATES else "names" if code in _NAMES else "authority"
        raise Failure(kind, said, how=_DATES.get(code)) from None
    except ssl.SSLError as error:
        if error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNKNOWN_PROTOCOL", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG"):
            raise Failure("no_tls", "what answers there does not speak TLS") from None
        raise Failure("broken", f"TLS: {error.reason or error}") from None


class _Inner:
    """TLS inside the TLS of a proxy. Over a socket that speaks it already, ssl would go around the outer one; memory lies between here."""

    def __init__(self, link, tls, name, moment):
        self._link = link
        self._moment = moment
        self._received, self._to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = tls.wrap_bio(self._received, self._to_send, server_hostname=name)
        self._carry(self._tls.do_handshake)
        self.getpeercert = self._tls.getpeercert

    def _carry(self, step, *given):
        """The result of a step; what it wants to send goes out, and what it has to read comes in."""
        while True:
            try:
                result = step(*given)
            except ssl.SSLWantReadError:
                self._send()
                self.settimeout(_left(self._moment))
                part = self._link.recv(65536)
                if part:
                    self._received.write(part)
                else:
                    self._received.write_eof()
                continue
            self._send()
            return result

    def _send(self):
        waiting = self._to_send.read()
        if waiting:
            self.settimeout(_left(self._moment))
            self._link.sendall(waiting)

    def settimeout(self, seconds):
        self._link.settimeout(seconds)

    def sendall(self, data):
        while data:
            data = data[self._carry(self._tls.write, data) :]

    def recv_into(self, buffer):
        try:
            return self._carry(self._tls.read, len(buffer), buffer)
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            return 0

    def close(self):
        self._link.close()


# --- question and answer -----------------------------------------------------------------------------------------------------------


def _asked(link, target, path, headers, moment):
    host = f"[{target.host}]" if ":" in target.host else target.host
    given = {"Host": host if target.port == 443 else f"{host}:{target.port}", "Accept": "application/json", "Connection": "close"}
    lines = [f"GET {path} HTTP/1.1"] + [f"{name}: {value}" for name, value in {**given, **headers}.items()]
    link.settimeout(_left(moment))
    link.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("ascii"))
    response = http.client.HTTPResponse(_UntilDeadline(link, moment), method="GET")
    try:
        response.begin()
        body = response.read(LARGEST_ANSWER)
    except (http.client.RemoteDisconnected, http.client.IncompleteRead):
        raise Failure("broken", "it ends the connection without a whole answer") from None
    except (http.client.HTTPException, ValueError):
        raise Failure("no_http", "what answers there does not speak HTTP") from None
    return Answer(response.status, _moment(response.getheader("Date")), body)


def _moment(date):
    try:
        return parsedate_to_datetime(date).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


class _UntilDeadline(io.RawIOBase):
    """What a socket receives until a moment: a server that sends byte by byte gains nothing by it."""

    def __init__(self, link, moment):
        super().__init__()
        self._link = link
        self._moment = moment

    def readable(self):
        return True

    def readinto(self, buffer):
        self._link.settimeout(_left(self._moment))
        return self._link.recv_into(buffer)

    def makefile(self, *unused):
        """What http.client asks a socket for."""
        return io.BufferedReader(self)


def _words(error):
    """What an error says, without Python's decoration."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
