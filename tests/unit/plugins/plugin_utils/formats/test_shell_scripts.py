# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated scripts, run by real bash: every argument that the reader knows is the one that bash passes, and few are unknown."""

from __future__ import annotations

import os
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import shell_reader
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.formats.shell_scripts import Generator, Result, compare, run

SCRIPTS = {"ci": 300, "matrix": 10_000, "fuzz": 100_000}.get(os.environ.get("HYPOTHESIS_PROFILE", ""), 100)
PARTS = 4
BATCH = 100
MOST_UNKNOWN = 0.05


def script(seed: int) -> str:
    """A generated script. Its last call shows that it ran to its end."""
    return f"{Generator(random.Random(seed)).script(6)}record end\n"


@pytest.mark.parametrize("part", range(PARTS))
def test_known_arguments_are_those_that_bash_passes(part: int) -> None:
    result = Result()
    for start in range(part * SCRIPTS // PARTS, (part + 1) * SCRIPTS // PARTS, BATCH):
        scripts = [script(seed) for seed in range(start, min(start + BATCH, (part + 1) * SCRIPTS // PARTS))]
        for text, calls in zip(scripts, run(scripts), strict=True):
            # A script that bash runs to its end has an end for each quote and here-document.
            assert calls[-1:] != [["end"]] or shell_reader.read(text).unfinished == (), text
            before = len(result.wrong)
            compare(text, calls, result)
            assert len(result.wrong) == before, f"{text}\n{result.wrong[before:]}"
    assert result.words > SCRIPTS and result.unknown <= MOST_UNKNOWN * result.words, f"{result.unknown} of {result.words} unknown"


PIECES = (
    "a", " ",
    "\n", "\t", "'", '"', "$", "`", "\\", "(", ")", "((", "))", "{", "}", "[[", "]]", "<<E", "<<-'E'", "E\n", "<<<", ">", "<(", "|", "&&",
    "||", ";", ";;", "&", "#", "=", "+=", "A=", "a=(", "${", "${a[@]}", "${A:=", "$(", "$((", "$'", "if ", "then ", "else ", "fi\n",
    "for x in ", "do ", "done\n", "while ", "case x in\n", "esac\n", "f() {", "function g ", "eval ", "export ", "local ",
    "trap ", "exit\n", "return\n", "set -- ",
    "é", "\r\n", "\0", "\ud800", "!", "*", "?", "~", "time ", "coproc ", "select ",
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=60).map("".join)))
def test_any_text_is_read(text: str) -> None:
    found = shell_reader.read(text, starts_empty=True)
    lines = text.replace("\r\n", "\n").split("\n")
    for command in found.commands:
        for place in (command.place, *(word.place for word in command.words)):
            assert 1 <= place.line <= len(lines)
            assert place.column >= 1 and place.length >= 0


LONG = {
    "lines": 'A=1\nrun $A "x $A"\n',
    "doubling": 'A="$A$A$A$A"x\n',
    "arrays": 'a+=("${a[@]}" x)\n',
    "here-documents": "cat <<E > f\nx $A\nE\n",
    "open here-documents": "cat <<E\n",
    "open parentheses": "( ",
    "open braces": "{ ",
    "open expansions": "${a:-",
    "open substitutions": "$(",
    "open quotes": "a ' b \" ",
    "conditions": "if a; then A=1; fi\n",
    "nested conditions": "if a; then\n",
    "loops": "while a; do A=1$A; done\n",
    "nested loops": "while a; do\n",
    "functions": "f() { f; f; A=1; }\nf\n",
    "eval": "eval 'A=1; run'\n",
    "nested eval": "eval 'eval ",
    "one line": "run a; ",
    "one command": "a ",
    "arithmetic": "((a + ",
    "backslashes": "\\",
    "stars": "${A##*x*y*}",
    "substitutions": "A=$(run $(run))\n",
    "pipes": "a | b | c\n",
    "lists": "a && ",
    "cases": "case a in b) ",
    "backticks": "`",
    "dollars": "$",
    "extended patterns": "+(",
}
SMALL, LARGE = 2_000, 16_000


def _seconds(text: str) -> float:
    start = time.perf_counter()
    shell_reader.read(text, starts_empty=True)
    return time.perf_counter() - start


@pytest.mark.parametrize("piece", LONG.values(), ids=LONG)
def test_the_time_grows_with_the_size(piece: str) -> None:
    small, large = piece * (SMALL // len(piece)), piece * (LARGE // len(piece))
    _seconds(small)
    # A quadratic reader needs 64 times as long.
    ratio = min(_seconds(large) / (_seconds(small) + 0.002) for _unused in range(2))
    assert ratio < 40


def test_places() -> None:
    [command] = shell_reader.read('#!/bin/bash\n\nA=1 \\\n  run é "b\nc" $A\n').commands
    assert [(word.value, word.place.line, word.place.column, word.place.length) for word in command.words] == [
        ("run", 4, 3, 3),
        ("é", 4, 7, 1),
        ("b\nc", 4, 9, 2),
        (None, 5, 4, 2),
    ]
    assert [(one.name, one.value, one.place.line, one.place.column) for one in command.environment] == [("A", "1", 3, 1)]


def test_redirections() -> None:
    script = shell_reader.read("A=x\ncat <<E 2>&1 > /f/$A | run <<<\"$A\"\n1 $A\nE\ncat <<-'E'\n\t$A\n\tE\n")
    assert [[(one.operator, one.descriptor, one.target.value) for one in command.redirections] for command in script.commands] == [
        [("<<", None, "1 x\n"), (">&", "2", "1"), (">", None, "/f/x")],
        [("<<<", None, "x\n")],
        [("<<-", None, "$A\n")],
    ]


def test_what_a_script_exports() -> None:
    script = shell_reader.read("A=1\nexport A B=2\ndeclare -x C=3\nD=4\nset -a\nE=5\nif a; then export F=6; fi\n")
    assert {name: place.line for name, place in script.exported.items()} == {"A": 2, "B": 2, "C": 3, "E": 6, "F": 7}
    assert [(one.name, one.value) for one in script.assignments if one.condition] == [("F", None)]


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("#!/bin/bash\n# a\nrun a\n\nrun b; run c\n", ((3, 3), (5, 5), (5, 5))),
        ("run a \\\n  b\nrun c\n", ((1, 2), (3, 3))),
        ("cat <<A >f\na\nA\nrun b\n", ((1, 3), (4, 4))),
        ("cat <<A\na\nrun b\n", ((1, 4),)),
        ("if a; then\n  run b\nfi\n{ run c\n}; run d\n", ((1, 3), (4, 5), (5, 5))),
        ("run a; \\\nrun b\n", ((1, 1), (2, 2))),
    ],
)
def test_statements_have_their_lines(text: str, statements: tuple[tuple[int, int], ...]) -> None:
    assert shell_reader.read(text).statements == statements


def test_crlf_is_reported() -> None:
    assert shell_reader.read("run a\r\n").has_crlf and not shell_reader.read("run a\n").has_crlf


def test_errors_have_places() -> None:
    script = shell_reader.read("run a\nif b; then\n")
    assert not script.is_readable and script.errors
    assert [command.condition for command in script.commands if command.values[0] == "run"] == ["unreadable"]
