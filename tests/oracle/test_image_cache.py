# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Container images of the role, on systemd and containerd 1: imported during the bake or at boot, then saved and started."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from nodelab import Node, engine, images

from ansible_collections.nodebootstrap.eks.plugins.module_utils._image.container_images import PINNED, PINNED_LABEL
from ansible_collections.nodebootstrap.eks.tests.oracle import image_archives
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

pytestmark = pytest.mark.docker

TOP = Path(__file__).resolve().parents[2]
PAUSE, AGENT = "registry.k8s.io/pause:3.10", "example.com/agent:1"
CACHE = "/var/cache/eks-node-image"
ARCHIVES = "/var/lib/eks-node-image/images"
UNIT = "eks-node-image-import.service"
SAW = "/var/lib/kubelet-saw"
# Debian's unit does not start the daemon of the laboratory by itself.
FILES = {
    "/etc/systemd/system/kubelet.service": (
        f"[Unit]\nAfter=containerd.service\n[Service]\nType=oneshot\nExecStart=/bin/sh -c 'ctr -n k8s.io images ls > {SAW}'\n"
        "[Install]\nWantedBy=multi-user.target\n"
    ),
    # overlayfs does not stack on the file system of the container.
    "/etc/containerd/config.toml": 'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd]\nsnapshotter = "native"\n',
}


class Outcome(NamedTuple):
    """How a run of Ansible ended."""

    changed: int
    failed: int
    output: str


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    with Node.start(files=FILES) as started:
        yield started


def bake(node: Node, folder: Path, rows: list[dict[str, Any]], how: str, *options: str) -> Outcome:
    """Run the tasks of the role that install container images."""
    plan = {"image_import": how, "images": [{**row, "url": None, "path": str(folder / row["file"])} for row in rows]}
    role = {"name": "nodebootstrap.eks.eks_node_image", "tasks_from": "images", "rolespec_validate": False}
    play = [{"hosts": "all", "gather_facts": False, "tasks": [{"name": "Images", "ansible.builtin.include_role": role}]}]
    variables = {"eks_node_image__plan": plan, "eks_node_image__cache": CACHE, "eks_node_image_snapshotter": "native"}
    host = {"ansible_connection": "community.docker.docker", "ansible_host": node.container}
    hosts = {"all": {"hosts": {"node": {**host, "ansible_python_interpreter": "/usr/bin/python3"}}}}
    for name, content in {"play.yml": play, "hosts.json": hosts, "vars.json": variables}.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    environment = os.environ | {
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_HOME": str(folder / "home"),
        "ANSIBLE_COLLECTIONS_PATH": str(TOP / ".cache"),
    }
    command = ["ansible-playbook", "-i", "hosts.json", "-e", "@vars.json", "play.yml", *options]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=600)
    found = re.search(r"changed=(\d+) .*failed=(\d+)", done.stdout)
    assert found, done.stdout + done.stderr
    return Outcome(int(found[1]), int(found[2]), done.stdout + done.stderr)


def listed(node: Node) -> dict[str, str]:
    """Image → its row in the list of containerd."""
    rows = node.exec(["ctr", "-n", "k8s.io", "images", "ls"], check=True).stdout.decode().splitlines()[1:]
    return {row.split()[0]: row for row in rows}


def restarted(node: Node, monkeypatch: pytest.MonkeyPatch, started: dict[str, Node]) -> Node:
    """A new machine from the saved image of a node."""
    tag = f"nodelab-baked:{node.container}"
    engine.docker("commit", node.container, tag)
    with monkeypatch.context() as patch:
        patch.setattr(images, "image", lambda _suite, _family: tag)
        started["node"] = Node.start()
    return started["node"]


@pytest.fixture
def started() -> Iterator[dict[str, Node]]:
    """What is started during a test, stopped afterwards with its image."""
    found: dict[str, Node] = {}
    yield found
    for one in found.values():
        image = engine.docker("inspect", "-f", "{{.Config.Image}}", one.container).stdout.decode().strip()
        one.stop()
        engine.docker("rmi", "-f", image, check=False)


