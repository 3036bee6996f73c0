# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the library is loaded under Ansible: compiled once, not again in every process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import errors

COLLECTION = Path(errors.__file__).parents[2]
PROBE = """
import json, sys
from ansible.plugins.loader import filter_loader, init_plugin_loader
init_plugin_loader([sys.argv[1]])
pods = filter_loader.get("nodebootstrap.eks.max_pods")
compiled = []
sys.addaudithook(lambda event, arguments: compiled.append(str(arguments[1])) if event == "compile" else None)
if len(sys.argv) > 2:
    for package in ("kubelet_rules", "model.parse"):
        __import__("ansible_collections.nodebootstrap.eks.plugins.plugin_utils." + package)
else:
    print(json.dumps([pods.j2_function("m5.large"), [name for name in compiled if "plugin_utils" in name]]))
    sys.exit()
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model import parse
print(json.dumps([parse.__file__, [name for name in compiled if "plugin_utils" in name]]))
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The collection in a folder of its own, without anything compiled."""
    target = tmp_path / "ansible_collections" / "nodebootstrap" / "eks"
    for name in ("plugins", "meta"):
        shutil.copytree(COLLECTION / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def load(path: Path, *arguments: str, **environment: str) -> Any:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE" and not name.startswith("ANSIBLE")}
    command = [sys.executable, "-c", PROBE, str(path), *arguments]
    return json.loads(subprocess.run(command, env=kept | environment, capture_output=True, text=True, check=True).stdout)


def test_a_second_process_compiles_nothing_of_the_library_again(installed: Path) -> None:
    pods, first = load(installed)
    assert pods == 29 and first
    assert load(installed) == [29, []]


def test_modules_come_from_the_installed_collection_and_changes_count(installed: Path) -> None:
    file, first = load(installed, "modules")
    changed = Path(file)
    assert changed.is_relative_to(installed) and any(name.endswith("kubelet_rules.py") for name in first)
    changed.write_text(changed.read_text(encoding="utf-8") + "# later\n", encoding="utf-8")
    assert load(installed, "modules") == [file, [file]]


def test_nothing_is_written_where_python_may_not(installed: Path) -> None:
    assert load(installed, PYTHONDONTWRITEBYTECODE="1")[0] == 29
    assert not list((installed / "ansible_collections").rglob("*.pyc"))
