# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""python3 tests/oracle/docker/nodelab up | build [SUITE…] | clean

up: an engine that answers. build: that, and the images. clean: containers of runs that are gone, and every image of ours.
"""

from __future__ import annotations

import sys
from pathlib import Path

# Run by path, a package is not one yet.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nodelab import engine, images


def main(verb: str = "", *suites: str) -> None:
    if verb == "up":
        engine.ensure()
    elif verb == "build":
        for suite in suites or images.SUITES:
            print(images.image(suite))
    elif verb == "clean":
        engine.ensure()
        engine.remove_stale()
        images.remove_all()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except engine.HarnessError as error:
        sys.exit(f"nodelab: {error}")
