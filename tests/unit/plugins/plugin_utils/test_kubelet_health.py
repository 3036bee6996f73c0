# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The unit of C(commands.post) asks kubelet where the node group lets it answer."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils import problem_list
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

FAMILIES = [
    {"family": "al2", "strategy": "static", "instance": {"type": "m5.large"}, "max_pods": 29},
    {"family": "ubuntu", "strategy": "static", "instance": {"type": "m5.large"}, "max_pods": 29},
    {"family": "al2023"},
]


def script(group: dict[str, Any]) -> str:
    files = {file["path"]: file["content"] for file in node_files(COMPLETE, group | {"commands": {"post": ["true"]}})}
    return files["/etc/nodebootstrap/post-commands"]


@pytest.mark.parametrize("group", FAMILIES, ids=lambda group: group["family"])
def test_commands_post_ask_the_port_that_kubelet_has(group: dict[str, Any]) -> None:
    assert "http://127.0.0.1:10248/healthz" in script(group)
    asked = script(group | {"kubelet": {"config": {"healthzPort": 10300, "healthzBindAddress": "0.0.0.0"}}})
    assert "http://127.0.0.1:10300/healthz" in asked and "10248" not in asked


@pytest.mark.parametrize("group", FAMILIES, ids=lambda group: group["family"])
def test_commands_post_cannot_wait_for_a_kubelet_that_says_nothing(group: dict[str, Any], golden_message: GoldenMessages) -> None:
    with pytest.raises(SpecError) as caught:
        script(group | {"kubelet": {"config": {"healthzPort": 0}}})
    assert problem_list.found(caught.value.problems) == [("commands.no_health_check", "node_group.commands.post")]
    golden_message(caught.value)


@pytest.mark.parametrize("group", FAMILIES, ids=lambda group: group["family"])
def test_a_wait_for_the_node_needs_no_health_check(group: dict[str, Any]) -> None:
    commands = {"post": [{"run": "true", "when": "ready", "timeout": 60}]}
    files = {file["path"]: file for file in node_files(COMPLETE, group | {"commands": commands, "kubelet": {"config": {"healthzPort": 0}}})}
    unit = "snap.kubelet-eks.daemon.service" if group["family"] == "ubuntu" else "kubelet.service"
    assert f"\n/etc/nodebootstrap/wait-until-ready 60 {unit} || exit\ntrue\n" in files["/etc/nodebootstrap/post-commands"]["content"]
    assert files["/etc/nodebootstrap/wait-until-ready"]["mode"] == "0755" and "/etc/nodebootstrap/wait-until-healthy" not in files
