# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A migration keeps how a script stops: bash runs the original and the new commands, and they do the same."""

from __future__ import annotations

import random
import shlex
import subprocess
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts.cloud_init import pre_script
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.migration.migrate import migrate
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.readers.user_data import read
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.lint.texts import part

CALL = "/etc/eks/bootstrap.sh demo"
CALLED = "echo the call"


def output(script: str) -> tuple[str, bool]:
    """What a script prints, and whether it succeeds."""
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=20, check=False)
    return result.stdout, result.returncode == 0


def commands(text: str, name: str) -> list[str]:
    found: list[str] = read(text, "al2").node_group.get("commands", {}).get(name, [])
    return found


def old_and_new(text: str) -> tuple[str, str]:
    """What the original prints, and what its commands print in the scripts of a node group."""
    first_line, _end, body = text.partition("\n")
    before = "set -e\n" if first_line.endswith("-e") else ""
    old, _succeeds = output(before + body.replace(CALL, CALLED))
    new, succeeds = output(pre_script(commands(text, "pre")))
    if succeeds:
        new += f"{CALLED.removeprefix('echo ')}\n" + output("set -e\n" + "".join(f"{one}\n" for one in commands(text, "post")))[0]
    return old, new


def case(*before: str, after: tuple[str, ...] = (), first_line: str = "#!/bin/bash") -> str:
    return "\n".join([first_line, *before, CALL, *after, ""])


@pytest.mark.parametrize(
    "text",
    [
        case("echo a", "false", "echo b", after=("false", "echo c")),
        case("set -e", "echo a", "false", "echo b"),
        case("false", "set -e", "echo a", after=("echo b", "false", "echo c")),
        case("set -o errexit", "echo a", after=("false", "echo c")),
        case("set -euo pipefail", "echo a", "false | true", after=("echo c",)),
        case("set -o xtrace", "set -e", "false", "echo a"),
        case("set -e", "echo a", "set +e", "false", after=("false", "echo c")),
        case("set -e", after=("set +e", "false", "echo c")),
        case("set -e", "[ -e /no ] && echo a", after=("[ -e /no ] && echo b", "echo c")),
        case("set -e", "echo a", "! true"),
        case("echo a", "false", first_line="#!/bin/bash -e"),
        case("echo a", "set +e", "false", after=("false", "echo c"), first_line="#!/bin/bash -e"),
        case("if false; then", "  set -e", "fi", "false", "echo a", after=("false", "echo c")),
        case("NAME=x", after=("false", "echo $NAME")),
        case("set -e", "NAME=x", after=("echo $NAME", "false", "echo c")),
        case("cat <<E >/dev/null", "set -e", "E", "false", "echo a"),
    ],
)
def test_the_commands_stop_like_the_original(text: str) -> None:
    old, new = old_and_new(text)
    assert new == old


ATOMS = (
    "echo {}",
    "false",
    "set -e",
    "set +e",
    "set -o errexit",
    "false || true",
    "false && true",
    "! true",
    "true",
    "[ -e /no ] && echo {}",
)


def test_any_script() -> None:
    chosen = random.Random(13)
    for _number in range(60):
        lines = [chosen.choice(ATOMS).format(number) for number in range(chosen.randrange(1, 7))]
        at = chosen.randrange(len(lines) + 1)
        text = case(*lines[:at], after=tuple(lines[at:]), first_line=chosen.choice(("#!/bin/bash", "#!/bin/bash -e")))
        old, new = old_and_new(text)
        assert new == old, text


def test_a_script_after_that_of_the_call_runs_if_the_first_one_fails() -> None:
    text = 'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n'
    text += part(case("set -e", "true", after=("echo a", "false", "echo b"))) + part("#!/bin/bash\nfalse") + part("#!/bin/bash\necho c")
    post = commands(f"{text}--B--\n", "post")
    # A text with an interpreter is run as a program of its own.
    shells = [f"bash -c {shlex.quote(one)}" if one.startswith("#!") else one for one in post]
    assert output("set -e\n" + "\n".join(shells))[0] == "a\nc\n"


def questions(text: str, **cluster: Any) -> list[str]:
    return [one.question for one in migrate(text, cluster).report.decisions if not one.path.startswith("cluster.")]


@pytest.mark.parametrize(
    ("text", "is_decided"),
    [
        (f"#!/bin/bash\njoin() {{ {CALL}; }}\njoin\n", False),
        (f"#!/bin/bash\nfunction join {{ {CALL}; }}\nsleep 1\njoin\n", False),
        (f"#!/bin/bash\nfunction join () ( {CALL} )\njoin\n", False),
        (f"#!/bin/bash\n{{ {CALL}; }}\n", True),
        (f"#!/bin/bash\n( {CALL} )\n", True),
        (f"#!/bin/bash\necho 'join() {{'; {CALL}\n", False),
    ],
)
def test_a_function_with_the_call_is_a_decision(text: str, is_decided: bool) -> None:
    assert (questions(text) == []) is is_decided


def test_a_function_that_is_used_on_both_sides_is_a_decision() -> None:
    for head in ("log()", "function log", "function log ()"):
        text = f'#!/bin/bash\n{head} {{ echo "$*"; }}\nlog a\n{CALL}\n'
        assert questions(text) == []
        (question,) = questions(f"{text}log b\n")
        assert "log" in question


@pytest.mark.parametrize(
    ("after", "is_said"),
    [("cfn-signal --exit-code $?\n", True), ("# status\nif [ $? -ne 0 ]; then\n  reboot\nfi\n", True), ("true\necho $?\n", False)],
)
def test_the_status_of_the_call_is_gone(after: str, is_said: bool) -> None:
    warnings = migrate(f"#!/bin/bash\n{CALL}\n{after}").report.warnings
    assert any("$?" in one.message for one in warnings) is is_said


@pytest.mark.parametrize(
    ("value", "is_decided"),
    [("memory.available<5%", True), ("memory.available<5%,nodefs.available<10%", True), ("memory.available<5%H", False)],
)
def test_a_percent_sign_that_systemd_keeps(value: str, is_decided: bool) -> None:
    text = f"#!/bin/bash\n{CALL} --kubelet-extra-args '--eviction-hard={value}'\n"
    assert (questions(text) == []) is is_decided
