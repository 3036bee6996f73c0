# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs that wait for kubelet and for its Node: real bash and curl, a stand-in for the API server, and kubeconfigs of the images."""

from __future__ import annotations

import json
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import kubelet
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts import post_commands
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.spec import PostCommand
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.api_stand_in import NAME, TOKEN, Authority, serving, status

UNIT = "kubelet.service"
BOOT = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
CREDENTIAL = json.dumps({"kind": "ExecCredential", "status": {"expirationTimestamp": "2026-11-23T12:00:00Z", "token": TOKEN}})

#: As client-go writes it after a TLS bootstrap (local clusters on Outposts).
WITH_CERTIFICATE = """\
apiVersion: v1
clusters:
- cluster:
    certificate-authority: {authority}
    server: {server}
  name: default-cluster
contexts:
- context:
    cluster: default-cluster
    namespace: default
    user: default-auth
  name: default-context
current-context: default-context
kind: Config
preferences: {{}}
users:
- name: default-auth
  user:
    client-certificate: {pem}
    client-key: {pem}
"""

_HEAD = """\
apiVersion: v1
kind: Config
clusters:
  - name: kubernetes
    cluster:
      certificate-authority: {authority}
      server: {server}
current-context: kubelet
contexts:
  - name: kubelet
    context: {{cluster: kubernetes, user: kubelet}}
users:
  - name: kubelet
    user:
      exec:
        apiVersion: client.authentication.k8s.io/v1beta1
"""
AWS = ["eks", "get-token", "--cluster-name", "demo cluster", "--region", "eu-central-1"]

KUBECONFIGS: dict[str, Callable[[str, Path], str]] = {
    "nodeadm": lambda server, folder: (
        _HEAD.format(server=server, authority=folder / "ca.crt")
        + "        command: aws\n        args:\n"
        + "".join(f'          - "{word}"\n' for word in AWS)
    ),
    "args before the command, in one line": lambda server, folder: (
        _HEAD.format(server=f"'{server}/'", authority=folder / "ca.crt")
        + f'        args: [{", ".join(AWS[:3])}, "{AWS[3]}", \'{AWS[4]}\', {AWS[5]}]\n        command: "aws"\n'
    ),
    "this collection": lambda server, folder: yaml.dump(kubelet.kubeconfig(server, "aws", AWS)).replace(
        kubelet.CA_FILE, str(folder / "ca.crt")
    ),
    "client certificate": lambda server, folder: WITH_CERTIFICATE.format(
        server=server, authority=folder / "ca.crt", pem=folder / "kubelet.pem"
    ),
}


def a_node(ready: str = "True", boot: str = BOOT) -> tuple[int, bytes]:
    """A Node as the API server prints it: compact, with the fields in the order of their declaration."""
    conditions = [
        {
            "type": "MemoryPressure",
            "status": "False",
            "reason": "KubeletHasSufficientMemory",
            "message": 'not "type":"Ready","status":"True"',
        },
        {"type": "Ready", "status": ready, "reason": "KubeletNotReady", "message": "cni plugin not initialized"},
    ]
    document = {"kind": "Node", "metadata": {"name": NAME}, "status": {"conditions": conditions, "nodeInfo": {"bootID": boot}}}
    return 200, json.dumps(document, separators=(",", ":")).encode()


