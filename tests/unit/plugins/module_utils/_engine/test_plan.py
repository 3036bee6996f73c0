# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans that arrive whole, damaged or from another version."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.plan import decode, kubelet_unit
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_plan import node_plan
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.live_plans import CLUSTER, GROUPS, plan


def encoded(content: Any) -> str:
    return base64.b64encode(zlib.compress(json.dumps(content).encode())).decode()


@pytest.mark.parametrize("kind", GROUPS)
def test_what_the_library_makes_is_understood(kind: str) -> None:
    made = node_plan(CLUSTER, GROUPS[kind])
    assert decode(made.encoded()) == made.plain()
    assert "kubelet" in str(kubelet_unit(made.plain()))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no base64!",
        base64.b64encode(b"not compressed").decode(),
        encoded({"format": 1})[:-8],
        base64.b64encode(zlib.compress(b"{")).decode(),
    ],
)
def test_a_damaged_text_is_refused(text: str) -> None:
    with pytest.raises(ApplyRefused, match="the plan cannot be read"):
        decode(text)


def test_a_bomb_is_refused() -> None:
    with pytest.raises(ApplyRefused, match="cut off or too large"):
        decode(base64.b64encode(zlib.compress(b" " * (64 << 20))).decode())


@pytest.mark.parametrize("content", [[], {"format": 2}, {"format": "1"}, None])
def test_another_format_is_refused(content: Any) -> None:
    with pytest.raises(ApplyRefused, match=r"this module reads format 1: .* Install the collection anew"):
        decode(encoded(content))


def change(path: str, value: Any) -> Callable[[Any], None]:
    def apply(content: Any) -> None:
        *parents, last = path.split(".")
        for parent in parents:
            content = content[int(parent) if parent.isdigit() else parent]
        content[last] = value

    return apply


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("files", "x", "files of the plan is not a list of mappings"),
        ("files.0.content", None, "content of file"),
        ("files.0.mode", "4755", "has the mode '4755'"),
        ("files.0.mode", "-644", "has the mode '-644'"),
        ("files.0.form", "yaml", "unknown form 'yaml'"),
        ("steps.0.do", "shell", "does 'shell', which this module does not know"),
        ("steps.0.units", "kubelet.service", "units of step"),
        ("steps.0.units", ["--now"], "'--now' is not the name of a unit"),
        ("steps.0.enable", ["a b.service"], "'a b.service' is not the name of a unit"),
        ("verify.units", ["../x.service"], "'../x.service' is not the name of a unit"),
        ("verify.healthz", 3, "healthz of verify is not a text or null"),
        ("cluster.endpoint", None, "endpoint of cluster is not a text"),
        ("registration.taints", [1], "taints of registration is not a list of texts"),
    ],
)
def test_what_does_not_fit_is_refused(path: str, value: Any, message: str) -> None:
    content = plan("al2")
    change(path, value)(content)
    with pytest.raises(ApplyRefused, match="the plan is damaged") as caught:
        decode(encoded(content))
    assert message in str(caught.value)
