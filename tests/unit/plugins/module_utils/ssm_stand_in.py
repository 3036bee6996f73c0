# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for AWS Systems Manager (an HTTP endpoint) with one Bottlerocket instance behind it (a folder).

The endpoint records every call. It runs scripts as the agent does, in a shell that finds the programs of the control container
and no others; apiclient keeps settings and transactions in the folder. Everything can be told to fail.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

INSTANCE = "i-0123456789abcdef0"
REGION = "eu-west-1"
CUT = "\n---Output truncated---"
LIMIT = {"StandardOutputContent": 24_000, "StandardErrorContent": 8_000}
PROGRAMS = ("base64", "cut", "date", "head", "sed", "sha256sum", "tail", "tr")

APICLIENT = """#!{python} -IS
import json, pathlib, re, sys
folder = pathlib.Path({folder!r})
MAPS = {{"node-labels", "node-taints", "eviction-hard", "sysctl", "pki", "bootstrap-commands", "host-containers", "static-pods"}}
KNOWN = {known!r}

def load(name, otherwise):
    path = folder / name
    return json.loads(path.read_text()) if path.exists() else otherwise

def save(name, value):
    (folder / name).write_text(json.dumps(value, sort_keys=True))

def fault(call):
    return load("faults.json", {{}}).get(call, "")

def fail(call, reason):
    sys.exit(f"Failed {{call}}: {{reason}}")

def flat(tree, above=()):
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from flat(value, (*above, key))
        elif value is not None:
            yield (*above, key), value

def dotted(place):
    return ".".join(key if re.fullmatch("[A-Za-z0-9_-]+", key) else json.dumps(key) for key in place)

def put(tree, place, value):
    for key in place[:-1]:
        tree = tree.setdefault(key, {{}})
    tree[place[-1]] = value

def get(prefixes):
    answer = {{}}
    for prefix in prefixes:
        if prefix == "os":
            answer["os"] = load("os.json", {{}})
            continue
        for place, value in flat({{"settings": load("live.json", {{}})}}):
            if dotted(place).startswith(prefix):
                put(answer, place, value)
    print(json.dumps(answer, indent=2, sort_keys=True, ensure_ascii=False))

def patch(transaction, body):
    pending = load(f"pending/{{transaction}}.json", {{}})
    for place, value in flat(json.loads(body)):
        if place[0] not in KNOWN or (place[0] == "kubernetes" and place[1] not in KNOWN["kubernetes"]):
            fail("PATCH", f"Status 400: Json deserialize error: unknown field `{{place[-1]}}`")
        if place[-1] == "max-pods" and type(value) is not int:
            fail("PATCH", f"Status 400: invalid type for max-pods")
        if place[:2] == ("kubernetes", "node-taints") and isinstance(value, str):
            value = [value]
        if place[-1].endswith("-threshold-percent"):
            value = str(value)
        put(pending, place, value)
    save(f"pending/{{transaction}}.json", pending)

def commit(transaction, apply):
    path = folder / "pending" / f"{{transaction}}.json"
    if not path.exists():
        fail("POST", "Status 422: no pending changes")
    live = load("live.json", {{}})
    pending = json.loads(path.read_text())
    for place, value in flat(pending):
        put(live, place, value)
    save("live.json", live)
    path.unlink()
    (folder / "committed").touch()
    if apply:
        save("applied.json", [*load("applied.json", []), sorted(dotted(place) for place, _unused in flat(pending))])

words = sys.argv[1:]
(folder / "calls").open("a").write(json.dumps(words) + "\\n")
call = words[0] if words[0] == "get" else words[words.index("-m") + 1]
if "before" in (fault(call), (folder / "committed").exists() and fault(f"{{call}} after POST")):
    fail(call, "Status 500: told to")
if call == "get":
    get(words[1:])
else:
    path, _, transaction = words[words.index("-u") + 1].partition("?tx=")
    if call == "PATCH" and path == "/settings":
        patch(transaction, words[words.index("-d") + 1])
    elif call == "POST" and path in ("/tx/commit", "/tx/commit_and_apply"):
        commit(transaction, path.endswith("apply"))
    elif call == "DELETE" and path == "/tx":
        (folder / "pending" / f"{{transaction}}.json").unlink(missing_ok=True)
    else:
        fail(call, f"Status 404: {{path}}")
if fault(call) == "after":
    fail(call, "Status 500: told to, afterwards")
"""

KNOWN = {
    "kubernetes": [
        "api-server", "cluster-certificate", "cluster-name", "cluster-dns-ip", "max-pods", "node-labels", "node-taints",
        "hostname-override", "kube-reserved", "image-gc-high-threshold-percent", "eviction-hard", "static-pods",
    ],
    "boot": [], "bootstrap-commands": [], "container-registry": [], "host-containers": [], "kernel": [], "motd": [], "network": [],
    "pki": [],
}  # fmt: skip