class Machine:
    """A folder with a process that has the arguments of kubelet, a systemctl that knows it, and an API server."""

    def __init__(self, folder: Path, api: Any) -> None:
        self.folder, self.api = folder, api
        self.kubeconfig = folder / "kubeconfig"
        self.programs = folder / "bin"
        self.programs.mkdir()
        self.program("aws", f"printf '%s\\n' \"$@\" >{folder}/asked\necho '{CREDENTIAL}'\n")
        # More attempts in a second, so that the last one comes sooner.
        self.program("sleep", "exec /usr/bin/sleep 0.1\n")
        self._kubelet: subprocess.Popen[bytes] | None = None

    def program(self, name: str, text: str) -> None:
        path = self.programs / name
        path.write_text(f"#!/bin/bash\n{text}", encoding="utf-8")
        path.chmod(0o755)

    def start_kubelet(self, *words: str) -> None:
        argv = [
            "kubelet",
            "-c",
            "read -r _",
            "kubelet",
            *(words or (f"--kubeconfig={self.kubeconfig}", "--hostname-override", NAME.upper())),
        ]
        environment = {"PATH": f"{self.programs}:/usr/bin:/bin", "HTTPS_PROXY": "http://127.0.0.1:1", "TEXT": "two\nlines"}
        self._kubelet = subprocess.Popen(argv, executable="/bin/bash", stdin=subprocess.PIPE, env=environment)
        self.program("systemctl", f'[ "$*" = "show -p MainPID {UNIT}" ] && echo MainPID={self._kubelet.pid}\n')

    def stop_kubelet(self) -> None:
        if self._kubelet is not None:
            self._kubelet.kill()
            self._kubelet.communicate()
        self.program("systemctl", "echo MainPID=0\n")

    def wait(self, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": f"{self.programs}:/usr/bin:/bin", "https_proxy": "http://127.0.0.1:1", "http_proxy": "http://127.0.0.1:1"}
        return subprocess.run(
            ["/bin/bash", "-c", program, "wait", *words], capture_output=True, text=True, env=environment, timeout=120, check=False
        )

    def ready(self, seconds: int = 1) -> str | None:
        """The reason why the Node was not Ready in time, None if it was."""
        done = self.wait(post_commands.READY_PROGRAM, str(seconds), UNIT)
        return verdict(done, f"commands.post: the Node was not Ready within {seconds} s: ")


def verdict(done: subprocess.CompletedProcess[str], message: str) -> str | None:
    assert done.stdout == "" and TOKEN not in done.stderr
    if done.returncode == 0:
        assert done.stderr == ""
        return None
    *others, last = done.stderr.splitlines()
    assert (done.returncode, others) == (1, []) and last.startswith(message), done.stderr
    return last.removeprefix(message)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    made = Authority(tmp_path_factory.mktemp("pki"))
    made.sign("server", ("127.0.0.1",))
    made.sign("kubelet")
    return made


@pytest.fixture
def machine(tmp_path: Path, authority: Authority) -> Iterator[Machine]:
    with serving(authority.folder / "server.pem", a_node(), clients=authority.path) as api:
        found = Machine(tmp_path, api)
        found.kubeconfig.write_text(KUBECONFIGS["nodeadm"](api.url, authority.folder), encoding="utf-8")
        found.start_kubelet()
        yield found
        found.stop_kubelet()


@pytest.mark.parametrize("kind", KUBECONFIGS)
def test_ready_is_read_with_the_credentials_of_kubelet(machine: Machine, authority: Authority, kind: str) -> None:
    machine.kubeconfig.write_text(KUBECONFIGS[kind](machine.api.url, authority.folder), encoding="utf-8")
    assert machine.ready() is None
    [(path, headers, has_certificate)] = machine.api.requests
    assert path.partition("?")[0] == f"/api/v1/nodes/{NAME}"
    assert (has_certificate, headers.get("Authorization")) == ((True, None) if "cert" in kind else (False, f"Bearer {TOKEN}"))
    if not has_certificate:
        assert machine.folder.joinpath("asked").read_text(encoding="utf-8").splitlines() == AWS


def test_without_an_override_the_host_name_is_the_name(machine: Machine) -> None:
    machine.stop_kubelet()
    machine.start_kubelet("--kubeconfig", "/nowhere", f"--kubeconfig={machine.kubeconfig}")
    assert machine.ready() is None
    assert machine.api.requests[0][0].partition("?")[0] == f"/api/v1/nodes/{platform.node().lower()}"


def test_the_token_is_not_an_argument(machine: Machine) -> None:
    machine.program("curl", f'printf \'%s\\n\' "$@" >>{machine.folder}/words\nexec /usr/bin/curl "$@"\n')
    assert machine.ready() is None
    assert "nodes" in (words := machine.folder.joinpath("words").read_text(encoding="utf-8")) and TOKEN not in words


def _answer(code: int, body: bytes) -> Callable[[Machine], None]:
    def change(machine: Machine) -> None:
        machine.api.answer = (code, body)

    return change


def _kubeconfig(old: str, new: str) -> Callable[[Machine], None]:
    def change(machine: Machine) -> None:
        text = machine.kubeconfig.read_text(encoding="utf-8")
        assert old in text
        machine.kubeconfig.write_text(text.replace(old, new), encoding="utf-8")

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param(_answer(*a_node("False")), "cni plugin not initialized", id="not ready"),
        pytest.param(_answer(*a_node("Unknown")), '"status":"Unknown"', id="unknown"),
        pytest.param(_answer(*a_node(boot="0a1b")), "has not reported since this machine booted", id="Node of an earlier boot"),
        pytest.param(_answer(*status(404, "nodes not found")), f"/api/v1/nodes/{NAME}: curl: (22) The", id="not registered"),
        pytest.param(_answer(*status(401, "Unauthorized")), "401", id="unauthorized"),
        pytest.param(lambda machine: machine.stop_kubelet(), f"{UNIT} does not run", id="stopped"),
        pytest.param(lambda machine: machine.kubeconfig.unlink(), "kubeconfig) does not exist", id="no kubeconfig"),
        pytest.param(_kubeconfig("command: aws", "other: aws"), "neither a client certificate nor a program", id="no credentials"),
        pytest.param(_kubeconfig("ca.crt", "kubelet.pem"), "curl: (", id="another authority"),
        pytest.param(_kubeconfig("command: aws", "command: /usr/bin/no-such"), "/usr/bin/no-such prints no token", id="no program"),
        pytest.param(lambda machine: machine.program("aws", "echo denied >&2; exit 253"), "aws prints no token: denied", id="failed"),
    ],
)  # fmt: skip
def test_the_last_line_says_why_the_node_was_not_ready(machine: Machine, change: Callable[[Machine], None], reason: str) -> None:
    change(machine)
    assert reason in (machine.ready() or "")


