#!/usr/bin/env python
# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Record what kubelet's own code says about every configuration that it refuses.

    python tools/record_refusals.py        # needs Go, for the program of tests/oracle/kubelet_check.py

The configurations are the rows of tests/unit/plugins/plugin_utils/kubelet_rows.py. Unit tests find causes of failed joins in the errors.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[1]
FILE = TOP / "tests/unit/plugins/module_utils/_join/recorded_refusals.json"


#: Stages whose errors are words of the program: it stands for a machine there.
OF_THE_PROGRAM = ("address", "cgroup root")


def refusals(kubelet: Any, minor: int) -> list[dict[str, str]]:
    """The errors of one minor. Rows that kubelet refuses only while it runs are left out. kubelet: of tests/oracle/kubelet_check.py."""
    from ansible_collections.nodebootstrap.eks.tests.oracle.kubelet_groups import as_written
    from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.kubelet_rows import ROWS

    rows = [row for row in ROWS if row.minor == minor]
    answers = kubelet.ask([as_written(row.family, minor, row.refused) for row in rows])
    found = [
        (row.id, answer) for row, answer in zip(rows, answers, strict=True) if answer.get("error") and answer["stage"] not in OF_THE_PROGRAM
    ]
    return [{"id": name, "stage": answer["stage"], "error": answer["error"]} for name, answer in found]


def main() -> int:
    """Write the file."""
    from ansible_collections.nodebootstrap.eks.tests.oracle import kubelet_check

    found = []
    for minor in kubelet_check.PINNED:
        kubelet = kubelet_check.Kubelet(kubelet_check.build(minor))
        found += refusals(kubelet, minor)
        kubelet.close()
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(TOP / ".cache"))
    sys.exit(main())
