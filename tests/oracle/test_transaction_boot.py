# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The place of the recovery in the boot of each family: before every program that reads the files, and without a cycle."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from nodelab import Al2Node, Al2023Node, Node, UbuntuNode, engine

pytestmark = pytest.mark.docker

MODULE_UTILS = Path(__file__).resolve().parents[2] / "plugins" / "module_utils"
DRIVER = "/opt/driver"
PACKAGE = f"{DRIVER}/ansible_collections/nodebootstrap/eks/plugins/module_utils"

LEAVE = """
import sys
sys.path[:0] = ["/opt/driver"]
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import Change
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.recovery import Command
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.store import Store
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.transaction import Transaction
store = Store()
with store.lock():
    store.prepare()
    changes = [Change(path, b"whole: new\\n") for path in sys.argv[2:]]
    restart = Command(("systemctl", "restart", sys.argv[1]), service=True)
    left = Transaction(store, changes, forward=[Command(("systemctl", "daemon-reload")), restart], manifest={"version": 1})
    left.stage()
    left.commit()
"""

FILES = {"first": "/etc/eks/nodeadm.d/50-nodebootstrap.yaml", "second": "/etc/nodebootstrap/second.conf"}


@pytest.mark.parametrize(
    ("kind", "unit"),
    [(Al2Node, "kubelet.service"), (Al2023Node, "nodeadm-config.service"), (UbuntuNode, "snap.kubelet-eks.daemon.service")],
)
def test_files_are_whole_before_anything_reads_them(kind: type[Node], unit: str) -> None:
    with kind.start() as node:
        node.write({f"{PACKAGE}/{path.relative_to(MODULE_UTILS)}": path.read_bytes() for path in MODULE_UTILS.rglob("*.py")})
        # The unit itself says what it found when it started.
        look = f"[Service]\nExecStartPre=/bin/sh -c 'cat {' '.join(FILES.values())} > /var/seen-by-unit'\n"
        node.write({f"/etc/systemd/system/{unit}.d/90-look.conf": look})
        node.exec(["systemctl", "enable", unit], check=True)
        node.exec(["python3", "-B", "-c", LEAVE, unit, *FILES.values()], check=True)
        assert not node.exists(FILES["first"])
        node.leave()
        engine.docker("restart", "-t", "0", node.container)
        node.wait_boot()
        journal = node.journal()
        assert "ordering cycle" not in journal
        assert node.read("/var/seen-by-unit") == b"whole: new\n" * 2
        assert json.loads(node.read("/var/lib/nodebootstrap/manifest.json")) == {"version": 1}
        assert not node.exists("/var/lib/nodebootstrap/transaction")
        assert node.property("nodebootstrap-recover.service", "Result") == "success"
        verified = node.exec(["systemd-analyze", "verify", "nodebootstrap-recover.service"])
        assert b"nodebootstrap" not in verified.stderr, verified.stderr.decode()
