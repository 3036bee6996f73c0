# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain English: words and phrases that the Kubernetes and Ansible documentation would not use."""

from __future__ import annotations

import re

import pytest

from ansible_collections.nodebootstrap.eks.tests.consistency import project

PHRASES = {
    r"whoever|nobody|anybody|somebody": "name the program, the user or the file",
    r"shall": "must, or should",
    r"mends?|mended|mending": "fix",
    r"foretold": "expected",
    r"laid down|laid before|laid on|way back|stands? (?:in|under|beside|behind|there)": "use the usual technical word",
    r"(?:that|which|what) (?:is|are|was) (?-i:none)|(?<!there )is (?-i:none)\b(?! of)": "invalid, or missing",
    r"(?<!there )is no (?!longer\b|more\b)": "is not a, or there is no",
    r"(?<!said )of what|those that|what of (?:it|them)|what is neither": "name the thing",
    r"have a place of (?:its|their) own|has a place of its own": "say which field",
    r"knows? no\b": "does not have, or does not support",
    r"cannot be had": "is not supported",
    r"disagrees? with": "conflicts with",
}
PATTERNS = [(re.compile(rf"(?<![A-Za-z0-9])(?:{phrase})", re.IGNORECASE), better) for phrase, better in PHRASES.items()]

CHECKED = (
    "plugins/", "docs/", "roles/", "molecule/", "playbooks/", "meta/", "examples/", "tools/", "benchmarks/", "tests/",
    "README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md",
)  # fmt: skip
OWN = "tests/consistency/test_english.py"
"""This file, which contains the phrases that it finds."""

SUFFIXES = (".py", ".yml", ".md", ".sh", ".go", ".ps1")


def checked() -> list[str]:
    """The files that must be in plain English."""
    return [
        name
        for name in project.files()
        if name.startswith(CHECKED) and name.endswith(SUFFIXES) and name != OWN and not project.is_data(name)
    ]


def phrases(name: str) -> list[str]:
    """Every phrase of a file that has a plain form."""
    return [
        f"{name}:{number}: {found.group()!r}; better: {better}"
        for number, line in project.each_line(name)
        for pattern, better in PATTERNS
        if (found := pattern.search(line))
    ]


def test_texts_are_in_plain_english() -> None:
    project.none_of(phrase for name in checked() for phrase in phrases(name))


@pytest.mark.parametrize(
    "text",
    [
        "whoever calls it",
        "the node shall leave",
        "a certificate that is none",
        "is no file",
        "It stands in the file",
        "Nobody reads it",
        "it knows no flags",
    ],
)
def test_the_patterns_find(text: str) -> None:
    assert any(pattern.search(text) for pattern, _better in PATTERNS)


@pytest.mark.parametrize("text", ["there is no file", "it is no longer there", "the marshalled text", "recommended", "Is it None?"])
def test_the_patterns_leave_alone(text: str) -> None:
    assert not any(pattern.search(text) for pattern, _better in PATTERNS)


def test_every_checked_folder_has_files() -> None:
    assert [folder for folder in CHECKED if not any(name.startswith(folder) for name in checked())] == []
