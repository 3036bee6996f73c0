# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""python3 tests/oracle/docker/nodelab up | build [SUITE…] | start | addresses NAME… | stop NAME… | clean

up: start a Docker engine if none answers. build: do that and build the images. start: boot the nodes that standard input lists as
JSON, [{"name", "family", …}] (all keys: persistent_nodes.py); they stay until stop. addresses: print their IP addresses as JSON.
clean: remove the persistent nodes of this checkout, containers of runs that have ended, and all images of the harness.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

# Run by path, a package is not one yet.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nodelab import engine, images, persistent_nodes


def main(verb: str = "", *words: str) -> None:
    if verb == "up":
        engine.ensure()
    elif verb == "build":
        for suite in words or images.SUITES:
            print(images.image(suite))
    elif verb == "start":
        engine.ensure()
        persistent_nodes.start(json.load(sys.stdin))
    elif verb == "addresses":
        print(json.dumps(persistent_nodes.addresses(list(words))))
    elif verb == "stop":
        persistent_nodes.stop(list(words))
    elif verb == "clean":
        engine.ensure()
        persistent_nodes.stop_all()
        engine.remove_stale()
        images.remove_all()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except engine.HarnessError as error:
        sys.exit(f"nodelab: {error}")
