# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the examples render to, byte for byte. C(make golden) writes the files anew; the difference is reviewed."""

from __future__ import annotations

import pytest

from ansible_collections.nodebootstrap.eks.tools.golden import GOLDEN, rendered

RENDERED = rendered()
WRITTEN = {str(path.relative_to(GOLDEN)): path for path in GOLDEN.rglob("*") if path.is_file()}


def test_the_same_files() -> None:
    assert sorted(RENDERED) == sorted(WRITTEN)


@pytest.mark.parametrize("name", sorted(RENDERED.keys() & WRITTEN.keys()))
def test_the_same_bytes(name: str) -> None:
    assert RENDERED[name].encode("utf-8") == WRITTEN[name].read_bytes()
