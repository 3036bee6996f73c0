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

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.plan import Plan, decode, parse
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_plan import node_plan
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.live_plans import CLUSTER, GROUPS, plan


def encoded(content: Any) -> str:
    return base64.b64encode(zlib.compress(json.dumps(content).encode())).decode()


def plain(plan: Plan) -> dict[str, Any]:
    """The plain form of a decoded plan, field by field."""
    do = {"OnceStep": "once", "ServiceStep": "service", "ImageScriptStep": "image_script", "SnapStep": "snap"}
    machine = plan.machine
    content = {
        **plan._asdict(),
        "format": 1,
        "os": {"ID": machine.ids, "VERSION_ID": machine.versions, "name": machine.name},
        "cluster": plan.cluster._asdict(),
        "registration": plan.registration._asdict(),
        "directories": [{**folder._asdict(), "mode": f"{folder.mode:04o}"} for folder in plan.directories],
        "files": [{**file._asdict(), "mode": f"{file.mode:04o}", "content": file.content.decode()} for file in plan.files],
        "snap_facts": plan.snap_facts and plan.snap_facts._asdict(),
        "steps": [{**step._asdict(), "do": do[type(step).__name__]} for step in plan.steps],
        "verify": plan.verify._asdict(),
    }
    for step in content["steps"]:
        step.update({"script": step["script"].decode()} if "script" in step else {})
    del content["machine"]
    return dict(json.loads(json.dumps(content)))


@pytest.mark.parametrize("kind", GROUPS)
def test_a_plan_of_the_library_is_decoded_without_loss(kind: str) -> None:
    made = node_plan(CLUSTER, {**GROUPS[kind], "commands": {"pre": ["true"]}})
    assert plain(decode(made.encoded())) == made.plain()


@pytest.mark.parametrize("kind", GROUPS)
def test_questions_about_a_plan(kind: str) -> None:
    decoded = parse(plan(kind))
    assert "kubelet" in str(decoded.kubelet_unit) and decoded.kubelet_unit in decoded.units()
    assert decoded.runs_nodeadm is (kind == "al2023") and decoded.is_sensitive is False
    assert set(decoded.verify.units) <= set(decoded.units()) and len(decoded.units()) == len(set(decoded.units()))
    assert decoded.paths == {file["path"] for file in plan(kind)["files"]}


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
def test_a_damaged_text_is_refused(text: str, golden_message: GoldenMessages) -> None:
    with pytest.raises(ApplyRefused) as caught:
        decode(text)
    golden_message(caught.value, REASON=str(caught.value).partition("(")[2].partition(")")[0])


def test_a_bomb_is_refused(golden_message: GoldenMessages) -> None:
    with pytest.raises(ApplyRefused) as caught:
        decode(base64.b64encode(zlib.compress(b" " * (64 << 20))).decode())
    golden_message(caught.value)


@pytest.mark.parametrize("content", [[], {"format": 2}, {"format": "1"}, None])
def test_another_format_is_refused(content: Any, golden_message: GoldenMessages) -> None:
    with pytest.raises(ApplyRefused) as caught:
        decode(encoded(content))
    golden_message(caught.value)


def change(path: str, value: Any) -> Callable[[Any], None]:
    def apply(content: Any) -> None:
        *parents, last = path.split(".")
        for parent in parents:
            content = content[int(parent) if parent.isdigit() else parent]
        content[last] = value

    return apply


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("files", "x"),
        ("files.0.content", None),
        ("files.0.mode", "4755"),
        ("files.0.mode", "-644"),
        ("files.0.form", "yaml"),
        ("steps.0.do", "shell"),
        ("steps.0.units", "kubelet.service"),
        ("steps.0.units", ["--now"]),
        ("steps.0.enable", ["a b.service"]),
        ("verify.units", ["../x.service"]),
        ("verify.healthz", 3),
        ("cluster.endpoint", None),
        ("registration.taints", [1]),
        ("registration.labels", {"a": 1}),
        ("files.0.content", "\ud800"),
    ],
)
def test_what_does_not_fit_is_refused(path: str, value: Any, golden_message: GoldenMessages) -> None:
    content = plan("al2")
    change(path, value)(content)
    with pytest.raises(ApplyRefused) as caught:
        decode(encoded(content))
    golden_message(caught.value)
