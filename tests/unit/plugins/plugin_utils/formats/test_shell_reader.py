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
        found = [command.values[1:] for command in shell_reader.read(line + "\n", KNOWN).commands if command.values[:1] == ("record",)]
        if expected is None or not found or None in found[0]:
            continue
        assert list(found[0]) == expected, line


def commands(text: str) -> list[tuple[str | None, ...]]:
    return [command.values for command in shell_reader.read(text, KNOWN).commands]


def test_the_words_of_a_call() -> None:
    text = "sudo -E /etc/eks/bootstrap.sh demo \\\n  --kubelet-extra-args '--max-pods=20 --v=2' --x \"a $NAME\" > /tmp/log 2>&1 || exit 1\n"
    first = shell_reader.read(text, KNOWN).commands[0]
    words = ("sudo", "-E", "/etc/eks/bootstrap.sh", "demo", "--kubelet-extra-args", "--max-pods=20 --v=2", "--x", "a demo")
    assert (first.values, first.line, first.is_certain, first.is_redirected) == (words, 1, True, True)


@pytest.mark.parametrize("word", ["$", "==", "=~"])
def test_a_word_without_a_name_in_the_grammar(word: str) -> None:
    assert commands(f"run {word} b\n") == [("run", word, "b")]


@pytest.mark.parametrize(("line", "words"), [("run \\ ", (" ",)), ("run a \\ ", ("a", " ")), ("run \\  a", (" ", "a"))])
def test_an_escaped_blank_is_a_word(line: str, words: tuple[str, ...]) -> None:
    assert commands(f"{line}\n") == [("run", *words)]


@pytest.mark.parametrize("word", ["$OTHER", '"${OTHER:-x}"', "*.txt", "{a,b}", "~/x", '"$STAR"$STAR', "$((1 + 1))", "$$", "[a]"])
def test_what_bash_computes_is_unknown(word: str) -> None:
    assert commands(f"run {word} b\n")[0] == ("run", None, "b")


EXPANSIONS = {
    '"${NAME:-x}"': ("demo",),
    "$'a\\t'": ("a\t",),
    "x$LIST": ("xa", "b", "c"),
    '"$LIST"': ("a b  c",),
    "$EMPTY": (),
    '"$EMPTY"': ("",),
    "${EMPTY:-x y}": ("x", "y"),
    "${NAME%mo}${#NAME}": ("de4",),
}


@pytest.mark.parametrize(("word", "expected"), EXPANSIONS.items(), ids=EXPANSIONS)
def test_variables_are_expanded(word: str, expected: tuple[str, ...]) -> None:
    assert commands(f"run {word} b\n") == [("run", *expected, "b")]


CHANGES = {
    "NAME=x": ("x",),
    "export NAME=x": ("x",),
    "declare NAME=x": ("x",),
    "NAME+=x": ("demox",),
    "unset NAME": (),
    "read NAME": (None,),
    'eval "$OTHER"': (None,),
    "eval NAME=x": (None,),
    "for NAME in a; do :; done": (None,),
    "printf -v NAME x": (None,),
    "source file": (None,),
    '"$OTHER"': (None,),
    "trap 'NAME=x' ERR": (None,),
    "if a; then NAME=x; fi": (None,),
    "a && NAME=x": (None,),
    "(NAME=x)": ("demo",),
    "NAME=x | cat": ("demo",),
    "NAME=x &": ("demo",),
    "NAME=x program": ("demo",),
    "if a; then NAME=x; exit; fi": ("demo",),
    "f() { NAME=x; }": ("demo",),
    "f() { NAME=x; }; f": ("x",),
    "f() { local NAME=x; }; f": ("demo",),
    "f() { a && return; NAME=x; }; f": (None,),
    "while a; do NAME=x; done": (None,),
    "while a; do set -- x; NAME=x; done": (None,),
    "eval": ("demo",),
    "NAME=${NAME:+x} program": ("demo",),
    "((NAME = 3))": (None,),
    ": ${NAME:=x}": ("demo",),
    "shopt -s expand_aliases": (None,),
}


@pytest.mark.parametrize(("line", "expected"), CHANGES.items(), ids=CHANGES)
def test_the_value_of_a_variable_that_the_script_changes(line: str, expected: tuple[str | None, ...]) -> None:
    assert commands(f"{line}\nrun $NAME\n")[-1] == ("run", *expected)


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        ("run\n", True),
        ("run || exit 1\n", True),
        ("{ run; }\n", True),
        ("run | tee log\n", True),
        ("a && run\n", False),
        ("A=1 && run\n", True),
        ("if run; then a; fi\n", True),
        ("f() { run; }\nf\n", True),
        ("f() { run; }\na && f\n", False),
        ("eval run\n", False),
        ("f() { a && return; run; }\nf\n", False),
        ("run &\n", True),
        ("cat <<E | run\nE\n", True),
        ("if a; then run; fi\n", False),
        ("f() { run; }\n", False),
        ("while a; do run; done\n", False),
        ("while a; do set -- x; run; done\n", False),
        ("while a; do f() { :; }; f; run; done\n", False),
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
    found = [command.is_certain for command in shell_reader.read(text).commands if command.values[:1] == ("run",)]
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
    "A=1; B=$A": [("A", "1"), ("B", "1")],
    "A=": [("A", "")],
    "A=http://a.example:3128/": [("A", "http://a.example:3128/")],
    "A+=1": [("A", None)],
    "if true; then export A=1; fi": [("A", None)],
    "false && A=1": [("A", None)],
    "A=1 program": [],
    "A=1\nprogram": [("A", "1")],
    "A=1 B=2\nprogram": [("A", "1"), ("B", "2")],
    "program A=1": [],
}


@pytest.mark.parametrize(("text", "expected"), ASSIGNMENTS.items(), ids=ASSIGNMENTS)
def test_the_assignments_of_a_script(text: str, expected: list[tuple[str, str | None]]) -> None:
    assert [(one.name, one.value) for one in shell_reader.read(f"#!/bin/bash\n{text}\n").assignments] == expected
