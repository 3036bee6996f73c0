# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/input.md lists exactly the fields that the specification knows."""

from __future__ import annotations

import re

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model import fields
from ansible_collections.nodebootstrap.eks.tests.consistency import project

TEXT = (project.TOP / "docs" / "input.md").read_text(encoding="utf-8")


def listed(heading: str) -> list[str]:
    section = TEXT.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([a-z_]+)` \|", section, re.MULTILINE)


@pytest.mark.parametrize(("heading", "known"), [("cluster", fields.CLUSTER), ("node_group", fields.NODE_GROUP)])
def test_every_field_is_documented_once(heading: str, known: dict[str, object]) -> None:
    assert sorted(listed(heading)) == sorted(known)


@pytest.mark.parametrize(("field", "known"), [("instance", fields.INSTANCE), ("windows", fields.WINDOWS)])
def test_nested_fields_are_documented(field: str, known: dict[str, object]) -> None:
    row = next(line for line in TEXT.splitlines() if line.startswith(f"| `{field}` |"))
    assert [name for name in known if f"`{name}`" not in row] == []
