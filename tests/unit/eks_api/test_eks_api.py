# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in for EKS itself: what it accepts and refuses, seen through boto3."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.tests.eks_api import ApiError, AwsStandIn
from ansible_collections.nodebootstrap.eks.tests.eks_api.protocol import ModelError, RestJson

ROLE = "arn:aws:iam::123456789012:role/"
ADMIN = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"
AUTO_NODE = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSAutoNodePolicy"
EVERYWHERE = {"type": "cluster"}


@pytest.fixture
def aws() -> Iterator[AwsStandIn]:
    with AwsStandIn() as server:
        for mode in ("API", "API_AND_CONFIG_MAP", "CONFIG_MAP"):
            server.eks.add_cluster(mode, authentication_mode=mode)
        yield server


def refused(function: Any, **arguments: Any) -> str:
    """The code with which the stand-in refuses a call."""
    with pytest.raises(ClientError) as caught:
        function(**arguments)
    return str(caught.value.response["Error"]["Code"])


def test_the_life_of_an_entry(aws: AwsStandIn) -> None:
    eks = aws.client("eks")
    names = {"clusterName": "API", "principalArn": f"{ROLE}team/admin"}
    made = eks.create_access_entry(**names, kubernetesGroups=["devs"], tags={"a": "b"})["accessEntry"]
    assert made == eks.describe_access_entry(**names)["accessEntry"]
    assert (made["type"], made["username"]) == ("STANDARD", "arn:aws:sts::123456789012:assumed-role/admin/{{SessionName}}")
    assert eks.update_access_entry(**names, kubernetesGroups=["ops"])["accessEntry"]["kubernetesGroups"] == ["ops"]
    eks.associate_access_policy(**names, policyArn=ADMIN, accessScope=EVERYWHERE)
    assert [one["policyArn"] for one in eks.list_associated_access_policies(**names)["associatedAccessPolicies"]] == [ADMIN]
    assert eks.list_access_entries(clusterName="API", associatedPolicyArn=ADMIN)["accessEntries"] == [f"{ROLE}team/admin"]
    eks.tag_resource(resourceArn=made["accessEntryArn"], tags={"c": "d"})
    eks.untag_resource(resourceArn=made["accessEntryArn"], tagKeys=["a"])
    assert eks.list_tags_for_resource(resourceArn=made["accessEntryArn"])["tags"] == {"c": "d"}
    eks.disassociate_access_policy(**names, policyArn=ADMIN)
    eks.delete_access_entry(**names)
    assert eks.list_access_entries(clusterName="API")["accessEntries"] == []
    assert aws.operations(changes_only=True)[:2] == ["eks:CreateAccessEntry", "eks:UpdateAccessEntry"]


@pytest.mark.parametrize(
    ("kind", "groups"), [("EC2_LINUX", {"system:nodes"}), ("EC2_WINDOWS", {"system:nodes", "eks:kube-proxy-windows"}), ("EC2", set())]
)
def test_eks_chooses_the_identity_of_nodes(aws: AwsStandIn, kind: str, groups: set[str]) -> None:
    made = aws.client("eks").create_access_entry(clusterName="API", principalArn=f"{ROLE}n", type=kind)["accessEntry"]
    assert (made["username"], set(made["kubernetesGroups"])) == ("system:node:{{EC2PrivateDNSName}}", groups)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "mode": ({"clusterName": "CONFIG_MAP"}, "InvalidRequestException"),
    "cluster": ({"clusterName": "none"}, "ResourceNotFoundException"),
    "twice": ({"principalArn": f"{ROLE}taken"}, "ResourceInUseException"),
    "session": ({"principalArn": "arn:aws:sts::123456789012:assumed-role/n/i-1"}, "InvalidParameterException"),
    "instance profile": ({"principalArn": "arn:aws:iam::123456789012:instance-profile/n"}, "InvalidParameterException"),
    "service-linked role": ({"principalArn": f"{ROLE}aws-service-role/eks.amazonaws.com/R"}, "InvalidParameterException"),
    "user as node": ({"principalArn": "arn:aws:iam::123456789012:user/n", "type": "EC2_LINUX"}, "InvalidParameterException"),
    "node of another account": ({"principalArn": "arn:aws:iam::999999999999:role/n", "type": "EC2_LINUX"}, "InvalidParameterException"),
    "type": ({"type": "EC2_MACOS"}, "InvalidParameterException"),
    "groups of nodes": ({"type": "EC2_LINUX", "kubernetesGroups": ["a"]}, "InvalidParameterException"),
    "user name of nodes": ({"type": "EC2_LINUX", "username": "a"}, "InvalidParameterException"),
    "reserved group": ({"kubernetesGroups": ["system:masters"]}, "InvalidParameterException"),
    "reserved user name": ({"username": "system:node:a"}, "InvalidParameterException"),
    "reserved tag": ({"tags": {"aws:a": "b"}}, "InvalidParameterException"),
    "too many tags": ({"tags": {f"t{number}": "" for number in range(51)}}, "InvalidParameterException"),
    "unknown role": ({"principalArn": f"{ROLE}unknown"}, "InvalidParameterException"),
}


