# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The units of examples/ansible-pull in real systemd, with a stand-in for ansible-pull that records its arguments."""

from __future__ import annotations

import pytest
from nodelab import CloudInitNode

from ansible_collections.nodebootstrap.eks.tests.consistency import project

pytestmark = pytest.mark.docker

UNITS = ("eks-node-pull.service", "eks-node-pull.timer")
RECORDER = '#!/bin/sh\nprintf "%s\\n" "$@" >/run/pulled\n'


def test_the_timer_starts_the_service(cloud_init: CloudInitNode) -> None:
    files = {f"/etc/systemd/system/{unit}": project.text(f"examples/ansible-pull/{unit}") for unit in UNITS}
    cloud_init.write({**files, "/usr/local/bin/ansible-pull": (RECORDER, 0o755)})
    verified = cloud_init.exec(["systemd-analyze", "verify", *(f"/etc/systemd/system/{unit}" for unit in UNITS)])
    assert (verified.returncode, verified.stdout + verified.stderr) == (0, b"")
    cloud_init.exec(["systemctl", "daemon-reload"], check=True)
    cloud_init.exec(["systemctl", "enable", "--now", "eks-node-pull.timer"], check=True)
    assert cloud_init.property("eks-node-pull.timer", "ActiveState") == "active"
    assert cloud_init.property("eks-node-pull.timer", "Unit") == "eks-node-pull.service"
    cloud_init.exec(["systemctl", "start", "eks-node-pull.service"], check=True)
    arguments = cloud_init.read("/run/pulled").decode().splitlines()
    assert arguments[:2] == ["--url", "https://git.example.com/eks-nodes.git"] and arguments[-1] == "local.yml"
