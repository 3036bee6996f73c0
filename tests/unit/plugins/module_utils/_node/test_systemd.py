# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemd reports of units."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import systemd
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

SHOWN = """Id=containerd.service
LoadState=loaded
ActiveState=active
SubState=running
UnitFileState=enabled
MainPID=17

MainPID=0
Id=real-name.service
LoadState=not-found
ActiveState=inactive
SubState=dead
UnitFileState=
"""


def test_one_call_for_all_units_in_the_order_of_the_question(programs: Any) -> None:
    calls = programs("systemctl", f"cat <<'EOF'\n{SHOWN}EOF\n")
    found = systemd.read_units(["containerd.service", "alias.service", "containerd.service"])
    assert len(calls.read_text().splitlines()) == 1
    assert found["containerd.service"][:6] == ("containerd.service", "loaded", "active", "running", "enabled", 17)
    assert found["alias.service"].load == "not-found" and found["alias.service"].needs_enable
    assert systemd.read_units([]) == {}


def test_a_silent_systemd_is_refused(programs: Any, golden_message: GoldenMessages) -> None:
    programs("systemctl", "echo 'no bus' >&2; exit 1\n")
    with pytest.raises(ApplyRefused) as caught:
        systemd.read_units(["a.service"])
    golden_message(caught.value)
