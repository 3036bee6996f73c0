# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Imports from the archive of a module, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import zip_imports

FILES = {
    "sent/__init__.py": "",
    "sent/one.py": "from .parts import two\nfrom .parts.three import value\n",
    "sent/parts/__init__.py": "name = 'parts'\n",
    "sent/parts/two.py": "def fail():\n    raise ValueError('two')\n",
    "sent/parts/three.py": "value = 3\n",
}
PROBE = """
import json, runpy, sys, traceback
compiled = []
sys.addaudithook(lambda event, arguments: compiled.append(arguments[1]) if event == "compile" else None)
calls = runpy.run_path(sys.argv[2])
first = sys.meta_path[0]
if sys.argv[3] == "once":
    calls["compile_once"]()
    calls["compile_once"]()
assert sys.meta_path[0] is first, "the finder of ansible-test must stay first"
sys.path.insert(0, sys.argv[1])
import sent.one, sent.parts
count = {name: sum(str(file).endswith(name) for file in compiled) for name in ("one.py", "two.py", "three.py")}
try:
    sent.one.two.fail()
except ValueError:
    shown = traceback.format_exc()
try:
    import sent.parts.four
except ImportError as error:
    missing = error.name
print(json.dumps([count, shown, missing, sent.one.value, sent.parts.name, sent.one.__file__]))
"""


@pytest.mark.parametrize(("way", "expected"), [("as Python does it", 2), ("once", 1)])
def test_a_module_of_an_archive_is_compiled_once(way: str, expected: int, tmp_path: Path) -> None:
    archive = tmp_path / "sent.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for name, text in FILES.items():
            made.writestr(name, text)
    command = [sys.executable, "-c", PROBE, str(archive), zip_imports.__file__, way]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    count, shown, missing, value, package, file = json.loads(done.stdout)
    assert count == {"one.py": expected, "two.py": expected, "three.py": expected}
    assert "raise ValueError('two')" in shown, "a traceback shows the line"
    assert (missing, value, package) == ("sent.parts.four", 3, "parts")
    assert file == f"{archive}/sent/one.py"
