# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The weaknesses of eksctl that docs/parity.md lists, each shown not to be one here. Functions are named after their rows."""

from __future__ import annotations

import copy
import email
import re
from email import policy
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.importers.eksctl import from_eksctl
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_spec import node_spec
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.importers.eksctl_files import (
    CALLER,
    config,
    refusal,
    user_data,
)

CLUSTER = {**CALLER, "name": "c", "region": "eu-west-1", "kubernetes_version": "1.32"}
FAMILIES = ("al2", "al2023", "ubuntu", "bottlerocket", "windows")
SCRIPTS = ("al2", "ubuntu")
EKSCTL = {
    "al2": "AmazonLinux2",
    "al2023": "AmazonLinux2023",
    "ubuntu": "Ubuntu2204",
    "bottlerocket": "Bottlerocket",
    "windows": "WindowsServer2022CoreContainer",
}
MANY = {"labels": {"b": "1", "a": "2", "c": "3"}, "taints": [{"key": "k", "effect": "NoSchedule"}], "max_pods": 20}


def text(family: str, cluster: dict[str, Any] | None = None, **fields: Any) -> str:
    return render({**CLUSTER, **(cluster or {})}, {"family": family, **fields}).document.text


def refused(family: str, cluster: dict[str, Any] | None = None, **fields: Any) -> str:
    with pytest.raises(SpecError) as caught:
        render({**CLUSTER, **(cluster or {})}, {"family": family, **fields})
    return str(caught.value)


def not_ours(**fields: Any) -> dict[str, str]:
    return {row["path"]: row["reason"] for row in from_eksctl(config(own=fields), CALLER)["not_ours"]}


@pytest.mark.parametrize("family", FAMILIES)
def test_w01_labels_stand_in_one_order(family: str) -> None:
    backwards = {**MANY, "labels": dict(reversed(MANY["labels"].items()))}
    assert text(family, **MANY) == text(family, **backwards)


def test_w02_the_boundary_comes_from_the_content() -> None:
    first, second = (text("al2023", commands={"pre": ["date"]}) for _unused in range(2))
    assert first == second


def test_w03_taints_of_a_mapping_are_sorted() -> None:
    orders = [{"b": "NoExecute", "a": "NoSchedule"}, {"a": "NoSchedule", "b": "NoExecute"}]
    first, second = (user_data({"taints": taints}) for taints in orders)
    assert first == second
    assert "--register-with-taints=a=:NoSchedule,b=:NoExecute" in first


@pytest.mark.parametrize("family", FAMILIES)
def test_w04_rendering_changes_nothing(family: str) -> None:
    group = {"family": family, **copy.deepcopy(MANY)}
    before = copy.deepcopy(group)
    first = render(CLUSTER, group).document.text
    assert group == before
    assert render(CLUSTER, group).document.text == first


@pytest.mark.parametrize("family", ["AmazonLinux2", "AmazonLinux2023", "Ubuntu2204", "WindowsServer2022CoreContainer"])
def test_w05_defaults_do_not_contradict_the_file(family: str) -> None:
    nodeconfig = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n"
    fields = {
        "amiFamily": family,
        "containerRuntime": "containerd",
        "overrideBootstrapCommand": nodeconfig if "2023" in family else "echo x",
    }
    result = from_eksctl(config(own=fields), CALLER)
    spec = node_spec(result["cluster"], result["node_groups"][0])
    again = node_spec(spec["cluster"], spec["node_group"])
    assert again == spec


def test_w06_two_name_servers_survive() -> None:
    assert re.search(
        r"clusterDNS:\n +- 169\.254\.20\.10\n +- 10\.100\.0\.10\n",
        user_data({"kubeletExtraConfig": {"clusterDNS": ["169.254.20.10", "10.100.0.10"]}}),
    )


def test_w07_max_pods_of_managed_windows_is_refused() -> None:
    assert "managedNodeGroups[0].maxPodsPerNode: " in refusal({"amiFamily": EKSCTL["windows"], "maxPodsPerNode": 9}, managed=True)


