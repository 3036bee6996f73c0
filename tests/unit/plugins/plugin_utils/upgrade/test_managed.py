# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which update of a managed node group EKS is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.upgrade import managed

OPTIONS = {"max_unavailable": None, "kubernetes_version": None, "release_version": None, "delete_after_timeout": False}
GROUP = {"nodegroupName": "workers", "version": "1.33", "releaseVersion": "1.33.1-20260101", "amiType": "AL2023_x86_64_STANDARD"}
TEMPLATE = {"launchTemplate": {"id": "lt-1", "name": "workers", "version": "3"}}
CUSTOM = {**GROUP, **TEMPLATE, "amiType": "CUSTOM"}

ROWS: list[tuple[dict[str, Any], dict[str, Any], str, dict[str, Any]]] = [
    (GROUP, {}, "", {"version": "1.34"}),
    ({**GROUP, "version": "1.34"}, {}, "", {}),
    (GROUP, {"kubernetes_version": "1.33"}, "", {}),
    (GROUP, {"release_version": "1.33.2-20260301", "kubernetes_version": "1.33"}, "", {"releaseVersion": "1.33.2-20260301"}),
    ({**GROUP, "version": "1.34"}, {"release_version": "latest"}, "", {"version": "1.34"}),
    (GROUP, {"delete_after_timeout": True}, "", {"version": "1.34", "force": True}),
    ({**GROUP, **TEMPLATE}, {}, "4", {"launchTemplate": {"id": "lt-1", "version": "4"}}),
    ({**GROUP, **TEMPLATE}, {}, "3", {}),
    (CUSTOM, {}, "4", {"launchTemplate": {"id": "lt-1", "version": "4"}}),
    (CUSTOM, {}, "3", {}),
]


@pytest.mark.parametrize(("group", "options", "template", "fields"), ROWS)
def test_the_request_has_what_changes(group: dict[str, Any], options: dict[str, Any], template: str, fields: dict[str, Any]) -> None:
    assert managed.request_for(group, {**OPTIONS, **options}, "1.34", template) == fields


@pytest.mark.parametrize(
    ("group", "options", "template"),
    [
        (GROUP, {}, "4"),
        (CUSTOM, {"kubernetes_version": "1.34"}, ""),
        (CUSTOM, {"release_version": "latest"}, ""),
        (GROUP, {"max_unavailable": 2}, ""),
        ({**GROUP, "updateConfig": {"maxUnavailablePercentage": 33}}, {"max_unavailable": "34%"}, ""),
    ],
)
def test_what_eks_would_refuse_or_ignore_is_refused(group: dict[str, Any], options: dict[str, Any], template: str) -> None:
    with pytest.raises(managed.CannotUpdate):
        managed.request_for(group, {**OPTIONS, **options}, "1.34", template)


def test_the_same_max_unavailable_is_accepted() -> None:
    group = {**GROUP, "updateConfig": {"maxUnavailablePercentage": 33}}
    assert managed.request_for(group, {**OPTIONS, "max_unavailable": "33%"}, "1.34", "") == {"version": "1.34"}
