# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shell program that lies on every node is text inside a Python file, where `make lint` does not see it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction import recovery


def said(command: list[str], text: str) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def shellcheck(text: str) -> str:
    return said([str(Path(sys.executable).with_name("shellcheck")), "--shell=sh", "-"], text)


def test_shellcheck_finds_nothing() -> None:
    assert shellcheck(recovery.PROGRAM) == ""
    assert "SC2086" in shellcheck(recovery.PROGRAM.replace('rm -rf -- "$work.done"', "rm -rf -- $work.done", 1))


@pytest.mark.parametrize("shell", [["dash"], ["bash", "--posix"]])
def test_both_shells_of_nodes_read_it(shell: list[str]) -> None:
    assert said([*shell, "-n"], recovery.PROGRAM) == ""
    assert said([*shell, "-n"], recovery.PROGRAM + "\nif") != ""


def test_it_writes_nothing_and_evaluates_nothing() -> None:
    """A full disk must not stop it, and no field of a list is code."""
    code = "\n".join(line for line in recovery.PROGRAM.splitlines() if not line.lstrip().startswith("#"))
    assert re.findall(r">+(?!&|/dev/null)", code.replace(">&2", "")) == []
    assert re.findall(r"\b(eval|tee|mktemp|touch|cp|ln)\b|<<", code) == []
