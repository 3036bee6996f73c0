# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One container with systemd as PID 1."""

from __future__ import annotations

import atexit
import base64
import io
import json
import os
import subprocess
import tarfile
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar

from . import engine, images
from .engine import HarnessError

#: Content alone, or content with a mode (default 0644).
File = str | bytes | tuple[str | bytes, int]
Output = subprocess.CompletedProcess[bytes]
AnyNode = TypeVar("AnyNode", bound="Node")

HOSTNAME = "ip-10-0-0-5.eu-central-1.compute.internal"


def octets(text: str | bytes) -> bytes:
    """Text as a file holds it; lone surrogates stand for bytes that are no UTF-8."""
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


class Node:
    """A booted container. Make one with `Node.start` and use it as a context manager, or call `stop`."""

    #: Which files the container lays down at boot; '' is a bare node.
    family = ""
    #: What `reset` stops before it puts the files back.
    units: tuple[str, ...] = ()

    def __init__(self, container: str, suite: str) -> None:
        self.container = container
        self.suite = suite
        self._agent: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._marked = 0
        atexit.register(self.stop)

    # --- life ---------------------------------------------------------------------------------------------------------------

    @classmethod
    def start(
        cls: type[AnyNode],
        *,
        suite: str = "bookworm",
        files: Mapping[str, File] | None = None,
        cloud_init: bool = False,
        containerd: bool = False,
        ssh_key: str = "",
        name: str = "",
        wait: bool = True,
    ) -> AnyNode:
        """Boot a container.

        files       already in place: {path: content or (content, mode)}, not below /run or /tmp (empty then)
        cloud_init  cloud-init is part of the boot
        containerd  containerd.service runs the real one; otherwise a stand-in that is active at once
        ssh_key     public key for root and for the image's user (ec2-user, ubuntu): an SSH server runs
        name        the name of the container; such a node stays when this program ends
        """
        tag = images.image(suite, cls.family)
        engine.remove_stale()
        laid = dict(files or {})
        options = ["--name", name, "--label", f"{engine.PERSISTENT}={engine.CHECKOUT}"] if name else []
        if containerd:
            # overlayfs does not stack on the container's own.
            options += ["-v", "/var/lib/containerd"]
            laid["/etc/nodelab/real-containerd"] = ""
        if ssh_key:
            laid["/root/.ssh/authorized_keys"] = (ssh_key, 0o600)
        made = engine.docker(
            "create", *options, "--label", f"{engine.RUN}={engine.owner(1 if name else 0)}", "--hostname", HOSTNAME,
            "--cap-add", "SYS_ADMIN", "--cap-add", "NET_ADMIN", "--cap-add", "SYS_PTRACE", "--cgroupns", "private",
            "--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined",
            "--tmpfs", "/run", "--tmpfs", "/run/lock", "--tmpfs", "/tmp:exec",
            "-e", f"NODELAB_FAMILY={cls.family}", "-e", f"NODELAB_CLOUD_INIT={int(cloud_init)}", tag,
        )  # fmt: skip
        node = cls(made.stdout.decode().strip()[:12], suite)
        try:
            if laid:
                engine.docker("cp", "-", f"{node.container}:/", input=_tar(laid))
            engine.docker("start", node.container)
            if wait:
                node.wait_boot()
        except BaseException:
            node.stop()
            raise
        return node

    def stop(self) -> None:
        """Remove the container; harmless when it is gone already."""
        self.leave()
        # Nothing of a test node is worth an orderly shutdown.
        engine.docker("rm", "-f", "-v", self.container, check=False)

    def leave(self) -> None:
        """Forget the container without removing it."""
        atexit.unregister(self.stop)
        if self._agent is not None:
            self._agent.kill()
            self._agent.wait()
            self._agent = None

    def __enter__(self: AnyNode) -> AnyNode:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def wait_boot(self, seconds: float = 1200) -> str:
        """Wait until systemd is done booting; its state, `running` or `degraded`."""

        # Until systemd listens, systemctl itself fails; afterwards --wait blocks inside. One agent serves both.
        def up() -> bool:
            return self.exec(["test", "-S", "/run/systemd/private"]).returncode == 0

        engine.wait_for(f"systemd in {self.container}", up, seconds, 0.05)
        state = self.exec(["systemctl", "is-system-running", "--wait"], timeout=seconds).stdout.decode().strip()
        if state not in ("running", "degraded"):
            raise HarnessError(f"{self.container} did not boot: {state}\n{self.journal()[-3000:]}")
        return state

    # --- what a test does in it ---------------------------------------------------------------------------------------------

    def exec(
        self,
        argv: Sequence[str | bytes],
        input: str | bytes = b"",
        *,
        timeout: float = 900,
        environment: Mapping[str, str] | None = None,
        cwd: str = "/",
        check: bool = False,
    ) -> Output:
        """Run a program as root (no shell). `environment` replaces the whole environment. TimeoutExpired after `timeout` s."""
        answer = self._ask(
            {
                "op": "exec",
                "argv": [_encode(octets(word)) for word in argv],
                "input": _encode(octets(input)),
                "timeout": timeout,
                "cwd": cwd,
                "environment": None if environment is None else [[_encode(octets(k)), _encode(octets(v))] for k, v in environment.items()],
            },
            timeout,
        )
        out, err = base64.b64decode(answer["out"]), base64.b64decode(answer["err"])
        if answer.get("timeout"):
            raise subprocess.TimeoutExpired(list(argv), timeout, out, err)
        done = subprocess.CompletedProcess[bytes](list(argv), answer["code"], out, err)
        if check and done.returncode != 0:
            raise HarnessError(f"{argv!r} exited {done.returncode}:\n{err.decode(errors='replace')}")
        return done

    def read(self, path: str) -> bytes:
        """The content of a file; FileNotFoundError where there is none."""
        answer = self._ask({"op": "read", "path": path})
        if "missing" in answer:
            raise FileNotFoundError(answer["missing"])
        return base64.b64decode(answer["content"])

    def write(self, files: Mapping[str, File]) -> None:
        """Write files, folders made as needed."""
        laid = []
        for path, file in files.items():
            content, mode = file if isinstance(file, tuple) else (file, 0o644)
            laid.append([path, mode, _encode(octets(content))])
        self._ask({"op": "write", "files": laid})

    def exists(self, path: str) -> bool:
        return self.exec(["test", "-e", path]).returncode == 0

    def stat(self, path: str) -> tuple[str, str]:
        """(mode, owner:group), such as ("0644", "root:root")."""
        mode, owner = self.exec(["stat", "-c", "%a %U:%G", path], check=True).stdout.decode().split()
        return mode.zfill(4), owner

    def journal(self, unit: str = "") -> str:
        """The journal of this boot (of one unit), oldest first."""
        self.exec(["journalctl", "--sync"])
        return self.exec(["journalctl", "--no-pager", "-o", "cat", *(["-u", unit] if unit else [])]).stdout.decode(errors="replace")

    def property(self, unit: str, name: str) -> str:
        """One property of a unit as `systemctl show` prints it."""
        return self.exec(["systemctl", "show", "-p", name, "--value", unit]).stdout.decode(errors="replace").strip()

    def starts(self, unit: str) -> int:
        """How often systemd started a unit since the last reset: its own word (journal), not that of the program started."""
        self.exec(["journalctl", "--sync"])
        # The message id of "a unit was started".
        query = ["MESSAGE_ID=39f53479d3a045ac8e11786248231fbf", f"UNIT={unit}"]
        # Not --after-cursor: systemd 252 loses the first match behind a cursor that does not match itself.
        return sum(when > self._marked for when in self._journal_times(query))

    def records(self, name: str) -> list[dict[str, Any]]:
        """What a stand-in recorded, run by run: `argv`, mostly `environment`, `monotonic` (s), and what its file says."""
        found: list[dict[str, Any]] = self._ask({"op": "records", "name": name})["records"]
        return found

    def imds_requests(self) -> list[dict[str, Any]]:
        """Every request to the metadata service since the last reset: `method`, `path`, `status`."""
        return [json.loads(line) for line in self.read("/run/nodelab/imds.jsonl").splitlines()]

    # --- many cases in one container ----------------------------------------------------------------------------------------

    def baseline(self) -> None:
        """Remember the files as they are now; `reset` comes back to them."""
        self._ask({"op": "baseline"}, 900)
        self._mark()

    def reset(self) -> list[str]:
        """Back to the baseline: units of a case stopped, records gone, files as they were. Returns what had changed."""
        changed: list[str] = self._ask({"op": "restore", "stop": list(self.units), "cloud_init": True}, 900)["changed"]
        self._mark()
        return changed

    def _mark(self) -> None:
        self.exec(["journalctl", "--sync"])
        self._marked = max(self._journal_times(["-n", "1"]), default=0)

    def _journal_times(self, query: Sequence[str]) -> list[int]:
        shown = self.exec(["journalctl", "-q", "-b", "--no-pager", "-o", "json", "--output-fields=MESSAGE_ID", *query], check=True)
        return [int(json.loads(line)["__MONOTONIC_TIMESTAMP"]) for line in shown.stdout.splitlines()]

    # --- the agent ----------------------------------------------------------------------------------------------------------

    def _ask(self, request: dict[str, Any], timeout: float = 600) -> dict[str, Any]:
        with self._lock:
            if self._agent is None:
                self._agent = self._connect()
            agent = self._agent
            assert agent.stdin is not None and agent.stdout is not None
            # The agent keeps its own time-outs; this one is for an agent that hangs.
            guard = threading.Timer(timeout + 60, agent.kill)
            guard.start()
            try:
                agent.stdin.write(json.dumps(request).encode() + b"\n")
                agent.stdin.flush()
                line = agent.stdout.readline()
            except BrokenPipeError:
                line = b""
            finally:
                guard.cancel()
            # Docker itself prints a line when the container ends while it starts the agent.
            if not line.startswith(b"{"):
                self._agent = None
                agent.kill()
                agent.wait()
                log = engine.docker("logs", "--tail", "20", self.container, check=False)
                said = (log.stdout + log.stderr).decode(errors="replace")
                raise HarnessError(f"no answer from {self.container} ({request['op']}):\n{line.decode(errors='replace')}{said}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise HarnessError(f"{request['op']} in {self.container}: {answer['error']}")
        return answer

    def _connect(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["docker", "exec", "-i", self.container, "python3", "-I", "-B", "-u", "/opt/nodelab/agent.py"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ},
        )  # fmt: skip


def _encode(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _tar(files: Mapping[str, File]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, file in files.items():
            content, mode = file if isinstance(file, tuple) else (file, 0o644)
            info = tarfile.TarInfo(path.lstrip("/"))
            info.size, info.mode = len(octets(content)), mode
            archive.addfile(info, io.BytesIO(octets(content)))
    return packed.getvalue()
