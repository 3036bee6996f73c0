# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Literal arguments of a PowerShell call are read as PowerShell reads them; everything else is reported and not guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import powershell
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.powershell_calls import Reading, read_calls, read_environment

PARAMETERS = ("Name", "Cidr", "Cidrs", "Args")
KNOWN = {"Args": "--v=2", "Other": "it's"}


def read(text: str) -> Reading:
    return read_calls(text, "Start.ps1", "Script", PARAMETERS, KNOWN)


READ = {
    "single quotes": ("& $Script -Name 'a b'", {"Name": ("a b",)}),
    "two quotes for one": ("& $Script -Name 'a''b'", {"Name": ("a'b",)}),
    "typographic quotes": ("& $Script -Name \u2018a\u2019\u2019b\u2019", {"Name": ("a\u2019b",)}),
    "double quotes": ('& $Script -Name "a ""b"""', {"Name": ('a "b"',)}),
    "a variable": ("& $Script -Args $Args", {"Args": ("--v=2",)}),
    "a variable in braces": ("& $Script -Args ${args}", {"Args": ("--v=2",)}),
    "a variable in a string": ('& $Script -Args "$Args --max-pods=5"', {"Args": ("--v=2 --max-pods=5",)}),
    "no expansion in single quotes": ("& $Script -Args '$Args'", {"Args": ("$Args",)}),
    "a bare word": ("& $Script -Name demo", {"Name": ("demo",)}),
    "a list": ("& $Script -Cidrs 'a','b'", {"Cidrs": ("a", "b")}),
    "other case": ("& $script -name demo", {"Name": ("demo",)}),
    "a short name": ("& $Script -N demo", {"Name": ("demo",)}),
    "streams": ("& $Script -Name x 3>&1 *>&1", {"Name": ("x",)}),
    "a comment": ("& $Script -Name x # y", {"Name": ("x",)}),
    "two lines": ("& $Script `\n  -Name x", {"Name": ("x",)}),
    "a path": ("& 'C:\\EKS\\Start.ps1' -Name x", {"Name": ("x",)}),
    "an assignment": ("[string]$Args = '--v=3'\n& $Script -Args $Args", {"Args": ("--v=3",)}),
    "an assignment that uses itself": ('$Args = "$Args --v=4"\n& $Script -Args $Args', {"Args": ("--v=2 --v=4",)}),
    "a variable with the name of the script": ("$Name = 'Start.ps1'\n$Script = \"$Folder\\$Name\"\n& $Script -Args x", {"Args": ("x",)}),
    "the variable with the path": ('[string]$Script = "$env:ProgramFiles\\EKS\\Start.ps1"\n& $Script -Name x', {"Name": ("x",)}),
}


@pytest.mark.parametrize(("text", "call"), READ.values(), ids=READ)
def test_a_call_is_read(text: str, call: dict[str, tuple[str, ...]]) -> None:
    assert read(text) == Reading((call,), True)


UNKNOWN = ("& $Script -Name $Unknown", '& $Script -Name "x$Unknown"', '& $Script -Name "$env:X"', '& $Script -Name "$(Get-Date)"')


@pytest.mark.parametrize("text", UNKNOWN)
def test_a_value_that_is_not_known_is_not_guessed(text: str) -> None:
    assert read(text) == Reading(({"Name": None},), True)


BESIDE_BLOCKS = {
    "a condition in a line": "& $Script -Name x\n$Error = if ($?) { 0 } else { 1 }",
    "a table": "$Table = @{a = 1}\n& $Script -Name x",
    "a block before": "if ($a) {\n  if ($b) { c }\n}\n& $Script -Name x",
    "a block behind": "& $Script -Name x\nforeach ($a in $b) {\n  $a\n}",
    "a brace in a string": "Write-Host '{' \"}\"\n& $Script -Name x",
    "a brace in a comment": "$a = { b } # }\n& $Script -Name x",
    "a here-string behind": "& $Script -Name x\n$a = @'\n}\n'@",
}


@pytest.mark.parametrize("text", BESIDE_BLOCKS.values(), ids=BESIDE_BLOCKS)
def test_a_call_outside_of_blocks_is_certain(text: str) -> None:
    assert read(text) == Reading(({"Name": ("x",)},), False)


