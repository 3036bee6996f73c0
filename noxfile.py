# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layers of checks as nox sessions: C(nox -s lint) is C(make lint), C(nox -l) lists them.

The steps are defined once, in tools/checking/steps.py. C(nox) without arguments runs the fast layers.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nox

sys.path.insert(0, str(Path(__file__).resolve().parent / "tools"))

from checking.steps import layers

nox.options.default_venv_backend = "none"  # "make setup" creates the virtual environments
nox.options.sessions = ["lint", "consistency", "unit"]


def register(layer: str) -> None:
    """Add a session that runs one layer."""

    @nox.session(name=layer)
    def run(session: nox.Session) -> None:
        session.run("make", layer, external=True)


for layer in (*layers(), "test", "matrix"):
    register(layer)
