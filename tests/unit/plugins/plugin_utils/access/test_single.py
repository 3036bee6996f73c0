# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps to one access entry, carried out by the stand-in for EKS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws.access_account import Account
from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws.access_entries import AccessEntries, plain_entry
from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws.api import Api
from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws.client import AwsError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.access_entry_task import OPTIONS, access_entry_task
from ansible_collections.nodebootstrap.eks.tests.eks_api import ApiError, AwsStandIn
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

ROLE = "arn:aws:iam::123456789012:role/"
VIEW, EDIT = ("arn:aws:eks::aws:cluster-access-policy/" + name for name in ("AmazonEKSViewPolicy", "AmazonEKSEditPolicy"))
TAG = {"nodebootstrap.eks/managed": "true"}
DEFAULTS = {name: option.get("default") for name, option in OPTIONS.items()}


@pytest.fixture(scope="module")
def server() -> Iterator[AwsStandIn]:
    with AwsStandIn() as running:
        yield running


@pytest.fixture
def aws(server: AwsStandIn) -> AwsStandIn:
    """A cluster without entries."""
    server.eks.add_cluster("demo", authentication_mode="API")
    server.calls.clear()
    return server


@pytest.fixture(scope="module")
def account(server: AwsStandIn) -> Account:
    """One for many tasks: a session of boto3 and its clients take longer than all of their calls. They remember nothing of a cluster."""
    return Account(options(server), "demo")


def options(aws: AwsStandIn) -> dict[str, Any]:
    keys = {"access_key": "AKIAIOSFODNN7EXAMPLE", "secret_key": "test", "session_token": None, "profile": None}
    return {**keys, "region": aws.region, "endpoint_url": aws.url}


def run(aws: AwsStandIn, name: str = "n", *, check: bool = False, account: Account | None = None, **given: Any) -> dict[str, Any]:
    """The result of a task for the role with this name. account: that of earlier tasks."""
    task = {**DEFAULTS, "cluster": "demo", "principal_arn": f"{ROLE}{name}", **given}
    return access_entry_task(task, account or Account(options(aws), "demo"), plain_entry, check_mode=check)


def settled(aws: AwsStandIn, **given: Any) -> dict[str, Any]:
    """The entry after a task that changes something: check mode changes nothing and foretells it, and a second task changes nothing."""
    before = {arn: dict(entry) for arn, entry in aws.eks.clusters["demo"].entries.items()}
    planned = run(aws, check=True, **given)
    assert aws.eks.clusters["demo"].entries == before
    done = run(aws, **given)
    assert planned["changed"] and done["changed"]
    if done["entry"] is not None:
        for key in ("type", "access_policies", "tags"):
            assert planned["entry"][key] == done["entry"][key]
    assert done["diff"][0]["before"] != done["diff"][0]["after"]
    again = run(aws, **given)
    assert (again["changed"], again["diff"], again["entry"]) == (False, [], done["entry"])
    return dict(done["entry"] or {})


def test_the_life_of_an_entry(aws: AwsStandIn) -> None:
    made = settled(aws, kubernetes_groups=["devs"], tags={"team": "web"}, access_policies=[{"policy": "AmazonEKSViewPolicy"}])
    assert (made["type"], made["kubernetes_groups"], made["tags"]) == ("STANDARD", ["devs"], {**TAG, "team": "web"})
    assert made["access_policies"] == [{"policy": VIEW, "namespaces": []}]
    changed = settled(aws, kubernetes_groups=["ops"], access_policies=[{"policy": VIEW, "namespaces": ["a"]}, {"policy": EDIT}])
    assert changed["access_policies"] == [{"policy": EDIT, "namespaces": []}, {"policy": VIEW, "namespaces": ["a"]}]
    assert changed["tags"] == {**TAG, "team": "web"}
    assert settled(aws, access_policies=[])["kubernetes_groups"] == ["ops"]
    assert settled(aws, tags={"a": "b"}, purge_tags=True)["tags"] == {**TAG, "a": "b"}
    assert settled(aws, state="absent") == {}