def test_it_waits_until_the_node_is_ready(machine: Machine) -> None:
    """The kubeconfig, the Node and its condition appear one after the other, as on a node that boots."""
    text = machine.kubeconfig.read_text(encoding="utf-8")
    machine.kubeconfig.unlink()
    machine.api.answer = status(404, "not found")
    words = ["/bin/bash", "-c", post_commands.READY_PROGRAM, "wait", "60", UNIT]
    with subprocess.Popen(words, env={"PATH": f"{machine.programs}:/usr/bin:/bin"}, stderr=subprocess.PIPE) as waiting:
        for step in (lambda: machine.kubeconfig.write_text(text, encoding="utf-8"), lambda: _answer(*a_node("False"))(machine)):
            time.sleep(1)
            assert waiting.poll() is None
            step()
        wait_for(lambda: any(path.startswith("/api/v1/nodes") for path, *_rest in machine.api.requests))
        assert waiting.poll() is None
        machine.api.answer = a_node()
        assert waiting.wait(60) == 0


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_a_program_of_the_kubeconfig_that_hangs_does_not_hang_the_unit(machine: Machine) -> None:
    machine.program("timeout", '[ "$1" = 15 ] && shift && exec /usr/bin/timeout 0.2 "$@"\n')
    machine.program("aws", "exec /usr/bin/sleep 600\n")
    began = time.monotonic()
    assert "aws prints no token" in (machine.ready() or "")
    assert time.monotonic() - began < 60


