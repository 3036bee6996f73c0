# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which documents nodeadm reads, and that apply, node_info and join_check agree about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import nodeadm
from ansible_collections.nodebootstrap.eks.plugins.module_utils._inspect import cluster
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.settings import read_settings
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import nodeadm_files
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import Current
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.join_node import KUBELET, FakeNode

READ = ("10-a.JSON", "20-b.yaml", "30-c.Yml", "B.yaml", "link.yaml", "ä.yaml")
LEFT_OUT = ("d.yaml.bak", "e.txt", "yaml", "folder.yaml/x.yaml")


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    made = FakeNode(tmp_path)
    for name in (*READ, *LEFT_OUT):
        if name != "link.yaml":
            made.file(f"{nodeadm_files.DIRECTORY}/{name}", "spec: {}\n")
    (tmp_path / nodeadm_files.DIRECTORY[1:] / "link.yaml").symlink_to("e.txt")
    return made


def test_the_documents_that_nodeadm_reads(node: FakeNode) -> None:
    """As internal/configprovider/file.go of nodeadm: os.ReadDir sorts by bytes, and IsDir of a link is false."""
    assert nodeadm_files.document_paths(node) == [f"{nodeadm_files.DIRECTORY}/{name}" for name in READ]
    (node.root / nodeadm_files.DIRECTORY[1:] / "link-to-folder.yaml").symlink_to("folder.yaml")
    assert len(nodeadm_files.document_paths(node)) == len(READ) + 1, "nodeadm fails then, so it must not be left out"


def test_apply_node_info_and_join_check_agree(node: FakeNode) -> None:
    node.unit(KUBELET)
    paths = nodeadm_files.document_paths(node)
    shown = cluster.nodeadm(node)
    assert shown is not None and [one["path"] for one in shown] == paths
    assert [f"{nodeadm_files.DIRECTORY}/{name}" for name in nodeadm.documents(lambda _path: Current(b"", 0o644, 0, 0), node)] == paths
    assert [origin.path for origin in read_settings(node, KUBELET, True).origins] == paths


def test_a_node_without_the_directory(tmp_path: Path) -> None:
    node = FakeNode(tmp_path)
    assert nodeadm_files.document_paths(node) == [] and node.problems == []
