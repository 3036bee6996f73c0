# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows from kubelet's command line."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import kubelet_process as kubelet
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.host_files import machine


def test_node_name() -> None:
    assert kubelet.node_name({"hostname-override": " I-1.Ec2 "}, "other") == "i-1.ec2"
    assert kubelet.node_name({}, "Host") == "host"
    assert kubelet.node_name({"cloud-provider": "aws"}, "Host") is None


def test_the_kubeconfig_that_is_used_now(tmp_path: Path) -> None:
    flags = {"kubeconfig": "/k", "bootstrap-kubeconfig": "/b"}
    host = machine(tmp_path, {})
    assert kubelet.find_kubeconfig(host, flags) == "/k" and kubelet.find_kubeconfig(host, {}) is None
    machine(tmp_path, {"/b": ""})
    assert kubelet.find_kubeconfig(host, flags) == "/b"
    machine(tmp_path, {"/k": ""})
    assert kubelet.find_kubeconfig(host, flags) == "/k"


def test_pods_or_a_signed_certificate_are_signs_of_a_cluster(tmp_path: Path) -> None:
    host, root = machine(tmp_path, {}), tmp_path / "var/lib/kubelet"
    assert not kubelet.has_served(host, {})
    machine(tmp_path, {"/var/lib/kubelet/pki/kubelet.crt": "its own"})
    (root / "pods").mkdir()
    assert not kubelet.has_served(host, {})
    (root / "pods" / "8c2d").mkdir()
    assert kubelet.has_served(host, {}) and not kubelet.has_served(host, {"root-dir": "/nowhere"})
    (tmp_path / "certificates").mkdir()
    (tmp_path / "certificates" / "kubelet-server-current.pem").symlink_to("x")
    assert kubelet.has_served(host, {"root-dir": "/nowhere", "cert-dir": "/certificates"})
