# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter lint_user_data: plain findings, its options, and arguments of another form. The rules are tested with the library."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.nodebootstrap.eks.plugins.filter import lint_user_data
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

lint = lint_user_data.FilterModule().filters()["lint_user_data"]


def test_findings_are_plain_data() -> None:
    assert lint("#!/bin/bash\nyum install jq\n", "AmazonLinux2")[0] == {
        "rule": "shell.asks_question",
        "severity": "warning",
        "where": {"part": 0, "line": 2, "column": 1, "length": 3},
        "message": "yum install: asks for confirmation, and gets no answer at boot",
        "fix": "add -y",
    }
    assert lint("#!/bin/bash\ntrue\n") == []


def test_the_family_and_the_version_decide() -> None:
    call = "#!/bin/bash\n/etc/eks/bootstrap.sh shop\n"
    assert {finding["severity"] for finding in lint(call, "al2")} == {"note"}
    assert "bootstrap.removed_from_image" in [finding["rule"] for finding in lint(call, family="al2023")]
    assert "family.not_in_version" in [finding["rule"] for finding in lint(call, "al2", kubernetes_version="1.33")]


def test_the_instance_type_decides() -> None:
    settings = "[settings.kubernetes]\nmax-pods = 110\n"
    assert [finding["rule"] for finding in lint(settings)] == ["bottlerocket.no_cluster"]
    assert "capacity.needs_prefixes" in [finding["rule"] for finding in lint(settings, instance_type="m5.large")]
    assert "capacity.needs_prefixes" not in [finding["rule"] for finding in lint(settings, instance_type="m5.8xlarge")]


OTHER_FORMS = [(1,), ("a", "al3"), ("a", None, 1.3), (None, "al3", "1"), ("a", None, None, "m5.larg"), ("a", None, None, 5)]


@pytest.mark.parametrize("arguments", OTHER_FORMS)
def test_arguments_of_another_form(arguments: tuple[Any, ...], golden_message: GoldenMessages) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        lint(*arguments)
    golden_message(caught.value)
