# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests assert rules, paths and effects. The wording of messages is in golden files, so that it can be improved."""

from __future__ import annotations

import re

from ansible_collections.nodebootstrap.eks.tests.consistency import project

FOLDERS = ("tests/unit/plugins/plugin_utils/", "tests/unit/plugins/filter/", "tests/unit/plugins/action/")
WORDING = re.compile(
    r"pytest\.raises\([^)]*\bmatch="
    r"|\bin (?:str\((?:caught|error|problem)[^)]*\)|message\b|messages\b|problems\(|refusal\(|\w+\[\"msg\"\]|\w+\.result\[\"msg\"\])"
)

ALLOWED = {
    "tests/unit/plugins/action/test_apply.py": 5,
    "tests/unit/plugins/action/test_render.py": 1,
    "tests/unit/plugins/filter/test_filters.py": 5,
    "tests/unit/plugins/filter/test_node_family.py": 2,
    "tests/unit/plugins/plugin_utils/artifacts/test_bottlerocket_kubelet.py": 1,
    "tests/unit/plugins/plugin_utils/test_kubelet_health.py": 1,
    "tests/unit/plugins/plugin_utils/artifacts/test_windows_live.py": 1,
    "tests/unit/plugins/plugin_utils/families/test_al2.py": 4,
    "tests/unit/plugins/plugin_utils/families/test_al2023.py": 3,
    "tests/unit/plugins/plugin_utils/families/test_bottlerocket.py": 4,
    "tests/unit/plugins/plugin_utils/families/test_ubuntu.py": 1,
    "tests/unit/plugins/plugin_utils/families/test_windows.py": 5,
    "tests/unit/plugins/plugin_utils/formats/test_json.py": 1,
    "tests/unit/plugins/plugin_utils/formats/test_mime.py": 1,
    "tests/unit/plugins/plugin_utils/formats/test_shell.py": 1,
    "tests/unit/plugins/plugin_utils/formats/test_systemd.py": 2,
    "tests/unit/plugins/plugin_utils/formats/test_toml.py": 3,
    "tests/unit/plugins/plugin_utils/formats/test_yaml.py": 2,
    "tests/unit/plugins/plugin_utils/importers/test_eksctl.py": 6,
    "tests/unit/plugins/plugin_utils/live/test_apply.py": 6,
    "tests/unit/plugins/plugin_utils/live/test_report.py": 3,
    "tests/unit/plugins/plugin_utils/live/test_waiting.py": 1,
    "tests/unit/plugins/plugin_utils/live/test_windows.py": 1,
    "tests/unit/plugins/plugin_utils/nodeconfig/test_envelope.py": 1,
    "tests/unit/plugins/plugin_utils/nodeconfig/test_expressions.py": 1,
    "tests/unit/plugins/plugin_utils/nodeconfig/test_merge.py": 1,
    "tests/unit/plugins/plugin_utils/nodeconfig/test_predict.py": 2,
    "tests/unit/plugins/plugin_utils/nodeconfig/test_read.py": 1,
    "tests/unit/plugins/plugin_utils/nodeconfig/test_schema.py": 2,
    "tests/unit/plugins/plugin_utils/outputs/test_node_plan.py": 8,
    "tests/unit/plugins/plugin_utils/test_aws_auth.py": 2,
    "tests/unit/plugins/plugin_utils/test_bottlerocket_settings.py": 3,
    "tests/unit/plugins/plugin_utils/test_kubernetes_kubelet.py": 4,
    "tests/unit/plugins/plugin_utils/test_parity.py": 5,
    "tests/unit/plugins/plugin_utils/test_parity_peers.py": 3,
    "tests/unit/plugins/plugin_utils/test_user_data_is_parsed_once.py": 1,
}
"""Assertions about wording in a file. The numbers only shrink: assert the rule and the path (problem_list.py) instead."""


def assertions() -> dict[str, int]:
    """The number of assertions about wording in each file that has any."""
    names = [name for name in project.files() if name.startswith(FOLDERS) and name.endswith(".py")]
    counts = {name: len(WORDING.findall(project.text(name))) for name in names}
    return {name: count for name, count in counts.items() if count}


def test_no_test_asserts_more_wording_than_before() -> None:
    project.none_of(
        f"{name}: {count} assertions about wording, at most {ALLOWED.get(name, 0)}; use problems_of (problem_list.py)"
        for name, count in assertions().items()
        if count > ALLOWED.get(name, 0)
    )