@pytest.mark.parametrize(("changes", "code"), REFUSED.values(), ids=REFUSED)
def test_refused_entries(aws: AwsStandIn, changes: dict[str, Any], code: str) -> None:
    aws.eks.add_entry("API", f"{ROLE}taken")
    aws.eks.principals = {f"{ROLE}new", f"{ROLE}taken"}
    arguments = {"clusterName": "API", "principalArn": f"{ROLE}new", **changes}
    assert refused(aws.client("eks").create_access_entry, **arguments) == code
    assert list(aws.eks.clusters["API"].entries) == [f"{ROLE}taken"]


def test_entries_of_nodes_are_not_updated_and_have_no_policies(aws: AwsStandIn) -> None:
    eks = aws.client("eks")
    for kind in ("EC2_LINUX", "EC2"):
        aws.eks.add_entry("API", f"{ROLE}{kind}", kind)
        names = {"clusterName": "API", "principalArn": f"{ROLE}{kind}"}
        assert refused(eks.update_access_entry, **names, kubernetesGroups=["a"]) == "InvalidParameterException"
        assert refused(eks.associate_access_policy, **names, policyArn=ADMIN, accessScope=EVERYWHERE) == "InvalidParameterException"
    eks.associate_access_policy(clusterName="API", principalArn=f"{ROLE}EC2", policyArn=AUTO_NODE, accessScope=EVERYWHERE)
    names = {"clusterName": "API", "principalArn": f"{ROLE}EC2_LINUX"}
    assert refused(eks.associate_access_policy, **names, policyArn=AUTO_NODE, accessScope=EVERYWHERE) == "InvalidParameterException"


def test_pages(aws: AwsStandIn) -> None:
    for number in range(5):
        aws.eks.add_entry("API", f"{ROLE}{number}")
    pages = list(aws.client("eks").get_paginator("list_access_entries").paginate(clusterName="API", PaginationConfig={"PageSize": 2}))
    assert [len(page["accessEntries"]) for page in pages] == [2, 2, 1]


def test_a_request_is_repeated_with_its_token(aws: AwsStandIn) -> None:
    eks = aws.client("eks")
    names = {"clusterName": "API", "principalArn": f"{ROLE}n", "clientRequestToken": "one"}
    assert eks.create_access_entry(**names)["accessEntry"] == eks.create_access_entry(**names)["accessEntry"]
    assert refused(eks.create_access_entry, **names, type="EC2_LINUX") == "InvalidParameterException"


def test_managed_groups_and_fargate_get_entries_from_eks(aws: AwsStandIn) -> None:
    for mode, expected in (("API", {"w": "EC2_LINUX", "win": "EC2_WINDOWS", "f": "FARGATE_LINUX"}), ("CONFIG_MAP", {})):
        aws.eks.add_node_group(mode, "w", role=f"{ROLE}w")
        aws.eks.add_node_group(mode, "win", role=f"{ROLE}win", amiType="WINDOWS_CORE_2022_x86_64")
        aws.eks.add_fargate_profile(mode, "f", role=f"{ROLE}f")
        entries = aws.eks.clusters[mode].entries
        assert {arn.removeprefix(ROLE): entry["type"] for arn, entry in entries.items()} == expected
        assert aws.client("eks").list_fargate_profiles(clusterName=mode)["fargateProfileNames"] == ["f"]
        assert aws.client("eks").describe_fargate_profile(clusterName=mode, fargateProfileName="f")["fargateProfile"]["podExecutionRoleArn"]


def test_the_update_of_a_node_group(aws: AwsStandIn) -> None:
    eks = aws.client("eks")
    aws.eks.add_node_group("API", "w", role=f"{ROLE}w", version="1.32")
    names = {"clusterName": "API", "nodegroupName": "w"}
    update = eks.update_nodegroup_version(**names)["update"]
    assert (update["status"], update["type"]) == ("InProgress", "VersionUpdate")
    assert eks.describe_nodegroup(**names)["nodegroup"]["status"] == "UPDATING"
    assert refused(eks.update_nodegroup_version, **names) == "InvalidRequestException"
    look = {"name": "API", "nodegroupName": "w", "updateId": update["id"]}
    assert [eks.describe_update(**look)["update"]["status"] for _look in range(2)] == ["InProgress", "Successful"]
    group = eks.describe_nodegroup(**names)["nodegroup"]
    assert (group["status"], group["version"]) == ("ACTIVE", "1.33")
    assert eks.list_updates(name="API", nodegroupName="w")["updateIds"] == [update["id"]]


