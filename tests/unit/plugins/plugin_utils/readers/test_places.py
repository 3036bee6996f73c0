# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The place of a setting in the text of a part."""

from __future__ import annotations

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.readers.document import structure
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.readers.places import place_of

NODE_CONFIG = """\
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  kubelet:
    config:
      maxPods: 110
      "evictionHard": {memory.available: '5%'}
    flags:
    - --v=4
"""
TOML = """\
[settings.kubernetes]
"max-pods" = 110  # pods
node-labels.role = 'web'

[[settings.mirrors]]
registry = "a"
[[settings.mirrors]]
registry = "b"
endpoint = [
  "c",
]
"""
JSON = '{"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": {"cluster": {"name": "demo"}}}'
CLOUD_CONFIG = "#cloud-config\nwrite_files:\n- path: /a\n  content: |\n    x\n    y\n"
SCRIPT = "#!/bin/bash\n/etc/eks/bootstrap.sh demo \\\n  --use-max-pods false\n"
BROKEN = "#cloud-config\na: [\n"


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        (NODE_CONFIG, "spec.kubelet.config.maxPods", "110"),
        (NODE_CONFIG, 'spec.kubelet.config.evictionHard["memory.available"]', "'5%'"),
        (NODE_CONFIG, "spec.kubelet.flags[0]", "--v=4"),
        (NODE_CONFIG, "spec.kubelet.config", "config"),
        (NODE_CONFIG, "spec.kubelet.config.unknown.below", "config"),
        (NODE_CONFIG, "spec.kubelet.flags[7]", "flags"),
        (NODE_CONFIG, "", "apiVersion: node.eks.aws/v1alpha1"),
        (JSON, "spec.cluster.name", '"demo"'),
        (TOML, "settings.kubernetes.max-pods", "110  # pods"),
        (TOML, "settings.kubernetes.node-labels.role", "'web'"),
        (TOML, "settings.mirrors[1].registry", '"b"'),
        (TOML, "settings.mirrors[1].endpoint[0]", "["),
        (TOML, "settings.kubernetes.other", "[settings.kubernetes]"),
        (CLOUD_CONFIG, "write_files[0].path", "/a"),
        (CLOUD_CONFIG, "write_files[0].content", "content"),
        (SCRIPT, "--use-max-pods", "--use-max-pods"),
        (SCRIPT, "--max-pods", "#!/bin/bash"),
        (BROKEN, "a", "#cloud-config"),
    ],
)
def test_the_place_is_the_value_or_the_closest_setting(text: str, path: str, expected: str) -> None:
    [part] = structure(text).parts
    place = place_of(part, path)
    line = part.text.split("\n")[place.line - 1]
    assert line[place.column - 1 : place.column - 1 + place.length] == expected


def test_deep_nesting_has_a_place() -> None:
    [part] = structure("#cloud-config\na: " + "[" * 100_000).parts
    assert place_of(part, "a[0]").line == 1


@pytest.mark.parametrize("end", ["\r", "\x85", "\u2028", "\u2029"])
def test_lines_that_only_yaml_counts_have_no_place_behind_the_text(end: str) -> None:
    text = f"#cloud-config{end}# a{end}runcmd:{end}- ls{end}- true\n"
    [part] = structure(text).parts
    place = place_of(part, "runcmd[1]")
    assert place.line <= text.count("\n") + 1
