# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A connection without a node: it answers doctor_info with the file C(RECORDED_NODE), in which 0123456789 stands for the node's number."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ansible.plugins.connection import ConnectionBase

DOCUMENTATION = """
name: recorded
short_description: Answers doctor_info with a recorded node
description: Simulates the nodes of a large fleet, so that only the controller's own work is measured.
author: nodebootstrap.eks contributors
options: {}
"""

NUMBER = "0123456789"


class Connection(ConnectionBase):
    """Takes a pipelined module. The name of the host ends with its number."""

    transport = "recorded"
    has_pipelining = True

    def _connect(self) -> Connection:
        return self

    def exec_command(self, cmd: str, in_data: Any = None, sudoable: bool = True) -> tuple[int, bytes, bytes]:
        if not in_data:
            return 0, b"", b""
        number = self._play_context.remote_addr.rpartition("-")[2]
        answer = Path(os.environ["RECORDED_NODE"]).read_text(encoding="utf-8")
        return 0, answer.replace(NUMBER, number.zfill(len(NUMBER))).encode(), b""

    def put_file(self, in_path: str, out_path: str) -> None:
        raise NotImplementedError("modules are pipelined")

    def fetch_file(self, in_path: str, out_path: str) -> None:
        raise NotImplementedError("nothing is fetched")

    def close(self) -> None:
        pass