def test_w08_bottlerocket_gets_the_computed_dns() -> None:
    assert 'cluster-dns-ip = "172.16.0.10"' in user_data({"amiFamily": "Bottlerocket"}, cluster={"service_cidr": "172.16.0.0/12"})


def test_w09_bottlerocket_with_a_custom_ami_gets_everything() -> None:
    fields = {
        "amiFamily": "Bottlerocket",
        "ami": "ami-0123456789abcdef0",
        "labels": {"a": "b"},
        "taints": [{"key": "k", "effect": "NoExecute"}],
    }
    fields["bottlerocket"] = {"settings": {"kubernetes": {"cluster-dns-ip": "1.2.3.4"}}}
    rendered = user_data(fields, managed=True)
    assert all(one in rendered for one in ('a = "b"', ":NoExecute", '"1.2.3.4"', "api-server"))


def test_w10_max_pods_twice_is_an_error(golden_message: GoldenMessages) -> None:
    fields = {"amiFamily": "Bottlerocket", "maxPodsPerNode": 3, "bottlerocket": {"settings": {"kubernetes": {"max-pods": 4}}}}
    golden_message(refusal(fields, managed=True))


def test_w11_a_taint_key_has_several_effects() -> None:
    taints = [{"key": "k", "value": "v", "effect": "NoSchedule"}, {"key": "k", "value": "v", "effect": "NoExecute"}]
    assert 'k = ["v:NoSchedule", "v:NoExecute"]' in text("bottlerocket", taints=taints)


def test_w12_an_override_is_checked_and_kept_as_it_stands() -> None:
    head = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n"
    kept = f"# why\n{head}spec:\n  kubelet:\n    config: {{maxPods: 5}}  # five\n"
    assert kept in text("al2023", override=kept)
    assert "kubelt" in refused("al2023", override=f"{head}spec: {{kubelt: {{}}}}\n")
    assert "node_group.override" in refused("al2023", override="#!/bin/bash\necho x\n")
    assert "node_group.override" in refused("al2023", override="kind: NodeConfig\nspec: {}\n")


def test_w13_kubelet_configuration_is_checked() -> None:
    found = refusal({"kubeletExtraConfig": {"shutdownGracePerod": "30s", "cpuManagerPolicy": 3}})
    assert "nodeGroups[0].kubeletExtraConfig.shutdownGracePerod: " in found
    assert mentions(found, "shutdownGracePeriod", "rename")
    assert "nodeGroups[0].kubeletExtraConfig.cpuManagerPolicy: " in found


def test_w14_part_headers_are_well_formed() -> None:
    document = email.message_from_string(text("al2023", commands={"pre": ["echo äöü 日本"]}), policy=policy.default)
    parts = list(document.iter_parts())
    assert [len(part.get_all("Content-Type")) for part in parts] == [1] * len(parts)
    assert "echo äöü 日本" in parts[0].get_payload(decode=True).decode("utf-8")


def test_w15_reservations_follow_max_pods() -> None:
    group = {"max_pods": 110, "instance": {"type": "m5.large"}}
    assert "1465Mi" in text("al2023", **group, reserved={"kube": "auto"})
    warnings = node_spec(CLUSTER, {"family": "al2023", **group})["warnings"]
    assert [warning["rule"] for warning in warnings] == ["reserved.sized_for_other_max_pods"]
    assert mentions(warnings[0]["message"], "574Mi", "29", "110")
    assert warnings[0]["path"] == "node_group.max_pods"


@pytest.mark.parametrize("family", ["al2", "al2023", "ubuntu"])
def test_w16_labels_known_at_boot_exist_on_al2023_too(family: str) -> None:
    rendered = text(family, labels={"node-lifecycle": "{instance_lifecycle}", "alpha.eksctl.io/instance-id": "{instance_id}"})
    assert "node-lifecycle=${INSTANCE_LIFECYCLE}" in rendered
    assert "alpha.eksctl.io/instance-id=${INSTANCE_ID}" in rendered


@pytest.mark.parametrize("family", ["Ubuntu2204", "Bottlerocket"])
def test_w17_a_runtime_is_never_ignored(family: str, golden_message: GoldenMessages) -> None:
    assert "nodeGroups[0].containerRuntime" in not_ours(amiFamily=family, containerRuntime="containerd")
    golden_message(refusal({"amiFamily": family, "containerRuntime": "dockerd"}))


