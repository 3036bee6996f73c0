# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report as a page: complete, escaped, without requests to other machines, and small for a large fleet."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.fleet import fleet
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.node import node_report
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.doctor.page import html
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.doctor.nodes import NOW, node
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.doctor.test_fleet import many, reports

EMPTY = {"meta"}
LOADS = {"script", "link", "img", "iframe", "object", "embed", "form", "base"}


class Page(HTMLParser):
    """The elements, the attributes and the texts of a page. Raises if elements are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            assert not name.startswith("on") and name not in ("src", "style")
            if name == "id":
                self.ids.append(str(value))
            if name == "href":
                self.links.append(str(value))
        if tag not in EMPTY:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


def check(text: str) -> Page:
    found = Page(text)
    assert not LOADS & set(found.tags)
    assert "url(" not in text and "@import" not in text
    assert len(set(found.ids)) == len(found.ids)
    assert all(link.startswith("https://") or link.removeprefix("#") in found.ids for link in found.links)
    return found


def test_six_nodes() -> None:
    found = check(html(fleet(reports())))
    assert [found.tags.count(tag) for tag in ("article", "tr", "h1", "h2")] == [5, 7, 1, 2]
    assert {"web-1", "join.unauthorized", "not joined", "490 d"} <= set(found.texts)
    # Nodes have messages of their own if these differ.
    assert any(text.startswith("web-1: ") and "i-0aaaaaaaaaaaaaaa1" in text for text in found.texts)
    assert len(set(found.links)) == 5


def test_no_findings() -> None:
    assert "article" not in check(html(fleet([]))).tags


def test_what_a_node_says_is_text() -> None:
    attack = "<script>alert(1)</script>\"' onmouseover=x"
    parts: dict[str, Any] = {"problems": [attack], "info.versions.kubelet.version": attack, "image.instance_type": attack}
    text = html(fleet([node_report(attack, node(parts), NOW)]))
    assert "<script" not in text and "script" not in check(text).tags
    assert "&lt;script&gt;" in text


def test_a_thousand_nodes() -> None:
    text = html(fleet(many(1000)))
    assert len(text.encode()) < 1024**2
    assert check(text).tags.count("tr") == 1001