class Node:
    """The instance: settings, transactions and the programs of its control container in a folder."""

    def __init__(self, folder: Path, settings: dict[str, Any], variant: str = "aws-k8s-1.33") -> None:
        self.folder = folder
        (folder / "pending").mkdir(parents=True)
        self.bin = folder / "bin"
        self.bin.mkdir()
        for program in PROGRAMS:
            (self.bin / program).symlink_to(shutil.which(program) or program)
        self.program("sleep", "#!/bin/sh\nexec " + str(shutil.which("sleep")) + " 0.05\n")
        self.program("apiclient", APICLIENT.format(python=sys.executable, folder=str(folder), known=KNOWN))
        self.program("curl", f"#!/bin/sh\n/bin/cat {folder}/healthz 2>/dev/null || exit 7\n")
        self.write("os", {"variant_id": variant, "version_id": "1.44.0", "arch": "x86_64", "pretty_name": "Bottlerocket OS 1.44.0"})
        self.write("live", settings)
        self.healthy(True)

    def program(self, name: str, text: str) -> None:
        (self.bin / name).write_text(text, encoding="utf-8")
        (self.bin / name).chmod(0o755)

    def write(self, name: str, value: Any) -> None:
        (self.folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")

    def read(self, name: str) -> Any:
        path = self.folder / f"{name}.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    def healthy(self, yes: bool) -> None:
        (self.folder / "healthz").write_text("ok" if yes else "[-]syncloop failed", encoding="utf-8")

    @property
    def settings(self) -> dict[str, Any]:
        return dict(self.read("live"))

    def calls(self) -> list[list[str]]:
        """Every call of apiclient, as its words."""
        path = self.folder / "calls"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []

    def changing_calls(self) -> list[str]:
        """Methods and paths of the calls that are no C(get); names of transactions taken out."""
        return [f"{words[2]} {words[4].partition('=')[0]}" for words in self.calls() if words[0] == "raw"]

    def pending(self) -> list[str]:
        return sorted(os.listdir(self.folder / "pending"))

    def run(self, script: str) -> dict[str, Any]:
        done = subprocess.run(
            ["/bin/sh", "-c", script], env={"PATH": str(self.bin)}, capture_output=True, text=True, check=False, timeout=900, cwd="/"
        )
        return {
            "Status": "Failed" if done.returncode else "Success",
            "ResponseCode": done.returncode,
            "StandardOutputContent": done.stdout,
            "StandardErrorContent": done.stderr,
        }


class SystemsManager:
    """The endpoint. C(calls) holds the name and the parameters of every call.

    C(errors): operation → code of the error with which its calls are answered. C(passing): such codes for the next questions
    only. C(endings): what commands end as instead of being run. C(slow): how often a command is still under way.
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.errors: dict[str, str] = {}
        self.passing: list[str] = []
        self.endings: list[dict[str, Any]] = []
        self.slow = 1
        self._commands: dict[str, list[dict[str, Any]]] = {}
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                operation = self.headers["X-Amz-Target"].rpartition(".")[2]
                parameters = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, answer = stand_in.answer(operation, parameters)
                content = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/x-amz-json-1.1")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_arguments: Any) -> None:
                """Nothing: tests read C(calls)."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def operations(self) -> list[str]:
        return [operation for operation, _unused in self.calls]

    def scripts(self) -> list[str]:
        return ["\n".join(sent["Parameters"]["commands"]) for operation, sent in self.calls if operation == "SendCommand"]

    def answer(self, operation: str, sent: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.calls.append((operation, sent))
        code = self.errors.get(operation)
        if code:
            return 400, {"__type": code, "message": "because"}
        if operation == "SendCommand":
            return 200, {"Command": {"CommandId": self._send(sent), "Status": "Pending"}}
        if operation == "GetCommandInvocation" and self.passing:
            return 400, {"__type": self.passing.pop(0), "message": "slower"}
        if operation == "GetCommandInvocation":
            return self._invocation(sent)
        return 200, {}

    def _send(self, sent: dict[str, Any]) -> str:
        command = f"{len(self._commands):08d}-0000-4000-8000-000000000000"
        script = "\n".join(sent["Parameters"]["commands"])
        last = self.endings.pop(0) if self.endings else self.node.run(script)
        for name, limit in LIMIT.items():
            if len(last.get(name, "")) > limit:
                last[name] = last[name][:limit] + CUT
        under_way = {"Status": "InProgress", "ResponseCode": -1, "StandardOutputContent": "", "StandardErrorContent": ""}
        self._commands[command] = [{}, *([under_way] * self.slow), {"StatusDetails": last["Status"], **last}]
        return command

    def _invocation(self, sent: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        found = self._commands.get(sent["CommandId"], [{}])
        one = found.pop(0) if len(found) > 1 else found[0]
        if not one or sent["InstanceId"] != INSTANCE:
            return 400, {"__type": "InvocationDoesNotExist", "message": ""}
        return 200, {"CommandId": sent["CommandId"], "InstanceId": INSTANCE, "DocumentName": "AWS-RunShellScript", **one}