def test_w18_efa_is_reported() -> None:
    assert "accelerated AMIs" in not_ours(efaEnabled=True)["nodeGroups[0].efaEnabled"]


def test_w19_enclaves_and_volumes_are_reported_and_local_disks_have_a_field() -> None:
    rows = not_ours(enclaveEnabled=True, additionalVolumes=[{"volumeName": "/dev/sdf"}])
    assert "commands.pre" in rows["nodeGroups[0].enclaveEnabled"]
    assert "local_storage" in rows["nodeGroups[0].additionalVolumes"]
    assert "strategy: RAID0" in text("al2023", local_storage={"strategy": "raid0"})


@pytest.mark.parametrize("family", FAMILIES)
def test_w20_an_address_is_an_address(family: str) -> None:
    for hostile in ("1.2.3.4 5", "$(reboot)", "1.2.3.4;reboot"):
        assert "nodeGroups[0].clusterDNS: " in refusal({"amiFamily": EKSCTL[family], "clusterDNS": hostile})


@pytest.mark.parametrize("family", SCRIPTS)
def test_w21_kubelet_starts_once(family: str) -> None:
    rendered = text(family, kubelet={"config": {"shutdownGracePeriod": "30s"}})
    before, call, after = rendered.partition("/etc/eks/bootstrap.sh c")
    assert "50-nodebootstrap.conf" in before
    assert call
    assert "restart" not in before + after


def test_w22_powershell_is_quoted_as_powershell_reads_it() -> None:
    rendered = text("windows", kubelet={"flags": {"logging-format": "it's $HOME"}})
    assert "it''s $HOME" in rendered
    assert "node_group.commands.pre[0]: " in refused("windows", commands={"pre": ["echo </powershell>"]})


def test_w23_commands_of_managed_al2_run() -> None:
    rendered = text("al2", mode="managed", commands={"pre": ["date", "#!/usr/bin/python3\nprint(1)\n"]})
    bodies = [part.get_payload() for part in email.message_from_string(rendered).get_payload()]
    assert [body.split("\n", 1)[0].strip() for body in bodies] == ["#!/bin/bash", "#!/usr/bin/python3"]


@pytest.mark.parametrize("family", FAMILIES)
def test_w24_missing_facts_are_named(family: str) -> None:
    with pytest.raises(SpecError) as caught:
        render({"name": "c"}, {"family": family})
    assert {problem.path for problem in caught.value.problems} == {
        "cluster.endpoint",
        "cluster.certificate_authority",
        "cluster.service_cidr",
    }


def test_w25_no_script_of_the_image_is_edited() -> None:
    found = refusal({"amiFamily": "AmazonLinux2", "maxPodsPerNode": 9}, managed=True)
    assert "managedNodeGroups[0].maxPodsPerNode: " in found
    assert not any("sed " in text(family, **MANY) for family in FAMILIES)


@pytest.mark.parametrize("family", ["al2", "al2023", "ubuntu"])
def test_w26_a_failing_command_keeps_the_node_out_and_commands_share_a_shell(family: str) -> None:
    rendered = text(family, commands={"pre": ["cd /opt", "export A=1"]})
    assert re.search(r"set -e\ntrap '[^']*' EXIT\ncd /opt\nexport A=1\n", rendered)


@pytest.mark.parametrize("family", SCRIPTS)
def test_w27_metadata_is_asked_once(family: str) -> None:
    labels = {"a": "{instance_id}", "b": "{instance_lifecycle}"}
    assert text(family, labels=labels).count("latest/api/token") == 1
    assert "169.254.169.254" not in text(family, labels={"a": "b"})


@pytest.mark.parametrize("family", ["al2", "al2023", "ubuntu"])
def test_w28_metadata_answers_are_checked(family: str) -> None:
    rendered = text(family, labels={"a": "{instance_id}"})
    calls = [line for line in rendered.splitlines() if "curl" in line and "169.254.169.254" in line]
    assert calls
    assert all("-sf" in line and "--retry" in line and "-m 5" in line for line in calls)
    assert "i-[0-9a-f]+" in rendered


