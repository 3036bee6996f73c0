# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""PowerShell tags and literals, and the command line of the kubelet service; two PowerShell readers prove the rest in tests/oracle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems, SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import powershell

NASTY = ['"', "\\", "\\\\", '\\"', " ", "\t", "'", "=", "--a=", ",", "%", "%PATH%", "</powershell>", "<PERSIST>", "\u2019", "$x", "`"]
TEXT = st.one_of(st.text(st.characters()), st.lists(st.one_of(st.sampled_from(NASTY), st.text(st.characters(), max_size=3))).map("".join))


def command_line_to_argv(line: str) -> list[str]:
    """Arguments behind the program's name as CommandLineToArgvW splits them (its documented rules, none of the library's code)."""
    found: list[str] = []
    current, started, quoted, at = "", False, False, 0
    while at < len(line):
        char = line[at]
        if char == "\\":
            run = len(line[at:]) - len(line[at:].lstrip("\\"))
            at += run
            started = True
            if line[at : at + 1] == '"':
                current += "\\" * (run // 2)
                if run % 2:
                    current += '"'
                    at += 1
            else:
                current += "\\" * run
            continue
        if char == '"':
            started = True
            if quoted and line[at + 1 : at + 2] == '"':
                current += '"'
                at += 1
            else:
                quoted = not quoted
        elif char in " \t" and not quoted:
            if started:
                found.append(current)
            current, started = "", False
        else:
            current, started = current + char, True
        at += 1
    assert not quoted
    return [*found, current] if started else found


@given(st.lists(TEXT, max_size=5))
def test_windows_gives_the_kubelet_arguments_back(words):
    if any(powershell.kubelet_args_problem(word) for word in words):
        with pytest.raises(SpecError):
            powershell.kubelet_extra_args(words)
        return
    assert command_line_to_argv(powershell.kubelet_extra_args(words)) == words


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--node-labels=a=b,c=d", "--max-pods=110"], '--node-labels="a=b,c=d" --max-pods=110'),
        (["--register-with-taints=k=v:NoSchedule"], "--register-with-taints=k=v:NoSchedule"),
        (["--eviction-hard=memory.available<5%"], '--eviction-hard="memory.available<5%"'),
        (["--root-dir=C:\\a b\\"], '--root-dir="C:\\a b\\\\"'),
        ([""], '""'),
        ([], ""),
    ],
)
def test_the_command_line_looks_as_documented(words, line):
    assert powershell.kubelet_extra_args(words) == line


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("a\nb", "line break"),
        ("a\rb", "line break"),
        ("\0", "NUL"),
        ("\x1b", "control character"),
        ("\u2028", "line separator"),
        ("\ud800", "lone surrogate"),
        ("</powershell>", "</powershell>"),
        ("x</PowerShell>y", "</powershell>"),
        ("<persist>", "<persist>"),
        ("<Script>", "<script>"),
    ],
)
def test_what_no_literal_can_hold_is_refused_with_the_reason(value, reason):
    assert reason in powershell.powershell_problem(value)
    with pytest.raises(SpecError):
        powershell.call("$Script", [("A", value)])


def test_the_environment_is_not_expanded_behind_our_back():
    assert "%PATH%" in powershell.kubelet_args_problem("--a=%PATH%")
    assert powershell.kubelet_args_problem("--eviction-hard=nodefs.available<10%,memory.available<5%") is None


def test_all_five_quotes_are_doubled():
    assert powershell.quote("a'\u2018\u2019\u201a\u201bb") == "'a''\u2018\u2018\u2019\u2019\u201a\u201a\u201b\u201bb'"


def test_a_call():
    assert powershell.call("$Script", [("EKSClusterName", "it's"), ("ExcludedSnatCIDRs", ["10.0.0.0/8", "b"])]) == (
        "& $Script -EKSClusterName 'it''s' -ExcludedSnatCIDRs '10.0.0.0/8','b'"
    )


