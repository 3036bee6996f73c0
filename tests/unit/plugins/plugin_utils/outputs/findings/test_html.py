# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a lint: what it shows, what it never shows, and the files with which it compares."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.findings.lint_task import OPTIONS, lint_task
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.page import report_format
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.doctor.test_page import Page, check
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.lint.texts import config, mime, part, shell

SCRIPT = "<script>alert(1)</script>"
NODE = part(config("maxPodz: 20"), "application/node.eks.aws")
HEADINGS = ["Parts", "Findings", "What a node does when it boots", "Files", "Configuration of kubelet", "What is not known"]


def lint(folder: Path, **given: Any) -> tuple[str, Page]:
    """The page of the sources in the folder, and what it consists of."""
    options = {name: one.get("default") for name, one in OPTIONS.items()} | {"sources": [str(folder)], "report": str(folder / ".out.html")}
    lint_task(options | given, check_mode=False, say=lambda _text: None, fetch=lambda _entry: [])
    text = (folder / ".out.html").read_text(encoding="utf-8")
    return text, check(text)


def write(folder: Path, *parts: str, name: str = "web.mime") -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(mime(*parts), encoding="utf-8")


def test_findings_and_what_a_node_does(tmp_path: Path) -> None:
    write(tmp_path, NODE, part(shell("yum install jq", f"echo '{SCRIPT}'")))
    text, page = lint(tmp_path, instance_type="m5.large", kubernetes_version="1.33")
    assert {"kubelet.unknown_field", "shell.asks_question"} <= set(page.texts)
    assert [one for one in page.texts if one in HEADINGS] == HEADINGS
    assert SCRIPT not in text and "script" not in page.tags
    assert f"echo '{SCRIPT}'" in page.texts
    assert lint(tmp_path, instance_type="m5.large", kubernetes_version="1.33")[0] == text


def test_several_sources_have_an_overview(tmp_path: Path) -> None:
    write(tmp_path, NODE)
    assert "sources" not in lint(tmp_path)[1].ids
    write(tmp_path, part(shell("true")), name="other.mime")
    assert {"sources", "source-1", "source-2"} <= set(lint(tmp_path)[1].ids)


def test_compare_to(tmp_path: Path) -> None:
    folder, other = tmp_path / "new", tmp_path / "old"
    write(folder, part(config("maxPods: 20"), "application/node.eks.aws"))
    write(other, part(config("maxPods: 110"), "application/node.eks.aws"))
    compared = [lint(folder, compare_to=str(path))[1].texts for path in (other, other / "web.mime")]
    assert all({"node_group.max_pods", "110", "20"} <= set(texts) for texts in compared)
    assert "Both mean the same." in lint(folder, compare_to=str(folder))[1].texts
    # A source without a file of its name is not compared.
    write(folder, part(shell("true")), name="more.mime")
    assert sum(one.startswith("Differences from") for one in lint(folder, compare_to=str(other))[1].texts) == 1


@pytest.mark.parametrize("given", [{"compare_to": "old/web.mime"}, {"compare_to": "missing"}, {"compare_to": "old", "format": "text"}])
def test_compare_to_cannot_be_used(tmp_path: Path, given: dict[str, str]) -> None:
    for name in ("one", "two"):
        write(tmp_path, NODE, name=name)
    write(tmp_path / "old", NODE)
    with pytest.raises(SpecError):
        lint(
            tmp_path, **given | {"compare_to": str(tmp_path / given["compare_to"])}, sources=[str(tmp_path / "one"), str(tmp_path / "two")]
        )


def test_the_name_of_a_report_decides_the_format() -> None:
    rows = [(None, None), (None, "a.txt"), (None, "a.HTML"), ("json", "a.html"), ("html", None)]
    assert [report_format(*row) for row in rows] == ["text", "text", "html", "json", "html"]
