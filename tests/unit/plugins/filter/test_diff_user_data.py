# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter diff_user_data: plain data, its option, and arguments of another form. The comparison is tested with the library."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.nodebootstrap.eks.plugins.filter import diff_user_data
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

diff = diff_user_data.FilterModule().filters()["diff_user_data"]
CALL = "#!/bin/bash\n/etc/eks/bootstrap.sh demo --kubelet-extra-args '--max-pods=29'\n"


def test_the_result_is_plain_data() -> None:
    assert diff(CALL, CALL.replace("29", "58")) == [{"path": "node_group.max_pods", "before": 29, "after": 58}]
    assert diff(CALL, CALL, family="ubuntu") == []


@pytest.mark.parametrize("arguments", [(1, "a"), ("a", None), ("a", "b", "al2023")])
def test_arguments_of_another_form(arguments: tuple[Any, ...], golden_message: GoldenMessages) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        diff(*arguments)
    golden_message(caught.value)
