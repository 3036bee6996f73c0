# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A connection without a node: it answers every module call at once, as an unchanged, healthy node would."""

from __future__ import annotations

import json
from typing import Any

from ansible.plugins.connection import ConnectionBase

DOCUMENTATION = """
name: canned
short_description: Answers every module call with the same result
description: Simulates nodes, so that only the controller's own work is measured.
author: nodebootstrap.eks contributors
options: {}
"""

ANSWER = {
    "changed": False,
    "actions": [],
    "restarted": [],
    "diff": [],
    "warnings": [],
    "healthy": True,
    "missing": [],
    "recovered": None,
    "facts": {},
    "foreign": {},
}


class Connection(ConnectionBase):
    """Takes a pipelined module and gives the answer above."""

    transport = "canned"
    has_pipelining = True

    def _connect(self) -> Connection:
        return self

    def exec_command(self, cmd: str, in_data: Any = None, sudoable: bool = True) -> tuple[int, bytes, bytes]:
        return 0, json.dumps(ANSWER).encode() if in_data else b"", b""

    def put_file(self, in_path: str, out_path: str) -> None:
        raise NotImplementedError("modules are pipelined")

    def fetch_file(self, in_path: str, out_path: str) -> None:
        raise NotImplementedError("nothing is fetched")

    def close(self) -> None:
        pass
