# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The CNI configuration that containerd loads, and its problems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import cni
from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import NetworkConfig
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import programs
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.join_node import FakeNode

UNIT = "containerd.service"
GOOD = {"cniVersion": "0.4.0", "name": "aws-cni", "plugins": [{"type": "aws-cni"}]}


@pytest.mark.parametrize(
    ("name", "content", "is_valid"),
    [
        ("10-aws.conflist", GOOD, True),
        ("10-aws.conflist", {**GOOD, "name": ""}, True),
        ("10-aws.conflist", {"plugins": GOOD["plugins"]}, False),
        ("10-aws.conflist", {**GOOD, "plugins": []}, False),
        ("10-aws.conflist", {"name": "x"}, False),
        ("10-aws.conflist", {**GOOD, "plugins": [{"type": "a"}, {"kind": "b"}]}, False),
        ("10-aws.conflist", {**GOOD, "plugins": {"type": "a"}}, False),
        ("10-aws.conflist", [GOOD], False),
        ("10-aws.conflist", '{"name": "aws-cni", "plugins": [', False),
        ("10-aws.conflist", "", False),
        ("10-aws.conflist", None, False),
        ("10-aws.conf", {"type": "aws-cni"}, True),
        ("10-aws.conf", GOOD, False),
        ("10-aws.json", "name: x", False),
    ],
)
def test_which_files_containerd_cannot_load(name: str, content: Any, is_valid: bool) -> None:
    text = content if content is None or isinstance(content, str) else json.dumps(content)
    problem = cni.find_problem(name, text)
    assert (problem is None) is is_valid, problem


@pytest.fixture
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeNode:
    made = FakeNode(tmp_path)
    monkeypatch.setattr(programs, "first_lines", made.first_lines)
    return made


def test_the_first_file_counts(node: FakeNode) -> None:
    assert cni.read_network_config(node, UNIT, cni.DEFAULT_DIRECTORY) == NetworkConfig("/etc/cni/net.d")
    node.file("/etc/cni/net.d/.lock", "")
    node.file("/etc/cni/net.d/20-later.conflist", "{broken")
    node.file("/etc/cni/net.d/10-aws.conflist", json.dumps(GOOD))
    found = cni.read_network_config(node, UNIT, cni.DEFAULT_DIRECTORY)
    assert (found.file, found.problem) == ("/etc/cni/net.d/10-aws.conflist", None)
    node.file("/etc/cni/net.d/10-aws.conflist", "{broken")
    assert cni.read_network_config(node, UNIT, cni.DEFAULT_DIRECTORY).problem is not None


def test_another_directory(node: FakeNode) -> None:
    node.file("/run/cni/1.conf", "")
    found = cni.read_network_config(node, UNIT, "/run/cni")
    assert (found.directory, found.file) == ("/run/cni", "/run/cni/1.conf") and found.problem is not None


def test_containerd_finds_more_than_the_parser(node: FakeNode) -> None:
    path = "/etc/cni/net.d/10-aws.conflist"
    node.file(path, json.dumps({**GOOD, "cniVersion": 4}))
    node.logs("started", at=100.0, unit=UNIT)
    assert cni.read_network_config(node, UNIT, cni.DEFAULT_DIRECTORY).problem is None
    why = "error parsing configuration list: invalid cniVersion type float64"
    error = f"cni config load failed: failed to load CNI config list file {path}: {why}: invalid cni config: failed to load cni config"
    node.logs(
        f'time="x" level=error msg="failed to reload cni configuration after receiving fs change event" error="{error}"',
        at=101.0,
        unit=UNIT,
    )
    found = cni.read_network_config(node, UNIT, cni.DEFAULT_DIRECTORY)
    assert found.problem == why and len(found.lines) == 1
    (node.root / path.lstrip("/")).rename(node.root / "etc/cni/net.d/05-new.conflist")
    assert cni.read_network_config(node, UNIT, cni.DEFAULT_DIRECTORY).problem is None, "the error is about another file"
