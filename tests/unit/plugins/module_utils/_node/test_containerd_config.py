# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration with which containerd runs: one file for everything that is read from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join import containerd
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import containerd_config, toml
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.join_node import FakeNode

CRI = "io.containerd.grpc.v1.cri"
FILE = f"""\
version = 2
[plugins."{CRI}".cni]
  bin_dir = "/opt/cni/bin"
  conf_dir = "/run/cni"
[plugins."{CRI}".containerd.runtimes.runc.options]
  SystemdCgroup = true
"""
V3 = FILE.replace("version = 2", "version = 3").replace(f'"{CRI}"', "'io.containerd.cri.v1.runtime'")


@pytest.fixture
def node(tmp_path: Path) -> FakeNode:
    return FakeNode(tmp_path)


@pytest.mark.parametrize(
    ("words", "path"),
    [
        ([], "/etc/containerd/config.toml"),
        (["--config", "/c"], "/c"),
        (["--config=/c"], "/c"),
        (["-c", "/c"], "/c"),
        (["-c=/c"], "/c"),
        (["-config", "/c"], "/c"),
        (["--log-level", "debug", "-c", "/b", "--config", "/c"], "/c"),
        (["--config"], "/etc/containerd/config.toml"),
    ],
)
def test_the_file_that_containerd_was_started_with(node: FakeNode, words: list[str], path: str) -> None:
    """As urfave/cli, which containerd parses its command line with: one dash or two, and the last one wins."""
    node.process(*words, pid=9, program="containerd")
    assert containerd_config.read(node, 9).path == path


@pytest.mark.parametrize("text", [FILE, V3])
def test_both_settings_are_read_from_the_same_file(node: FakeNode, text: str) -> None:
    node.process("-c", "/c.toml", pid=9, program="containerd")
    node.file("/etc/containerd/config.toml", text.replace("/run/cni", "/not/used").replace("true", "false"))
    node.file("/c.toml", text)
    assert (containerd.cni_directory(node, 9), containerd.uses_systemd_cgroup(node, 9)) == ("/run/cni", True)


def test_both_settings_follow_imports(node: FakeNode) -> None:
    node.process(pid=9, program="containerd")
    node.file("/etc/containerd/config.toml", 'imports = ["config.d/*.toml"]\n' + FILE)
    node.dump = FILE.replace("/run/cni", "/imported").replace("true", "false")
    assert (containerd.cni_directory(node, 9), containerd.uses_systemd_cgroup(node, 9)) == ("/imported", False)
    assert containerd_config.read(node, 9).imports == ["/etc/containerd/config.d/*.toml"]


def test_a_broken_file_and_no_containerd(node: FakeNode) -> None:
    node.file("/etc/containerd/config.toml", "[plugins\n")
    assert containerd_config.read(node, 0) == containerd_config.ContainerdConfig("/etc/containerd/config.toml", None, False)
    assert containerd.cni_directory(node, 0) is None
    node.process(pid=9, program="containerd")
    node.dump = "x = [\n"
    assert containerd.cni_directory(node, 9) is None and containerd.uses_systemd_cgroup(node, 9) is None


def test_settings_of_toml() -> None:
    text = "# a\na.b = 1 # c\n[ x . \"y.z\" ]\nq = 'r' \nlist = [\n  \"1\", # d\n  '2',\n]\n[[t]]\nk = true\n[[t]]\ninline = { a = 1 }\n"
    assert toml.parse(text) == {
        "a.b": 1,
        'x."y.z".q': "r",
        'x."y.z".list': ["1", "2"],
        "t[0].k": True,
        "t[1].inline": "{ a = 1 }",
    }
    for broken in ("[a", "a", "a = [", "a b = 1"):
        with pytest.raises(ValueError):
            toml.parse(broken)
