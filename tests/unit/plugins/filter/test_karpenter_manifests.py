# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter karpenter_manifests as Ansible calls it; the resources are tested in plugin_utils/test_karpenter.py."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.nodebootstrap.eks.plugins.filter import karpenter_manifests
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

manifests = karpenter_manifests.FilterModule().filters()["karpenter_manifests"]
GROUP = {"name": "web", "family": "al2023", "mode": "karpenter", "max_pods": 58, "labels": {"role": "web"}}


def test_the_resources_of_a_group() -> None:
    found = manifests(GROUP)
    assert found["ec2_node_class"]["spec"] == {"amiFamily": "AL2023", "kubelet": {"maxPods": 58}}
    assert found["node_pool"]["spec"]["template"]["metadata"] == {"labels": {"role": "web"}}


def test_another_mode_is_refused() -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        manifests({**GROUP, "mode": "managed"}, {})
    assert mentions(caught.value, "node_group.mode: ")
