# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests to an API server over real TLS, the outcome of each failure, and that the token goes nowhere else."""

from __future__ import annotations

import base64
import errno
import os
import socket
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import api_client
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import NodeObject
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.host import Host
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.api_stand_in import (
    NAME,
    TOKEN,
    Authority,
    a_node,
    listening,
    proxying,
    serving,
)
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.join_request import Request, diagnose


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def pem(authority: Authority) -> Path:
    return authority.sign("server", ("127.0.0.1", "::1", "localhost"))


@pytest.fixture
def request_node(tmp_path: Path, authority: Authority) -> Request:
    return Request(tmp_path, authority.path)


# --- successful requests ------------------------------------------------------------------------------------------------------------


def test_the_node_object(request_node: Request, pem: Path) -> None:
    with serving(pem, a_node()) as server:
        found = request_node(server)
        [(path, headers, _unused)] = server.requests
    assert path == f"/api/v1/nodes/{NAME}?resourceVersion=0" and headers["Authorization"] == f"Bearer {TOKEN}"
    assert found.outcome == "answer" and found.status == 200 and found.is_kubernetes and found.clock_skew is not None
    assert abs(found.clock_skew) < 60
    assert found.node is not None and found.node.ready == "True" and abs((found.node.heartbeat or 0) - time.time()) < 60
    assert found.uses_program and found.cluster_name == "demo" and found.credentials == "the token of get-token"


def test_pressures_and_taints_of_the_node() -> None:
    conditions = [
        {"type": "MemoryPressure", "status": "False", "message": "kubelet has sufficient memory available"},
        {"type": "DiskPressure", "status": "True", "message": "kubelet has\ndisk pressure"},
        {"type": "PIDPressure", "status": "Unknown"},
        {"type": "EtcdIsVoter", "status": "True"},
        "junk",
        {"type": "Ready", "status": "True"},
    ]
    taints = [{"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"}, "junk"]
    document = {"metadata": {"name": NAME}, "spec": {"taints": taints}, "status": {"conditions": conditions}}
    found = api_client._parse_node(document, NAME)
    assert found is not None and found.ready == "True"
    assert found.pressures == (("DiskPressure", "kubelet has disk pressure"),)
    assert found.taints == ("node.kubernetes.io/disk-pressure:NoSchedule",)
    for junk in ({}, {"spec": [], "status": []}, {"spec": {"taints": None}, "status": {"conditions": None}}):
        assert api_client._parse_node({"metadata": {"name": NAME}, **junk}, NAME) == NodeObject()


def test_ipv6_and_tls_server_name(request_node: Request, authority: Authority, pem: Path) -> None:
    with serving(pem, a_node(), host="::1") as server:
        assert request_node(server).status == 200
        assert server.requests[0][1]["Host"] == f"[::1]:{server.server_address[1]}"
    other = authority.sign("other", ("api.example.com",))
    with serving(other, a_node()) as server:
        assert request_node(server).outcome == "names"
        request_node.cluster["tls-server-name"] = "api.example.com"
        assert request_node(server).status == 200


def test_the_authority_in_the_kubeconfig(request_node: Request, authority: Authority, pem: Path) -> None:
    del request_node.cluster["certificate-authority"]
    request_node.cluster["certificate-authority-data"] = base64.b64encode(b"a comment\n" + authority.path.read_bytes()).decode()
    with serving(pem, a_node()) as server:
        assert request_node(server).status == 200


def test_client_certificates(request_node: Request, authority: Authority, pem: Path, tmp_path: Path) -> None:
    mine = authority.sign("kubelet")
    key, _unused, certificate = mine.read_text().partition("-----END PRIVATE KEY-----\n")
    data = {name: base64.b64encode(text.encode()).decode() for name, text in (("key", key + _unused), ("certificate", certificate))}
    for user in (
        {"client-certificate": str(mine), "client-key": str(mine)},
        {"client-certificate": str(mine)},
        {"client-certificate-data": data["certificate"], "client-key-data": data["key"]},
    ):
        request_node.user = user
        with serving(pem, a_node(), clients=authority.path) as server:
            assert request_node(server).status == 200
            [(_path, headers, shown)] = server.requests
            assert shown and "Authorization" not in headers
    request_node.user = {"client-certificate": str(tmp_path / "gone.pem")}
    found = request_node("https://127.0.0.1:1")
    assert found.outcome == "bad_certificate" and diagnose(found).cause == "credentials_failed"


