# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of the bed; `make anywhere` and `make anywhere-down` call it.

run [STEP ...]   run the steps: build, create (and delete), kills (default: all)
down             remove everything but the programs and images
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping

from ..lab.progress import LabError, say
from . import bed, scenarios


def _with_bed(work: Callable[[bed.Bed], None]) -> Callable[[], None]:
    def run() -> None:
        bed.down()
        work(scenarios.first_bed())

    return run


STEPS: Mapping[str, Callable[[], None]] = {
    "build": lambda: scenarios.build(pairs=False),
    "create": _with_bed(scenarios.create_and_delete),
    "kills": _with_bed(scenarios.killed),
}


def run(names: list[str]) -> None:
    """Run the steps in their order, and leave what a failed one made, for a look."""
    for name in names or list(STEPS):
        scenarios.timed(name, STEPS[name])
    bed.down()


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="anywhere", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = result.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    one = verbs.add_parser("run")
    one.add_argument("steps", nargs="*", choices=[*STEPS, []], metavar="STEP")
    one.set_defaults(act=lambda options: run(options.steps))
    verbs.add_parser("down").set_defaults(act=lambda _options: bed.down())
    return result


if __name__ == "__main__":
    options = parser().parse_args()
    try:
        options.act(options)
    except LabError as error:
        sys.exit(f"anywhere: {error}")
    say("done")
