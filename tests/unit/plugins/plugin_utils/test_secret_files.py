# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where secrets are allowed in user data, only root can read the files that it writes."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE, PEM

PASSWORD = "hunter" + "2"
LINUX: dict[str, Any] = {
    "allow_secrets_in_user_data": True,
    "proxy": {"https": f"http://user:{PASSWORD}@proxy.example.com:3128"},
    "containerd": {"registry_mirrors": {"docker.io": [f"https://mirror.example.com/{PASSWORD}"]}},
    "commands": {"post": [f"export password={PASSWORD}"]},
}
STATIC = {"strategy": "static", "max_pods": 20, "reserved": {"kube": {"cpu": "1"}}}
GROUPS = [
    {"family": "al2", **LINUX, "override": f"export password={PASSWORD}"},
    {"family": "al2", **LINUX, **STATIC},
    {"family": "al2023", **LINUX},
    {"family": "ubuntu", **LINUX, "override": f"export password={PASSWORD}"},
    {"family": "ubuntu", **LINUX, **STATIC},
    {"family": "bottlerocket", "allow_secrets_in_user_data": True, "proxy": LINUX["proxy"]},
    {"family": "windows", "allow_secrets_in_user_data": True, "commands": {"pre": [f"$password = '{PASSWORD}'"]}},
]


@pytest.mark.parametrize("group", [group for group in GROUPS if "proxy" in group and group["family"] != "bottlerocket"])
def test_everybody_reads_the_certificates_of_the_system(group: dict[str, Any]) -> None:
    trusted = [file for file in node_files(COMPLETE, group | {"trust": PEM}) if file["path"].endswith("nodebootstrap-1.crt")]
    assert [file["mode"] for file in trusted] == ["0644"]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{group['family']}-{group.get('strategy', '')}")
def test_only_root_reads_a_file_with_a_secret(group: dict[str, Any]) -> None:
    secret = [file for file in node_files(COMPLETE, group) if PASSWORD in file["content"]]
    assert secret
    assert [file["path"] for file in secret if file["mode"] not in ("0600", "0700")] == []
    modes = re.findall(r"^install -Dm([0-7]+) ", render(COMPLETE, group).document.text, re.MULTILINE)
    assert set(modes) <= {"600", "700"}
