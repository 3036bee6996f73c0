# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.access.map_roles import aws_auth_map_roles
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils import problem_list
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import error_of, rules_and_paths

LINUX = ["system:bootstrappers", "system:nodes"]
WINDOWS = [*LINUX, "eks:kube-proxy-windows"]
ARN = "arn:aws:iam::011122223333:role/"


def role(arn: str, groups: list[str]) -> dict[str, Any]:
    return {"rolearn": arn, "username": "system:node:{{EC2PrivateDNSName}}", "groups": groups}


MAPPED: dict[str, tuple[list[tuple[str, str]], list[dict[str, Any]]]] = {
    "none": ([], []),
    "linux": ([(f"{ARN}node", "al2023")], [role(f"{ARN}node", LINUX)]),
    "windows": ([(f"{ARN}win", "windows")], [role(f"{ARN}win", WINDOWS)]),
    "eksctl's names": ([(f"{ARN}win", "windowsserver2022corecontainer")], [role(f"{ARN}win", WINDOWS)]),
    "one role for both": ([(f"{ARN}node", "al2"), (f"{ARN}node", "windows"), (f"{ARN}node", "al2")], [role(f"{ARN}node", WINDOWS)]),
    "order of first occurrence": (
        [(f"{ARN}b", "ubuntu"), (f"{ARN}a", "windows"), (f"{ARN}b", "bottlerocket")],
        [role(f"{ARN}b", LINUX), role(f"{ARN}a", WINDOWS)],
    ),
    "path": ([(f"{ARN}team/eu/node", "al2023"), (f"{ARN}node", "windows")], [role(f"{ARN}node", WINDOWS)]),
    "china": ([("arn:aws-cn:iam::011122223333:role/node", "al2023")], [role("arn:aws-cn:iam::011122223333:role/node", LINUX)]),
    "gov": ([("arn:aws-us-gov:iam::011122223333:role/node", "al2")], [role("arn:aws-us-gov:iam::011122223333:role/node", LINUX)]),
    "every character of a name": ([(f"{ARN}a+=,.@-_9", "al2")], [role(f"{ARN}a+=,.@-_9", LINUX)]),
}


@pytest.mark.parametrize(("entries", "expected"), MAPPED.values(), ids=MAPPED)
def test_roles(entries: list[tuple[str, str]], expected: list[dict[str, Any]]) -> None:
    assert aws_auth_map_roles([{"role_arn": arn, "family": family} for arn, family in entries]) == expected


REFUSED: dict[str, tuple[Any, str]] = {
    "instance profile": ("arn:aws:iam::011122223333:instance-profile/p", "aws_auth.invalid_arn entries[0].role_arn"),
    "assumed role": ("arn:aws:sts::011122223333:assumed-role/node/i-0123", "aws_auth.invalid_arn entries[0].role_arn"),
    "user": ("arn:aws:iam::011122223333:user/joe", "aws_auth.invalid_arn entries[0].role_arn"),
    "federated": ("arn:aws:sts::011122223333:federated-user/joe", "aws_auth.invalid_arn entries[0].role_arn"),
    "name only": ("node", "aws_auth.invalid_arn entries[0].role_arn"),
    "partition": ("arn:aws-moon:iam::011122223333:role/node", "aws_auth.invalid_arn entries[0].role_arn"),
    "account": ("arn:aws:iam::11122223333:role/node", "aws_auth.invalid_arn entries[0].role_arn"),
    "region": ("arn:aws:iam:eu-west-1:011122223333:role/node", "aws_auth.invalid_arn entries[0].role_arn"),
    "service role": (f"{ARN}aws-service-role/eks.amazonaws.com/AWSServiceRoleForAmazonEKS", "aws_auth.invalid_arn entries[0].role_arn"),
    "space": (f"{ARN}a b", "aws_auth.invalid_arn entries[0].role_arn"),
    "empty path": (f"{ARN}/node", "aws_auth.invalid_arn entries[0].role_arn"),
    "long": (f"{ARN}{'a' * 65}", "aws_auth.invalid_arn entries[0].role_arn"),
    "non-ASCII digit": ("arn:aws:iam::٠١١١٢٢٢٢٣٣٣٣:role/node", "aws_auth.invalid_arn entries[0].role_arn"),
    "line break": (f"{ARN}node\n", "input.control_character entries[0].role_arn"),
    "number": (3, "input.wrong_type entries[0].role_arn"),
}


@pytest.mark.parametrize(("arn", "problem"), REFUSED.values(), ids=REFUSED)
def test_refused(arn: Any, problem: str, golden_message: GoldenMessages) -> None:
    error = error_of(aws_auth_map_roles, [{"role_arn": arn, "family": "al2"}])
    assert problem in rules_and_paths(error)
    golden_message(error)
    assert error.problems[0].path == "entries[0].role_arn"


def test_all_problems_at_once() -> None:
    with pytest.raises(SpecError) as caught:
        aws_auth_map_roles([{"role_arn": "x"}, {"family": "plan9", "rolearn": f"{ARN}n"}, 3])
    assert [problem.path for problem in caught.value.problems] == [
        "entries[0].family",
        "entries[0].role_arn",
        "entries[1].family",
        "entries[1].role_arn",
        "entries[1].rolearn",
        "entries[2]",
    ]


@pytest.mark.parametrize("entries", [None, "x", {"role_arn": f"{ARN}n"}, 3])
def test_a_list_is_required(entries: Any, golden_message: GoldenMessages) -> None:
    with pytest.raises(SpecError) as caught:
        aws_auth_map_roles(entries)
    assert problem_list.found(caught.value.problems) == [("input.wrong_type", "entries")]
    golden_message(caught.value)


@given(st.text(max_size=60) | st.builds("arn:aws:iam::011122223333:role/{}".format, st.text(max_size=80)))
def test_what_is_accepted_is_the_arn_of_a_role(arn: str) -> None:
    try:
        result = aws_auth_map_roles([{"role_arn": arn, "family": "al2"}])
    except SpecError as error:
        assert str(error)
    else:
        assert result[0]["rolearn"].count("/") == 1
        assert result[0]["rolearn"].isprintable()
