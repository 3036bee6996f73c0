# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter image_plan as Ansible calls it; the plan is tested in plugin_utils/image/test_plan.py."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.nodebootstrap.eks.plugins.filter import image_plan
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

plan = image_plan.FilterModule().filters()["image_plan"]
BUILDER = {"id": "amzn", "version_id": "2023", "architecture": "x86_64"}


def test_a_plan_is_plain_data() -> None:
    found = plan({"family": "al2023", "kubernetes_version": "1.34"}, BUILDER)
    assert found["family"] == "al2023" and "containerd" in found["packages"]


def test_all_problems_are_in_one_error(golden_message: GoldenMessages) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        plan({"famly": "al2023", "programs": {"kubelet": {"url": "https://example.com/kubelet"}}}, builder={**BUILDER, "id": "ubuntu"})
    golden_message(caught.value)
