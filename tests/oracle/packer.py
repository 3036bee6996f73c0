# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packer 1.6.6 of Debian 12, the last release whose plugins are part of the program. Newer releases download them from GitHub."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

#: Unpacked by tools/setup.sh: the machine may have a newer one.
PROGRAM = Path(__file__).resolve().parents[2] / ".cache" / "packer" / "usr" / "bin" / "packer"


def packer(folder: Path, *arguments: str, timeout: float = 300, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Packer in a directory, without AWS credentials. What it keeps for itself lies below the directory."""
    if not PROGRAM.is_file():
        pytest.fail("no Packer 1.6.6: run tools/setup.sh packer")
    whole = {**_environment(folder / ".home"), **environment}
    return subprocess.run([PROGRAM, *arguments], cwd=folder, env=whole, capture_output=True, text=True, check=False, timeout=timeout)


def _environment(home: Path) -> dict[str, str]:
    # Packer runs ansible-playbook, also to validate.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {"PATH": path, "HOME": str(home), "CHECKPOINT_DISABLE": "1", "PACKER_NO_COLOR": "1", "LANG": "C.UTF-8"}
