# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module node_info as a process of its own, also under Python 3.7, and the requests it makes to a kubelet."""

from __future__ import annotations

import ast
import http.server
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ansible
import pytest
import yaml

from ansible_collections.nodebootstrap.eks.plugins.module_utils._inspect import kubelet_endpoints as asking
from ansible_collections.nodebootstrap.eks.plugins.modules import node_info
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions

TOP = Path(__file__).resolve().parents[4]
UTILS = TOP / "plugins/module_utils"
SOURCES = (TOP / "plugins/modules/node_info.py", *sorted(UTILS.glob("_node/*.py")), *sorted(UTILS.glob("_inspect/*.py")))


def call(folder: Path, **arguments: Any) -> dict[str, Any]:
    given = folder / "arguments.json"
    given.write_text(json.dumps({"ANSIBLE_MODULE_ARGS": arguments}), encoding="utf-8")
    roots = [collection(folder), Path(str(ansible.__file__)).resolve().parents[1]]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, roots)), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "ansible_collections.nodebootstrap.eks.plugins.modules.node_info", str(given)]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=900)
    assert done.stderr == ""
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def collection(folder: Path) -> Path:
    link = folder / "collection/ansible_collections/nodebootstrap/eks"
    if not link.exists():
        link.parent.mkdir(parents=True)
        link.symlink_to(TOP, target_is_directory=True)
    return folder / "collection"


@pytest.mark.parametrize("check", [False, True])
def test_what_it_returns_is_documented(tmp_path: Path, check: bool) -> None:
    result = call(tmp_path, timeout=2, configz=False, _ansible_check_mode=check)
    assert result["changed"] is False
    documented = yaml.safe_load(node_info.RETURN)["node"]["contains"]
    assert result["node"].keys() == documented.keys()
    for part in ("kubelet", "cluster"):
        assert result["node"][part].keys() == documented[part]["contains"].keys()
    assert result["node"]["kubelet"]["config"].keys() == documented["kubelet"]["contains"]["config"]["contains"].keys()


@pytest.mark.parametrize("timeout", [0, -1, 61, "soon"])
def test_a_senseless_timeout_is_refused(tmp_path: Path, timeout: Any) -> None:
    result = call(tmp_path, timeout=timeout)
    assert result["failed"] and mentions(result["msg"], "timeout") and "Traceback" not in json.dumps(result)


def test_it_runs_on_the_python_of_amazon_linux_2(tmp_path: Path) -> None:
    for source in SOURCES:
        ast.parse(source.read_text(encoding="utf-8"), feature_version=(3, 7))
    roots = [os.environ.get("PYENV_ROOT", ""), str(Path.home() / ".pyenv")]
    found = [str(path) for root in roots if root for path in sorted(Path(root).glob("versions/3.7*/bin/python"))]
    program = (
        "import json\n"
        "from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import host, redaction\n"
        "from ansible_collections.nodebootstrap.eks.plugins.module_utils._inspect import facts, kubelet_endpoints as asking\n"
        "json.dumps(facts.facts(host.Host(2.0)))\n"
        "asking.configz({}, {'port': 1}, None, 1)\n"
        "print(redaction.redact_document('password: x'))\n"
    )
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(collection(tmp_path)), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [next(iter(found), sys.executable), "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=900)
    assert (done.stdout, done.stderr) == ("password: ********\n", "")


# --- requests to kubelet -------------------------------------------------------------------------------------------------------------


class Kubelet(http.server.BaseHTTPRequestHandler):
    """Answers with what C(answers) of the server says, by path; C(asked) has the requests."""

    def do_GET(self) -> None:
        server: Any = self.server
        peer = self.request.getpeercert() if isinstance(self.request, ssl.SSLSocket) else None
        server.asked.append((self.path, dict(self.headers), bool(peer)))
        status, body = server.answers[self.path]
        if server.needs_certificate and not peer:
            status, body = 401, b"Unauthorized"
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_unused: Any) -> None:
        pass


