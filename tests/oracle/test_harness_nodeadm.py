# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in nodeadm against what the real one did, and what it leaves on a node."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import tomllib
from nodelab import Al2023Node, boot, engine

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "docker" / "rootfs" / "opt" / "nodelab"))

import nodeadm_config  # noqa: E402 # a program of the nodes, found through the line above

pytestmark = pytest.mark.docker

ROWS = [
    row for row in json.loads((HERE / "data" / "nodeadm.json").read_text())["cases"] if row["group"] in ("merge", "drop_ins", "effective")
]
#: The stand-in reads YAML with PyYAML, for which a bare y is text.
BARE_Y = {"config_map_over_scalar", "runtime_spec_deep"}

DOCUMENT = """apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: demo
    apiServerEndpoint: https://abc.gr7.eu-central-1.eks.amazonaws.com
    certificateAuthority: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=
    cidr: 10.100.0.0/16
  kubelet:
    config: {maxPods: 20}
    flags: ["--node-labels=a=b"]
"""
DROP_IN = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {flags: [--v=4]}}\n"


def without_nothing(value: Any) -> Any:
    """Empty sections left out; TOML by what it says."""
    if isinstance(value, str) and "\n" in value and "=" in value:
        return tomllib.loads(value)
    if not isinstance(value, dict):
        return value
    return {key: inner for key, inner in ((key, without_nothing(inner)) for key, inner in value.items()) if inner not in ({}, None)}


@pytest.mark.parametrize("row", [row for row in ROWS if row["id"] not in BARE_Y], ids=lambda row: f"{row['group']}-{row['id']}")
def test_it_merges_as_the_real_one(row: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodeadm_config, "imds", lambda _path: row["user_data"].encode())
    for name, content in row.get("drop_ins", {}).items():
        tmp_path.joinpath(name).write_text(content)
    try:
        merged = nodeadm_config.read(["imds://user-data", f"file://{tmp_path}"])
        nodeadm_config.check(merged)
    except (nodeadm_config.ConfigError, ValueError):
        assert not row["check"]["ok"]
    else:
        assert row["check"]["ok"] and without_nothing(merged) == without_nothing(row["merged"])


def kubelet_records(node: Al2023Node, count: int) -> list[dict[str, Any]]:
    """systemd says "started" before the program has written anything."""
    engine.wait_for(f"{count} starts of kubelet", lambda: len(node.records("kubelet")) >= count, 5, 0.02)
    return node.records("kubelet")


def test_the_phases_write_and_start_what_the_real_ones_do() -> None:
    with boot(Al2023Node, DOCUMENT) as (node, result):
        assert result.errors == [] and node.wait_boot() == "running"
        assert node.property("kubelet.service", "ActiveState") == node.property("containerd.service", "ActiveState") == "active"
        [start] = kubelet_records(node, 1)
        assert start["argv"][-1] == "--node-labels=a=b" and "--node-ip=10.0.0.5" in start["argv"]
        assert json.loads(start["files"]["/etc/kubernetes/kubelet/config.json"])["maxPods"] == 29
        assert json.loads(start["files"]["/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf"])["maxPods"] == 20
        assert "https://abc.gr7.eu-central-1.eks.amazonaws.com" in start["files"]["/var/lib/kubelet/kubeconfig"]
        assert node.read("/etc/kubernetes/pki/ca.crt").startswith(b"-----BEGIN CERTIFICATE-----\n")
        assert node.exec(["containerd", "--config", "/etc/containerd/config.toml", "config", "dump"]).returncode == 0
        # Another spec than the cached one brings the config phase back, although the unit skips it.
        node.write({"/etc/eks/nodeadm.d/50.yaml": DROP_IN})
        node.exec(["systemctl", "restart", "nodeadm-run"], check=True)
        assert node.starts("kubelet.service") == 2
        assert kubelet_records(node, 2)[-1]["argv"][-2:] == ["--node-labels=a=b", "--v=4"]


def test_without_a_complete_cluster_kubelet_never_starts() -> None:
    with boot(Al2023Node, DOCUMENT.replace("    cidr: 10.100.0.0/16\n", "")) as (node, _result):
        assert node.property("nodeadm-config.service", "Result") == "exit-code"
        assert "cluster.cidr is missing" in node.journal("nodeadm-config.service")
        assert node.starts("nodeadm-run.service") == node.starts("kubelet.service") == 0


def test_the_real_containerd_runs_where_a_node_asks_for_it() -> None:
    with Al2023Node.start(containerd=True) as node:
        node.exec(["systemctl", "start", "containerd"], check=True)
        assert b"io.containerd.snapshotter.v1" in node.exec(["ctr", "plugins", "ls"], check=True).stdout
