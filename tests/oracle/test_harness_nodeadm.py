# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stand-in nodeadm leaves on a node, and when (test_nodeadm_stand_in.py: that it is what the real one leaves)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from nodelab import Al2023Node, boot, engine

pytestmark = pytest.mark.docker

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


def kubelet_records(node: Al2023Node, count: int) -> list[dict[str, Any]]:
    """systemd says "started" before the program has written anything."""
    engine.wait_for(f"{count} starts of kubelet", lambda: len(node.records("kubelet")) >= count, 600, 0.02)
    return node.records("kubelet")


@pytest.mark.matrix
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
        credentials = json.loads(node.read("/etc/eks/image-credential-provider/config.json"))
        assert credentials["providers"][0]["matchImages"], "kubelet refuses a list of no providers"
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
