# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program of a kubeconfig, run as kubelet runs it; real programs, none of whose secrets may be told."""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import credentials
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import kubeconfig as kubeconfigs
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.host import Host
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions

V1BETA1, V1 = "client.authentication.k8s.io/v1beta1", "client.authentication.k8s.io/v1"
TOKEN = "k8s-aws-v1.cAnArY"


def program(folder: Path, text: str, name: str = "get-token") -> str:
    path = folder / name
    path.write_text(f"#!{sys.executable}\nimport json, os, sys, time\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def prints(version: Any = V1BETA1, **status: Any) -> str:
    return f"print({json.dumps({'kind': 'ExecCredential', 'apiVersion': version, 'status': status or {'token': TOKEN}})!r})"


def source(
    folder: Path, given: dict[str, Any] | None = None, cluster: dict[str, Any] | None = None, limit: float = 20.0, **user: Any
) -> Any:
    """A CredentialSource for a kubeconfig in `folder`; `given`: its exec section beside the version."""
    if given is not None:
        user["exec"] = {"apiVersion": V1BETA1, **given}
    access = kubeconfigs.Access("https://x", "x", 443, "", {"server": "https://x", **(cluster or {})}, user, str(folder))
    return credentials.CredentialSource(
        access, Host(5.0), {"PATH": f"{folder}:{os.environ['PATH']}", "KUBELETS_OWN": "yes", "BOTH": "kubelet"}, limit
    )


def failure(found: Any) -> Any:
    with pytest.raises(credentials.CredentialsFailed) as problem:
        found.get()
    assert "cAnArY" not in problem.value.message and "\x1b" not in problem.value.message and "\n" not in problem.value.message
    return problem.value


def test_the_program_runs_as_kubelet_runs_it(tmp_path: Path) -> None:
    told = tmp_path / "told"
    show = f"json.dump([sys.argv[1:], dict(os.environ), os.getcwd(), sys.stdin.read()], open({str(told)!r}, 'w'))"
    given = {
        "command": program(tmp_path, f"{show}\n{prints()}"),
        "args": ["eks", "get-token", "--cluster-name", "demo", 5],
        "env": [{"name": "AWS_STS_REGIONAL_ENDPOINTS", "value": "regional"}, {"name": "BOTH", "value": "kubeconfig"}],
        "provideClusterInfo": True,
    }
    found = source(tmp_path, given, {"certificate-authority-data": "Q0E="}).get()
    assert (found.token, found.expires, found.description) == (TOKEN, None, "the token of get-token")
    words, environment, folder, stdin = json.loads(told.read_text())
    assert words == ["eks", "get-token", "--cluster-name", "demo", "5"] and folder == "/" and stdin == ""
    assert environment["KUBELETS_OWN"] == "yes" and environment["BOTH"] == "kubeconfig"
    assert environment["AWS_STS_REGIONAL_ENDPOINTS"] == "regional"
    spec = {"interactive": False, "cluster": {"server": "https://x", "certificate-authority-data": "Q0E="}}
    assert json.loads(environment["KUBERNETES_EXEC_INFO"]) == {"kind": "ExecCredential", "apiVersion": V1BETA1, "spec": spec}


def test_both_versions_and_no_other(tmp_path: Path, golden_message: GoldenMessages) -> None:
    command = program(tmp_path, prints(V1))
    assert source(tmp_path, {"command": command, "apiVersion": V1}).get().token == TOKEN
    other = failure(source(tmp_path, {"command": command})).message
    assert mentions(other, f"'{V1}'", V1BETA1)
    golden_message(other)
    old = failure(source(tmp_path, {"command": command, "apiVersion": "client.authentication.k8s.io/v1alpha1"}))
    assert mentions(old.message, "v1alpha1", V1)
    golden_message(old.message)


def test_where_the_program_is(tmp_path: Path, golden_message: GoldenMessages) -> None:
    program(tmp_path, prints())
    assert source(tmp_path, {"command": "get-token"}).get().token == TOKEN, "in the PATH of kubelet"
    assert source(tmp_path, {"command": "./get-token"}).get().token == TOKEN, "beside the kubeconfig"
    for command in ("no-such-program", "/no/such/program", "", str(tmp_path)):
        found = failure(source(tmp_path, {"command": command, "installHint": "install\nit"}))
        assert found.outcome == "no_program" and mentions(found.message, command, "(install / it)")
        golden_message(found.message, PATH=os.environ["PATH"])
    (tmp_path / "plain").write_text("no program")
    assert failure(source(tmp_path, {"command": f"{tmp_path}/plain"})).outcome == "no_program"
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF")
    broken.chmod(0o755)
    assert failure(source(tmp_path, {"command": str(broken)})).outcome == "no_program"


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOENT, "no_program"),
        (errno.ENOTDIR, "no_program"),
        (errno.EACCES, "no_program"),
        (errno.ENOEXEC, "no_program"),
        (errno.ENOMEM, "program"),
        (errno.EAGAIN, "program"),
        (errno.EMFILE, "program"),
        (errno.ETXTBSY, "program"),
    ],
)
def test_errors_when_the_program_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, kind: str, golden_message: GoldenMessages
) -> None:
    def refuse(*_unused: Any, **_unuseds: Any) -> Any:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(credentials.programs.subprocess, "Popen", refuse)
    command = program(tmp_path, prints())
    found = failure(source(tmp_path, {"command": command}))
    assert (found.outcome, found.program) == (kind, command)
    golden_message(found.message)


