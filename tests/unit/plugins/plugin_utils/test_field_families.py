# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The families that a field is documented for are the ones that accept it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model import fields
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE
from ansible_collections.nodebootstrap.eks.tools.input_reference import all_fields

STATIC = {"strategy": "static", "instance": {"type": "m5.large"}, "max_pods": 20}
NODE_CONFIG = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {}\n"

VALUES: dict[str, Any] = {
    "strategy": "bootstrap_script",
    "containerd": {"registry_mirrors": {"docker.io": "https://mirror.example.com"}},
    "containerd.config": {"debug": {"level": "info"}},
    "containerd.pause_image": "602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.5",
    "local_storage": {"strategy": "raid0"},
    "local_storage.mount_path": "/mnt/disks",
    "commands": {"pre": "echo hello"},
    "override": {"al2023": NODE_CONFIG, "windows": "Get-Date"},
    "nodeadm": {"featureGates": {"InstanceIdNodeName": True}},
    "bottlerocket": {"settings": {"motd": "hello"}},
    "windows": {"version": "2022"},
    "ubuntu": {"release": "22.04"},
}
LIMITED = {path: field["families"] for path, field in all_fields(fields.NODE_GROUP_KIND.schema) if "families" in field}


def test_there_is_a_value_for_every_field_that_families_lack() -> None:
    assert VALUES.keys() == LIMITED.keys()


@pytest.mark.parametrize("family", fields.FAMILIES)
@pytest.mark.parametrize("path", VALUES)
def test_a_field_is_accepted_by_its_families_only(path: str, family: str) -> None:
    value = VALUES[path]
    if path == "override":
        value = value.get(family, "echo hello")
    *parents, name = path.split(".")
    tree: dict[str, Any] = {name: value} | ({"strategy": "raid0"} if name == "mount_path" else {})
    group: dict[str, Any] = {"family": family, **({parents[0]: tree} if parents else tree)}
    if (path, family) == ("containerd.config", "ubuntu"):
        group |= STATIC
    try:
        render(COMPLETE, group)
        refused = []
    except SpecError as error:
        refused = [problem.path for problem in error.problems]
    touched = [found for found in refused if found == f"node_group.{path}" or found.startswith(f"node_group.{path}.")]
    if family in LIMITED[path]:
        assert refused == []
    else:
        assert touched or f"node_group.{parents[0] if parents else path}" in refused, refused
