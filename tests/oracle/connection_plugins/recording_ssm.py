# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for amazon.aws.aws_ssm: commands and files go into a laboratory node, and every call is recorded.

Like that plugin: no pipelining and no executable, so a module is a file that is sent first; commands run in the session of a user that
is not root, on a terminal, so that both outputs of a command come back as one; files come from a bucket and are fetched by that user.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from ansible.plugins.connection import ConnectionBase

DOCUMENTATION = """
name: recording_ssm
short_description: Stand-in for amazon.aws.aws_ssm
description: Runs commands in a container and records every call.
author: nodebootstrap.eks contributors (@nodebootstrap)
"""

USER = "ec2-user"


class Connection(ConnectionBase):
    """A session with the container that C(ansible_host) names. RECORDING_SSM is the file that gets one line of JSON a call."""

    transport = "recording_ssm"
    has_pipelining = False
    allow_executable = False
    allow_extras = True

    def _connect(self) -> Connection:
        self._connected = True
        return self

    def exec_command(self, cmd: str, in_data: bytes | None = None, sudoable: bool = True) -> tuple[int, bytes, bytes]:
        super().exec_command(cmd, in_data=in_data, sudoable=sudoable)
        done = self._in_node(["sh", "-c", cmd])
        self._record("exec_command", command=cmd, in_data=in_data is not None, status=done.returncode)
        return done.returncode, done.stdout, b""

    def put_file(self, in_path: str, out_path: str) -> None:
        super().put_file(in_path, out_path)
        with open(in_path, "rb") as source:
            content = source.read()
        done = self._in_node(["sh", "-c", f"cat > '{out_path}'"], content)
        self._record("put_file", path=out_path, size=len(content), status=done.returncode)
        if done.returncode:
            raise RuntimeError(done.stdout.decode())

    def fetch_file(self, in_path: str, out_path: str) -> None:
        super().fetch_file(in_path, out_path)
        self._record("fetch_file", path=in_path)
        raise RuntimeError("nothing of ours fetches a file")

    def close(self) -> None:
        self._connected = False

    def _in_node(self, argv: list[str], content: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = ["docker", "exec", "-i", "-u", USER, "-w", f"/home/{USER}", "-e", f"HOME=/home/{USER}"]
        command += [str(self._play_context.remote_addr), *argv]
        return subprocess.run(command, input=content, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)

    def _record(self, call: str, **facts: Any) -> None:
        with open(os.environ["RECORDING_SSM"], "a", encoding="utf-8") as record:
            record.write(json.dumps({"call": call, **facts}) + "\n")
