# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a stand-in leaves a record: one numbered JSON file per run in /run/recorded, complete or not there at all.

Bytes that are no UTF-8 come as lone surrogates (os.fsencode turns them back).
"""

import itertools
import json
import os
import time

FOLDER = "/run/recorded"


def record(name, **facts):
    """Write /run/recorded/NAME-N.json with the next free N; return N."""
    os.makedirs(FOLDER, exist_ok=True)
    facts["monotonic"] = time.monotonic()
    draft = f"{FOLDER}/.{name}-{os.getpid()}"
    with open(draft, "w", encoding="utf-8") as handle:
        json.dump(facts, handle)
    for number in itertools.count(1):
        try:
            # A hard link either makes the whole file appear or fails: no two runs share a number.
            os.link(draft, f"{FOLDER}/{name}-{number}.json")
        except FileExistsError:
            continue
        os.unlink(draft)
        return number


def content(path):
    """The text of a file, or None where there is none."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as handle:
            return handle.read()
    except OSError:
        return None
