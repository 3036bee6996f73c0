# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter explain_user_data: plain data, its options, and arguments of another form. The explanation is tested with the library."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.nodebootstrap.eks.plugins.filter import explain_user_data
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

explain = explain_user_data.FilterModule().filters()["explain_user_data"]
CALL = "#!/bin/bash\n/etc/eks/bootstrap.sh demo --kubelet-extra-args '--max-pods=29'\n"


def test_the_result_is_plain_data() -> None:
    result = explain(CALL, "m5.large", "1.30", family="al2")
    assert set(result) == {"timeline", "files", "kubelet", "unknown"}
    assert result["timeline"][0] == {
        "stage": "bootstrap",
        "unit": "cloud-final.service",
        "does": "calls /etc/eks/bootstrap.sh",
        "where": {"part": 0, "line": 2, "column": 1, "length": 63},
        "conditional": False,
    }
    assert [row["value"] for row in result["kubelet"]["config"] if row["name"] == "maxPods"] == [29]


@pytest.mark.parametrize("arguments", [(1,), ("a", "m5.lrage"), ("a", None, 1.3)])
def test_arguments_of_another_form(arguments: tuple[Any, ...], golden_message: GoldenMessages) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        explain(*arguments)
    golden_message(caught.value)
