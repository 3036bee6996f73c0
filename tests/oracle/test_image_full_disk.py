# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A builder without space: the role says so, leaves nothing half installed, and continues when there is space.

Real apt, dpkg and file systems. Stand-ins: the free space of the whole machine, packages, and programs.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nodelab import Node

from ansible_collections.nodebootstrap.eks.tests.oracle.image_builders import REPOSITORY, Bakery, program, ubuntu_builder
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

pytestmark = pytest.mark.docker

#: Larger than everything that the packages put beside it.
KUBELET = (program("Kubernetes v1.34.1") + "#" * 500_000).encode()

NO_SPACE = os.strerror(errno.ENOSPC)

#: Python reads it when a module starts.
FULL_MACHINE = "/usr/lib/python3/dist-packages/full.pth"
FULL = "import os; os.statvfs = lambda path: os.statvfs_result((4096, 4096, 9**9, 0, 0, 9**9, 9**9, 9**9, 0, 255))\n"

#: A file system for what is new in the directory of programs.
SMALL = """set -e
mkdir /mnt/small
mount -t tmpfs -o size=64k small /mnt/small
mkdir /mnt/small/new /mnt/small/work
dd if=/dev/zero of=/mnt/small/fill bs=4k 2> /dev/null || true
mount -t overlay -o lowerdir=/usr/bin,upperdir=/mnt/small/new,workdir=/mnt/small/work small /usr/bin
"""


@pytest.fixture
def node() -> Iterator[Node]:
    with ubuntu_builder() as started:
        yield started


def description(folder: Path) -> dict[str, Any]:
    (folder / "kubelet").write_bytes(KUBELET)
    return {
        "family": "ubuntu",
        "kubernetes_version": "1.34",
        "programs": {"kubelet": {"path": str(folder / "kubelet"), "sha256": hashlib.sha256(KUBELET).hexdigest()}},
        "repositories": [{"name": "local", "url": f"file://{REPOSITORY}", "unsigned": True}],
    }


def in_programs(node: Node) -> set[str]:
    """What is new in the directory of programs."""
    return set(node.exec(["ls", "-A", "/mnt/small/new"], check=True).stdout.decode().split())


def test_a_full_disk(node: Node, tmp_path: Path) -> None:
    bakery = Bakery(node, tmp_path)
    image = description(tmp_path)

    # The disk of the machine: it is checked before anything is installed.
    node.write({FULL_MACHINE: FULL})
    failed = bakery.run("--tags", "install", fails=True, eks_node_image=image)
    assert mentions(failed, "0 MiB", "1024 MiB")
    assert bakery.changed == [] and not node.exists("/etc/eks")
    node.exec(["rm", FULL_MACHINE], check=True)

    # A disk that becomes full while packages are installed.
    node.exec(["sh", "-c", SMALL], check=True)
    failed = bakery.run("--tags", "install", fails=True, eks_node_image=image)
    assert mentions(failed, "unpigz", NO_SPACE)
    assert in_programs(node) == set()
    assert not any(map(node.exists, ("/usr/bin/kubelet", "/etc/systemd/system/kubelet.service")))

    # The next run continues with the packages. Then the disk is too small for a program.
    node.exec(["sh", "-c", "rm /mnt/small/fill && mount -o remount,size=256k /mnt/small"], check=True)
    failed = bakery.run("--tags", "install", fails=True, eks_node_image=image)
    assert mentions(failed, "/usr/bin/kubelet", NO_SPACE)
    assert "Install and hold the packages" in bakery.changed and "Create the directories" not in bakery.changed
    assert node.exec(["dpkg", "--audit"]).stdout == b""
    assert in_programs(node) == {"unpigz"}
    assert not node.exists("/etc/systemd/system/kubelet.service")

    # The next run continues with the program.
    node.exec(["mount", "-o", "remount,size=64m", "/mnt/small"], check=True)
    bakery.run("--tags", "install", eks_node_image=image)
    assert bakery.changed[0] == "Copy the programs"
    assert node.read("/usr/bin/kubelet") == KUBELET and in_programs(node) == {"kubelet", "unpigz"}
    bakery.run("--tags", "install", eks_node_image=image)
    assert bakery.changed == []
