# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module imds_info sent to a node by Ansible, asking the metadata service at its real address."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from nodelab import Al2Node

from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

pytestmark = pytest.mark.docker


def ask(node: Al2Node, folder: Path, *options: str) -> dict[str, Any]:
    """The result of one call over the docker connection."""
    environment = os.environ | {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_HOME": str(folder / "home"), "http_proxy": "http://127.0.0.1:9"}
    command = ["ansible", "all", "-i", f"{node.container},", "-c", "community.docker.docker", "-t", str(folder / "results")]
    command += ["-e", "ansible_python_interpreter=/usr/bin/python3", "-m", "nodebootstrap.eks.imds_info", *options]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=900)
    results = folder / "results" / node.container
    assert results.is_file(), done.stdout + done.stderr
    result: dict[str, Any] = json.loads(results.read_text(encoding="utf-8"))
    return result


def test_a_node_says_who_it_is(al2_node: Al2Node, tmp_path: Path) -> None:
    al2_node.write({"/etc/nodelab/imds.json": '{"meta-data/instance-life-cycle": "spot"}'})
    result = ask(al2_node, tmp_path, "--check", "-a", "timeout=60")
    wanted = {
        "account_id": "111122223333",
        "availability_zone": "eu-central-1a",
        "image_id": "ami-0123456789abcdef0",
        "instance_id": "i-1234567890abcdef0",
        "instance_life_cycle": "spot",
        "instance_type": "m5.large",
        "ipv6": ["2001:db8::5"],
        "local_hostname": "ip-10-0-0-5.eu-central-1.compute.internal",
        "local_ipv4": "10.0.0.5",
        "mac": "0a:58:0a:00:00:05",
        "region": "eu-central-1",
    }
    assert wanted.items() <= result["imds"].items() and result["changed"] is False
    requests = al2_node.imds_requests()
    assert [request["method"] for request in requests] == ["PUT"] + ["GET"] * 5
    assert {request["status"] for request in requests} == {200}

    al2_node.exec(["systemctl", "stop", "nodelab-imds.service"], check=True)
    try:
        broken = ask(al2_node, tmp_path, "-a", "retries=1")
    finally:
        al2_node.exec(["systemctl", "start", "nodelab-imds.service"], check=True)
    assert "imds" not in broken and mentions(broken["msg"], "http://169.254.169.254", "Connection refused")
