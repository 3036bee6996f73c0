# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reader of shell scripts: every word is the one that bash passes, or unknown."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import shell_reader
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.shell_reader import Command

BASH = ["/bin/bash", "--noprofile", "--norc"]
KNOWN = {"NAME": "demo", "LIST": "a b  c", "EMPTY": "", "STAR": "x*"}

PIECES = (
    "a", "bc", "-x", "--a=b", "20", "1:2", "'q r'", "'$NAME'", '"d e"', '"$NAME"', '"x${NAME}y"', '"$LIST"', "$NAME", "${NAME}", "$LIST",
    "$EMPTY", "$STAR", "\\ ", "\\'", '\\"', "\\\\", "\\$", "\\\n", '"\\$\\"\\\\"', '"a\\b"', "{a,b}", "{1..3}", "{}", "~", "=~", "$'t'",
    "$'\\t'", '$"t"', "$(printf z)", "${NAME:-y}", "${NAME^^}", "é", '"é"', "<", "", "''", '""', "#", "!", "%", "@", "^", ",", "+(a)", "$",
    '"$"', "=", "[a]", ":", "`printf z`", "$((1+1))",
)  # fmt: skip
_word = st.lists(st.sampled_from([piece for piece in PIECES if piece != "<"]), min_size=1, max_size=4).map("".join)
_line = st.lists(_word, max_size=5).map(lambda words: " ".join(["record", *words]))


def bash(lines: list[str]) -> list[list[str]]:
    """The arguments of every call of C(record), a function."""
    head = 'record() { printf \'%s\\0\' "$#" "$@"; }\n' + "".join(f"export {name}='{value}'\n" for name, value in KNOWN.items())
    done = subprocess.run(BASH, input=(head + "\n".join(lines) + "\n").encode(), capture_output=True, check=False, cwd="/proc/self")
    words = iter(done.stdout.decode().split("\0")[:-1])
    return [[next(words) for _unused in range(int(count))] for count in words]


@given(st.lists(_line, min_size=1, max_size=8))
def test_a_word_is_the_one_that_bash_passes_or_unknown(lines: list[str]) -> None:
    script = shell_reader.read("\n".join(lines) + "\n", KNOWN)
    if not script.is_readable:
        return
    for line in lines:
        [expected] = bash([line]) or [None]
        found = [command.words[1:] for command in shell_reader.read(line + "\n", KNOWN).commands if command.words[:1] == ("record",)]
        if expected is None or not found or None in found[0]:
            continue
        assert list(found[0]) == expected, line


def commands(text: str) -> list[tuple[str | None, ...]]:
    return [command.words for command in shell_reader.read(text, KNOWN).commands]


def test_the_words_of_a_call() -> None:
    text = "sudo -E /etc/eks/bootstrap.sh demo \\\n  --kubelet-extra-args '--max-pods=20 --v=2' --x \"a $NAME\" > /tmp/log 2>&1 || exit 1\n"
    first = shell_reader.read(text, KNOWN).commands[0]
    words = ("sudo", "-E", "/etc/eks/bootstrap.sh", "demo", "--kubelet-extra-args", "--max-pods=20 --v=2", "--x", "a demo")
    assert first == Command(words, 1, is_certain=True, is_redirected=True)


@pytest.mark.parametrize("word", ["$", "==", "=~"])
def test_a_word_without_a_name_in_the_grammar(word: str) -> None:
    assert commands(f"run {word} b\n") == [("run", word, "b")]


@pytest.mark.parametrize("line", ["run \\ ", "run a \\ ", "run \\  a"])
def test_a_word_that_the_grammar_drops_makes_the_arguments_unknown(line: str) -> None:
    [words] = commands(f"{line}\n")
    assert words[0] == "run" and set(words[1:]) == {None}


@pytest.mark.parametrize("word", ["$OTHER", '"${NAME:-x}"', "$(ls)", "*.txt", "{a,b}", "~/x", "$'\\t'", "x$LIST", '"$STAR"$STAR'])
def test_what_bash_computes_is_unknown(word: str) -> None:
    assert commands(f"run {word} b\n")[0] == ("run", None, "b")


@pytest.mark.parametrize(
    "line",
    ["NAME=x", "export NAME=x", "read NAME", "eval x", "for NAME in a; do :; done", "printf -v NAME x", "unset NAME", "declare NAME=x"],
)
def test_a_variable_that_the_script_may_change_is_unknown(line: str) -> None:
    assert commands(f"{line}\nrun $NAME\n")[-1] == ("run", None)


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        ("run\n", True),
        ("run || exit 1\n", True),
        ("{ run; }\n", True),
        ("run | tee log\n", True),
        ("a && run\n", False),
        ("if a; then run; fi\n", False),
        ("f() { run; }\n", False),
        ("while a; do run; done\n", False),
        ("exit 0\nrun\n", False),
        ("exec > log\nrun\n", True),
        ("exec other\nrun\n", False),
        ("x=$(run)\n", False),
        ("cat <<'E'\nrun\nE\n", None),
        ("# run\n", None),
        ("echo 'run\n", None),
    ],
)
def test_whether_a_command_is_certain_to_run(text: str, certain: bool | None) -> None:
    found = [command.is_certain for command in shell_reader.read(text).commands if command.words[:1] == ("run",)]
    assert found == ([] if certain is None else [certain])


def test_a_script_that_bash_cannot_parse_is_not_readable() -> None:
    script = shell_reader.read("run a\nif\n")
    assert not script.is_readable
    assert not any(command.is_certain for command in script.commands)


def test_line_ends_of_windows_are_those_of_cloud_init() -> None:
    assert commands("run a \\\r\n b\r\n") == [("run", "a", "b")]


@given(st.sampled_from(["", "export ", "declare -x "]), _word)
def test_an_assignment_has_the_value_that_bash_assigns_or_is_unknown(before: str, word: str) -> None:
    text = f"{before}OTHER={word}\n"
    script = shell_reader.read(text, KNOWN)
    values = {one.value for one in script.assignments if one.name == "OTHER"}
    if not script.is_readable or values in ({None}, set()):
        return
    [expected] = bash([text, 'record "$OTHER"'])
    assert values == set(expected), text


ASSIGNMENTS = {
    "export A=1 B='2 3'": [("A", "1"), ("B", "2 3")],
    "A=1; B=$A": [("A", "1"), ("B", None)],
    "A=": [("A", "")],
    "A=http://a.example:3128/": [("A", "http://a.example:3128/")],
    "A+=1": [("A", None)],
    "if true; then export A=1; fi": [("A", None)],
    "false && A=1": [("A", None)],
    "A=1 program": [],
    "A=1\nprogram": [("A", "1")],
    "A=1 B=2\nprogram": [("A", None), ("B", None)],
    "program A=1": [],
}


@pytest.mark.parametrize(("text", "expected"), ASSIGNMENTS.items(), ids=ASSIGNMENTS)
def test_the_assignments_of_a_script(text: str, expected: list[tuple[str, str | None]]) -> None:
    assert [(one.name, one.value) for one in shell_reader.read(f"#!/bin/bash\n{text}\n").assignments] == expected
