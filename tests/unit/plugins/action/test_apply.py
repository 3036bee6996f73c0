# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action apply in real playbook runs. The modules it calls are stand-ins: they record their options and answer as told."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.action import node_stand_in
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

CANARY = "canary-4711"
GROUP = {"family": "al2023", "max_pods": 29, "instance": {"type": "m5.large"}, "commands": {"pre": f"echo {CANARY}"}}
PHASES = ["preflight", "configure", "validate", "start", "verify"]
WARNING = "look here"
REFUSAL = "the module says no"
DONE = node_stand_in.HEALTHY | {"warnings": [WARNING]}


class Lab:
    """A folder with a copy of the collection whose two modules for nodes are stand-ins."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = node_stand_in.make(folder)

    def play(
        self, *arguments: str, answers: Mapping[str, list[Any]], host: Mapping[str, Any] | None = None, status: int = 0, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run one play with the task in it. answers: of the stand-ins, in order. host: variables of the one host."""
        node_stand_in.answer(self.folder, **answers)
        task = {"nodebootstrap.eks.apply": {"cluster": COMPLETE, "node_group": GROUP} | options, "register": "done", "tags": PHASES}
        show = {"record": {"content": "{{ done | to_json }}", "dest": str(self.folder / "result")}, "no_log": True, "tags": "always"}
        play = [{"hosts": "node-1", "gather_facts": False, "tasks": [task | {"ignore_errors": True}, show]}]
        local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        hosts = {"all": {"hosts": {"node-1": local | dict(host or {})}}}
        (self.folder / "hosts.json").write_text(json.dumps(hosts), encoding="utf-8")
        (self.folder / "play.yml").write_text(json.dumps(play), encoding="utf-8")
        done = ansible_runs.run(self.folder, "ansible-playbook", "play.yml", "-i", "hosts.json", *arguments, settings=self.settings)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    @property
    def calls(self) -> list[list[Any]]:
        """Name, options, check mode and diff mode of each call."""
        return node_stand_in.calls(self.folder)

    @property
    def result(self) -> dict[str, Any]:
        """What the task registered."""
        found: dict[str, Any] = json.loads((self.folder / "result").read_text(encoding="utf-8"))
        return found


def progress(output: str) -> str:
    """The lines of an output that show the progress on the node."""
    return "\n".join(line for line in output.splitlines() if line.startswith("node-1: "))


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def test_one_call_whose_plan_no_log_shows(lab: Lab, golden_message: Any) -> None:
    diff = [{"before_header": "/a", "after_header": "/a", "before": "1\n", "after": "2\n"}]
    answer = DONE | {"diff": diff, "foreign": {"user_data": f"#!/bin/sh\n: {CANARY}\n"}}
    done = lab.play("-vvv", "--diff", answers={"apply_plan": [answer]}, take_over=True)
    ((name, options, check_mode, diff_mode),) = lab.calls
    plan = json.loads(zlib.decompress(base64.b64decode(options.pop("plan"))))
    assert (name, check_mode, diff_mode, plan["family"]) == ("apply_plan", False, True, "al2023")
    assert CANARY in plan["steps"][0]["script"]
    assert options == {
        "phases": PHASES, "state": "present", "restart": "when_changed", "take_over": True, "reconcile": False,
        "drift": "repair", "lock_timeout": 30.0,
        "wait_timeout": 5.0, "wait_for": "ready",
    }  # fmt: skip
    golden_message(progress(done.stdout))
    assert "-1\n+2\n" in done.stdout
    assert WARNING in done.stdout + done.stderr
    assert CANARY not in done.stdout + done.stderr
    assert "eJ" not in json.dumps(lab.result)
    assert (lab.result["changed"], lab.result["healthy"], lab.result["phases"]) == (True, True, PHASES)


def test_check_mode(lab: Lab, golden_message: Any) -> None:
    done = lab.play("--check", answers={"apply_plan": [DONE | {"healthy": None}]})
    assert [call[2:] for call in lab.calls] == [[True, False]]
    golden_message(progress(done.stdout))


