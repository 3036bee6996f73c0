# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The versions of kubelet and containerd: from the program, and from a file of the image if the program does not answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._inspect import versions
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.settings import read_settings
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import program_versions
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.host import Host
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.host_files import machine
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.join_node import KUBELET, FakeNode

FILE, SNAP = "/etc/eks/kubelet-version.txt", "/snap/kubelet-eks/current/meta/snap.yaml"


def node(root: Path, files: dict[str, str], programs: dict[str, str]) -> Host:
    """A machine whose programs are shell scripts with these bodies."""
    host = machine(root, {**files, **{path: f"#!/bin/sh\n{body}\n" for path, body in programs.items()}})
    for path in programs:
        (root / path[1:]).chmod(0o755)
    return host


@pytest.mark.parametrize(
    ("files", "programs", "expected"),
    [
        ({FILE: "Kubernetes v1.33.4-eks-1\n"}, {"/usr/bin/kubelet": "echo Kubernetes v1.34.2"}, ("1.34.2", "/usr/bin/kubelet --version")),
        ({FILE: "Kubernetes v1.33.4-eks-1\n"}, {"/usr/bin/kubelet": "exit 1"}, ("1.33.4-eks-1", FILE)),
        ({FILE: "Kubernetes v1.33.4-eks-1\n"}, {"/usr/bin/kubelet": "echo usage: 1.2.3"}, ("1.33.4-eks-1", FILE)),
        ({SNAP: "name: x\nbase: core22.1\nversion: '1.31'\n"}, {}, ("1.31", SNAP)),
        ({}, {"/usr/local/bin/kubelet": "echo Kubernetes v1.30.0+x.1"}, ("1.30.0+x.1", "/usr/local/bin/kubelet --version")),
        ({}, {}, None),
    ],
)
def test_the_version_of_kubelet(tmp_path: Path, files: dict[str, str], programs: dict[str, str], expected: tuple[str, str] | None) -> None:
    assert program_versions.of_kubelet(node(tmp_path, files, programs)) == expected


def test_the_program_that_the_unit_starts_comes_first(tmp_path: Path) -> None:
    host = node(tmp_path, {}, {"/usr/bin/kubelet": "echo Kubernetes v1.30.1", "/opt/kubelet": "echo Kubernetes v1.36.1"})
    assert program_versions.of_kubelet(host, started_from=["/opt/kubelet"]) == ("1.36.1", "/opt/kubelet --version")
    assert program_versions.of_kubelet(host, started_from=["/gone"]) == ("1.30.1", "/usr/bin/kubelet --version")


@pytest.mark.parametrize(
    "output", ["containerd containerd.io 1.7.27 05044ec0a9a7", "containerd github.com/containerd/containerd/v2 v2.0.5 0123"]
)
def test_the_version_of_containerd(tmp_path: Path, output: str) -> None:
    host = node(tmp_path, {"/etc/eks/containerd-version.txt": "containerd 1.6.0"}, {"/usr/bin/containerd": f"echo {output}"})
    found = program_versions.of_containerd(host)
    assert found is not None and found.version in output and found.source == "/usr/bin/containerd --version"


def test_node_info_and_join_check_agree(tmp_path: Path) -> None:
    machine(tmp_path, {FILE: "Kubernetes v1.33.4-eks-1\n", "/usr/bin/kubelet": ""})
    fake = FakeNode(tmp_path)
    fake.unit(KUBELET)
    for fake.version in (None, "1.34.2"):
        shown = versions.versions(fake, 0)["kubelet"]
        assert shown["version"] == read_settings(fake, KUBELET, True).version == (fake.version or "1.33.4-eks-1")