# --- failed requests ---------------------------------------------------------------------------------------------------------------


def test_a_server_of_another_authority_gets_no_token(
    request_node: Request, pem: Path, tmp_path: Path, golden_message: GoldenMessages
) -> None:
    stranger = Authority(tmp_path / "stranger")
    request_node.cluster["certificate-authority"] = str(stranger.path)
    with serving(pem, a_node()) as server:
        found = request_node(server)
        assert not server.requests, "the handshake did not end"
    finding = diagnose(found)
    assert (finding.cause, finding.final) == ("wrong_certificate_authority", True)
    assert mentions(finding.message, stranger.path, server.url)
    golden_message(finding.message, SERVER=server.url)


@pytest.mark.parametrize("content", [None, "", "garbage\n", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
def test_an_invalid_authority(request_node: Request, tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "ca.crt"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    request_node.cluster["certificate-authority"] = str(path)
    found = request_node("https://127.0.0.1:1")
    assert found.outcome == "no_authority" and diagnose(found).cause == "wrong_certificate_authority" and diagnose(found).final


def test_a_certificate_for_other_names(request_node: Request, authority: Authority, golden_message: GoldenMessages) -> None:
    with serving(authority.sign("others", ("10.9.9.9", "api.example.com")), a_node()) as server:
        found = request_node(server)
        assert not server.requests
    assert (diagnose(found).cause, diagnose(found).final) == ("wrong_endpoint", True)
    assert found.certificate_names == ("10.9.9.9", "api.example.com") and found.host == "127.0.0.1"
    golden_message(diagnose(found).message, SERVER=server.url)


def test_a_certificate_with_a_common_name_alone_is_refused_as_go_does(request_node: Request, authority: Authority) -> None:
    with serving(authority.sign("127.0.0.1"), a_node()) as server:
        assert request_node(server).outcome == "names"


@pytest.mark.parametrize(
    ("valid", "ahead", "cause"),
    [
        ((-7200, -3600), 0, "certificate_dates"),
        ((3600, 7200), 0, "certificate_dates"),
        ((3600, 7200), 5000, "clock_skew"),
        ((-7200, -3600), -5000, "clock_skew"),
    ],
)
def test_dates(
    request_node: Request, authority: Authority, valid: tuple[float, float], ahead: float, cause: str, golden_message: GoldenMessages
) -> None:
    with serving(authority.sign("dated", ("127.0.0.1",), valid), a_node(), ahead=ahead) as server:
        found = request_node(server)
        assert all("Authorization" not in headers for _path, headers, _shown in server.requests)
    assert diagnose(found).cause == cause
    golden_message(found.date_problem)
    assert found.clock_skew is not None and abs(found.clock_skew + ahead) < 60


def test_no_server(request_node: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    found = request_node("https://127.0.0.1:1")
    assert found.outcome == "refused" and diagnose(found).cause == "endpoint_refused" and not diagnose(found).final

    errors: list[int] = []

    def resolve(*_unused: Any, **_unuseds: Any) -> Any:
        raise socket.gaierror(errors[-1], "said so")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    for number, kind, final in (
        (socket.EAI_NONAME, "dns", True),
        (getattr(socket, "EAI_NODATA", socket.EAI_NONAME), "dns", True),
        (socket.EAI_AGAIN, "dns_silent", False),
        (socket.EAI_FAIL, "dns_silent", False),
        (socket.EAI_MEMORY, "dns_silent", False),
    ):
        errors.append(number)
        found = request_node("https://missing.example.com")
        assert (found.outcome, diagnose(found).cause, diagnose(found).final) == (kind, "endpoint_unknown", final)
        assert mentions(diagnose(found).message, "missing.example.com")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (OSError(errno.EMFILE, "Too many open files"), "dns_silent"),
        (MemoryError(), "dns_silent"),
        (UnicodeError("label too long"), "dns"),
        ([], "dns"),
    ],
)
def test_failed_dns_queries(request_node: Request, monkeypatch: pytest.MonkeyPatch, answer: Any, kind: str) -> None:
    def resolve(*_unused: Any, **_unuseds: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    found = request_node("https://missing.example.com")
    assert (found.outcome, diagnose(found).cause, diagnose(found).final) == (kind, "endpoint_unknown", kind == "dns")


def test_a_resolver_that_hangs_does_not_block(request_node: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_unused, **_unuseds: time.sleep(300))
    began = time.monotonic()
    assert request_node("https://missing.example.com", limit=0.5).outcome == "dns_silent"
    assert time.monotonic() - began < 100


def drip(connection: socket.socket) -> None:
    for _unused in range(6000):
        connection.sendall(b"H")
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("handle", "kind", "name"),
    [
        (lambda connection: time.sleep(300), "silent", "endpoint_silent"),
        (lambda connection: None, "broken", "endpoint_refused"),
        (lambda connection: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n") or connection.recv(1000), "no_tls", "wrong_endpoint"),
        (lambda connection: connection.sendall(b"SSH-2.0-OpenSSH\r\n") or connection.recv(1000), "no_tls", "wrong_endpoint"),
    ],
)
def test_servers_that_are_not_an_api_server(request_node: Request, handle: Any, kind: str, name: str) -> None:
    began = time.monotonic()
    with listening(handle) as port:
        found = request_node(f"https://127.0.0.1:{port}", limit=1.0 if kind == "silent" else 60.0)
    assert (found.outcome, diagnose(found).cause) == (kind, name) and time.monotonic() - began < 100


def test_bytes_that_come_one_by_one_end_with_the_limit(request_node: Request, pem: Path) -> None:
    with serving(pem, (200, b"")) as server:
        server.finish_request = lambda request, _address: drip(server.tls.wrap_socket(request, server_side=True))
        began = time.monotonic()
        assert request_node(server, limit=1.0).outcome == "silent" and time.monotonic() - began < 100


@pytest.mark.parametrize(
    "part", [b'5\r\n{"kin', b'5\r\n{"kin\r\n', b'5\r\n{"kin\r\n8', b"ffff\r\n{", b""], ids=["chunk", "chunks", "size", "large", "none"]
)
def test_a_truncated_answer_may_pass(request_node: Request, pem: Path, part: bytes) -> None:
    def cut(request: Any, _address: Any) -> None:
        connection = server.tls.wrap_socket(request, server_side=True)
        connection.recv(10000)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + part)
        connection.close()

    with serving(pem) as server:
        server.finish_request = cut
        found = request_node(server)
    assert (found.outcome, diagnose(found).cause, diagnose(found).final) == ("broken", "endpoint_refused", False)


def test_whether_a_server_has_a_certificate(pem: Path) -> None:
    def alerts(connection: socket.socket) -> None:
        connection.recv(10000)
        connection.sendall(b"\x15\x03\x03\x00\x02\x02\x50")  # what Go's server says without one: fatal, internal error
        connection.recv(10000)

    def asked(port: int, seconds: float = 60) -> Any:
        return api_client.https.has_certificate("127.0.0.1", port, time.monotonic() + seconds)

    with serving(pem) as server:
        assert asked(server.server_address[1]) is True
    with listening(alerts) as port:
        assert asked(port) is False
    for handle in (
        lambda connection: connection.recv(1000) and connection.sendall(b"HTTP/1.0 400\r\n"),
        lambda connection: time.sleep(30),
    ):
        with listening(handle) as port:
            assert asked(port, 1) is None
    assert asked(1) is None


# --- proxies -----------------------------------------------------------------------------------------------------------------------


def test_through_a_proxy(request_node: Request, pem: Path) -> None:
    with serving(pem, a_node()) as server, proxying() as (port, heads):
        target = f"localhost:{server.server_address[1]}"
        request_node.environment["HTTPS_PROXY"] = f"http://user:cAnArY@127.0.0.1:{port}"
        # localhost is never proxied, as Go has it; a name that leads there is.
        assert request_node(f"https://{target}").status == 200 and not heads
        request_node.cluster["proxy-url"] = request_node.environment["HTTPS_PROXY"]
        found = request_node(f"https://{target}")
    assert found.status == 200 and found.proxy == f"http://127.0.0.1:{port} (proxy-url of the kubeconfig)"
    assert heads[0].startswith(f"CONNECT {target} HTTP/1.1\r\n".encode())
    assert b"Proxy-Authorization: Basic " + base64.b64encode(b"user:cAnArY") in heads[0] and TOKEN.encode() not in heads[0]


def test_through_a_proxy_that_speaks_tls(request_node: Request, authority: Authority, pem: Path, tmp_path: Path, monkeypatch: Any) -> None:
    with serving(pem, a_node()) as server, proxying(pem=pem) as (port, heads):
        request_node.cluster["proxy-url"] = f"https://user:cAnArY@localhost:{port}"
        found = request_node(f"https://localhost:{server.server_address[1]}")
        assert found.outcome == "proxy" and not heads, "this machine does not trust its certificate"
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.path))
        assert request_node(f"https://localhost:{server.server_address[1]}").status == 200
        assert server.requests[0][1]["Authorization"] == f"Bearer {TOKEN}" and TOKEN.encode() not in heads[0]
        request_node.cluster["certificate-authority"] = str(Authority(tmp_path / "stranger").path)
        assert request_node(f"https://localhost:{server.server_address[1]}").outcome == "authority"


