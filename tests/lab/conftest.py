# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One control plane for the whole session; every test brings its own nodes."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from ansible_collections.nodebootstrap.eks.tests.lab import Lab
from ansible_collections.nodebootstrap.eks.tests.lab.progress import engine


@pytest.fixture(scope="session")
def lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    capture = request.config.pluginmanager.getplugin("capturemanager")

    def say(line: str) -> None:
        with capture.global_and_fixture_disabled():
            print(f"\n{line}", file=sys.stderr, flush=True)

    # Builds take minutes: their progress goes around pytest's capture.
    if capture is not None:
        engine.speaker.append(say)
    with Lab.up() as running:
        yield running