@pytest.mark.parametrize(
    ("arguments", "options", "phases"),
    [
        (["--tags", "configure,validate"], {}, ["configure", "validate"]),
        (["--tags", "verify"], {"phases": ["start", "configure"]}, ["configure", "start"]),
    ],
)
def test_tags_choose_phases(lab: Lab, arguments: list[str], options: dict[str, Any], phases: list[str]) -> None:
    lab.play(*arguments, answers={"apply_plan": [DONE]}, **options)
    assert [call[1]["phases"] for call in lab.calls] == [phases]


def test_a_wait_is_seen_and_ends(lab: Lab) -> None:
    slow = {"changed": False, "healthy": False, "waited": 5, "missing": ["kubelet.service is activating"], "actions": []}
    done = lab.play(answers={"apply_plan": [DONE | slow, slow, {"changed": False, "healthy": True}]}, wait_timeout=3600)
    assert mentions(progress(done.stdout), "node-1: verify: kubelet.service")
    assert [call[1]["phases"] for call in lab.calls] == [PHASES, ["verify"], ["verify"]]
    assert (lab.result["failed"], lab.result["healthy"]) == (False, True)
    lab.play(answers={"apply_plan": [slow]}, wait_timeout=5)
    assert lab.result["failed"] is True
    first, log, _next = lab.result["msg"].splitlines()
    assert first.endswith(": kubelet.service is activating")
    assert log.startswith("Log: journalctl")


def test_max_pods_auto_asks_the_node(lab: Lab) -> None:
    group = {"family": "al2023", "max_pods": "auto"}
    lab.play(answers={"imds_info": [{"changed": False, "imds": {"instance_type": "m5.large"}}], "apply_plan": [DONE]}, node_group=group)
    assert [call[0] for call in lab.calls] == ["imds_info", "apply_plan"]
    assert "maxPods: 29" in json.loads(zlib.decompress(base64.b64decode(lab.calls[1][1]["plan"])))["files"][0]["content"]


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        (
            {"node_group": {"family": "al2023", "max_pods": 0, "kubelet": {"config": {"maxPodz": 1}}}},
            ["node_group.max_pods", "node_group.kubelet.config.maxPodz"],
        ),
        ({"state": "gone"}, ["state", "present, absent", "gone"]),
        ({"phases": ["boot"]}, ["phases", "preflight", "boot"]),
        ({"wait": 5}, ["wait", "wait_timeout"]),
    ],
)
def test_an_invalid_input_contacts_no_node(lab: Lab, options: dict[str, Any], facts: list[str]) -> None:
    done = lab.play("-vvv", answers={}, **options)
    assert lab.calls == []
    assert lab.result["failed"] is True
    assert mentions(lab.result["msg"], *facts)
    assert "Traceback" not in done.stdout + done.stderr


def test_what_the_module_refuses_is_the_result(lab: Lab) -> None:
    lab.play(answers={"apply_plan": [{"failed": True, "msg": REFUSAL, "foreign": {"user_data": CANARY}}]})
    assert (lab.result["failed"], lab.result["msg"]) == (True, REFUSAL)
    assert CANARY not in json.dumps(lab.result)


def test_a_node_without_python(lab: Lab) -> None:
    lab.play(answers={"apply_plan": [DONE]}, host={"ansible_python_interpreter": "/nowhere/python3"})
    assert mentions(lab.result["msg"], "Python", "ansible-core", "2.16", "2.17")


def test_a_node_with_an_old_python(lab: Lab) -> None:
    old = lab.folder / "python3.6"
    old.write_text("#!/bin/sh\necho 'SyntaxError: future feature annotations is not defined' >&2\nexit 1\n", encoding="utf-8")
    old.chmod(0o755)
    lab.play(answers={"apply_plan": [DONE]}, host={"ansible_python_interpreter": str(old)})
    assert mentions(lab.result["msg"], "Python", "(SyntaxError: future feature ", "2.16", "2.17")


def test_a_node_that_cannot_be_reached_is_unreachable(lab: Lab) -> None:
    done = lab.play(answers={}, host={"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1}, status=4)
    assert "unreachable=1" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