@pytest.mark.parametrize(
    "refusal", [b"HTTP/1.1 407 Proxy Authentication Required", b"HTTP/1.1 403 \x1b[31mno", b"SSH-2.0-x"], ids=["407", "403", "not HTTP"]
)
def test_a_proxy_that_refuses(request_node: Request, refusal: bytes, golden_message: GoldenMessages) -> None:
    with proxying(refusal) as (port, _heads):
        request_node.environment["HTTPS_PROXY"] = f"http://user:cAnArY@127.0.0.1:{port}"
        found = request_node("https://192.0.2.1")
    finding = diagnose(found)
    assert found.outcome == "proxy" and finding.cause == "proxy_failed" and not finding.final
    assert mentions(finding.message, "(HTTPS_PROXY)") and "\x1b" not in finding.message
    golden_message(finding.message, PORT=f":{port}")


def test_a_proxy_that_does_not_exist(request_node: Request, golden_message: GoldenMessages) -> None:
    request_node.environment["https_proxy"] = "http://127.0.0.1:1"
    golden_message(diagnose(request_node("https://192.0.2.1")).message)
    request_node.environment["https_proxy"] = "socks5://127.0.0.1:1"
    golden_message(diagnose(request_node("https://192.0.2.1")).message)


# The cases are those of golang.org/x/net/http/httpproxy.

