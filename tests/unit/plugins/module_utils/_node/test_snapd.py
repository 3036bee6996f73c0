# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What snapd reports of a snap."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import snapd
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages


def test_snap_settings_as_snapd_prints_them(programs: Any, golden_message: GoldenMessages) -> None:
    programs("snap", 'echo \'{"a": "b", "n": 3}\'\n')
    assert snapd.read_settings("kubelet-eks") == {"a": "b", "n": 3}
    programs("snap", "echo 'error: snap \"kubelet-eks\" has no configuration' >&2; exit 1\n")
    assert snapd.read_settings("kubelet-eks") == {}
    programs("snap", "echo 'error: snap \"kubelet-eks\" is not installed' >&2; exit 1\n")
    with pytest.raises(ApplyRefused) as caught:
        snapd.read_settings("kubelet-eks")
    golden_message(caught.value)
    programs("snap", "echo '[]'\n")
    with pytest.raises(ApplyRefused) as caught:
        snapd.read_settings("kubelet-eks")
    golden_message(caught.value)
