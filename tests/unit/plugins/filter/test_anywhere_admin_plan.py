# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter anywhere_admin_plan as Ansible calls it; the plan is tested in plugin_utils/anywhere/test_admin_plan.py."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.nodebootstrap.eks.plugins.filter import anywhere_admin_plan

plan = anywhere_admin_plan.FilterModule().filters()["anywhere_admin_plan"]
MACHINE = {"work_dir": "~/eks-anywhere", "tools_dir": "/usr/local/bin"}
SYSTEM = {"id": "ubuntu"}


def test_a_plan_is_plain_data() -> None:
    assert plan(MACHINE, SYSTEM)["packages"] == ["docker.io"]


def test_all_problems_are_in_one_error() -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        plan({**MACHINE, "usr": "me", "work_dir": "x"}, system=SYSTEM)
    assert "admin_machine.usr" in str(caught.value) and "admin_machine.work_dir" in str(caught.value)