def make(folder: Path) -> list[dict[str, Any]]:
    return [
        image_archives.write(folder, PAUSE, file="pause.tar"),
        image_archives.write(folder, AGENT, "agent", file="agent.tar", pinned=False),
    ]


def names(text: Mapping[str, str] | str) -> set[str]:
    return {name for name in (PAUSE, AGENT) if name in text}


def test_images_are_imported_during_the_bake_and_saved(
    node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: dict[str, Node]
) -> None:
    rows = make(tmp_path)
    before = bake(node, tmp_path, rows, "bake", "--check")
    assert before.failed == 0 and before.changed > 0, before.output
    assert not node.exists(CACHE)
    first = bake(node, tmp_path, rows, "bake")
    assert first.failed == 0, first.output
    found = listed(node)
    assert {name: f"{PINNED_LABEL}={PINNED}" in row for name, row in found.items() if name in (PAUSE, AGENT)} == {PAUSE: True, AGENT: False}
    assert node.exec(["find", CACHE, "-name", "*.tar"]).stdout == b""
    again = bake(node, tmp_path, rows, "bake")
    assert (again.changed, again.failed) == (0, 0), again.output
    node.exec(["systemctl", "enable", "containerd.service", "kubelet.service"], check=True)
    baked = restarted(node, monkeypatch, started)
    assert names(baked.read(SAW).decode()) == {PAUSE, AGENT}
    snapshots = baked.exec(["ctr", "-n", "k8s.io", "snapshots", "--snapshotter", "native", "ls"], check=True).stdout.decode()
    assert snapshots.count("Committed") == 2


def test_images_are_imported_at_boot_before_kubelet_starts(
    node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: dict[str, Node]
) -> None:
    for name in listed(node):
        node.exec(["ctr", "-n", "k8s.io", "images", "rm", "--sync", name], check=True)
    rows = make(tmp_path)
    first = bake(node, tmp_path, rows, "boot")
    assert first.failed == 0, first.output
    assert listed(node) == {}
    again = bake(node, tmp_path, rows, "boot")
    assert (again.changed, again.failed) == (0, 0), again.output
    node.exec(["systemctl", "enable", "containerd.service", "kubelet.service"], check=True)
    baked = restarted(node, monkeypatch, started)
    assert baked.property(UNIT, "Result") == "success", baked.journal(UNIT)
    assert names(baked.read(SAW).decode()) == {PAUSE, AGENT}
    assert baked.exists(f"{ARCHIVES}/pause.tar")
    baked.exec(["ctr", "-n", "k8s.io", "images", "rm", "--sync", AGENT], check=True)
    baked.exec(["systemctl", "restart", UNIT], check=True)
    assert names(listed(baked)) == {PAUSE, AGENT}
    assert f"{PAUSE} is imported" not in baked.journal(UNIT).split(f"{AGENT} is imported")[-1]


@pytest.mark.matrix
def test_a_description_can_change_and_check_mode_tells_the_truth(node: Node, tmp_path: Path) -> None:
    rows = make(tmp_path)
    bake(node, tmp_path, rows, "bake")
    before = bake(node, tmp_path, rows, "boot", "--check")
    assert before.failed == 0 and before.changed > 0, before.output
    assert bake(node, tmp_path, rows, "boot").failed == 0
    assert bake(node, tmp_path, rows, "boot", "--check").changed == 0
    broken = bake(node, tmp_path, [{**rows[0], "sha256": "0" * 64}], "bake")
    assert broken.failed == 1 and mentions(broken.output, rows[0]["sha256"], "0" * 64)
    assert bake(node, tmp_path, rows, "bake").failed == 0
    assert not node.exists(f"/etc/systemd/system/{UNIT}") and not node.exists(ARCHIVES)
    assert bake(node, tmp_path, rows, "bake", "--check").changed == 0
