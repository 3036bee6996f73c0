# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A filter on Docker's socket, for machines whose engine cannot start privileged containers.

kind and the Docker provider of Cluster API ask for privileged containers without a choice. Where one capability is missing from the
engine's own, runc refuses them all. The filter asks for every capability that is there instead. Everything else passes unchanged.
"""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: What Docker 20.10 knows by name, without SYS_RESOURCE.
CAPABILITIES = (
    *("AUDIT_CONTROL", "AUDIT_READ", "AUDIT_WRITE", "BLOCK_SUSPEND", "CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID"),
    *("IPC_LOCK", "IPC_OWNER", "KILL", "LEASE", "LINUX_IMMUTABLE", "MAC_ADMIN", "MAC_OVERRIDE", "MKNOD", "NET_ADMIN", "NET_BIND_SERVICE"),
    *("NET_BROADCAST", "NET_RAW", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYSLOG", "SYS_ADMIN", "SYS_BOOT", "SYS_CHROOT", "SYS_MODULE"),
    *("SYS_NICE", "SYS_PACCT", "SYS_PTRACE", "SYS_RAWIO", "SYS_TIME", "SYS_TTY_CONFIG", "WAKE_ALARM"),
)
_DEVICES = ("/dev/kmsg", "/dev/fuse", "/dev/net/tun")
_CREATE = re.compile(rb"^POST (?:/v[0-9.]+)?/containers/create(?:\?\S*)? ")
_EXEC = re.compile(rb"^POST (?:/v[0-9.]+)?/containers/[^/ ]+/exec ")
_MOST_HEAD = 1 << 20


def unprivileged(host: dict[str, Any], devices: tuple[str, ...] = _DEVICES) -> dict[str, Any]:
    """The HostConfig of a container with everything of a privileged one that the engine can give."""
    if not host.get("Privileged"):
        return host
    mapped = [{"PathOnHost": one, "PathInContainer": one, "CgroupPermissions": "rwm"} for one in devices]
    return {
        **host,
        "Privileged": False,
        "CapAdd": list(CAPABILITIES),
        "SecurityOpt": ["seccomp=unconfined", "apparmor=unconfined"],
        "MaskedPaths": [],
        "ReadonlyPaths": [],
        "DeviceCgroupRules": ["a *:* rwm"],
        "Devices": [*(host.get("Devices") or []), *mapped],
    }


def rewritten_create(body: dict[str, Any]) -> dict[str, Any]:
    """The body of a request that creates a container."""
    devices = tuple(one for one in _DEVICES if Path(one).exists())
    return {**body, "HostConfig": unprivileged(body.get("HostConfig") or {}, devices)}


def rewritten_exec(body: dict[str, Any]) -> dict[str, Any]:
    """The body of a request that runs a program in a container, which has the capabilities of the container anyway."""
    return {**body, "Privileged": False}


def rewrite_of(head: bytes) -> Callable[[dict[str, Any]], dict[str, Any]] | None:
    """How the body of a request is changed, by its first line."""
    if _CREATE.match(head):
        return rewritten_create
    return rewritten_exec if _EXEC.match(head) else None


def closed_head(head: bytes) -> bytes:
    """The head of a request after which the connection ends, so that the next request comes with a connection of its own.

    A request that takes over the connection keeps its header.
    """
    lines = head.split(b"\r\n")
    if any(line.lower().startswith(b"connection:") and b"upgrade" in line.lower() for line in lines):
        return head
    kept = [line for line in lines if not line.lower().startswith(b"connection:")]
    return b"\r\n".join([kept[0], b"Connection: close", *kept[1:]])


class Filter:
    """Listens on a socket, and passes each request on to the engine."""

    def __init__(self, path: Path, engine: str = "/var/run/docker.sock") -> None:
        self.engine = engine
        path.unlink(missing_ok=True)
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(str(path))
        path.chmod(0o600)
        self.server.listen(128)

    def serve(self) -> None:
        """Serve until the process ends."""
        while True:
            client, _ = self.server.accept()
            threading.Thread(target=self._serve_one, args=(client,), daemon=True).start()

    def _serve_one(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as engine:
            try:
                engine.connect(self.engine)
                head, rest = _read_head(client)
                if not head:
                    return
                change = rewrite_of(head)
                if change is not None:
                    head, rest = _changed(client, head, rest, change)
                engine.sendall(closed_head(head) + b"\r\n\r\n" + rest)
                back = threading.Thread(target=_relay, args=(client, engine), daemon=True)
                back.start()
                _relay(engine, client)
            except OSError:
                # The client or the engine went away. The other one sees the end of its connection.
                return


def _read_head(client: socket.socket) -> tuple[bytes, bytes]:
    data = b""
    while b"\r\n\r\n" not in data and len(data) < _MOST_HEAD:
        piece = client.recv(65536)
        if not piece:
            return b"", b""
        data += piece
    head, _, rest = data.partition(b"\r\n\r\n")
    return head, rest


def _changed(client: socket.socket, head: bytes, rest: bytes, change: Callable[[dict[str, Any]], dict[str, Any]]) -> tuple[bytes, bytes]:
    body = _read_body(client, head, rest)
    changed = json.dumps(change(json.loads(body))).encode()
    dropped = (b"content-length:", b"transfer-encoding:")
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(dropped)]
    return b"\r\n".join([*lines, b"Content-Length: %d" % len(changed)]), changed


def _read_body(client: socket.socket, head: bytes, rest: bytes) -> bytes:
    found = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    if found:
        while len(rest) < int(found[1]):
            rest += client.recv(65536)
        return rest
    return _read_chunks(client, rest)


def _read_chunks(client: socket.socket, rest: bytes) -> bytes:
    body = b""
    while True:
        while b"\r\n" not in rest:
            rest += client.recv(65536)
        size, _, rest = rest.partition(b"\r\n")
        length = int(size.split(b";")[0], 16)
        while len(rest) < length + 2:
            rest += client.recv(65536)
        body, rest = body + rest[:length], rest[length + 2 :]
        if not length:
            return body


def _relay(source: socket.socket, target: socket.socket) -> None:
    try:
        while piece := source.recv(65536):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        return


if __name__ == "__main__":
    Filter(Path(sys.argv[1])).serve()
