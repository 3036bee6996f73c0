# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Strings and code of PowerShell, compared with a grammar that other people wrote, and with the library's own quoting."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import formats
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import powershell, powershell_text

SCRIPTS = sorted((Path(formats.__file__).parents[1] / "_powershell").glob("*.ps1"))
LITERALS = {
    "string_literal",
    "verbatim_string_characters",
    "verbatim_here_string_characters",
    "expandable_string_literal",
    "expandable_here_string_literal",
}


def strings_of_the_grammar(text: str) -> list[tuple[int, int]]:
    import tree_sitter
    import tree_sitter_pwsh

    root = tree_sitter.Parser(tree_sitter.Language(tree_sitter_pwsh.language())).parse(text.encode()).root_node
    assert not root.has_error
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        if node.type in LITERALS:
            found.append((node.start_byte, node.end_byte))
        else:
            waiting.extend(node.children)
    return sorted(found)


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
def test_the_grammar_finds_the_same_strings(file: Path) -> None:
    text = file.read_text(encoding="ascii")
    found = powershell_text.scan(text)
    assert list(found.strings) == strings_of_the_grammar(text)
    assert found.open_string is None
    assert len(found.code) == len(text)


@given(st.text(st.sampled_from("ab \"'`$(){}@#<>\u2018\u2019\u201b\u201c\u201e"), max_size=30))
def test_a_quoted_value_is_one_string(value: str) -> None:
    literal = powershell.quote(value)
    found = powershell_text.scan(f"f {literal} # it's\nls")
    assert found.strings == ((2, 2 + len(literal)),)
    assert found.code.endswith(" " * len("# it's") + "\nls")
    assert powershell_text.scan(f"f {literal[:-1]}").open_string == 2


@given(st.text(st.sampled_from("a \n\"'`$()@#<>{}-%"), max_size=60))
def test_any_text_is_read(text: str) -> None:
    found = powershell_text.scan(text)
    assert len(found.code) == len(text)
    ends = [0, *(place for span in found.strings for place in span)]
    assert ends == sorted(ends)