NOT_FOUND = "Unable to locate credentials"
"""What a program of the test prints."""


@pytest.mark.parametrize(
    ("text", "outcome", "facts"),
    [
        (
            f"print('lost'); print('{NOT_FOUND}', file=sys.stderr); sys.exit(253)",
            "program",
            ("253", NOT_FOUND),
        ),
        ("sys.exit(7)", "program", ("7",)),
        ("os.kill(os.getpid(), 9)", "program", ("signal 9",)),
        (
            "sys.stderr.write('token: cAnArY\\nkey AKIACANARY1234567890 x\\n'); sys.exit(1)",
            "program",
            ("token: ********", "key ******** x"),
        ),
        ("sys.exit('my password is ' + os.environ['OWN'])", "program", ("password is ********",)),
        ("sys.stderr.buffer.write(b'\\x1b[31m\\xff\\x00 broken' + b'x' * 100000); sys.exit(1)", "program", ("status 1",)),
        ("print('hello')", "output", ("ExecCredential", "JSON")),
        ("print('[' * 100000)", "output", ("ExecCredential", "JSON")),
        ("print('5')", "output", ("ExecCredential", "JSON")),
        (prints(V1BETA1, token=""), "output", ("ExecCredential", "token")),
        (prints(V1BETA1, token=5), "output", ("ExecCredential", "token")),
        (prints(V1BETA1, token="a\r\nHost: evil"), "output", ("ExecCredential", "token")),
        (prints(V1BETA1, expirationTimestamp="2026"), "output", ("ExecCredential", "token")),
        ('print(\'{"apiVersion": "' + V1BETA1 + '", "status": 5}\')', "output", ("ExecCredential", "JSON")),
    ],
)
def test_programs_that_fail(tmp_path: Path, text: str, outcome: str, facts: tuple[str, ...], golden_message: GoldenMessages) -> None:
    given = {"command": program(tmp_path, text), "env": [{"name": "OWN", "value": "cAnArY-of-the-kubeconfig"}]}
    found = failure(source(tmp_path, given))
    assert found.outcome == outcome and mentions(found.message, *facts) and len(found.message) < 700
    golden_message(found.message)


def test_a_program_that_hangs_is_killed_with_its_children(tmp_path: Path, golden_message: GoldenMessages) -> None:
    started = tmp_path / "started"
    command = tmp_path / "get-token"
    # A shell has written this long before its time is over; Python may need that to start.
    command.write_text(f"#!/bin/sh\nsleep 300 &\necho $$ $! >{started}\nwait\n", encoding="utf-8")
    command.chmod(0o755)
    began = time.monotonic()
    found = failure(source(tmp_path, {"command": str(command)}, limit=2.0))
    assert found.outcome == "program"
    golden_message(found.message)
    assert time.monotonic() - began < 30
    for pid in map(int, started.read_text().split()):
        limit = time.monotonic() + 300
        while running(pid):
            assert time.monotonic() < limit, "it still runs"
            time.sleep(0.02)


def running(pid: int) -> bool:
    """Whether a process still runs. A zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def test_a_token_is_kept_until_it_expires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = tmp_path / "counter"
    count = f"open({str(counter)!r}, 'a').write('x')"
    soon = "2030-01-01T00:00:00Z"
    found = source(tmp_path, {"command": program(tmp_path, f"{count}\n{prints(V1BETA1, token=TOKEN, expirationTimestamp=soon)}")})
    expires = found.get().expires
    assert found.get() is found.get() and counter.read_text() == "x"
    monkeypatch.setattr(credentials.time, "time", lambda: expires + 1)
    found.get()
    assert counter.read_text() == "xx"


def test_a_rejected_token_and_a_failure_are_retried_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = tmp_path / "counter"
    count = f"open({str(counter)!r}, 'a').write('x')"
    found = source(tmp_path, {"command": program(tmp_path, f"{count}\n{prints()}")})
    found.get()
    found.reject()
    found.get()
    assert counter.read_text() == "x"
    now = time.monotonic()
    monkeypatch.setattr(credentials.time, "monotonic", lambda: now + credentials.RENEW_AFTER + 1)
    found.reject()
    found.get()
    assert counter.read_text() == "xx"
    monkeypatch.undo()
    counter.unlink()
    fails = source(tmp_path, {"command": program(tmp_path, f"{count}\nsys.exit(1)")})
    failure(fails), failure(fails)
    assert counter.read_text() == "x"
    fails._fetched_at -= credentials.RETRY_AFTER + 1
    failure(fails)
    assert counter.read_text() == "xx"


def test_tokens_of_the_kubeconfig(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    assert source(tmp_path, tokenFile="token").get().token == TOKEN
    assert source(tmp_path, token=TOKEN).get().token == TOKEN
    assert source(tmp_path).get() is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:10Z", 10.0),
        ("1970-01-01T01:00:10.5+01:00", 10.0),
        ("1969-12-31T23:00:10-01:00", 10.0),
        ("2026-11-21", None),
        ("soon", None),
        (None, None),
        (5, None),
    ],
)
def test_times(text: Any, seconds: float | None) -> None:
    assert credentials.parse_time(text) == seconds
