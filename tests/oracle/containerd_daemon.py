# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A containerd of its own with a rendered configuration, and a registry that records what it is asked for.

containerd 1 is Debian's package; containerd 2 is built from its Go module (tests/lab/binaries.py). What differs from a node: the
directories, the snapshotter, and no base runtime specification, which nodeadm writes. Nothing is unpacked and no container runs.
"""

from __future__ import annotations

import http.server
import os
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import kubelet
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import toml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig import containerd_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig.containerd_files import IMAGES, RUNTIME

SECONDS = 120
"""How long containerd may take to start, or to pull, on a busy machine."""


class Programs(NamedTuple):
    """The programs of one generation. version: as nodeadm knows it."""

    containerd: str
    ctr: str
    version: str

    @property
    def major(self) -> int:
        return int(self.version.partition(".")[0])


class Daemon(NamedTuple):
    """A running containerd. plugins: those of CRI, with their state; empty if containerd does not start."""

    programs: Programs
    folder: Path
    plugins: Mapping[str, str]

    def pull(self, image: str) -> subprocess.CompletedProcess[str]:
        """Pull with the C(certs.d) of the folder."""
        words = [self.programs.ctr, "-a", str(self.folder / "socket"), "images", "pull", "--local"]
        words = [word for word in words if word != "--local" or self.programs.major > 1]
        words += ["--hosts-dir", str(self.folder / "certs.d"), image]
        return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)

    def dump(self) -> str:
        """The configuration as containerd understands it."""
        words = [self.programs.containerd, "-c", str(self.folder / "config.toml"), "config", "dump"]
        return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False).stdout


def as_on_a_node(user: Mapping[str, Any], programs: Programs, folder: Path) -> str:
    """The configuration that nodeadm writes for the user's: merged, and migrated by containerd 2 if it has version 2."""
    text = toml.dump(user) if user else ""
    merged = containerd_files.config(text, programs.version, cdi=False)
    if not containerd_files.migrates(text, programs.version):
        return merged
    path = folder / "before-migration.toml"
    path.write_text(merged)
    return subprocess.run(
        [programs.containerd, "-c", str(path), "config", "migrate"], capture_output=True, text=True, timeout=SECONDS, check=True
    ).stdout


@contextmanager
def running(programs: Programs, config: str = "") -> Iterator[Daemon]:
    """Run containerd with a configuration of a node. If it does not start, the daemon has no plugins."""
    # Not pytest's folder: the path of a socket may have 107 characters.
    with tempfile.TemporaryDirectory(prefix="nodelab-") as name:
        folder = Path(name)
        folder.joinpath("config.toml").write_text(_on_this_machine(config, folder))
        log = folder / "log"
        with log.open("wb") as output:
            words = [programs.containerd, "-c", str(folder / "config.toml")]
            with subprocess.Popen(words, stdout=output, stderr=output) as program:
                try:
                    _wait_for_boot(program, log)
                    plugins = _plugins(programs, folder) if program.poll() is None else {}
                    yield Daemon(programs, folder, plugins)
                finally:
                    program.terminate()


def _wait_for_boot(program: subprocess.Popen[bytes], log: Path) -> None:
    """Until containerd serves, or has ended."""
    end = time.monotonic() + SECONDS
    while program.poll() is None and "containerd successfully booted" not in log.read_text(errors="replace"):
        if time.monotonic() > end:
            raise TimeoutError(f"containerd did not start in {SECONDS} s")
        time.sleep(0.05)


def _on_this_machine(text: str, folder: Path) -> str:
    config = toml.parse(text) if text else {"version": 2}
    plugins = config.setdefault("plugins", {})
    own: dict[str, Any] = {
        "root": str(folder / "root"),
        "state": str(folder / "state"),
        "grpc": {"address": str(folder / "socket"), "uid": os.getuid(), "gid": os.getgid()},
        "plugins": {"io.containerd.internal.v1.opt": {"path": str(folder / "opt")}},
    }
    for plugin, place in ((kubelet.CRI, ("containerd",)), (IMAGES, ())):
        if plugin in plugins and (plugin == IMAGES or config.get("version") == 2):
            own["plugins"][plugin] = {"containerd": {"snapshotter": "native"}} if place else {"snapshotter": "native"}
    for plugin in (kubelet.CRI, RUNTIME):
        runtimes = ((plugins.get(plugin) or {}).get("containerd") or {}).get("runtimes") or {}
        for runtime in runtimes.values():
            runtime.pop("base_runtime_spec", None)
    return toml.dump(kubelet.deep_merge(config, own), quoted_headers=True)


def _plugins(programs: Programs, folder: Path) -> dict[str, str]:
    words = [programs.ctr, "-a", str(folder / "socket"), "plugins", "ls"]
    listed = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return {f"{row[0]}.{row[1]}": row[-1] for row in rows if row and (row[1] == "cri" or row[0] == "io.containerd.cri.v1")}


# --- A registry that has nothing ---------------------------------------------------------------------------------------------------


class Registry(NamedTuple):
    """A registry without images. asked: the targets of its requests, in order."""

    url: str
    asked: list[str]


@contextmanager
def recording_registry(certificate: Path | None = None, key: Path | None = None) -> Iterator[Registry]:
    """Answer every request with 404, with TLS if there is a certificate."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        do_GET = do_HEAD

        def log_message(self, *words: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        scheme = "http" if certificate is None else "https"
        yield Registry(f"{scheme}://127.0.0.1:{server.server_port}", asked)
        server.shutdown()


def certificate_authority(folder: Path) -> tuple[Path, Path]:
    """(certificate, key) of a server at 127.0.0.1 that is its own certificate authority."""
    certificate, key = folder / "server.pem", folder / "server.key"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "3650"]
    words += ["-subj", "/CN=mirror", "-addext", "subjectAltName=IP:127.0.0.1", "-out", str(certificate), "-keyout", str(key)]
    subprocess.run(words, capture_output=True, check=True)
    return certificate, key
