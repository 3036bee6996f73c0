# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sources of the documentation site. Layer docs builds it, and the matrix opens it in a browser."""

from __future__ import annotations

import re

import pytest

from ansible_collections.nodebootstrap.eks.tests.consistency import project
from ansible_collections.nodebootstrap.eks.tools.docsite import build

REPOSITORY = "https://github.com/nodebootstrap/eks"


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("input.md#modes", "input.md#modes"),
        ("#here", "#here"),
        ("https://example.com/a.md", "https://example.com/a.md"),
        ("README.md", "index.md"),
        ("../CHANGELOG.md", "changelog.md"),
        ("../examples/karpenter.yml", f"{REPOSITORY}/blob/main/examples/karpenter.yml"),
        ("../roles/eks_node/README.md#tags", f"{REPOSITORY}/blob/main/roles/eks_node/README.md#tags"),
        ("schema/", f"{REPOSITORY}/tree/main/docs/schema"),
    ],
)
def test_links_out_of_docs_lead_to_the_repository(link: str, expected: str) -> None:
    assert build.rewrite_links(f"see [it]({link}).", "page.md") == f"see [it]({expected})."


def test_every_page_has_a_title_in_the_sidebar() -> None:
    listed = re.findall(r"^[A-Z][^<\n]+ <([a-z0-9-]+)>$", project.text("tools/docsite/index.md"), flags=re.MULTILINE)
    pages = [name.removeprefix("docs/").removesuffix(".md") for name in project.under("docs", ".md") if name.count("/") == 1]
    assert sorted([*listed, "README"]) == sorted([*pages, "changelog"])


def test_the_landing_page_renders_every_family() -> None:
    outputs = dict(build.landing_outputs())
    assert set(outputs) == set(build.FAMILIES)
    assert all("role" in text and "58" in text for text in outputs.values())
