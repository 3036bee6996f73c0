# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd's quotings against readers of their rules written here; real systemd reads them in tests/oracle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import systemd
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils import problem_list
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import error_of, rules_and_paths

NASTY = ["'", '"', "\\", "\\n", "%", "%b", "%%", "$", "$HOME", "${HOME}", ";", " ", "\t", "#", "`", "=", "é", "\\x41", "-", "@"]
TEXT = st.one_of(st.text(st.characters()), st.lists(st.one_of(st.sampled_from(NASTY), st.text(st.characters(), max_size=3))).map("".join))
FINE = TEXT.filter(lambda text: systemd.systemd_problem(text) is None)
ESCAPES = {"\\": "\\", '"': '"', "'": "'", "n": "\n", "t": "\t", "s": " "}


def words(text: str) -> list[str]:
    """Words as systemd.syntax(7) splits them: blanks, both quotes, C escapes."""
    found, current, quote, at = [], None, "", 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            assert text[at + 1] in ESCAPES, "only known escapes may be written"
            current, at = (current or "") + ESCAPES[text[at + 1]], at + 1
        elif quote:
            if char == quote:
                quote = ""
            else:
                current += char
        elif char in "'\"":
            quote, current = char, current or ""
        elif char in " \t":
            if current is not None:
                found.append(current)
            current = None
        else:
            current = (current or "") + char
        at += 1
    assert not quote
    return [*found, current] if current is not None else found


def specifiers(text: str) -> str:
    assert "%" not in text.replace("%%", ""), "a specifier would be expanded"
    return text.replace("%%", "%")


def variables(text: str) -> str:
    assert "$" not in text.replace("$$", ""), "a variable would be expanded"
    return text.replace("$$", "$")


@given(st.lists(FINE, min_size=1, max_size=4))
def test_environment_values_come_back(values):
    line = " ".join(systemd.environment_assignment("NAME", value) for value in values)
    assert "\n" not in line
    assert [specifiers(word) for word in words(line)] == [f"NAME={value}" for value in values]


@given(st.lists(FINE, min_size=1, max_size=4))
def test_exec_words_come_back(values):
    line = " ".join(systemd.exec_word(value) for value in values)
    assert [specifiers(variables(word)) for word in words(line)] == values


@given(TEXT)
def test_what_systemd_cannot_hold_is_refused_everywhere(value):
    if systemd.systemd_problem(value) is None:
        return
    for write in (
        systemd.exec_word,
        lambda text: systemd.environment_assignment("A", text),
    ):
        with pytest.raises(SpecError):
            write(value)
    with pytest.raises(SpecError):
        systemd.unit({"Service": [("Environment", value)]})


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("a\nb", "line break"),
        ("a\rb", "line break"),
        ("\0", "NUL"),
        ("\x1b", "control character"),
        ("\x7f", "control character"),
        ("\ud800", "surrogate"),
    ],
)
def test_the_reasons(value, reason):
    assert reason in systemd.systemd_problem(value)


@pytest.mark.parametrize("name", ["", "1A", "A B", "A=B", "é", "A\n"])
def test_a_variable_needs_a_name(name, golden_message: GoldenMessages):
    with pytest.raises(SpecError) as caught:
        systemd.environment_assignment(name, "x")
    assert problem_list.found(caught.value.problems) == [("systemd.invalid_name", "environment")]
    golden_message(caught.value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("info", "A=info"),
        ("", "A="),
        ("a,b=c/d:e", "A=a,b=c/d:e"),
        ("100%", '"A=100%%"'),
        ("a b", '"A=a b"'),
        ("$HOME", '"A=$HOME"'),
        ('say "x"', '"A=say \\"x\\""'),
        ("C:\\", '"A=C:\\\\"'),
    ],
)
def test_quotes_stand_only_where_they_must(value, text):
    assert systemd.environment_assignment("A", value) == text


def test_a_unit_keeps_the_order_it_is_given():
    text = systemd.unit({"Unit": [("After", "a b"), ("After", "")], "Service": [("ExecStart", "/bin/x")]})
    assert text == "[Unit]\nAfter=a b\nAfter=\n\n[Service]\nExecStart=/bin/x\n"


@pytest.mark.parametrize(
    ("sections", "problem"),
    [
        ({"Service]": []}, "systemd.invalid_name unit"),
        ({"Service": [("Exec Start", "x")]}, "systemd.unsafe_text unit.Service.Exec Start"),
        ({"Service": [("ExecStart", "x\\")]}, "systemd.unsafe_text unit.Service.ExecStart"),
        ({"Service": [("ExecStart", " x")]}, "systemd.unsafe_text unit.Service.ExecStart"),
        ({"Service": [("ExecStart", "x\nUser=root")]}, "systemd.unsafe_text unit.Service.ExecStart"),
    ],
)
def test_a_unit_refuses_what_would_be_read_as_something_else(sections, problem, golden_message: GoldenMessages):
    error = error_of(systemd.unit, sections)
    assert problem in rules_and_paths(error)
    golden_message(error)


# --- what the AL2 image pastes ---------------------------------------------------------------------------------------------


def through_the_image(text: str) -> list[str]:
    """bootstrap.sh pastes the text unescaped between single quotes; systemd reads the word, and splits it where it is used."""
    (assignment,) = words(f"'KUBELET_EXTRA_ARGS={text}'")
    return words(specifiers(assignment).removeprefix("KUBELET_EXTRA_ARGS="))


@given(st.lists(TEXT, min_size=1, max_size=4))
def test_extra_arguments_arrive_or_are_refused(arguments):
    if any(systemd.al2_extra_args_problem(word) for word in arguments):
        with pytest.raises(SpecError):
            systemd.al2_extra_args(arguments)
        return
    assert through_the_image(systemd.al2_extra_args(arguments)) == arguments


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("--a='b'", "single quote"),
        ('--a="b"', "double quote"),
        ("--a=b\\c", "backslash"),
        ("--a\tb", "tab"),
        ("--a\nb", "line break"),
        ("--a\0b", "NUL"),
        ("", "empty"),
    ],
)
def test_what_the_image_would_break_is_refused_with_the_reason(word, reason):
    assert reason in systemd.al2_extra_args_problem(word)


def test_ordinary_arguments_stay_readable():
    assert systemd.al2_extra_args(["--node-labels=a=b,c=d", "--eviction-hard=memory.available<5%", "--x=a b"]) == (
        '--node-labels=a=b,c=d --eviction-hard=memory.available<5%% "--x=a b"'
    )


SPLIT = {
    "blanks": ("a  b\tc", ["a", "b", "c"]),
    "double quotes": ('--node-labels="a=b,c=d" --v=2', ["--node-labels=a=b,c=d", "--v=2"]),
    "quotes around several": ('"--a --b" c', ["--a --b", "c"]),
    "a quote inside the other": ("'a\"b'", ['a"b']),
    "a quote without its pair": ('a "b c', ["a", "b c"]),
    "an empty word": ("a '' b", ["a", "", "b"]),
    "a backslash": ("a\\d\\ e", ["ad e"]),
    "nothing": (" ", []),
}


@pytest.mark.parametrize(("value", "split"), SPLIT.values(), ids=SPLIT)
def test_a_variable_is_split(value: str, split: list[str]) -> None:
    assert systemd.split_variable(value) == split


@given(st.lists(TEXT.filter(lambda text: systemd.al2_extra_args_problem(text) is None), max_size=4))
def test_arguments_of_the_image_are_split_into_themselves(given_words: list[str]) -> None:
    assert systemd.split_variable(systemd.al2_extra_args(given_words).replace("%%", "%")) == given_words