@pytest.mark.parametrize("family", FAMILIES)
def test_w29_no_temporary_files_and_no_empty_packages(family: str) -> None:
    rendered = text(family, **MANY)
    assert "/tm" + "p/" not in rendered
    assert "packages" not in rendered


@pytest.mark.parametrize("family", SCRIPTS)
def test_w30_endpoint_and_ca_are_passed(family: str) -> None:
    assert f"--apiserver-endpoint {CALLER['endpoint']} --b64-cluster-ca " in text(family)


@pytest.mark.parametrize("family", ["AmazonLinux2", "Ubuntu2204"])
@pytest.mark.parametrize("ami", ["auto", "auto-ssm", "ami-0123456789abcdef0"])
def test_w31_an_ami_demands_no_override(family: str, ami: str) -> None:
    assert "/etc/eks/bootstrap.sh c " in user_data({"amiFamily": family, "ami": ami})


def test_w32_self_managed_nodes_join_ipv6_clusters() -> None:
    rendered = user_data({}, cluster={"service_cidr": "fd40:6404:f93b::/108"}, kubernetesNetworkConfig={"ipFamily": "IPv6"})
    assert "fd40:6404:f93b::/108" in rendered
    assert "fd40:6404:f93b::a" in rendered


@pytest.mark.parametrize("ami", [None, "ami-0123456789abcdef0"])
@pytest.mark.parametrize("managed", [False, True])
def test_w34_al2_ends_with_its_last_version_in_every_mode(managed: bool, ami: str | None) -> None:
    found = refusal({"amiFamily": "AmazonLinux2", "ami": ami}, managed=managed, metadata={"name": "c", "version": "1.33"})
    assert ".amiFamily: " in found


def test_w35_ssh_makes_no_contradiction() -> None:
    settings = {"host-containers": {"admin": {"enabled": False}}}
    fields = {"amiFamily": "Bottlerocket", "ssh": {"allow": True}, "bottlerocket": {"settings": settings}}
    assert all("enabled = false" in user_data(fields, managed=managed) for managed in (False, True))


@pytest.mark.parametrize("family", ["al2", "al2023", "ubuntu", "windows"])
def test_w36_the_size_is_checked(family: str, golden_message: GoldenMessages) -> None:
    found = refused(family, commands={"pre": [f"echo {'x' * 17000}"]})
    assert mentions(found, "16,384")
    golden_message(found)
    assert re.search(r"commands\.pre 1\d,\d{3}", found)


@pytest.mark.parametrize("family", ["al2", "al2023", "ubuntu", "bottlerocket"])
def test_w37_plain_unless_asked(family: str) -> None:
    group = {"family": family, **MANY}
    assert render(CLUSTER, group).text == render(CLUSTER, group).document.text
    assert render(CLUSTER, group, "gzip_base64").text == render(CLUSTER, group, "gzip_base64").text


def test_w38_the_dns_address_is_computed_from_the_network(golden_message: GoldenMessages) -> None:
    golden_message(refused("al2023", {"service_cidr": "10.100.0.5/16"}))
    assert "--dns-cluster-ip 10.100.0.74" in text("al2", {"service_cidr": "10.100.0.64/26"})


def test_w39_labels_that_eks_refuses_are_refused(golden_message: GoldenMessages) -> None:
    golden_message(refusal({"labels": {"eks.amazonaws.com/nodegroup": "x"}}, managed=True))


def test_w40_no_ami_is_chosen_so_no_type_is_refused_for_it() -> None:
    for kind in ("inf2.xlarge", "trn1.2xlarge", "g5g.xlarge", "p4d.24xlarge"):
        assert user_data({"amiFamily": "AmazonLinux2023", "instanceType": kind})


@pytest.mark.parametrize("family", SCRIPTS)
def test_w41_an_override_replaces_the_call_and_finds_its_variables(family: str) -> None:
    rendered = text(family, override="/opt/join.sh", **MANY)
    assert "/opt/join.sh" in rendered
    assert "/etc/eks/bootstrap.sh c " not in rendered
    assert "KUBELET_EXTRA_ARGS=" in rendered
