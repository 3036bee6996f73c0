# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Phases by tags, lines for people, and messages where Python on the node is the reason."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live.options import PHASES, choose_phases
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live.report import actions_lines, explained
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages


@pytest.mark.parametrize(
    ("asked", "run", "skip", "phases"),
    [
        (None, ["all"], [], PHASES),
        (None, [], [], PHASES),
        (None, ["eks_node", "tagged"], [], PHASES),
        (None, ["configure", "web"], [], ("configure",)),
        (None, ["verify", "start"], [], ("start", "verify")),
        (None, ["all"], ["verify", "web"], ("preflight", "configure", "validate", "start")),
        (None, ["verify"], ["verify"], ()),
        (["start", "configure"], ["verify"], ["start"], ("configure", "start")),
        ([], ["verify"], [], ("verify",)),
    ],
)
def test_phases(asked: Any, run: list[str], skip: list[str], phases: tuple[str, ...]) -> None:
    assert choose_phases(asked, run, skip) == phases


@pytest.mark.parametrize(
    ("result", "check_mode", "lines"),
    [
        ({}, False, []),
        ({"recovered": "undone"}, False, ["preflight: undid an interrupted run"]),
        ({"recovered": "finished"}, False, ["preflight: finished an interrupted run"]),
        (
            {"actions": ["make /a", "write /a/b", "remove /c", "remove /d"]},
            False,
            ["configure: 1 file written, 2 files removed, 1 folder made"],
        ),
        ({"actions": ["make /a", "write /a/b"]}, True, ["configure: would write 1 file, would make 1 folder"]),
        (
            {"actions": ["run commands.pre", "reload systemd", "enable a", "start a", "restart c", "enable b", "start b"]},
            False,
            ["start: ran commands.pre; reloaded systemd; enabled a, b; started a, b; restarted c"],
        ),
        (
            {"actions": ["restore /a", "write /b", "restore 3 files of the image", "run bootstrap script"]},
            False,
            ["configure: 1 file written, 1 file restored", "start: restored 3 files of the image; ran bootstrap script"],
        ),
        ({"actions": ["set kubelet-eks: args, config"]}, False, ["start: set 2 settings of kubelet-eks"]),
        ({"actions": ["ponder"]}, False, ["start: ponder"]),
    ],
)
def test_lines(result: dict[str, Any], check_mode: bool, lines: list[str]) -> None:
    assert actions_lines(result, check_mode) == lines


FAILURE = {"failed": True, "msg": "MODULE FAILURE: see stdout/stderr", "rc": 1}


@pytest.mark.parametrize(
    "answer",
    [
        FAILURE | {"rc": 127, "module_stderr": "/bin/sh: 1: /usr/bin/python3: not found\n"},
        FAILURE | {"rc": 127, "module_stdout": "bash: line 1: /usr/bin/python3.8: No such file or directory\r\n"},
        FAILURE | {"module_stderr": "  File \"x\", line 3\nSyntaxError: future feature annotations is not defined"},
        FAILURE | {"module_stderr": "    def f(a: int) -> str:\nSyntaxError: invalid syntax\n"},
        {"failed": True, "msg": "ansible-core requires a minimum of Python version 3.8. Current version: 3.7.16"},
    ],
)  # fmt: skip
def test_python_on_the_node(answer: dict[str, Any], golden_message: GoldenMessages) -> None:
    message = explained(answer, "2.19.4")
    assert message is not None
    golden_message(message)
    assert "2.16 or 2.17" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "answer",
    [
        {"failed": True, "msg": "the node belongs to another cluster"},
        {"failed": True, "msg": "a step failed: SyntaxError in commands.pre", "actions": [], "rc": 1},
        FAILURE | {"module_stderr": "Permission denied"},
        {"failed": True, "msg": "commands.pre failed: /usr/bin/python3: not found", "rc": 127},
    ],
)
def test_other_failures_keep_their_words(answer: dict[str, Any]) -> None:
    assert explained(answer, "2.19.4") is None


@pytest.mark.parametrize(
    ("core", "python"), [("2.16.14", "3.7"), ("2.17.0", "3.7"), ("2.21.0rc1", "3.9"), ("3.0", "3.9"), ("devel", "3.9")]
)
def test_what_each_ansible_core_needs(core: str, python: str) -> None:
    answer = FAILURE | {"module_stderr": "/usr/bin/python3: not found"}
    assert f"needs Python {python} or newer there" in (explained(answer, core) or "")
