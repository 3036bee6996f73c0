# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of the playbook publish say what launches the instances, and how that is known."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.migration.migrate import migrate
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.publish_input import publish_input
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.sources.read import read
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.lint.texts import call

EVIDENCE = {"TagSpecifications": [{"ResourceType": "instance", "Tags": [{"Key": "eks:nodegroup-name", "Value": "web"}]}]}


@pytest.mark.parametrize(
    ("settings", "mode", "fact"),
    [
        ({}, "managed_custom_ami", "an assumption"),
        ({"IamInstanceProfile": {"Name": "node"}}, "self_managed", "IamInstanceProfile"),
        (EVIDENCE, "managed_custom_ami", "eks:nodegroup-name"),
    ],
)
def test_the_mode(settings: dict[str, Any], mode: str, fact: str) -> None:
    data = {"UserData": base64.b64encode(call().encode()).decode(), "ImageId": "ami-1", **settings}
    (source,) = read(json.dumps({"LaunchTemplateVersions": [{"LaunchTemplateName": "web", "LaunchTemplateData": data}]}).encode()) or ()
    text = publish_input("web", None, "web.yml", migrate(source.data), {}, (), source.settings or {})
    comments = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
    assert mentions(comments, fact)
    assert ("assumption" in comments) is ("assumption" in fact)
    (group,) = yaml.load(text.replace("!unsafe ", ""))["eks_node_groups"]
    assert group["mode"] == mode
