# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter migrate_user_data: plain data, and arguments of another form. What becomes of arguments is tested with the library."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.nodebootstrap.eks.plugins.filter import migrate_user_data
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

migrate = migrate_user_data.FilterModule().filters()["migrate_user_data"]
CALL = "#!/bin/bash\necho hello\n/etc/eks/bootstrap.sh demo --use-max-pods true --kubelet-extra-args '--max-pods=20'\n"


def test_the_result_is_plain_data() -> None:
    found = migrate(CALL, COMPLETE)
    assert json.loads(json.dumps(found)) == found
    assert found.keys() == {"user_data", "cluster", "node_group", "report"}
    assert found["node_group"] == {"family": "al2023", "commands": {"pre": ["set +e\necho hello\n:\n"]}, "max_pods": 20}
    report = found["report"]
    assert report["arguments"][1] == {
        "name": "--use-max-pods",
        "value": "true",
        "where": {"part": 0, "line": 3, "column": 43, "length": 4},
        "outcome": "dropped",
        "to": None,
        "reason": "is the default: the number of pods follows from the instance type",
    }
    assert report["kept"] == [
        {"where": {"part": 0, "line": 2, "column": 1, "length": 10}, "to": "node_group.commands.pre", "text": "echo hello"}
    ]
    assert report["needs_decision"] == []


def test_there_is_no_user_data_before_all_decisions_are_made() -> None:
    found = migrate(CALL, family="Bottlerocket")
    assert found["user_data"] is None
    assert found["report"]["family_after"] == "bottlerocket"
    paths = [one["path"] for one in found["report"]["needs_decision"]]
    assert {"cluster.endpoint", "node_group.commands.pre"} <= set(paths)


@pytest.mark.parametrize("arguments", [(1,), (CALL, "demo"), (CALL, None, "al3"), ("", None), (CALL, {"endpoint": 5})])
def test_arguments_of_another_form(arguments: tuple[Any, ...], golden_message: GoldenMessages) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        migrate(*arguments)
    golden_message(caught.value)
