# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that the library renders for nodeadm while the unit tests run, whatever they render it for.

As a plugin of pytest (`-p`) it writes each document once, as a line of JSON [source, text], into the file that RECORDED names.
`unit_tests()` runs them so.
"""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families import al2023

RECORDED = "NODEADM_RECORDED"
TOP = Path(__file__).resolve().parents[2]
DROP_INS = "/etc/eks/nodeadm.d/"

#: Folders and files below tests/unit/plugins/plugin_utils that render node groups. Not test_nothing_is_dropped.py, which makes 3,000
#: documents out of the same fields that test_nodeadm_parity.py fuzzes.
RENDERING = ("families", "outputs", "importers", "test_parity.py", "test_parity_peers.py", "test_golden.py")


def pytest_configure(config: pytest.Config) -> None:
    seen: set[tuple[str, str]] = set()

    def keep(source: str, text: str) -> None:
        if (source, text) not in seen:
            seen.add((source, text))
            with open(os.environ[RECORDED], "a", encoding="utf-8") as handle:
                handle.write(json.dumps([source, text]) + "\n")

    def keep_user_data(document: Any) -> None:
        keep("imds", document.text)

    def keep_files(files: Any) -> None:
        for file in files:
            if file.path.startswith(DROP_INS):
                keep("file", file.content)

    for name, look in (("user_data", keep_user_data), ("files", keep_files)):
        setattr(al2023, name, _watched(getattr(al2023, name), look))


def _watched(function: Callable[..., Any], look: Callable[[Any], None]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*given: Any) -> Any:
        result = function(*given)
        look(result)
        return result

    return wrapper


def unit_tests() -> list[tuple[str, str]]:
    """(source, text) of every document that the unit tests render."""
    folder = TOP / "tests" / "unit" / "plugins" / "plugin_utils"
    with tempfile.TemporaryDirectory() as place:
        recorded = Path(place, "recorded")
        environment = {**os.environ, RECORDED: str(recorded), "PYTHONPATH": str(TOP / ".cache"), "HYPOTHESIS_PROFILE": "ansible-test"}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", __name__]
        # The collection is found at its name, so that these modules are the ones that the tests load.
        done = subprocess.run(
            [*command, *(str(folder / name) for name in RENDERING)], cwd=TOP, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise AssertionError(f"the unit tests failed:\n{done.stdout[-3000:]}{done.stderr[-2000:]}")
        return [tuple(json.loads(line)) for line in recorded.read_text(encoding="utf-8").splitlines()]
