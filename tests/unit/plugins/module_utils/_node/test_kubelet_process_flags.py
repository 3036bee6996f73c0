# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the command line of kubelet is parsed."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import kubelet_process as flags
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import data, kubelet_flags


def test_the_tables_are_those_of_the_library() -> None:
    known = data.kubelet_flags()["flags"]
    assert {name: row["config"] for name, row in known.items() if "config" in row} == flags.FIELDS, "tools/refresh_kubelet.py knows others"
    assert {name for name, row in known.items() if row.get("type") in kubelet_flags._REPEATABLE} == flags.REPEATABLE


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([], {}),
        (["--config", "/a", "--config=/b"], {"config": "/b"}),
        (["--node_labels=a=b", "--node-labels", "c=d,e=f"], {"node-labels": ["a=b", "c=d,e=f"]}),
        (["--register-node", "--v=2", "-v", "4"], {"register-node": "true", "v": "4"}),
        (["-v=3"], {"v": "3"}),
        (["-v9"], {"v": "9"}),
        (["--oom-score-adj", "-999", "--root-dir", "-"], {"oom-score-adj": "-999", "root-dir": "-"}),
        (["--node-ip="], {"node-ip": ""}),
        (["--fail-swap-on", "--node-ip", "1.2.3.4", "stray"], {"fail-swap-on": "true", "node-ip": "1.2.3.4"}),
        (["-I", "/opt/program.py", "--v=1", "--", "--v=2"], {"v": "1"}),
    ],
)
def test_flags(words: list[str], found: dict[str, Any]) -> None:
    assert flags.parse(words) == found