def test_a_value_from_a_block_is_not_known() -> None:
    assert read("if ($a) {\n$Args = '--v=9'\n}\n& $Script -Args $Args").calls == ({"Args": None},)


UNREAD = {
    "a call behind a here-string": "$a = @'\n{\n'@\n& $Script -Name x",
    "a call in a block comment": "<# a\n& $Script -Name x\n#>",
    "a call behind a closing brace": "}\n& $Script -Name x",
    "a second call in a block": "& $Script -Name x\nif ($a) {\n& $Script -Name y\n}",
    "another command": "Write-Output hi",
    "another script": "& $Other -Name x",
    "a condition": "if ($x) {\n& $Script -Name x\n}",
    "a splat": "& $Script @Parameters",
    "an expression": "& $Script -Name (Get-Date)",
    "a pipeline": "& $Script -Name x | Out-Null",
    "a backtick in a string": '& $Script -Name "a`nb"',
    "no value": "& $Script -Name",
    "an ambiguous name": "& $Script -Cid x",
    "an unknown name": "& $Script -Nope x",
    "a position": "& $Script x",
    "no end": "& $Script -Name 'x",
}


@pytest.mark.parametrize("text", UNREAD.values(), ids=UNREAD)
def test_other_syntax_is_not_read(text: str) -> None:
    assert read(text) == Reading((), False)


def test_a_variable_that_other_syntax_can_change_is_not_known() -> None:
    assert read("$Args += ' --v=3'\n& $Script -Args $Args") == Reading(({"Args": None},), False)
    assert read("Write-Output hi\n& $Script -Args $Args") == Reading(({"Args": ("--v=2",)},), False)
    assert read("$Script = 'C:\\other.ps1'\n& $Script -Name x") == Reading((), True)


@given(
    st.text(max_size=12).filter(lambda text: powershell.powershell_problem(text) is None), st.lists(st.sampled_from("ab'\""), min_size=1)
)
def test_a_rendered_call_is_read_back(text: str, items: list[str]) -> None:
    call = powershell.call("$Script", [("Name", text), ("Cidrs", items)])
    assert read(call) == Reading(({"Name": (text,), "Cidrs": tuple(items)},), True)


@given(st.text(alphabet="&$Script-Nae'\"`,#@{}() \n=xA"))
def test_any_text_is_answered(text: str) -> None:
    read(text)


@given(st.lists(st.from_regex(r"--[a-z]{1,4}=[^\x00-\x1f%\\\"<>]{0,6}", fullmatch=True)))
def test_arguments_are_split_as_they_were_written(words: list[str]) -> None:
    usable = [word for word in words if powershell.kubelet_args_problem(word) is None]
    assert powershell.split_arguments(powershell.kubelet_extra_args(usable)) == usable


def test_a_backslash_before_a_quote_is_not_split() -> None:
    assert powershell.split_arguments('--a="b\\"') is None
    assert powershell.split_arguments('--a="b') is None


ENVIRONMENT = {
    "$env:A = 'x'": [("A", "x")],
    '$Env:a="x"  # why': [("a", "x")],
    "$env:A = 'it''s'": [("A", "it's")],
    "$env:A = $x": [("A", None)],
    "$env:A = 'x' + 'y'": [("A", None)],
    "$env:A = 'x', 'y'": [("A", None)],
    "$env:A += 'x'": [("A", None)],
    "${env:A} = 'x'": [("A", None)],
    "if ($true) { $env:A = 'x' }": [("A", None)],
    "$env:A = 'x'\n@'\ny\n'@": [("A", None)],
    "Set-Item -Path env:A -Value 'x'": [("A", None)],
    "[Environment]::SetEnvironmentVariable(\"A\", 'x')": [("A", None)],
    "setx A x": [("A", None)],
    "Write-Output $env:A": [],
    "# $env:A = 'x'": [],
}


@pytest.mark.parametrize(("text", "expected"), ENVIRONMENT.items(), ids=ENVIRONMENT)
def test_the_variables_of_the_environment(text: str, expected: list[tuple[str, str | None]]) -> None:
    assert read_environment(f"{text}\n") == expected
