# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What launches the instances of a launch template, and how certain that is."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.launch_templates.launcher import launcher_of

IMAGE = {"ImageId": "ami-1"}
PROFILE = {"IamInstanceProfile": {"Name": "node"}}


def tagged(key: str, value: str = "web") -> dict[str, Any]:
    return {"TagSpecifications": [{"ResourceType": "volume"}, {"ResourceType": "instance", "Tags": [{"Key": key, "Value": value}]}]}


@pytest.mark.parametrize(
    ("settings", "mode", "is_assumption"),
    [
        ({**IMAGE, **PROFILE, **tagged("karpenter.sh/nodepool")}, "karpenter", False),
        ({**IMAGE, **PROFILE, **tagged("karpenter.k8s.aws/ec2nodeclass")}, "karpenter", False),
        ({**IMAGE, **PROFILE, **tagged("karpenter.sh/discovery")}, "self_managed", False),
        ({**IMAGE, **tagged("eks:nodegroup-name")}, "managed_custom_ami", False),
        (tagged("eks:nodegroup-name"), "managed", False),
        (tagged("alpha.eksctl.io/nodegroup-type", "managed"), "managed", False),
        ({**IMAGE, **tagged("alpha.eksctl.io/nodegroup-type", "unmanaged")}, "self_managed", False),
        ({**IMAGE, **PROFILE}, "self_managed", False),
        ({**IMAGE, "HibernationOptions": {"Configured": True}}, "self_managed", False),
        (IMAGE, "managed_custom_ami", True),
        ({**IMAGE, **tagged("Name")}, "managed_custom_ami", True),
        ({**IMAGE, "TagSpecifications": {"Tags": "unusual"}}, "managed_custom_ami", True),
        ({}, "managed", True),
    ],
)
def test_the_launcher(settings: dict[str, Any], mode: str, is_assumption: bool) -> None:
    found = launcher_of(settings)
    assert (found.mode, found.is_assumption) == (mode, is_assumption)
