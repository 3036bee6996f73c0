# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-ins for the programs of a node and for kubelet's health endpoint."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.programs import ENVIRONMENT


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Install a program that the code under test finds first. Returns the path of the list of its calls."""
    folder = tmp_path / "bin"
    folder.mkdir()
    path = f"{folder}:/usr/bin:/bin"
    monkeypatch.setitem(ENVIRONMENT, "PATH", path)

    def lay(name: str, body: str) -> Path:
        program = folder / name
        program.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/calls\n{body}', encoding="utf-8")
        program.chmod(0o755)
        return tmp_path / "calls"

    return lay


@pytest.fixture
def health() -> Iterator[tuple[str, list[int]]]:
    """(URL of a kubelet, the statuses that it answers with, the last one repeated)."""
    statuses = [200]

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status = statuses.pop(0) if len(statuses) > 1 else statuses[0]
            self.send_response(status)
            self.end_headers()
            self.wfile.write(b"ok" if status == 200 else b"[-]syncloop failed")

        def log_message(self, *unused: Any) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/healthz", statuses
    server.shutdown()
    server.server_close()
    thread.join()