def test_what_is_not_described_stays(aws: AwsStandIn) -> None:
    aws.eks.add_entry("demo", f"{ROLE}n", kubernetesGroups=["devs"], username="joe", tags={"a": "b"})
    assert run(aws)["changed"] is False
    assert run(aws)["entry"]["username"] == "joe"
    assert settled(aws, username="jane")["kubernetes_groups"] == ["devs"]


def test_nodes_get_their_identity_from_eks(aws: AwsStandIn) -> None:
    assert settled(aws, type="EC2_WINDOWS")["username"] == "system:node:{{EC2PrivateDNSName}}"


def test_a_policy_of_auto_mode(aws: AwsStandIn) -> None:
    assert settled(aws, type="EC2", access_policies=[{"policy": "AmazonEKSAutoNodePolicy"}])["access_policies"]


def test_entries_of_other_tools(aws: AwsStandIn) -> None:
    aws.eks.add_entry("demo", f"{ROLE}n")
    with pytest.raises(SpecError) as caught:
        run(aws, state="absent")
    assert [problem.rule for problem in caught.value.problems] == ["access.foreign_entry"]
    assert settled(aws, kubernetes_groups=["a"])["managed"] is False
    assert settled(aws, kubernetes_groups=["a"], force=True)["managed"] is True
    assert run(aws, state="absent", force=True)["changed"]


def test_the_type_is_changed_only_with_recreate(aws: AwsStandIn) -> None:
    aws.eks.add_entry("demo", f"{ROLE}n", "EC2_LINUX", tags={"cost": "7"})
    with pytest.raises(SpecError) as caught:
        run(aws)
    assert [problem.rule for problem in caught.value.problems] == ["access.wrong_entry_type"]
    made = settled(aws, recreate=True)
    assert (made["type"], made["tags"]) == ("STANDARD", {**TAG, "cost": "7"})
    assert aws.operations(changes_only=True)[-2:] == ["eks:DeleteAccessEntry", "eks:CreateAccessEntry"]


@pytest.mark.parametrize("given", [{"state": "absent", "force": True}, {"access_policies": []}, {"kubernetes_groups": []}])
def test_your_own_access_is_never_removed(aws: AwsStandIn, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any]) -> None:
    aws.eks.add_entry("demo", f"{ROLE}team/me", kubernetesGroups=["a"])
    aws.client("eks").associate_access_policy(
        clusterName="demo", principalArn=f"{ROLE}team/me", policyArn=EDIT, accessScope={"type": "cluster"}
    )
    monkeypatch.setattr(Account, "caller", lambda _account: "arn:aws:sts::123456789012:assumed-role/me/session")
    with pytest.raises(SpecError) as caught:
        run(aws, "team/me", **given)
    assert [problem.rule for problem in caught.value.problems] == ["access.own_access"]
    assert run(aws, "team/me", tags={"a": "b"})["changed"]


def test_the_caller_is_a_session_of_a_role(aws: AwsStandIn) -> None:
    """moto keeps the sessions that it opens, so the stand-in knows who calls."""
    iam, sts = aws.client("iam"), aws.client("sts")
    iam.create_role(RoleName="me", AssumeRolePolicyDocument="{}", Path="/team/")
    keys = sts.assume_role(RoleArn=f"{ROLE}team/me", RoleSessionName="session")["Credentials"]
    aws.eks.add_entry("demo", f"{ROLE}team/me", tags=TAG)
    mine = {"access_key": keys["AccessKeyId"], "secret_key": keys["SecretAccessKey"], "session_token": keys["SessionToken"]}
    account = Account({**options(aws), **mine}, "demo")
    task = {**DEFAULTS, "cluster": "demo", "principal_arn": f"{ROLE}team/me", "state": "absent"}
    with pytest.raises(SpecError) as caught:
        access_entry_task(task, account, plain_entry, check_mode=False)
    assert [problem.rule for problem in caught.value.problems] == ["access.own_access"]
    iam.delete_role(RoleName="me")


