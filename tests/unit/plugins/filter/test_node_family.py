# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter node_family: names of ours and of eksctl, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.nodebootstrap.eks.plugins.filter import node_family
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.fields import FAMILIES, FAMILY_ALIASES
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

family_of = node_family.FilterModule().filters()["node_family"]


@pytest.mark.parametrize(
    ("written", "meant"), [*((name, name) for name in FAMILIES), *((alias, to) for alias, (to, _unused) in FAMILY_ALIASES.items())]
)
def test_every_name_is_known(written: str, meant: str) -> None:
    assert family_of({"family": written, "other": "fields are not looked at"}) == meant


@pytest.mark.parametrize(
    "group",
    [
        {"family": "al20223"},
        {},
        "al2",
        {"family": ["al2"]},
    ],
)
def test_what_is_no_family_is_refused(group: Any, golden_message: GoldenMessages) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        family_of(group)
    golden_message(caught.value)


@pytest.mark.parametrize("group", [{"family": "al20223"}, {}, "al2"])
def test_the_default_replaces_a_family_that_is_missing_or_unknown(group: Any) -> None:
    assert family_of(group, default="") == ""
    assert family_of({"family": "Ubuntu2204"}, default="") == "ubuntu"
