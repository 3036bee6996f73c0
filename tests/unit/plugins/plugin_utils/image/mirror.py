# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A mirror on 127.0.0.1 that can fail in several ways, and locks of its files."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image import lock as locks
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image.lock import Download, Lock, Package, System

CONTENTS = {"jq_1.7_amd64.deb": b"jq" * 1000, "libjq1_1%3a1.7_amd64.deb": b"libjq" * 2000, "kubelet": b"kubelet" * 3000}


@dataclass
class Mirror:
    """faults: by name of a file, how the server fails. requests: the names that were asked for."""

    url: str
    faults: dict[str, str] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

    def lock(self, *, query: str = "", without: tuple[str, ...] = ()) -> Lock:
        """The lock of the files."""
        entries = [
            {"file": name, "url": f"{self.url}/{name.replace('%', '%25')}{query}", "sha256": sha256(content), "size": len(content)}
            for name, content in CONTENTS.items()
            if name not in without
        ]
        named: list[dict[str, Any]] = [{"name": entry["file"].partition("_")[0], **entry} for entry in entries]
        packages = tuple(Package(version="1.7", architecture="amd64", **one) for one in named if one["file"].endswith(".deb"))
        downloads = tuple(Download(**one) for one in named if not one["file"].endswith(".deb"))
        return Lock(System("ubuntu", "24.04", "x86_64"), ("jq",), packages, downloads)

    def write_lock(self, folder: Path, **options: Any) -> Path:
        """Write the lock to C(inputs.lock) in a folder."""
        path = folder / locks.FILE
        path.write_text(locks.dump(self.lock(**options)), encoding="utf-8")
        return path


def sha256(content: bytes) -> str:
    """The digest of a content."""
    return hashlib.sha256(content).hexdigest()


@contextmanager
def started() -> Iterator[Mirror]:
    """A running mirror."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.partition("?")[0].rpartition("/")[2].replace("%25", "%")
            mirror.requests.append(name)
            fault = mirror.faults.get(name, "")
            content = CONTENTS[name]
            if fault == "missing":
                self.send_error(404)
                return
            if fault == "redirects":
                self.send_response(302)
                self.send_header("Location", "gopher://me:pa55word@127.0.0.1/?pa55word")
                self.end_headers()
                return
            if fault == "silent":
                stopped.wait(20)
                return
            if fault == "other content":
                content = content[::-1]
            if fault == "longer":
                content += b"x"
            self.send_response(200)
            if fault != "ends early":
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if fault in ("cut off", "ends early") else content)

        def log_message(self, *_unused: object) -> None:
            pass

    stopped = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    mirror = Mirror(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield mirror
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
