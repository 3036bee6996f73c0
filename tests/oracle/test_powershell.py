# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the library writes for PowerShell, read back by two readers that know nothing of it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts import windows_proxy
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import powershell
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model import spec

_SPEC = importlib.util.spec_from_file_location("oracle_powershell", Path(__file__).with_name("powershell.py"))
assert _SPEC is not None and _SPEC.loader is not None
oracle = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = oracle
_SPEC.loader.exec_module(oracle)

READERS = [pytest.param(oracle.by_grammar, id="grammar"), pytest.param(oracle.by_lexer, id="lexer")]
NASTY = [
    "'",
    "''",
    "\u2018",
    "\u2019",
    "\u201a",
    "\u201b",
    '"',
    "\u201c",
    "`",
    "$x",
    "$(x)",
    "; Remove-Item x",
    "#",
    "@'",
    "'@",
    "--%",
    "&",
    "|",
    " ",
    "%",
]
TEXT = st.one_of(st.text(st.characters()), st.lists(st.one_of(st.sampled_from(NASTY), st.text(st.characters(), max_size=3))).map("".join))


@pytest.mark.parametrize("read", READERS)
@given(value=TEXT)
def test_any_text_comes_back_or_is_refused(read, value):
    if powershell.powershell_problem(value):
        with pytest.raises(SpecError):
            powershell.quote(value)
        return
    (found,) = read(f"& $Script -Value {powershell.quote(value)}\n")
    assert found == oracle.Invocation("$Script", [("Value", (value,))])


@pytest.mark.parametrize("read", READERS)
@given(
    st.lists(
        st.tuples(st.from_regex(r"[A-Za-z][A-Za-z0-9]{0,20}", fullmatch=True), st.one_of(TEXT, st.lists(TEXT, min_size=1, max_size=4))),
        max_size=5,
    )
)
def test_a_call_is_one_invocation_with_its_parameters(read, parameters):
    values = [item for _unused, value in parameters for item in ([value] if isinstance(value, str) else value)]
    if any(powershell.powershell_problem(value) for value in values):
        with pytest.raises(SpecError):
            powershell.call("$Script", parameters)
        return
    (found,) = read(powershell.call("$Script", parameters))
    assert found.command == "$Script"
    assert not found.arguments
    assert found.parameters == [(name, (value,) if isinstance(value, str) else tuple(value)) for name, value in parameters]


@given(st.lists(st.text(min_size=1).filter(lambda text: not powershell.kubelet_args_problem(text)), min_size=1, max_size=3))
def test_the_values_of_a_proxy_stay_in_their_literals(values):
    """The grammar finds the lines of the proxy with any values, and the literals hold the values."""
    plain = [value for value in values if not set(value) & set("\u2018\u2019\u201a\u201b")]  # The grammar does not know these quotes.
    proxy = spec.Proxy("http://p:1", "https://q:2", tuple(plain))
    given = SimpleNamespace(proxy=proxy)
    text = "\n".join([*windows_proxy.variables(given), *windows_proxy.services(given), ""])
    literals, commands = oracle.literals_and_commands(text)
    for name, value in proxy.variables().items():
        assert literals.count(value) == 1 and literals.count(f"{name}={value}") == 1
    empty = "\n".join(windows_proxy.services(SimpleNamespace(proxy=spec.Proxy("a", None, ()))))
    assert commands == oracle.literals_and_commands(empty)[1]


@pytest.mark.parametrize("read", READERS)
@given(st.lists(TEXT, min_size=1, max_size=6))
def test_kubelet_arguments_survive_powershell_and_windows(read, words):
    if any(powershell.kubelet_args_problem(word) for word in words):
        return
    text = powershell.kubelet_extra_args(words)
    (found,) = read(powershell.call("$Script", [("KubeletExtraArgs", text)]))
    assert found.parameters == [("KubeletExtraArgs", (text,))]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("& $S -A 'x'y'\n", id="quote inside"),
        pytest.param("& $S -A 'x\n", id="no end"),
        pytest.param("& $S -A 'a\u2019; Remove-Item x #'\n", id="typographic quote ends the string"),
        pytest.param('& $S -A "$(Remove-Item x)"\n', id="expansion"),
        pytest.param("& $S -A 'x' | Out-Null\n", id="pipeline"),
        pytest.param("Remove-Item 'x'\n", id="another command"),
    ],
)
def test_the_readers_refuse_what_escapes_its_quotes(read, text):
    with pytest.raises(oracle.NotUnderstoodError):
        read(text)


@pytest.mark.parametrize("read", READERS)
def test_the_readers_see_a_second_command(read):
    assert len(read("& $S -A 'x'\n& $T -B 'y'\n")) == 2


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("& $S -A @'\nit's $x\n'@\n", "it's $x", id="here-string"),
        pytest.param('& $S -A "a`"b`$c"\n', 'a"b$c', id="backticks"),
        pytest.param('& $S -A "a""b"\n', 'a"b', id="doubled"),
        pytest.param("& $S -A \u2018a\u2019\n", "a", id="typographic quotes"),
    ],
)
def test_the_lexer_knows_the_other_strings(text, value):
    assert oracle.by_lexer(text) == [oracle.Invocation("$S", [("A", (value,))])]
