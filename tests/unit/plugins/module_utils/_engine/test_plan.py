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
def test_a_damaged_text_is_refused(text: str) -> None:
    with pytest.raises(ApplyRefused, match="the plan cannot be read"):
        decode(text)


def test_a_bomb_is_refused() -> None:
    with pytest.raises(ApplyRefused, match="cut off or too large"):
        decode(base64.b64encode(zlib.compress(b" " * (64 << 20))).decode())


@pytest.mark.parametrize("content", [[], {"format": 2}, {"format": "1"}, None])
def test_another_format_is_refused(content: Any) -> None:
    with pytest.raises(ApplyRefused, match=r"this module reads format 1"):
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
        ("registration.labels", {"a": 1}, "labels of registration is not a mapping of texts"),
        ("files.0.content", "\ud800", "content of file"),
    ],
)
def test_what_does_not_fit_is_refused(path: str, value: Any, message: str) -> None:
    content = plan("al2")
    change(path, value)(content)
    with pytest.raises(ApplyRefused, match="the plan is damaged") as caught:
        decode(encoded(content))
    assert message in str(caught.value)
