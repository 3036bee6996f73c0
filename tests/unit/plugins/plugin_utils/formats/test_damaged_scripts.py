# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripts that are cut at each byte, and that lack each byte, run by real bash: what the reader says of a call is what bash does."""

from __future__ import annotations

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import shell_reader
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.formats.damaged_scripts import (
    SCRIPTS,
    Result,
    compare,
    damaged,
    run,
)  # fmt: skip

SMALLEST = min(SCRIPTS, key=lambda name: len(SCRIPTS[name]))


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name == SMALLEST else pytest.mark.matrix) for name in SCRIPTS])
def test_what_is_read_from_a_damaged_script_is_what_bash_does(name: str) -> None:
    texts = damaged(SCRIPTS[name])
    result = Result()
    for text, ran in zip(texts, run(texts), strict=True):
        before = len(result.wrong)
        compare(text, ran, result)
        assert len(result.wrong) == before, f"{text.decode(errors='replace')}\n{result.wrong[before:]}"
    # A cut script makes fewer calls, so this is less than the number of texts times the calls of the script.
    assert result.calls > len(texts) / 2


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_whole_scripts_are_readable(name: str) -> None:
    assert shell_reader.read(SCRIPTS[name]).is_readable


@pytest.mark.parametrize(
    ("text", "is_readable"),
    [
        ("function f {\n  run\n}\nf\n", True),
        ("function f() {\n  run\n}\nf\n", True),
        ("if a; then { run; } fi\n", True),
        ("{ { run; } }\n", True),
        ("if [[ $A =~ ^(a|b c)$ && ( -n $B || ! $C < d ) ]] then run; fi\n", True),
        ("for A in a b; do run; done\nfor ((;;)) do run; done\n", True),
        ("case a in (a|b) run;; c) ;; *) run\nesac\n", True),
        ("run <<E | run\n$(\nE\n", True),
        ("A=()run\n", False),
        ("LABELS(a)\n", False),
        ("run )\n", False),
        ("run | ! run\n", False),
        ("run >\n", False),
        ("<f if a; then run; fi\n", False),
        ("[[ a b ]] && run\n", False),
        ("[[ -n ]] && run\n", False),
        ("for A in a & do run; done\n", False),
        ("case a in b) run;; c\n", False),
        ("run; done\n", False),
        ("f() run\n", False),
        ("A[0=1\nrun ]\n", False),
        ("run +(a)\n", False),
        ("shopt -s extglob\nrun +(a)\n", True),
    ],
)
def test_a_script_is_readable_if_bash_finds_no_error(text: str, is_readable: bool) -> None:
    assert shell_reader.read(text).is_readable is is_readable


@pytest.mark.parametrize(
    ("text", "is_certain"),
    [
        ('run "${:-a}"\n', False),
        ('run "${A!}"\n', False),
        ('run "${A[]}"\n', False),
        ('run "${A[0]/a/b}" ${!A} ${!A*} ${A@Q} ${#A}\n', True),
        ("run <<E\n`a\nE\n", False),
        ("run <<E\n${A\nE\n", False),
        ("run <<'E'\n`a\nE\n", True),
        ("run a\\", False),
        ("set -t\nrun\n", False),
        ("set -eux\nrun\n", True),
    ],
)
def test_a_command_that_bash_may_not_run_is_not_certain(text: str, is_certain: bool) -> None:
    found = [one for one in shell_reader.read(text).commands if one.values[:1] == ("run",)]
    assert [one.is_certain and not one.may_have_ended for one in found] in ([is_certain], [] if not is_certain else [True])


def test_the_lines_before_an_error_are_read_as_bash_runs_them() -> None:
    script = shell_reader.read("f() { run b; }\nA=1\nrun $A\nf\nif a; then\n  run c )\nfi\n")
    assert [one.values for one in script.commands if one.values[:1] == ("run",)][:2] == [("run", "1"), ("run", "b")]
    assert not script.is_readable and script.errors