def test_without_access_entries(aws: AwsStandIn) -> None:
    aws.eks.add_cluster("demo", authentication_mode="CONFIG_MAP")
    for state in ("present", "absent"):
        with pytest.raises(SpecError) as caught:
            run(aws, state=state)
        assert [problem.rule for problem in caught.value.problems] == ["access.needs_access_entries"]


def test_a_failed_recreation_restores_the_entry(aws: AwsStandIn) -> None:
    aws.eks.add_entry("demo", f"{ROLE}n", kubernetesGroups=["devs"], tags={"a": "b"})
    aws.client("eks").associate_access_policy(
        clusterName="demo", principalArn=f"{ROLE}n", policyArn=VIEW, accessScope={"type": "namespace", "namespaces": ["x"]}
    )
    before = run(aws)["entry"]
    aws.fail_once("eks:CreateAccessEntry", ApiError("InvalidParameterException", "not now"))
    with pytest.raises(AwsError) as caught:
        run(aws, type="EC2_LINUX", recreate=True)
    assert mentions(caught.value, "not now", f"{ROLE}n")
    after = run(aws)["entry"]
    for key in ("type", "kubernetes_groups", "access_policies", "tags", "username"):
        assert after[key] == before[key]


def test_eks_may_remember_a_deleted_entry_for_a_moment(aws: AwsStandIn) -> None:
    pauses: list[float] = []
    entries = AccessEntries(Api(options(aws)), "demo", pauses.append)
    aws.eks.add_entry("demo", f"{ROLE}n")
    found = entries.find(f"{ROLE}n")
    assert found is not None
    aws.fail_once("eks:CreateAccessEntry", *[ApiError("ResourceInUseException", "in use", 409)] * 2)
    entries.recreate(found, {"type": "EC2_LINUX"})
    assert (len(pauses), aws.eks.clusters["demo"].entries[f"{ROLE}n"]["type"]) == (2, "EC2_LINUX")


@pytest.mark.parametrize("operation", ["eks:DescribeCluster", "eks:DescribeAccessEntry", "eks:CreateAccessEntry"])
def test_a_missing_permission_is_named(server: AwsStandIn, operation: str) -> None:
    with AwsStandIn() as other:
        other.eks.add_cluster("demo")
        other.deny(operation)
        with pytest.raises(AwsError) as caught:
            run(other)
        assert mentions(caught.value, operation)


GROUPS = st.none() | st.lists(st.sampled_from("abc"), unique=True)
POLICIES = st.none() | st.lists(
    st.fixed_dictionaries(
        {"policy": st.sampled_from([VIEW, "AmazonEKSEditPolicy"])},
        optional={"namespaces": st.lists(st.sampled_from("xy"), min_size=1, unique=True)},
    ),
    unique_by=lambda one: one["policy"],
    max_size=2,
)
TAGS = st.none() | st.dictionaries(st.sampled_from("kl"), st.sampled_from(["1", ""]))
DESCRIBED = st.fixed_dictionaries({"kubernetes_groups": GROUPS, "access_policies": POLICIES, "tags": TAGS, "purge_tags": st.booleans()})


@given(st.lists(DESCRIBED, min_size=2, max_size=3))
@settings(max_examples=15, deadline=None)
def test_every_entry_is_reached_from_every_other(server: AwsStandIn, account: Account, described: list[dict[str, Any]]) -> None:
    server.eks.add_cluster("demo", authentication_mode="API")
    for given_options in described:
        planned = run(server, check=True, account=account, **given_options)["entry"]
        entry = run(server, account=account, **given_options)["entry"]
        assert planned["access_policies"] == entry["access_policies"]
        assert planned["tags"] == entry["tags"]
        assert not run(server, account=account, **given_options)["changed"]
        if given_options["kubernetes_groups"] is not None:
            assert set(entry["kubernetes_groups"]) == set(given_options["kubernetes_groups"])
