# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is observed of a node: its operating system, its cluster, its kubelet."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import observe
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.manifest import Manifest
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.plan import Cluster, Registration
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import kubelet_process
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.host import Host
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.systemd import Unit
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.host_files import machine
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.live_plans import CLUSTER, unit

ENDPOINT = str(CLUSTER["endpoint"])


def test_the_cluster_of_a_node(tmp_path: Path) -> None:
    empty, argv = Manifest(), ["kubelet", "--kubeconfig", "/opt/kc"]
    host = machine(tmp_path, {"/var/lib/kubelet/kubeconfig": "    server: MASTER_ENDPOINT\n"})
    assert observe.membership(host, empty, []) is None and observe.membership(host, empty, argv) is None
    machine(tmp_path, {"/opt/kc": "    server: https://other.example\n"})
    assert observe.membership(host, empty, []) is None
    assert observe.membership(host, empty, argv) == observe.Membership(None, "https://other.example", "/opt/kc")
    found = observe.membership(host, Manifest(cluster=Cluster("demo", ENDPOINT)), argv)
    assert found is not None and found[:2] == ("demo", ENDPOINT)


def test_the_kubeconfig_of_the_running_kubelet_comes_first(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "/var/lib/kubelet/kubeconfig": "    server: https://old.example\n",
        "/opt/kc": "    server: https://new.example\n",
        "/opt/bootstrap": "    server: https://bootstrap.example\n",
    }
    host, words = machine(tmp_path, files), ["kubelet", "--kubeconfig=/opt/kc", "--bootstrap-kubeconfig=/opt/bootstrap"]

    def found() -> list[str | None]:
        """What apply and node_info say."""
        flags = kubelet_process.parse(words[1:])
        member = observe.membership(host, Manifest(), words)
        path = kubelet_process.find_kubeconfig(host, flags)
        return [None if member is None else member.source, path]

    assert found() == ["/opt/kc"] * 2
    (tmp_path / "opt/kc").unlink()
    assert found() == ["/opt/bootstrap"] * 2


@pytest.mark.parametrize(
    ("content", "is_known"),
    [
        (None, True),
        ("", True),
        ("# nothing\n", True),
        ("{}", True),
        ("    server: MASTER_ENDPOINT\n", True),
        ("a: [\n    server: MASTER_ENDPOINT\n", True),
        ("apiVersion: v1\nclus", False),
        ("\0\0\0\0", False),
        (Path("directory"), False),
        (Path("link"), False),
    ],
)
def test_a_kubeconfig_that_cannot_be_read_is_not_the_same_as_none(tmp_path: Path, content: str | Path | None, is_known: bool) -> None:
    path = tmp_path / kubelet_process.KUBECONFIG[1:]
    host = machine(tmp_path, {kubelet_process.KUBECONFIG: content} if isinstance(content, str) else {"/var/lib/kubelet/x": ""})
    if content == Path("directory"):
        path.mkdir()
    elif content == Path("link"):
        path.symlink_to("gone")
    found = observe.membership(host, Manifest(), [])
    assert (found is None) is is_known
    if found is not None:
        assert found.source == kubelet_process.KUBECONFIG and found.endpoint == "" and kubelet_process.KUBECONFIG in found.problem


def test_labels_and_taints_on_the_command_line() -> None:
    argv = [
        "kubelet",
        "--node-labels=a=1,b=2",
        "--node-labels",
        "b=3,eks.amazonaws.com/nodegroup=x",
        "--register-with-taints=k=v:NoSchedule",
    ]
    found = observe.kubelet_registration(Host(), argv)
    assert found == Registration({"a": "1", "b": "3", "eks.amazonaws.com/nodegroup": "x"}, ("k=v:NoSchedule",))


def test_a_node_is_observed_with_one_question_to_systemd(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    host = machine(tmp_path, {})
    asked: list[list[str]] = []
    running = unit("kubelet.service")._replace(pid=7)

    def read_units(names: Iterable[str]) -> dict[str, Unit]:
        asked.append(list(names))
        return {"containerd.service": unit("containerd.service"), "kubelet.service": running}

    monkeypatch.setattr(observe.systemd, "read_units", read_units)
    monkeypatch.setattr(observe, "command_line", lambda _host, pid: ["kubelet", "--node-labels=a=b"] if pid == 7 else [])
    node = observe.observe(Manifest(), ("containerd.service", "kubelet.service"), "kubelet.service", host)
    assert asked == [["containerd.service", "kubelet.service"]]
    assert node.kubelet == running and node.kubelet_argv == ["kubelet", "--node-labels=a=b"]
    assert node.kubelet_registration == Registration({"a": "b"}, ()) and node.membership is None
    running = unit("kubelet.service")
    node = observe.observe(Manifest(), ("containerd.service", "kubelet.service"), "kubelet.service", host)
    assert node.kubelet_registration is None and node.kubelet_argv == []