@pytest.mark.parametrize(("code", "reason"), [(200, None), (500, "error: 500")])
def test_healthy_is_an_answer_without_an_error(tmp_path: Path, code: int, reason: str | None) -> None:
    with serving(None, (code, b"ok")) as server:
        url = server.url.replace("https", "http") + "/healthz"
        done = Machine(tmp_path, server).wait(post_commands.HEALTHY_PROGRAM, "1", url)
        found = verdict(done, f"commands.post: kubelet was not healthy within 1 s: {url}: ")
        assert (found is None) == (reason is None) and (reason or "") in (found or "")
        assert server.requests[0][0] == "/healthz"


@pytest.mark.parametrize("program", [post_commands.HEALTHY_PROGRAM, post_commands.READY_PROGRAM], ids=["healthy", "ready"])
def test_shellcheck_finds_nothing(program: str) -> None:
    shellcheck = str(Path(sys.executable).with_name("shellcheck"))
    done = subprocess.run([shellcheck, "--shell=bash", "-"], input=program, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


# --- the script -------------------------------------------------------------------------------------------------------------


def run_script(folder: Path, commands: Sequence[PostCommand], fails: str = "") -> tuple[int, list[str]]:
    """The exit status and the events of the script, with stand-ins that record each wait. fails: the state that never comes."""
    found = {file.path: file.content for file in post_commands.files(commands, (UNIT,), UNIT, "http://127.0.0.1:10248/healthz")}
    text = found[post_commands.SCRIPT].replace("/var/lib/cloud/scripts/nodebootstrap", shlex.quote(str(folder / "scripts")))
    for state, path in (("healthy", post_commands.WAIT_UNTIL_HEALTHY), ("ready", post_commands.WAIT_UNTIL_READY)):
        assert (path in found) == any(command.when == state for command in commands), "a program is there if it is used"
        stand_in = folder / state
        stand_in.write_text(f'#!/bin/sh\necho "{state} $1" >>{folder}/events\n[ {state} != "{fails}" ]\n', encoding="utf-8")
        stand_in.chmod(0o755)
        text = text.replace(path, str(stand_in))
    done = subprocess.run(["/bin/bash", "-c", text], cwd=folder, env={"PATH": os.environ["PATH"]}, check=False, timeout=60)
    events = folder / "events"
    return done.returncode, events.read_text(encoding="utf-8").splitlines() if events.exists() else []


def say(word: str, when: str = "healthy", timeout: int = 900) -> PostCommand:
    return PostCommand(f"echo {word} >>events", when, timeout)


def test_commands_run_in_their_order_and_wait_before(tmp_path: Path) -> None:
    listed = [say("a"), say("b"), say("c", "ready"), say("d", "ready"), say("e", "ready", 60), say("f")]
    expected = ["healthy 900", "a", "b", "ready 900", "c", "d", "ready 60", "e", "healthy 900", "f"]
    assert run_script(tmp_path, listed) == (0, expected)


def test_commands_share_a_shell_and_a_script_has_its_interpreter(tmp_path: Path) -> None:
    python = PostCommand("#!/usr/bin/env python3\nimport os\nopen('events', 'a').write(os.environ['A'] + '\\n')", "ready")
    assert run_script(tmp_path, [PostCommand("export A=x"), python, say("$A")]) == (
        0, ["healthy 900", "ready 900", "x", "healthy 900", "x"],
    )  # fmt: skip


@pytest.mark.parametrize("before", [say("a"), PostCommand("set +e; trap - ERR; echo a >>events")])
def test_nothing_runs_after_a_wait_that_failed(tmp_path: Path, before: PostCommand) -> None:
    assert run_script(tmp_path, [before, say("b", "ready"), say("c")], fails="ready") == (1, ["healthy 900", "a", "ready 900"])


def test_nothing_runs_after_a_command_that_failed(tmp_path: Path) -> None:
    assert run_script(tmp_path, [PostCommand("(exit 3)"), say("b")]) == (3, ["healthy 900"])
