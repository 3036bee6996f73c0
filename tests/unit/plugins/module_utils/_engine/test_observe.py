# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is observed of a node: its operating system, its cluster, its kubelet."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import observe
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.manifest import Manifest
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.plan import Cluster, Registration
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import Current
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.systemd import Unit
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.live_plans import CLUSTER, unit

ENDPOINT = str(CLUSTER["endpoint"])


def read(path: str) -> Current | None:
    with open(path, "rb") as handle:
        return Current(handle.read(), 0o644, 0, 0)


def test_os_release_is_read_as_shells_read_it(tmp_path: Path) -> None:
    file = tmp_path / "os-release"
    file.write_text('# comment\nNAME="Amazon Linux"\nID=\'amzn\'\nVERSION_ID=2\nBROKEN="x\nnothing\n', encoding="utf-8")
    found = observe.os_release((str(tmp_path / "none"), str(file)))
    assert (found["NAME"], found["ID"], found["VERSION_ID"], found["BROKEN"]) == ("Amazon Linux", "amzn", "2", '"x')
    assert observe.os_release((str(tmp_path / "none"),)) == {}


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("clusters:\n- cluster:\n    server: https://a.example\n", "https://a.example"),
        ("    server: 'https://a.example:443/'  # x\n", "https://a.example:443/"),
        ('{"clusters": [{"cluster": {\n"server": "https://a.example"}}]}', "https://a.example"),
        ("    server: MASTER_ENDPOINT\n", None),
        ("#   server: https://a.example\n", None),
        ("", None),
    ],
)
def test_the_server_of_a_kubeconfig(text: str, server: str | None) -> None:
    assert observe.server_of(text.encode()) == server


def kubeconfig(server: str) -> Current:
    return Current(f"    server: {server}\n".encode(), 0o644, 0, 0)


def test_the_cluster_of_a_node() -> None:
    def nothing(path: str) -> None:
        return None

    def elsewhere(path: str) -> Current | None:
        return kubeconfig("https://other.example") if path == "/opt/kc" else None

    def unreadable(path: str) -> None:
        raise ApplyRefused(path)

    empty = Manifest()
    assert observe.membership(empty, [], nothing) is None
    assert observe.membership(empty, [], lambda path: kubeconfig("MASTER_ENDPOINT")) is None
    assert observe.membership(empty, ["kubelet", "--kubeconfig", "/opt/kc"], unreadable) is None
    found = observe.membership(empty, ["kubelet", "--kubeconfig=/opt/kc"], elsewhere)
    assert found == observe.Membership(None, "https://other.example", "/opt/kc")
    found = observe.membership(Manifest(cluster=Cluster("demo", ENDPOINT)), [], elsewhere)
    assert found is not None and found[:2] == ("demo", ENDPOINT)


def test_labels_and_taints_on_the_command_line() -> None:
    argv = [
        "kubelet",
        "--node-labels=a=1,b=2",
        "--node-labels",
        "b=3,eks.amazonaws.com/nodegroup=x",
        "--register-with-taints=k=v:NoSchedule",
    ]
    found = observe.kubelet_registration(argv, read)
    assert found == Registration({"a": "1", "b": "3", "eks.amazonaws.com/nodegroup": "x"}, ("k=v:NoSchedule",))


def test_taints_of_configuration_files_count_the_last_one_wins(tmp_path: Path) -> None:
    first, folder = tmp_path / "config.json", tmp_path / "d"
    folder.mkdir()
    first.write_text(json.dumps({"registerWithTaints": [{"key": "old", "effect": "NoExecute"}]}), encoding="utf-8")
    (folder / "50-x.conf").write_text(
        json.dumps({"registerWithTaints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}), encoding="utf-8"
    )
    (folder / "60-x.conf").write_text("no JSON", encoding="utf-8")
    (folder / "70-x.txt").write_text(json.dumps({"registerWithTaints": []}), encoding="utf-8")
    words = ["kubelet", f"--config={first}"]
    assert observe.kubelet_registration(words, read).taints == ("old:NoExecute",)
    assert observe.kubelet_registration([*words, f"--config-dir={folder}"], read).taints == ("k=v:NoSchedule",)


def test_pods_or_a_signed_certificate_are_signs_of_a_cluster(tmp_path: Path) -> None:
    root, words = str(tmp_path), ["kubelet"]
    assert not observe.has_served(words, root)
    (tmp_path / "pods").mkdir()
    (tmp_path / "pki").mkdir()
    (tmp_path / "pki" / "kubelet.crt").write_text("its own", encoding="utf-8")
    assert not observe.has_served(words, root)
    (tmp_path / "pods" / "8c2d").mkdir()
    assert observe.has_served(words, root)
    assert not observe.has_served([*words, "--root-dir=/nowhere"], root)
    (tmp_path / "certificates").mkdir()
    (tmp_path / "certificates" / "kubelet-server-current.pem").symlink_to("x")
    assert observe.has_served([*words, "--root-dir=/nowhere", f"--cert-dir={root}/certificates"], root)


def test_a_node_is_observed_with_one_question_to_systemd(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    running = unit("kubelet.service")._replace(pid=7)

    def read_units(names: Iterable[str]) -> dict[str, Unit]:
        asked.append(list(names))
        return {"containerd.service": unit("containerd.service"), "kubelet.service": running}

    monkeypatch.setattr(observe.systemd, "read_units", read_units)
    monkeypatch.setattr(observe.processes, "command_line", lambda pid: ["kubelet", "--node-labels=a=b"] if pid == 7 else [])
    node = observe.observe(Manifest(), ("containerd.service", "kubelet.service"), "kubelet.service", lambda path: None)
    assert asked == [["containerd.service", "kubelet.service"]]
    assert node.kubelet == running and node.kubelet_argv == ["kubelet", "--node-labels=a=b"]
    assert node.kubelet_registration == Registration({"a": "b"}, ()) and node.membership is None
    running = unit("kubelet.service")
    node = observe.observe(Manifest(), ("containerd.service", "kubelet.service"), "kubelet.service", lambda path: None)
    assert node.kubelet_registration is None and node.kubelet_argv == []
