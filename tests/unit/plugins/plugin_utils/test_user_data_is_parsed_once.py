# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Existing user data is parsed once per render, however many stages look at it."""

from __future__ import annotations

import base64
import sys
import uuid
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import cloud_config, mime_reader, powershell, toml, yaml_reader
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig import document
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_config import node_config
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_plan import node_plan
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

CLUSTER = {
    "name": "demo",
    "endpoint": "https://abc.gr7.eu-west-1.eks.amazonaws.com",
    "certificate_authority": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=",
    "service_cidr": "10.100.0.0/16",
    "kubernetes_version": "1.32",
}

PARSERS: dict[str, Callable[..., Any]] = {
    "mime": mime_reader.read.__wrapped__,
    "cloud-config": cloud_config.load.__wrapped__,
    "nodeconfig": document.check_document.__wrapped__,
    "powershell": powershell.unwrap.__wrapped__,
    "toml": toml.parse,
    "yaml": yaml_reader.load,
}


def counted(work: Callable[[], Any]) -> dict[str, int]:
    """How often C(work) calls each parser, by whatever way."""
    names = {parser.__code__: name for name, parser in PARSERS.items()}
    calls: Counter[str] = Counter()

    def note(frame: Any, event: str, _unused: Any) -> None:
        if event == "call" and frame.f_code in names:
            calls[names[frame.f_code]] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return dict(calls)


def multipart(*parts: tuple[str, str]) -> str:
    lines = ["MIME-Version: 1.0", 'Content-Type: multipart/mixed; boundary="B"', ""]
    for kind, body in parts:
        lines += ["--B", f"Content-Type: {kind}", "Content-Transfer-Encoding: base64", "", base64.b64encode(body.encode()).decode()]
    return "\n".join([*lines, "--B--", ""])


def node_config_text(unique: str) -> str:
    return f"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    flags: ['--node-labels=id={unique}']\n"


def linux(family: str, unique: str) -> dict[str, Any]:
    parts = [("text/x-shellscript", f"#!/bin/bash\necho {unique}\n"), ("text/cloud-config", f"#cloud-config\nruncmd: [echo, '{unique}']\n")]
    if family == "al2023":
        parts.append(("application/node.eks.aws", node_config_text(unique)))
    return {"user_data": multipart(*parts)}


CASES: dict[str, tuple[Callable[[str], dict[str, Any]], dict[str, int]]] = {
    "al2": (lambda unique: linux("al2", unique), {"mime": 1, "cloud-config": 1, "yaml": 1}),
    "ubuntu": (lambda unique: linux("ubuntu", unique), {"mime": 1, "cloud-config": 1, "yaml": 1}),
    "al2023": (lambda unique: linux("al2023", unique), {"mime": 1, "cloud-config": 1, "nodeconfig": 1, "yaml": 2}),
    "bottlerocket": (lambda unique: {"user_data": f'[settings]\nmotd = "{unique}"\n'}, {"toml": 1}),
    "windows": (lambda unique: {"user_data": f"<powershell>\nWrite-Host {unique}\n</powershell>\n"}, {"powershell": 1}),
}


@pytest.mark.parametrize("family", CASES)
@pytest.mark.parametrize("output", [render, node_files])
def test_each_document_is_parsed_once(family: str, output: Callable[..., Any]) -> None:
    given, expected = CASES[family]
    group = {"family": family, "name": "web", **given(uuid.uuid4().hex)}
    assert counted(lambda: output(CLUSTER, group)) == expected
    assert counted(lambda: output(CLUSTER, group)) == {}, "the same input is not parsed again"


def test_a_plan_parses_a_node_config_once() -> None:
    group = {"family": "al2023", "name": "web", "user_data": node_config_text(uuid.uuid4().hex)}
    assert counted(lambda: node_plan(CLUSTER, group)) == {"nodeconfig": 1, "yaml": 1}


def test_a_result_that_is_changed_does_not_change_the_next_one() -> None:
    group = {"family": "al2023", "user_data": node_config_text("a")}
    first = node_config(CLUSTER, group)
    first[0]["spec"].clear()
    assert node_config(CLUSTER, group)[0]["spec"]


def test_every_render_reports_the_problems(golden_message: GoldenMessages) -> None:
    group = {"family": "bottlerocket", "user_data": "a = \n"}
    messages = []
    for _unused in range(2):
        with pytest.raises(ValueError) as refused:
            render(CLUSTER, group)
        golden_message(refused.value)
        messages.append(str(refused.value))
    assert messages[0] == messages[1]