def test_a_call_reports_all_its_problems():
    with pytest.raises(SpecError) as caught:
        powershell.call("Script", [("A B", "x"), ("C", "\0"), ("D", []), ("E", ["ok", "\n"])])
    assert len(caught.value.problems) == 5


# --- tags ----------------------------------------------------------------------------------------------------------------

UNWRAPPED = [
    pytest.param("Write-Host a\nWrite-Host b\n", ("Write-Host a", "Write-Host b"), None, id="no tags"),
    pytest.param("<powershell>\na\n</powershell>\n", ("a",), None, id="one block"),
    pytest.param("<PowerShell>a</POWERSHELL>", ("a",), None, id="any case"),
    pytest.param("<powershell>\r\na\r\nb\r\n</powershell>\r\n", ("a", "b"), None, id="CRLF"),
    pytest.param("<powershell>\na\n</powershell>\n<persist>true</persist>\n", ("a",), True, id="persist"),
    pytest.param("<persist> False </persist><powershell>a</powershell>", ("a",), False, id="no persist"),
    pytest.param("<powershell>a</powershell>\n<powershell>\nb\n\nc\n</powershell>", ("a", "b", "", "c"), None, id="two blocks"),
    pytest.param("<powershell>\n  indented\n</powershell>", ("  indented",), None, id="indentation"),
    pytest.param("<powershell>\n</powershell>", (), None, id="empty block"),
    pytest.param("", (), None, id="nothing"),
]


@pytest.mark.parametrize(("text", "lines", "persist"), UNWRAPPED)
def test_tags_are_taken_away_once(text, lines, persist):
    problems = Problems()
    found = powershell.unwrap(text, "user_data", problems)
    assert list(problems) == []
    assert found[:2] == (lines, persist)
    assert all(text.replace("\r\n", "\n")[offset:].startswith(block) for offset, block in found.blocks)
    again = powershell.unwrap(powershell.wrap(found.lines, bool(found.persist)), "user_data", problems)
    assert again[:2] == (lines, True if persist else None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<script>dir</script>", "cmd.exe"),
        ("<powershell>a", "no matching tag"),
        ("a</powershell>", "no matching tag"),
        ("<powershell><powershell>a</powershell></powershell>", "no matching tag"),
        ("<powershell>a</script>", "no matching tag"),
        ("Write-Host x\n<powershell>a</powershell>", "outside of <powershell>"),
        ("<powershell>a</powershell><persist>maybe</persist>", "true or false"),
        ("<persist>true</persist><persist>false</persist>", "true or false"),
        ("<powershell>a</powershell><powershellArguments>-X</powershellArguments>", "<powershellarguments>"),
        ("<runAsLocalSystem>true</runAsLocalSystem>", "<runaslocalsystem>"),
    ],
)
def test_what_would_be_lost_is_a_problem(text, message):
    problems = Problems()
    assert powershell.unwrap(text, "user_data", problems)[:2] == ((), None)
    assert message in str(next(iter(problems)))


@given(st.lists(TEXT.map(lambda text: text.replace("\n", "").replace("\r", "")), max_size=4), st.booleans())
def test_wrapped_lines_come_back(lines, persist):
    try:
        text = powershell.wrap(lines, persist)
    except SpecError:
        return
    assert text.lower().count("<powershell>") == text.lower().count("</powershell>") == 1
    problems = Problems()
    found = powershell.unwrap(text, "user_data", problems)
    assert list(problems) == []
    assert "\n".join(found.lines).strip("\n") == "\n".join(lines).strip("\n") or not "".join(lines).strip()
    assert found.persist is (True if persist else None)


@pytest.mark.parametrize("line", ["</powershell>", "x < / PowerShell >", "<persist>true</persist>", "a\0b", "\ud800"])
def test_a_line_that_would_end_the_block_is_refused(line):
    with pytest.raises(SpecError):
        powershell.wrap(["ok", line])


@given(TEXT)
def test_unwrapping_never_raises(text):
    powershell.unwrap(text, "user_data", Problems())