PROXY = "http://proxy.example.com:3128"


@pytest.mark.parametrize(
    ("no_proxy", "host", "through"),
    [
        ("", "api.example.com", True),
        ("", "localhost", False),
        ("", "127.0.0.5", False),
        ("", "::1", False),
        ("*", "api.example.com", False),
        ("other.com,*", "10.0.0.1", False),
        ("example.com", "example.com", False),
        ("example.com", "api.example.com", False),
        ("example.com", "notexample.com", True),
        (".example.com", "api.example.com", False),
        (".example.com", "example.com", True),
        ("*.example.com", "api.example.com", False),
        ("*.example.com", "example.com", True),
        ("EXAMPLE.com , x", "API.example.COM", False),
        ("example.com:443", "api.example.com", False),
        ("example.com:80", "api.example.com", True),
        ("10.0.0.0/8", "10.1.2.3", False),
        ("10.0.0.0/8", "11.1.2.3", True),
        ("10.0.0.0/8", "fd00::1", True),
        ("fd00::/8", "fd00::1", False),
        ("10.0.0.1", "10.0.0.1", False),
        ("10.0.0.1:443", "10.0.0.1", False),
        ("10.0.0.1:80", "10.0.0.1", True),
        ("[fd00::1]:443", "fd00::1", False),
        ("[fd00::1]", "fd00::1", False),
        (".0.0.1", "10.0.0.1", True),
        ("10.0.0.0/99,a b,:80,,", "10.0.0.1", True),
        (".eks.amazonaws.com", "0123.gr7.eu-central-1.eks.amazonaws.com", False),
    ],
)
def test_no_proxy(no_proxy: str, host: str, through: bool) -> None:
    found = api_client.proxy_of_environment({"HTTPS_PROXY": PROXY, "NO_PROXY": no_proxy}, host, 443)
    assert (found is not None) is through


