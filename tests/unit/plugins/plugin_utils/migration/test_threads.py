# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the migration says about user data of public threads: the new user data and the report, whole in a golden file."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.lint.lint import lint
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.migration.migrate import migrate
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.migration_report import markdown
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.migration.threads import THREADS


@pytest.mark.parametrize("name", THREADS)
def test_a_thread(name: str, golden_message: Any) -> None:
    thread = THREADS[name]
    found = migrate(thread.text, thread.cluster)
    report = markdown("old.userdata", found)
    golden_message(textwrap.indent(f"{thread.url}\n\n{report}\n{found.user_data or ''}", "    "))
    assert bool(found.report.decisions) == thread.needs == (found.user_data is None)
    assert migrate(thread.text, thread.cluster) == found


@pytest.mark.parametrize("name", [name for name, thread in THREADS.items() if not thread.needs])
def test_the_result_has_no_error(name: str) -> None:
    text = migrate(THREADS[name].text, THREADS[name].cluster).user_data
    assert text is not None
    assert [finding for finding in lint(text, "al2023").findings if finding.rule.severity == "error"] == []


def test_the_page_lists_every_thread() -> None:
    page = (Path(__file__).resolve().parents[5] / "docs/migrating-from-al2.md").read_text(encoding="utf-8")
    assert [url for url in re.findall(r"\| \[[^]]+\]\((https://[^)]+)\) \|", page)] == [thread.url for thread in THREADS.values()]
