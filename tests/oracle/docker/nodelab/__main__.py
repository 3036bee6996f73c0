# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""python3 tests/oracle/docker/nodelab up | build [SUITE…] | start | stop NAME… | clean

up: an engine that answers. build: that, and the images. clean: containers of runs that are gone, kept ones, and every image of ours.
start: boot the nodes that standard input names, a JSON list of {"name", "family", …} (named.py has all keys); they stay until stop.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

# Run by path, a package is not one yet.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nodelab import engine, images, named


def main(verb: str = "", *words: str) -> None:
    if verb == "up":
        engine.ensure()
    elif verb == "build":
        for suite in words or images.SUITES:
            print(images.image(suite))
    elif verb == "start":
        engine.ensure()
        named.start(json.load(sys.stdin))
    elif verb == "stop":
        named.stop(list(words))
    elif verb == "clean":
        engine.ensure()
        named.stop_all()
        engine.remove_stale()
        images.remove_all()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except engine.HarnessError as error:
        sys.exit(f"nodelab: {error}")