def test_an_update_that_fails(aws: AwsStandIn) -> None:
    eks = aws.client("eks")
    aws.eks.on_describe_update = lambda update: update.fail("PodEvictionFailure", "Reached max retries", ["i-1"])
    aws.eks.add_node_group("API", "w", role=f"{ROLE}w", version="1.32")
    update = eks.update_nodegroup_version(clusterName="API", nodegroupName="w")["update"]
    found = eks.describe_update(name="API", nodegroupName="w", updateId=update["id"])["update"]
    assert (found["status"], found["errors"][0]["errorCode"]) == ("Failed", "PodEvictionFailure")
    assert aws.eks.clusters["API"].node_groups["w"]["version"] == "1.32"


TEMPLATE = {"id": "lt-1", "version": "1"}
UPDATES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "version of a custom AMI": ({"amiType": "CUSTOM", "launchTemplate": TEMPLATE}, {"version": "1.33"}),
    "nothing for a custom AMI": ({"amiType": "CUSTOM", "launchTemplate": TEMPLATE}, {}),
    "a first launch template": ({}, {"launchTemplate": TEMPLATE}),
    "another launch template": ({"launchTemplate": TEMPLATE}, {"launchTemplate": {"id": "lt-2", "version": "1"}}),
    "two names of a launch template": ({"launchTemplate": TEMPLATE}, {"launchTemplate": {"id": "lt-1", "name": "a"}}),
    "newer than the cluster": ({}, {"version": "1.34"}),
    "older than the group": ({}, {"version": "1.31"}),
}


@pytest.mark.parametrize(("group", "asked"), UPDATES.values(), ids=UPDATES)
def test_refused_updates(aws: AwsStandIn, group: dict[str, Any], asked: dict[str, Any]) -> None:
    aws.eks.add_node_group("API", "w", role=f"{ROLE}w", version="1.32", **group)
    code = refused(aws.client("eks").update_nodegroup_version, clusterName="API", nodegroupName="w", **asked)
    assert code == "InvalidParameterException"
    assert aws.eks.clusters["API"].node_groups["w"]["status"] == "ACTIVE"


def test_a_new_version_of_the_launch_template(aws: AwsStandIn) -> None:
    eks = aws.client("eks")
    aws.eks.add_node_group("API", "w", role=f"{ROLE}w", amiType="CUSTOM", launchTemplate=TEMPLATE)
    made = eks.update_nodegroup_version(clusterName="API", nodegroupName="w", launchTemplate={"id": "lt-1", "version": "2"})["update"]
    for _look in range(2):
        eks.describe_update(name="API", nodegroupName="w", updateId=made["id"])
    assert aws.eks.clusters["API"].node_groups["w"]["launchTemplate"] == {"id": "lt-1", "version": "2"}


def test_a_change_of_the_size(aws: AwsStandIn) -> None:
    eks = aws.client("eks")
    aws.eks.add_node_group("API", "w", role=f"{ROLE}w")
    sizes = {"minSize": 1, "maxSize": 5, "desiredSize": 3}
    made = eks.update_nodegroup_config(clusterName="API", nodegroupName="w", scalingConfig=sizes)["update"]
    for _look in range(2):
        eks.describe_update(name="API", nodegroupName="w", updateId=made["id"])
    assert eks.describe_nodegroup(clusterName="API", nodegroupName="w")["nodegroup"]["scalingConfig"] == sizes
    assert eks.delete_nodegroup(clusterName="API", nodegroupName="w")["nodegroup"]["status"] == "DELETING"


def test_clusters(aws: AwsStandIn) -> None:
    eks = aws.client("eks")
    eks.create_cluster(
        name="new", roleArn=f"{ROLE}c", resourcesVpcConfig={"subnetIds": ["subnet-1"]}, accessConfig={"authenticationMode": "API"}
    )
    assert eks.describe_cluster(name="new")["cluster"]["accessConfig"]["authenticationMode"] == "API"
    assert "new" in eks.list_clusters()["clusters"]
    eks.delete_cluster(name="new")
    assert refused(eks.describe_cluster, name="new") == "ResourceNotFoundException"


