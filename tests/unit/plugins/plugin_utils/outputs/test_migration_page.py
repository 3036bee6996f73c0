# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a migration: it says what the Markdown says, loads nothing, and shows no secret."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.migration import template
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.migration.migrate import migrate
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.migration.next_steps import next_steps
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.migration_page import html
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.migration_report import markdown
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.doctor.test_page import Page, check
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

CALL = "/etc/eks/bootstrap.sh demo --use-max-pods false --kubelet-extra-args '--max-pods=20 --node-labels=role=web'\n"
TEXT = f"#!/bin/bash\nyum install -y yum-plugin-versionlock\n{CALL}systemctl start metrics\n"
TEMPLATE: dict[str, Any] = {"ImageId": "ami-1", "BlockDeviceMappings": [{"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 80}}]}


def reports(text: str, cluster: Any = None, settings: Any = None) -> tuple[str, Page, str]:
    """The page as text and as its elements, and the Markdown."""
    found = migrate(text, cluster)
    needed = template.variant(settings, "1.33")
    families = template.Families(found.report.family_before, "al2023")
    around = (template.changes(settings, families, needed) if settings else (), next_steps(found, needed, chooses_image=bool(settings)))
    page = html("web.sh", text, found, *around)
    return page, check(page), markdown("web.sh", found, *around)


@pytest.mark.parametrize("cluster", [None, COMPLETE])
@pytest.mark.parametrize("settings", [None, TEMPLATE])
def test_the_page_has_the_sections_of_the_markdown(cluster: Any, settings: Any) -> None:
    _text, page, text = reports(TEXT, cluster, settings)
    headings = {line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")} - {"Findings in the new user data"}
    assert headings <= set(page.texts)
    assert ("result" in page.ids, "differences" in page.ids) == (cluster is not None,) * 2
    assert {"--max-pods", "--node-labels"} <= set(page.texts)


def test_what_an_original_says_is_text() -> None:
    attack = "<script>alert(1)</script>"
    text, page, _markdown = reports(f"#!/bin/bash\necho '{attack}'\n{CALL}", COMPLETE)
    assert attack not in text and "script" not in page.tags


@pytest.mark.parametrize("line", ["export DB_PASSWORD=hunter2", "echo 'root:hunter2' | chpasswd", "curl -u me:hunter2 https://example.com"])
def test_a_secret_is_not_shown(line: str) -> None:
    for cluster in (None, COMPLETE):
        text, _page, report = reports(f"#!/bin/bash\n{line}\n{CALL}", cluster, TEMPLATE)
        assert "hunter2" not in text and "hunter2" not in report


def test_both_texts_are_shown_with_their_lines() -> None:
    _text, page, _markdown = reports(TEXT, COMPLETE)
    assert {"systemctl start metrics", "kind: NodeConfig"} <= {one.strip() for one in page.texts}
