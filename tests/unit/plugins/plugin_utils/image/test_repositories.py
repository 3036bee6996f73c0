# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of package repositories: whatever a description contains, it is refused, or a parser reads exactly its values."""

from __future__ import annotations

import configparser
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.image.plan import image_plan
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.image.descriptions import BUILDERS, KEY, minimal

TEXT = st.text(st.sampled_from("abzAZ09-_.:/=#;%$(){}[]|'\"\\!~+*?&<>^` \t\n\r\f\v\x1c\x85\xa0\u2028,\xfc"), max_size=12)
NAMES = st.one_of(st.from_regex("[0-9A-Za-z][0-9A-Za-z_-]{0,9}", fullmatch=True), st.sampled_from(["main", "DEFAULT", "default"]), TEXT)
URLS = st.builds("{}://{}/{}".format, st.sampled_from(["https", "http", "file"]), st.sampled_from(["example.com", ""]), TEXT)
SIGNATURES = st.sampled_from([{"key": KEY}, {"unsigned": True}])
SUITES = st.fixed_dictionaries({"suite": TEXT}, optional={"components": st.one_of(TEXT, st.lists(TEXT, max_size=3))})


def repository_file(family: str, repository: dict[str, Any]) -> str | None:
    """The file of a repository, None if the description is refused."""
    try:
        plan = image_plan({**minimal(family), "repositories": [repository]}, BUILDERS[family])
    except SpecError:
        return None
    [content] = [one["content"] for one in plan["repositories"] if one["path"].endswith((".repo", ".sources"))]
    assert isinstance(content, str)
    return content


def paragraphs(content: str) -> list[dict[str, str]]:
    """The paragraphs of a file in the format deb822 (deb822(5)): comments, folded lines and fields."""
    found: list[dict[str, str]] = [{}]
    name = ""
    # apt ends a line only at \n.
    for line in content.split("\n"):
        if not line.strip(" \t\r"):
            found.append({})
        elif line[0] in " \t":
            found[-1][name] += "\n" + line[1:]
        elif not line.startswith("#"):
            name, colon, value = line.partition(":")
            assert colon and name not in found[-1]
            found[-1][name] = value.strip(" \t\r")
    return [paragraph for paragraph in found if paragraph]


@pytest.mark.parametrize("inline_comments", [None, ("#", ";")], ids=["dnf", "yum"])
@given(name=NAMES, url=URLS, signature=SIGNATURES)
def test_dnf_and_yum_read_what_was_given(inline_comments: Any, name: str, url: str, signature: dict[str, Any]) -> None:
    content = repository_file("al2023", {"name": name, "url": url, **signature})
    if content is not None:
        parser = configparser.RawConfigParser(inline_comment_prefixes=inline_comments)
        parser.read_string(content)
        assert parser.sections() == [name] and name != "main"
        fields = dict(parser[name])
        # Both read it as a list.
        assert re.split(r"[\s,]+", fields.pop("baseurl")) == [url]
        expected = {"name": name, "enabled": "1", "gpgcheck": "1" if "key" in signature else "0"}
        assert fields == (expected | {"gpgkey": f"file:///etc/pki/rpm-gpg/RPM-GPG-KEY-{name}"} if "key" in signature else expected)


@given(name=NAMES, url=URLS, signature=SIGNATURES, suite=st.one_of(st.just({}), SUITES))
def test_apt_reads_what_was_given(name: str, url: str, signature: dict[str, Any], suite: dict[str, Any]) -> None:
    content = repository_file("ubuntu", {"name": name, "url": url, **signature, **suite})
    if content is not None:
        [fields] = paragraphs(content)
        components = suite.get("components", "main")
        expected = {"Types": ["deb"], "URIs": [url], "Suites": [suite.get("suite", "./")]}
        expected |= {"Components": [components] if isinstance(components, str) else components} if suite else {}
        expected |= {"Signed-By": [f"/etc/apt/keyrings/{name}.asc"]} if "key" in signature else {"Trusted": ["yes"]}
        assert {field: value.split() for field, value in fields.items()} == expected


@pytest.mark.parametrize(
    "repository",
    [
        {"url": "https://example.com/a,b"},
        {"url": "https://example.com/a b"},
        {"url": "https://example.com/a\nTrusted: yes"},
        {"suite": "noble main"},
        {"suite": " noble"},
        {"suite": "noble", "components": "main extra"},
        {"suite": "noble\nTrusted: yes"},
    ],
)
def test_a_value_with_another_meaning_is_refused(repository: dict[str, Any]) -> None:
    assert repository_file("ubuntu", {"name": "tools", "url": "https://example.com", "key": KEY, **repository}) is None


@pytest.mark.parametrize("family", ["al2", "al2023"])
@pytest.mark.parametrize("name", ["main", "DEFAULT"])
def test_a_name_with_another_meaning_is_refused(family: str, name: str) -> None:
    assert repository_file(family, {"name": name, "url": "https://example.com", "key": KEY}) is None
    assert repository_file("ubuntu", {"name": name, "url": "https://example.com", "key": KEY})
