# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs on nodes runs on Python 3.7 (Amazon Linux 2): every import and attribute of the standard library existed there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.tests.consistency import project
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions


def vermin(*paths: str | Path) -> subprocess.CompletedProcess[str]:
    """Annotations do not count: they are never evaluated."""
    command = [
        str(Path(sys.executable).with_name("vermin")),
        "-t=3.7-",
        "--no-tips",
        "--violations",
        "--no-eval-annotations",
        *map(str, paths),
    ]
    return subprocess.run(command, cwd=project.TOP, capture_output=True, text=True, check=False, timeout=900)


def test_the_node_half_needs_python_3_7_only() -> None:
    done = vermin("plugins/module_utils", "plugins/modules")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("source", "is_new"),
    [
        ("from typing import NamedTuple", False),
        ("from __future__ import annotations\ndef f(x: list[int] | None) -> None: ...", False),
        ("from typing import TypedDict", True),
        ("import typing\nclass A(typing.Protocol): ...", True),
        ("import functools\nf = functools.cached_property", True),
        ("import math\nx = math.prod([1])", True),
        ("if (x := 1): ...", True),
        ("def f(a, /): ...", True),
    ],
)
def test_a_newer_feature_is_seen(tmp_path: Path, source: str, is_new: bool) -> None:
    (tmp_path / "new.py").write_text(source + "\n", encoding="utf-8")
    done = vermin(tmp_path / "new.py")
    assert (done.returncode != 0, mentions(done.stdout, "Minimum")) == (is_new, True), done.stdout + done.stderr