def test_proxy_variables() -> None:
    find = api_client.proxy_of_environment
    assert find({"HTTP_PROXY": PROXY, "http_proxy": PROXY, "ALL_PROXY": PROXY}, "a.com", 443) is None
    assert find({"https_proxy": PROXY}, "a.com", 443).shown == f"{PROXY} (https_proxy)"
    assert find({"HTTPS_PROXY": PROXY, "https_proxy": "http://other:1"}, "a.com", 443).port == 3128
    assert find({"HTTPS_PROXY": PROXY, "no_proxy": "a.com"}, "a.com", 443) is None
    assert find({"HTTPS_PROXY": PROXY, "NO_PROXY": "b.com", "no_proxy": "a.com"}, "a.com", 443) is not None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("proxy:3128", ("http", "proxy", 3128, None)),
        ("http://proxy", ("http", "proxy", 80, None)),
        ("https://proxy/", ("https", "proxy", 443, None)),
        ("http://[fd00::1]:8080", ("http", "fd00::1", 8080, None)),
        ("http://u:p%40ss@proxy:1", ("http", "proxy", 1, "Basic dTpwQHNz")),
        ("http://u@proxy:1", ("http", "proxy", 1, "Basic dTo=")),
        ("http://pro xy", None),
        ("http://proxy:99999", None),
        ("http://", None),
    ],
)
def test_proxy_urls(value: str, expected: Any) -> None:
    found = api_client.parse_proxy(value, "HTTPS_PROXY")
    assert (found and found[:4]) == expected
    assert found is None or ("p%40ss" not in found.shown and "p@ss" not in found.shown)


# --- kubeconfigs -------------------------------------------------------------------------------------------------------------------


def test_invalid_kubeconfigs(request_node: Request, tmp_path: Path) -> None:
    client = api_client.ApiClient(Host(5.0), str(tmp_path / "none"), {})
    found = client.request_node(NAME)
    assert found.outcome == "no_kubeconfig" and diagnose(found).cause == "no_kubeconfig"
    for server in ("", "http://x", "https://u:cAnArY@x", "MASTER_ENDPOINT", "https://x:99999", "https://x y"):
        found = request_node(server)
        assert found.outcome == "bad_kubeconfig" and diagnose(found).cause == "bad_kubeconfig" and diagnose(found).final
    request_node.user = {}
    found = request_node("https://127.0.0.1:1")
    assert (found.outcome, found.credentials, diagnose(found).cause) == ("bad_kubeconfig", "", "bad_kubeconfig")


def test_the_client_key_leaves_no_file(
    request_node: Request, authority: Authority, pem: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[str, int]] = []
    original = api_client.tempfile.mkstemp

    def mkstemp(**words: Any) -> Any:
        handle, path = original(**{**words, "dir": str(tmp_path)})
        made.append((path, stat.S_IMODE(os.stat(path).st_mode)))
        return handle, path

    monkeypatch.setattr(api_client.tempfile, "mkstemp", mkstemp)
    text = authority.sign("kubelet").read_text()
    both = base64.b64encode(text.encode()).decode()
    request_node.user = {"client-certificate-data": both, "client-key-data": both}
    with serving(pem, a_node(), clients=authority.path) as server:
        assert request_node(server).status == 200
    assert [mode for _path, mode in made] == [0o600] and not os.path.exists(made[0][0])
