# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A connection in the place of winrm, psrp, ssh or aws_ssm: it writes down each module call, and answers what it is told to.

What arrives here is what ansible-core would send to a Windows node: the wrapped module with its options. Nothing of it runs. The
folder of the environment variable WINDOWS_RECORDER holds C(answers.json), a list used from its beginning, and gets C(calls.jsonl).
"""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection import ConnectionBase

DOCUMENTATION = """
name: recorder
short_description: Writes down what would be sent to a Windows node
description: For tests only.
author: nodebootstrap.eks contributors (@nodebootstrap)
options: {}
"""


class Connection(ConnectionBase):
    """Pipelined like the connections for Windows."""

    transport = "recorder"
    module_implementation_preferences = (".ps1", ".exe", "")
    allow_executable = False
    has_pipelining = True
    always_pipeline_modules = True

    def _connect(self):
        self._connected = True
        return self

    def exec_command(self, cmd, in_data=None, sudoable=True):
        folder = Path(os.environ["WINDOWS_RECORDER"])
        with (folder / "calls.jsonl").open("a", encoding="utf-8") as calls:
            calls.write(json.dumps(_call(in_data)) + "\n")
        answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
        (folder / "answers.json").write_text(json.dumps(answers[1:]), encoding="utf-8")
        if not answers:
            raise AnsibleConnectionFailure("the recorder was not told what to answer")
        if answers[0] == "gone":
            raise AnsibleConnectionFailure("connection refused")
        return 0, json.dumps(answers[0]).encode(), b""

    def put_file(self, in_path, out_path):
        raise AnsibleConnectionFailure(f"no test expects a file to be sent: {out_path}")

    def fetch_file(self, in_path, out_path):
        raise AnsibleConnectionFailure(f"no test expects a file to be fetched: {in_path}")

    def reset(self):
        self.close()

    def close(self):
        self._connected = False


def _call(data):
    """What ansible-core 2.19 and newer send: the wrapper, and a manifest of scripts and of actions with their parameters."""
    _wrapper, _separator, manifest = data.partition(b"\n\0\0\0\0\n")
    sent = json.loads(manifest)
    actions = {action["name"]: action["params"] for action in sent["actions"]}
    module = actions["module_wrapper.ps1"]
    (arguments,) = [variable["Value"] for variable in module["Variables"] if variable["Name"] == "complex_args"]
    source = base64.b64decode(sent["scripts"][module["Script"]]["script"]).decode()
    return {
        "module": module["Script"],
        "first_line": source.splitlines()[0],
        "options": {name: value for name, value in arguments.items() if not name.startswith("_ansible_")},
        "check_mode": arguments["_ansible_check_mode"],
        "diff_mode": arguments["_ansible_diff"],
        "become": "become_wrapper.ps1" in actions,
    }
