# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The time that lint needs for a text with thousands of unknown names grows with the text, not with the tables it is compared with."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.lint.lint import lint


def reads_of_the_table(monkeypatch: pytest.MonkeyPatch, count: int, version: tuple[int, int] | None) -> int:
    """How often the table of feature gates is asked for while a call with so many unknown gates is checked."""
    reads = 0
    original = data.kubelet_gates

    def counted() -> Any:
        nonlocal reads
        reads += 1
        return original()

    gates = ",".join(f"Unknown{index}of{count}=true" for index in range(count))
    text = f"#!/bin/bash\n/etc/eks/bootstrap.sh demo --kubelet-extra-args '--feature-gates={gates}'\n"
    with monkeypatch.context() as patch:
        patch.setattr(data, "kubelet_gates", counted)
        found = lint(text.encode(), "al2", version).findings
    assert "kubelet.unknown_feature_gate" in {finding.rule.id for finding in found}
    return reads


@pytest.mark.parametrize("version", [(1, 33), None])
def test_the_table_of_feature_gates_is_read_once(monkeypatch: pytest.MonkeyPatch, version: tuple[int, int] | None) -> None:
    reads_of_the_table(monkeypatch, 5, version)
    assert reads_of_the_table(monkeypatch, 300, version) == reads_of_the_table(monkeypatch, 3, version)
