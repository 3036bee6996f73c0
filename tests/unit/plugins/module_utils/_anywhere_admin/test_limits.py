# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of inotify are raised, and never lowered."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere_admin import limits
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused


def kernel(folder: Path, watches: str, instances: str) -> str:
    """A folder such as that of the kernel."""
    (folder / "max_user_watches").write_text(watches, encoding="ascii")
    (folder / "max_user_instances").write_text(instances, encoding="ascii")
    return str(folder)


def test_only_lower_limits_are_raised(tmp_path: Path) -> None:
    folder = kernel(tmp_path, "1048576\n", "128\n")
    before = limits.read(folder)
    after = limits.raised(before, {"max_user_watches": 524288, "max_user_instances": 512})
    (tmp_path / "max_user_watches").chmod(0o400)
    limits.write(before, after, folder)
    assert limits.read(folder) == after == {"max_user_watches": 1048576, "max_user_instances": 512}
    assert (tmp_path / "max_user_watches").read_text(encoding="ascii") == "1048576\n"


@pytest.mark.parametrize("content", ["", "many"])
def test_limits_that_cannot_be_read_are_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(ApplyRefused):
        limits.read(kernel(tmp_path, content, "128"))
    with pytest.raises(ApplyRefused):
        limits.read(str(tmp_path / "none"))


def test_a_kernel_that_refuses(tmp_path: Path) -> None:
    low, high = ({"max_user_watches": number, "max_user_instances": number} for number in (1, 2))
    with pytest.raises(ApplyRefused):
        limits.write(low, high, str(tmp_path / "none"))