@contextmanager
def serving(answers: dict[str, tuple[int, bytes]], pem: Path | None = None, needs_certificate: bool = False) -> Iterator[Any]:
    server: Any = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Kubelet)
    server.answers, server.asked, server.needs_certificate = answers, [], needs_certificate
    if pem is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        context.load_verify_locations(pem)
        context.verify_mode = ssl.CERT_OPTIONAL
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate with its key, in one file as kubelet has it."""
    folder = tmp_path_factory.mktemp("pem")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=node"]
    subprocess.run([*command, "-keyout", folder / "key", "-out", folder / "crt", "-days", "2"], check=True, capture_output=True)
    path = folder / "both.pem"
    path.write_text((folder / "crt").read_text() + (folder / "key").read_text(), encoding="utf-8")
    return path


def port(server: Any) -> dict[str, Any]:
    return {"port": server.server_address[1], "healthzPort": server.server_address[1]}


@pytest.mark.parametrize(
    ("answer", "ok", "problem"),
    [
        ((200, b"ok"), True, None),
        ((200, b"not yet"), False, "it answers: not yet"),
        ((500, b"[-]syncloop failed"), False, "it answers: [-]syncloop failed"),
    ],
)
def test_healthz(answer: tuple[int, bytes], ok: bool, problem: str | None) -> None:
    with serving({"/healthz": answer}) as server:
        found = asking.healthz({}, port(server), 5)
        url = f"http://127.0.0.1:{server.server_address[1]}/healthz"
    assert found == {"url": url, "ok": ok, "status": answer[0], "problem": problem}


def test_healthz_is_asked_where_flags_say(pem: Path, golden_message: GoldenMessages) -> None:
    with serving({"/healthz": (200, b"ok")}) as server:
        flags = {"healthz-port": str(server.server_address[1]), "healthz-bind-address": "0.0.0.0"}
        assert asking.healthz(flags, {"healthzPort": 1}, 5)["ok"] is True
    off = asking.healthz({"healthz-port": "0"}, {}, 5)
    assert off["url"] is None and off["ok"] is None
    golden_message(off["problem"])


@contextmanager
def socket_that(behaves: Any) -> Iterator[int]:
    """The port of a socket whose connections C(behaves) gets."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        try:
            connection, _unused = listener.accept()
            with connection:
                connection.recv(1000)
                behaves(connection)
        except OSError:
            pass

    threading.Thread(target=serve, daemon=True).start()
    with listener:
        yield listener.getsockname()[1]


def drip(connection: socket.socket) -> None:
    for _unused in range(600):
        connection.sendall(b"H")
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("behaves", "timeout"),
    [
        (lambda connection: time.sleep(300), 0.5),
        (drip, 0.5),
        (lambda connection: connection.sendall(b"SSH-2.0-x\r\n"), 90),
        (lambda connection: connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + b"x" * (asking.MAX_ANSWER_BYTES + 70000)), 90),
    ],
    ids=["silent", "slow", "another protocol", "too long"],
)
def test_no_answer_holds_it_up(behaves: Any, timeout: float, golden_message: GoldenMessages) -> None:
    with socket_that(behaves) as number:
        began = time.monotonic()
        found = asking.healthz({}, {"healthzPort": number}, timeout)
        assert found["ok"] is False and time.monotonic() - began < 100
        golden_message(found["problem"], PORT=number)


SERVED = json.dumps({"kubeletconfig": {"maxPods": 5, "staticPodURLHeader": {"A": ["cAnArY"]}}}).encode()


def test_configz_without_credentials(pem: Path) -> None:
    with serving({"/configz": (200, SERVED)}, pem) as server:
        found = asking.configz({}, port(server), None, 5)
        assert found == {"config": {"maxPods": 5, "staticPodURLHeader": {"A": ["********"]}}, "problem": None}
        [(_unused, headers, certificate)] = server.asked
        assert not certificate and "Authorization" not in headers


def test_configz_with_the_nodes_certificate(pem: Path, golden_message: GoldenMessages) -> None:
    with serving({"/configz": (200, SERVED)}, pem, needs_certificate=True) as server:
        assert asking.configz({}, port(server), (str(pem), str(pem)), 5)["config"]["maxPods"] == 5
        assert [certificate for _unused, _unused, certificate in server.asked] == [False, True]
        refused = asking.configz({}, port(server), None, 5)
        assert refused["config"] is None
        golden_message(refused["problem"])
        broken = asking.configz({}, port(server), ("/gone", "/gone"), 5)
        golden_message(broken["problem"])


@pytest.mark.parametrize(
    "answer",
    [(403, b"Forbidden"), (405, b""), (200, b"<html>"), (200, b"{}"), (200, b"[" * 100000)],
    ids=["forbidden", "another status", "HTML", "another document", "deep"],
)
def test_configz_is_refused(pem: Path, answer: tuple[int, bytes], golden_message: GoldenMessages) -> None:
    with serving({"/configz": answer}, pem) as server:
        found = asking.configz({}, port(server), None, 5)
    assert found["config"] is None
    golden_message(found["problem"])


def test_configz_is_not_there() -> None:
    assert "Connection refused" in asking.configz({}, {"port": 1}, None, 2)["problem"]
    assert "switched off" in asking.configz({"enable-server": "false"}, {}, None, 2)["problem"]
    assert "enableDebuggingHandlers" in asking.configz({}, {"enableDebuggingHandlers": False}, None, 2)["problem"]
    with serving({"/configz": (200, SERVED)}) as server:
        assert asking.configz({}, port(server), None, 2)["config"] is None, "no TLS"