def test_permissions_and_failures(aws: AwsStandIn) -> None:
    aws.deny("eks:ListClusters", "ec2:DescribeInstances", "sts:GetCallerIdentity")
    assert refused(aws.client("eks").list_clusters) == "AccessDeniedException"
    assert refused(aws.client("ec2").describe_instances) == "UnauthorizedOperation"
    aws.fail_once("eks:DescribeCluster", ApiError("ResourceNotFoundException", "gone", 404))
    assert refused(aws.client("eks").describe_cluster, name="API") == "ResourceNotFoundException"
    assert aws.client("eks").describe_cluster(name="API")["cluster"]["name"] == "API"


def test_moto_answers_for_other_services(aws: AwsStandIn) -> None:
    assert aws.client("sts").get_caller_identity()["Account"] == aws.account
    assert aws.client("ec2").describe_instances()["Reservations"] == []
    aws.client("iam").create_role(RoleName="r", AssumeRolePolicyDocument=json.dumps({}))
    assert aws.operations() == ["sts:GetCallerIdentity", "ec2:DescribeInstances", "iam:CreateRole"]
    aws.client("iam").delete_role(RoleName="r")


def test_an_overlay_answers_in_place_of_moto() -> None:
    def refreshes(name: str, body: Any) -> tuple[int, str, bytes] | None:
        if name != "DescribeInstanceRefreshes":
            return None
        group = f"<AutoScalingGroupName>{body['AutoScalingGroupName']}</AutoScalingGroupName>"
        inner = f"<InstanceRefreshes><member>{group}</member></InstanceRefreshes>"
        result = f"<DescribeInstanceRefreshesResult>{inner}</DescribeInstanceRefreshesResult>"
        return 200, "text/xml", f"<DescribeInstanceRefreshesResponse>{result}</DescribeInstanceRefreshesResponse>".encode()

    with AwsStandIn(also={"autoscaling": refreshes}) as aws:
        client = aws.client("autoscaling")
        found = client.describe_instance_refreshes(AutoScalingGroupName="a")["InstanceRefreshes"]
        assert found == [{"AutoScalingGroupName": "a"}]
        assert client.describe_auto_scaling_groups()["AutoScalingGroups"] == []


def test_a_missing_operation_fails_the_test() -> None:
    with pytest.raises(AssertionError), AwsStandIn() as aws:
        assert refused(aws.client("eks").list_addons, clusterName="a") == "StandInException"


def raw(aws: AwsStandIn, method: str, path: str, body: str = "") -> int:
    """The status of a request that boto3 would not send."""
    signed = f"AWS4-HMAC-SHA256 Credential=A/20260101/{aws.region}/eks/aws4_request, SignedHeaders=host, Signature=0"
    request = urllib.request.Request(f"{aws.url}{path}", body.encode() or None, {"Authorization": signed}, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


WRONG = {
    "unknown member": ("POST", "/clusters/API/access-entries", '{"principalArn": "a", "colour": "red"}'),
    "missing member": ("POST", "/clusters/API/access-entries", "{}"),
    "wrong type": ("POST", "/clusters/API/access-entries", '{"principalArn": 3}'),
    "not JSON": ("POST", "/clusters/API/access-entries", "principalArn=a"),
    "unknown query": ("GET", "/clusters/API/access-entries?size=3", ""),
    "page too large": ("GET", "/clusters/API/access-entries?maxResults=101", ""),
    "not a value of the enumeration": (
        "POST",
        "/clusters/API/node-groups",
        '{"nodegroupName": "a", "nodeRole": "r", "subnets": [], "amiType": "X"}',
    ),
    "path member in the body": ("POST", "/clusters/API/access-entries", '{"principalArn": "a", "clusterName": "b"}'),
    "unknown operation": ("PUT", "/clusters/API", ""),
}


@pytest.mark.parametrize(("method", "path", "body"), WRONG.values(), ids=WRONG)
def test_requests_are_checked_by_the_model(aws: AwsStandIn, method: str, path: str, body: str) -> None:
    assert raw(aws, method, path, body) in (400, 404)


@given(
    st.dictionaries(st.sampled_from(["accessEntry", "nodegroup", "x"]), st.integers() | st.text() | st.dictionaries(st.text(), st.text()))
)
@settings(max_examples=40)
def test_responses_are_checked_by_the_model(response: dict[str, Any]) -> None:
    protocol = RestJson("eks")
    try:
        assert json.loads(protocol.response("DescribeAccessEntry", response)) == response
        assert set(response) <= {"accessEntry"}
    except ModelError:
        assert response
