# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the benchmarks: all of them, or only some (benchmarks/run.py render size). Ends with status 1 if one exceeds its limit."""

from __future__ import annotations

import importlib
import os
import platform
import sys
from pathlib import Path

BENCHMARKS = ("render", "filter_cost", "size", "lint", "live", "scale", "doctor", "drain")


def main(names: list[str]) -> int:
    unknown = sorted(set(names) - set(BENCHMARKS))
    if unknown:
        print(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
        return 2
    # Where tools/setup.sh shows the checkout as an installed collection.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / ".cache"))
    load = ", ".join(f"{minutes:.1f}" for minutes in os.getloadavg())
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, {platform.machine()}, load {load}")
    over = 0
    for name in names or BENCHMARKS:
        benchmark = importlib.import_module(f"ansible_collections.nodebootstrap.eks.benchmarks.{name}")
        print()
        over |= benchmark.main()
    return over


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
