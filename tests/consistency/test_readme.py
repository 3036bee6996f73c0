# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What README.md and docs/*.md tell a reader to type works, prints what they show, and links to what exists."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.tests.consistency import documented, project

SECTIONS = (
    "Description",
    "Use Cases",
    "Requirements",
    "Installation",
    "Testing",
    "Contributing",
    "Support",
    "Release Notes and Roadmap",
    "Related Information",
    "Code of Conduct",
    "License Information",
)
"""What Galaxy's and Automation Hub's reviewers look for."""

LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")


@pytest.mark.parametrize("name", documented.pages())
def test_every_block_says_whether_it_is_run(name: str) -> None:
    project.none_of(documented.unmarked(name, project.text(name)))


@pytest.fixture(scope="module")
def aws() -> Iterator[Mapping[str, str]]:
    with documented.aws_stand_in() as settings:
        yield settings


@pytest.mark.parametrize("name", documented.pages())
def test_a_page_runs_as_it_stands(name: str, tmp_path: Path, aws: Mapping[str, str]) -> None:
    problems, _unused = documented.run(name, project.text(name), tmp_path, aws)
    project.none_of(problems)


def test_the_readme_has_the_sections_that_reviewers_look_for() -> None:
    found = re.findall(r"^## (.+)$", project.text("README.md"), re.MULTILINE)
    assert [section for section in SECTIONS if section not in found] == []


def test_the_readme_is_short() -> None:
    assert len(project.text("README.md").splitlines()) <= 220


def dead_links(name: str, text: str) -> list[str]:
    """Links of a page to files or headings that do not exist; addresses in the web are not asked for."""
    result = []
    for target in LINK.findall(text):
        path, _unused, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = (project.TOP / name).parent / path if path else project.TOP / name
        if not file.exists():
            result.append(f"{name}: {target} does not exist")
        elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
            result.append(f"{name}: {target} names no heading")
    return result


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", documented.pages())
def test_links_lead_somewhere(name: str) -> None:
    project.none_of(dead_links(name, project.text(name)))


def test_the_index_links_every_page_and_the_readme_links_the_index() -> None:
    index = "docs/README.md"
    text = project.text(index)
    pages = [name.removeprefix("docs/") for name in documented.pages() if name.startswith("docs/") and name != index]
    assert [name for name in pages if f"]({name}" not in text] == []
    assert f"]({index})" in project.text("README.md")


PAGE = """\
<!-- file: a.txt -->
```text
hello
```

<!-- run -->
```shell
cat a.txt
echo tail
```

<!-- output from: hello | to: tail -->
```text
hello
tail
```
"""


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("", "", None),
        ("cat a.txt", "cat b.txt", "ended with 1"),
        ("<!-- run -->", "<!-- run, fails -->", "ended with 0"),
        ("hello\ntail", "hello\nhead", "shows something else"),
        ("from: hello", "from: nothing", "shows something else"),
        ("<!-- run -->", "<!-- run as: echo hello; echo tail -->", None),
    ],
)
def test_a_page_that_lies_is_seen(old: str, new: str, problem: str | None, tmp_path: Path) -> None:
    problems, _unused = documented.run("page.md", PAGE.replace(old, new), tmp_path, {})
    assert [problem is not None and problem in found for found in problems] == ([True] if problem else [])


def test_outputs_are_written_anew(tmp_path: Path) -> None:
    assert documented.run("page.md", PAGE.replace("hello\ntail", "x"), tmp_path, {})[1] == PAGE


def test_a_block_without_a_comment_is_seen() -> None:
    assert len(list(documented.unmarked("page.md", PAGE.replace("<!-- run -->\n", "")))) == 1


def test_a_dead_link_is_seen() -> None:
    assert len(dead_links("README.md", "[a](docs/nothing.md) [b](docs/input.md#nothing) [c](#nothing) [d](docs/input.md#modes)")) == 3


PATH_IN_TEXT = re.compile(r"`((?:benchmarks|docs|examples|meta|playbooks|plugins|tests|tools)/[A-Za-z0-9_./-]*)`")
IN_LIBRARY = re.compile(r"`((?:_data|artifacts|families|formats|importers|nodeconfig|outputs|model)/[A-Za-z0-9_./-]*)`")


@pytest.mark.parametrize("name", documented.pages())
def test_files_that_a_page_names_exist(name: str) -> None:
    text = project.text(name)
    named = [*PATH_IN_TEXT.findall(text), *(f"{project.LIBRARY}/{path}" for path in IN_LIBRARY.findall(text))]
    # Folders that a command writes are no files of the project.
    assert [path for path in named if not (project.TOP / path).exists()] == []
