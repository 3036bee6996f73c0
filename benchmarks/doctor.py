# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook doctor with a thousand simulated nodes: time, memory, and the size of the page.

The nodes answer at once (live/connection_plugins/recorded.py), each with about 50 KiB of its own. Ansible keeps every answer until the
report, so memory grows with the number of nodes, but not by much more than the answers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.doctor.nodes import node

from .inputs import COLLECTIONS, REPOSITORY
from .scale import PROGRAM

COUNTS = (100, 1000)
NUMBER = "0123456789"
"""The connection replaces it with the number of the node."""
ANSWER = 50 * 1024
"""Bytes of an answer."""
MEMORY_LIMIT = 5
"""Peak memory of a further node, beside the bytes of its answer."""
PAGE_LIMIT = 5 * 10**6

PLAYBOOK = REPOSITORY / "playbooks" / "doctor.yml"
PROBLEMS = {
    "join.ready": False,
    "join.registered": False,
    "join.cause": "unauthorized",
    "join.message": f"the API server does not know the identity of this node, the role node-role of the instance i-0000000{NUMBER}",
    "join.fix": "map the role node-role to nodes in the cluster",
    "join.final": True,
    "clock.skew": 45.0,
    "problems": [f"cannot read /etc/containerd/{NUMBER}.toml: Permission denied"],
}


def main() -> int:
    print(f"The playbook doctor with simulated nodes, 10 forks, answers of {ANSWER // 1024} KiB")
    print(f"{'nodes':>6}{'seconds':>10}{'peak memory, MiB':>19}{'page, kB':>11}")
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for count in COUNTS:
            found[count] = seconds, memory, size = _run(Path(folder), count)
            print(f"{count:>6}{seconds:>10.1f}{memory / 2**20:>19.0f}{size / 1e3:>11.0f}")
    first, last = COUNTS
    each, page = (found[last][1] - found[first][1]) / (last - first) / ANSWER, found[last][2]
    over = each > MEMORY_LIMIT or page > PAGE_LIMIT
    verdict = "OVER" if over else "at most"
    print(f"A further node takes {each:.1f} times its answer: {verdict} {MEMORY_LIMIT}; page of {page / 1e6:.1f} MB: {verdict} 5 MB")
    return int(over)


def _answer() -> str:
    parts: dict[str, Any] = PROBLEMS | {"info.nodeadm": [{"path": "/etc/eks/nodeadm.yaml", "text": NUMBER * (ANSWER // len(NUMBER))}]}
    return json.dumps(node(parts))


def _run(folder: Path, count: int) -> tuple[float, int, int]:
    """Seconds on the clock, bytes of the largest process at its peak, and bytes of the page."""
    (folder / "answer.json").write_text(_answer(), encoding="utf-8")
    common = {"ansible_connection": "recorded", "ansible_python_interpreter": "/usr/bin/python3"}
    inventory = {"all": {"hosts": {f"node-{number}": {} for number in range(count)}, "vars": common}}
    (folder / "hosts.json").write_text(json.dumps(inventory), encoding="utf-8")
    playbook = str(Path(sys.executable).with_name("ansible-playbook"))
    command = [sys.executable, "-c", PROGRAM, playbook, "-f", "10", "-i", str(folder / "hosts.json"), str(PLAYBOOK)]
    environment = os.environ | {
        "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
        "ANSIBLE_CONNECTION_PLUGINS": str(REPOSITORY / "benchmarks" / "live" / "connection_plugins"),
        "ANSIBLE_PIPELINING": "True",
        "RECORDED_NODE": str(folder / "answer.json"),
    }
    page = folder / f"{count}.html"
    begin = perf_counter()
    done = subprocess.run([*command, "-e", f"eks_node_doctor_report={page}"], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return perf_counter() - begin, int(done.stdout) * 1024, page.stat().st_size
