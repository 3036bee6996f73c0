# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter read_user_data: plain data, its option, and arguments of another form. The readers are tested with the library."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.nodebootstrap.eks.plugins.filter import read_user_data
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

read = read_user_data.FilterModule().filters()["read_user_data"]
SCRIPT = "#!/bin/bash\nset -e\n/etc/eks/bootstrap.sh demo --docker-config-json '{}'\n"


def test_the_result_is_plain_data() -> None:
    found = read(SCRIPT, family="al2")
    assert found == {
        "family": "al2",
        "cluster": {"name": "demo"},
        "node_group": {"family": "al2"},
        "layers": [],
        "parts": [
            {
                "index": 0,
                "kind": "shell",
                "media_type": None,
                "line": 1,
                "offset": 0,
                "size": len(SCRIPT),
                "encoding": "",
                "path": "",
                "text": SCRIPT,
            }
        ],
        "files": [],
        "problems": [],
        "not_understood": [
            {
                "where": {"part": 0, "line": 3, "column": 28, "length": 20},
                "text": "--docker-config-json {}",
                "reason": found["not_understood"][0]["reason"],
            }
        ],
    }


def test_the_family_is_told_by_the_text_or_by_the_user() -> None:
    call = "#!/bin/bash\nset -e\n/etc/eks/bootstrap.sh demo\n"
    assert (read(call)["family"], read(call, "ubuntu")["family"]) == (None, "ubuntu")


def test_problems_of_the_structure_have_rules() -> None:
    found = read('MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n--B\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n')
    assert [problem["rule"] for problem in found["problems"]] == ["mime.missing_end"]


@pytest.mark.parametrize("arguments", [(1,), ("a", "al2023")])
def test_arguments_of_another_form(arguments: tuple[Any, ...], golden_message: GoldenMessages) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        read(*arguments)
    golden_message(caught.value)
