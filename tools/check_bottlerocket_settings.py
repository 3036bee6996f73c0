# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare plugins/plugin_utils/_data/bottlerocket_settings.json with what Bottlerocket's website documents.

    git clone https://github.com/bottlerocket-os/bottlerocket-project-website
    python tools/check_bottlerocket_settings.py bottlerocket-project-website

The website has names and, in prose, types; so a person adds what this script says is missing. Only names are read: its text is
under another licence. Exits with 1 when something is missing. Needs Python 3.11 (tomllib).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomllib

TABLE = Path(__file__).parent.parent / "plugins" / "plugin_utils" / "_data" / "bottlerocket_settings.json"
NOT_FOR_KUBERNETES = {"ecs"}
WILDCARD = re.compile(r"<[^>]*>|customid")


def documented(checkout: Path) -> Iterator[tuple[str, str]]:
    """(release folder, dotted name with C(*) for what users name) of every setting in the website's data."""
    for file in sorted((checkout / "data" / "settings").glob("*/*.toml")):
        if file.stem in NOT_FOR_KUBERNETES:
            continue
        refs = tomllib.loads(file.read_text(encoding="utf-8")).get("docs", {}).get("ref", {})
        for name, entries in refs.items():
            override = next((entry["name_override"] for entry in entries if "name_override" in entry), name)
            yield file.parent.name, f"{file.stem}.{WILDCARD.sub('*', override)}"


def known(node: Any, names: list[str]) -> bool:
    """Whether the table has a dotted name."""
    if not names:
        return True
    if isinstance(node, str):
        return False
    child = node.get("settings", {}).get(names[0], node.get("items"))
    return child is not None and known(child, names[1:])


def main() -> int:
    """Say what is missing."""
    settings = {"type": "table", "settings": json.loads(TABLE.read_text(encoding="utf-8"))["settings"]}
    names = {name: release for release, name in reversed(list(documented(Path(sys.argv[1]))))}
    missing = [f"{release}: {name}" for name, release in sorted(names.items()) if not known(settings, name.split("."))]
    print("\n".join([f"{len(names)} settings documented, {len(missing)} of them missing here", *missing]))
    return 1 if missing or not names else 0


if __name__ == "__main__":
    sys.exit(main())
