# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Amazon Linux 2023: what the user data contains, in which order, and what is refused."""

from __future__ import annotations

import copy
import email
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import resolve
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig import envelope
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_config import node_config
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_spec import node_spec
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import error_of, rules_and_paths

CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
CLUSTER = {
    "name": "demo",
    "endpoint": "https://abc.gr7.eu-west-1.eks.amazonaws.com",
    "certificate_authority": CA,
    "service_cidr": "10.100.0.0/16",
    "kubernetes_version": "1.33",
}
IDENTITY = {"name": "demo", "apiServerEndpoint": CLUSTER["endpoint"], "certificateAuthority": CA, "cidr": "10.100.0.0/16"}


def group(**fields: Any) -> dict[str, Any]:
    return {"family": "al2023", **fields}


def text(cluster: dict[str, Any] | None = None, **fields: Any) -> str:
    return render(CLUSTER if cluster is None else cluster, group(**fields)).document.text


def spec(**fields: Any) -> dict[str, Any]:
    """The merged NodeConfig spec that nodeadm sees."""
    return envelope.effective(text(**fields).encode())["spec"]


def problems(cluster: dict[str, Any] | None = None, **fields: Any) -> str:
    with pytest.raises(SpecError) as caught:
        text(cluster, **fields)
    return str(caught.value)


def parts(document: str) -> list[tuple[str, str]]:
    message = email.message_from_string(document)
    return [(part.get_content_type(), part.get_payload()) for part in message.walk() if not part.is_multipart()]


def nodeconfig(**fields: Any) -> str:
    return yaml.dump({"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": fields})


SPEC_ROWS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("plain", {}, {"config": {"clusterDNS": ["10.100.0.10"]}}),
    ("labels", {"labels": {"b": "1", "a": "true"}}, {"config": {"clusterDNS": ["10.100.0.10"]}, "flags": ["--node-labels=a=true,b=1"]}),
    (
        "taints keep their order, and one key may have two effects",
        {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}, {"key": "k", "effect": "NoExecute"}]},
        {"config": {"clusterDNS": ["10.100.0.10"]}, "flags": ["--register-with-taints=k=v:NoSchedule,k=:NoExecute"]},
    ),
    (
        "max pods and the reservation that follows it",
        {"max_pods": 110, "instance": {"type": "m5.large"}, "reserved": {"kube": "auto"}},
        {
            "config": {
                "clusterDNS": ["10.100.0.10"],
                "maxPods": 110,
                "kubeReserved": {"cpu": "70m", "memory": "1465Mi", "ephemeral-storage": "1Gi"},
            }
        },
    ),
    (
        "kubelet.config.clusterDNS of the group is kept (eksctl W-06)",
        {"kubelet": {"config": {"clusterDNS": ["169.254.20.10", "10.100.0.10"]}}},
        {"config": {"clusterDNS": ["169.254.20.10", "10.100.0.10"]}},
    ),
    (
        "kubelet.config and nodeadm.kubelet.config are united",
        {"kubelet": {"config": {"podPidsLimit": 10}}, "nodeadm": {"kubelet": {"config": {"serializeImagePulls": False}}}},
        {"config": {"clusterDNS": ["10.100.0.10"], "podPidsLimit": 10, "serializeImagePulls": False}},
    ),
    (
        "flags are sorted, repeated ones repeated, and blanks quoted as systemd reads them",
        {"kubelet": {"flags": {"v": 4, "container-log-max-size": "10Mi", "root-dir": "a b"}}},
        {"config": {"clusterDNS": ["10.100.0.10"]}, "flags": ["--container-log-max-size=10Mi", '--root-dir="a b"', "--v=4"]},
    ),
]


@pytest.mark.parametrize(("fields", "kubelet"), [row[1:] for row in SPEC_ROWS], ids=[row[0] for row in SPEC_ROWS])
def test_kubelet(fields: dict[str, Any], kubelet: dict[str, Any]) -> None:
    assert spec(**fields) == {"cluster": IDENTITY, "kubelet": kubelet}


def test_local_storage_proxy_and_containerd() -> None:
    found = spec(
        local_storage={"strategy": "raid0", "mount_path": "/mnt/fast"},
        proxy={"https": "http://proxy:3128", "no_proxy": ["10.0.0.0/8"]},
        containerd={"config": {"plugins": {"io.containerd.cri.v1.images": {"discard_unpacked_layers": False}}}},
    )
    assert found["instance"]["localStorage"] == {"strategy": "RAID0", "mountPath": "/mnt/fast"}
    environment = found["instance"]["environment"]["default"]
    assert environment["HTTPS_PROXY"] == "http://proxy:3128"
    assert environment["NO_PROXY"].split(",")[0] == "10.0.0.0/8"
    assert {"169.254.169.254", "10.100.0.0/16", "abc.gr7.eu-west-1.eks.amazonaws.com", ".internal"} <= set(
        environment["NO_PROXY"].split(",")
    )
    assert "discard_unpacked_layers = false" in found["containerd"]["config"]


def test_outpost() -> None:
    cluster = CLUSTER | {"outpost": True, "id": "ab-12"}
    assert envelope.effective(text(cluster).encode())["spec"]["cluster"] == IDENTITY | {"enableOutpost": True, "id": "ab-12"}


def test_ipv6() -> None:
    found = envelope.effective(text(CLUSTER | {"service_cidr": "fd40:6404:f93b::/108"}).encode())["spec"]
    assert found["cluster"]["cidr"] == "fd40:6404:f93b::/108"
    assert found["kubelet"]["config"]["clusterDNS"] == ["fd40:6404:f93b::a"]


def test_order_of_parts() -> None:
    user = "#!/bin/bash\necho mine\n"
    document = text(
        user_data=[user, nodeconfig(kubelet={"config": {"podPidsLimit": 5}})],
        commands={"pre": ["cd /tmp", "#!/usr/bin/python3\nprint(1)\n", "echo last"], "post": ["echo up"]},
        override=nodeconfig(kubelet={"config": {"maxPods": 7}}),
    )
    kinds = [(kind, body.split("\n")[0]) for kind, body in parts(document)]
    assert kinds == [
        ("text/x-shellscript", "#!/bin/bash"),
        ("application/node.eks.aws", "apiVersion: node.eks.aws/v1alpha1"),
        ("text/x-shellscript", "#!/bin/bash"),
        ("text/x-shellscript", "#!/bin/bash"),
        ("application/node.eks.aws", "apiVersion: node.eks.aws/v1alpha1"),
        ("application/node.eks.aws", "apiVersion: node.eks.aws/v1alpha1"),
    ]
    merged = envelope.effective(document.encode())["spec"]
    assert merged["kubelet"]["config"] == {"podPidsLimit": 5, "clusterDNS": ["10.100.0.10"], "maxPods": 7}


def test_pre_commands_share_one_guarded_part_with_scripts_that_bring_their_interpreter() -> None:
    (_unused, body), _unused = parts(text(commands={"pre": ["cd /tmp", "#!/usr/bin/python3\nprint(1)", "echo last"]}))
    assert body == (
        "#!/bin/bash\n"
        "set -e\n"
        "trap '[ $? -eq 0 ] || systemctl disable --now nodeadm-run.service' EXIT\n"
        "cd /tmp\n"
        "install -Dm700 /dev/null /var/lib/cloud/scripts/nodebootstrap/pre-2\n"
        "cat >/var/lib/cloud/scripts/nodebootstrap/pre-2 <<'E'\n"
        "#!/usr/bin/python3\n"
        "print(1)\n"
        "E\n"
        "/var/lib/cloud/scripts/nodebootstrap/pre-2\n"
        "echo last\n"
    )


def test_user_parts_stand_as_they_are() -> None:
    mime = (
        'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n--b\nContent-Type: text/cloud-config\n'
        "Merge-Type: list(append)+dict(recurse_array)+str()\n\n#cloud-config\nruncmd: [[ls]]\n\n--b--\n"
    )
    document = text(user_data=mime)
    assert "Merge-Type: list(append)+dict(recurse_array)+str()" in document
    assert parts(document)[0] == ("text/cloud-config", "#cloud-config\nruncmd: [[ls]]\n")


CONFLICTS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    (
        "scalar",
        {"kubelet": {"config": {"maxPods": 5}}},
        {"max_pods": 10},
        "user_data.conflict node_group.user_data",
    ),
    ("label", {"kubelet": {"flags": ["--node-labels=a=1,b=2"]}}, {"labels": {"a": "3"}}, "user_data.conflict node_group.user_data"),
    (
        "taint",
        {"kubelet": {"flags": ["--register-with-taints=k=1:NoSchedule"]}},
        {"taints": [{"key": "k", "value": "2", "effect": "NoSchedule"}]},
        "user_data.conflict node_group.user_data",
    ),
    ("flag", {"kubelet": {"flags": ["--v=1"]}}, {"kubelet": {"flags": {"v": "2"}}}, "user_data.conflict node_group.user_data"),
    (
        "storage",
        {"instance": {"localStorage": {"strategy": "Mount"}}},
        {"local_storage": {"strategy": "raid0"}},
        "user_data.conflict node_group.user_data",
    ),
]


@pytest.mark.parametrize(("theirs", "ours", "problem"), [row[1:] for row in CONFLICTS], ids=[row[0] for row in CONFLICTS])
def test_a_conflict_is_an_error_without_precedence(
    theirs: dict[str, Any], ours: dict[str, Any], problem: str, golden_message: GoldenMessages
) -> None:
    error = error_of(text, user_data=nodeconfig(**theirs), **ours)
    assert problem in rules_and_paths(error)
    golden_message(error)
    text(user_data=nodeconfig(**theirs), user_data_precedence="ours", **ours)
    text(user_data=nodeconfig(**theirs), user_data_precedence="theirs", **ours)


def test_precedence() -> None:
    theirs = nodeconfig(
        cluster={"name": "other"},
        kubelet={"config": {"maxPods": 5}, "flags": ["--node-labels=a=1,b=2", "--register-with-taints=t=1:NoSchedule"]},
    )
    fields: dict[str, Any] = {
        "user_data": theirs,
        "max_pods": 10,
        "labels": {"a": "9", "c": "3"},
        "taints": [{"key": "u", "effect": "NoExecute"}],
    }
    ours = spec(**fields, user_data_precedence="ours")
    assert ours["cluster"] == IDENTITY
    assert ours["kubelet"]["config"]["maxPods"] == 10
    assert ours["kubelet"]["flags"][-2:] == ["--node-labels=a=9,c=3", "--register-with-taints=t=1:NoSchedule,u=:NoExecute"]
    kept = spec(**fields, user_data_precedence="theirs")
    assert kept["cluster"] == IDENTITY | {"name": "other"}
    assert kept["kubelet"]["config"]["maxPods"] == 5
    assert "--node-labels=c=3" in kept["kubelet"]["flags"]


@pytest.mark.parametrize("section", ["containerd", "instance", "featureGates"])
def test_a_section_that_is_null_says_nothing(section: str) -> None:
    for theirs in ({"kubelet": {"config": {"maxPods": 5}}}, {"containerd": {"config": "version = 2\n"}}):
        given = {"user_data": nodeconfig(**theirs)}
        assert text(**given, nodeadm={section: None}) == text(**given)


def test_managed_adds_only_what_eks_does_not_know() -> None:
    managed = {"mode": "managed", "labels": {"a": "b"}, "taints": [{"key": "k", "effect": "NoSchedule"}]}
    assert text({}, **managed) == ""
    document = text({}, **managed, max_pods=20, commands={"pre": ["echo hi"]}, kubelet={"config": {"podPidsLimit": 9}})
    (script, body), (kind, config) = parts(document)
    assert (script, kind) == ("text/x-shellscript", "application/node.eks.aws")
    assert body == "#!/bin/bash\nset -e\necho hi\n"
    assert yaml.load(config)["spec"] == {"kubelet": {"config": {"maxPods": 20, "podPidsLimit": 9}}}
    assert node_spec({}, group(**managed))["left_to_eks"] == {"labels": {"a": "b"}, "taints": [{"key": "k", "effect": "NoSchedule"}]}


def test_managed_keeps_the_name_servers_of_the_group() -> None:
    document = text(CLUSTER, mode="managed", kubelet={"config": {"clusterDNS": ["169.254.20.10"]}})
    assert yaml.load(parts(document)[0][1])["spec"] == {"kubelet": {"config": {"clusterDNS": ["169.254.20.10"]}}}


def test_custom_ami_renders_like_self_managed() -> None:
    assert text(mode="managed_custom_ami", labels={"a": "b"}) == text(labels={"a": "b"})


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("strategy", {"strategy": "static"}, "family.unsupported_field node_group.strategy"),
    ("pause image", {"containerd": {"pause_image": "x"}}, "family.unsupported_field node_group.containerd.pause_image"),
    ("windows field", {"windows": {"persist": True}}, "family.foreign_field node_group.windows"),
    (
        "post in managed",
        {"mode": "managed", "commands": {"post": ["x"]}},
        "mode.unsupported_field node_group.commands.post",
    ),
    ("boot label in managed", {"mode": "managed", "labels": {"a": "{instance_id}"}}, "labels.known_at_boot_only node_group.labels.a"),
    ("unknown NodeConfig field", {"nodeadm": {"kubelet": {"confg": {}}}}, "nodeconfig.unknown_field node_group.nodeadm.kubelet.confg"),
    (
        "unknown field in user data",
        {"user_data": nodeconfig(kubelet={"maxPodz": 1})},
        "nodeconfig.unknown_field node_group.user_data.spec.kubelet.maxPodz",
    ),
    ("cluster under nodeadm", {"nodeadm": {"cluster": {"name": "x"}}}, "nodeadm.cluster_field node_group.nodeadm.cluster"),
    ("script as override", {"override": "#!/bin/bash\necho\n"}, "nodeconfig.wrong_document node_group.override"),
    (
        "two ways to set max pods",
        {"max_pods": 3, "nodeadm": {"kubelet": {"maxPodsExpression": "3"}}},
        "input.conflict node_group.nodeadm.kubelet.maxPodsExpression",
    ),
    ("quote in a flag", {"kubelet": {"flags": {"root-dir": "a'b"}}}, "kubelet.unsafe_flag_value node_group.kubelet.flags.root-dir"),
    (
        "same flag twice",
        {"kubelet": {"flags": {"v": "1"}}, "nodeadm": {"kubelet": {"flags": ["--v=2"]}}},
        "input.conflict node_group.nodeadm.kubelet.flags[0]",
    ),
    ("TOML for Bottlerocket", {"user_data": "[settings.kubernetes]\nmax-pods = 1\n"}, "user_data.wrong_kind node_group.user_data"),
    (
        "a cloud-config that replaces another one's runcmd",
        {"user_data": ["#cloud-config\nruncmd: [[ls]]\n", "#cloud-config\nruncmd: [[pwd]]\n"]},
        "cloud_config.replaced_key node_group.user_data[1].runcmd",
    ),
    ("text that no program runs", {"user_data": "echo hi\n"}, "user_data.wrong_kind node_group.user_data"),
]


@pytest.mark.parametrize(("fields", "problem"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_refused(fields: dict[str, Any], problem: str, golden_message: GoldenMessages) -> None:
    error = error_of(text, **fields)
    assert problem in rules_and_paths(error)
    golden_message(error)


def test_node_config_is_what_stands_in_the_user_data() -> None:
    fields = group(user_data=nodeconfig(kubelet={"config": {"podPidsLimit": 5}}), override=nodeconfig(kubelet={"config": {"maxPods": 7}}))
    assert node_config(CLUSTER, fields) == envelope.node_configs(render(CLUSTER, fields).document.text.encode())


@pytest.mark.parametrize(
    ("version", "fields", "warned"),
    [
        ("1.28", {"kubelet": {"config": {"podPidsLimit": 5}}}, True),
        ("1.28", {"max_pods": 20}, True),
        ("1.28", {"user_data": nodeconfig(kubelet={"config": {"podPidsLimit": 5}})}, True),
        ("1.28", {"override": nodeconfig(kubelet={"config": {"podPidsLimit": 5}})}, True),
        ("1.28", {"kubelet": {"flags": {"v": 3}}}, False),
        ("1.27", {"kubelet": {"config": {"podPidsLimit": 5}}}, False),
        ("1.29", {"kubelet": {"config": {"podPidsLimit": 5}}}, False),
    ],
)
def test_a_configuration_for_kubelet_1_28_is_warned_of(version: str, fields: dict[str, Any], warned: bool) -> None:
    found = [(warning.rule, warning.path) for warning in resolve(CLUSTER | {"kubernetes_version": version}, group(**fields))[0].warnings]
    assert (("kubelet.drop_in_with_defaults", "cluster.kubernetes_version") in found) == warned


def test_files_for_a_live_node() -> None:
    files = {file["path"]: file for file in node_files(CLUSTER, group(labels={"a": "b"}, commands={"post": ["echo up"]}))}
    assert sorted(files) == [
        "/etc/eks/nodeadm.d/50-nodebootstrap.yaml",
        "/etc/nodebootstrap/post-commands",
        "/etc/nodebootstrap/wait-until-healthy",
        "/etc/systemd/system/nodeadm-config.service.d/50-nodebootstrap.conf",
        "/etc/systemd/system/nodebootstrap-post.service",
    ]
    assert (
        "--config-source file:///etc/eks/nodeadm.d/"
        in files["/etc/systemd/system/nodeadm-config.service.d/50-nodebootstrap.conf"]["content"]
    )
    assert yaml.load(files["/etc/eks/nodeadm.d/50-nodebootstrap.yaml"]["content"])["spec"]["cluster"] == IDENTITY
    assert files["/etc/nodebootstrap/post-commands"]["mode"] == "0755"


def test_input_is_not_changed_and_order_does_not_matter() -> None:
    fields = group(
        labels={"b": "1", "a": "2"}, kubelet={"config": {"podPidsLimit": 5, "evictionHard": {"memory.available": "1Gi"}}}, max_pods=5
    )
    before = copy.deepcopy((CLUSTER, fields))
    first = render(CLUSTER, fields).stored
    assert (CLUSTER, fields) == before
    turned = {key: dict(reversed(value.items())) if isinstance(value, dict) else value for key, value in reversed(fields.items())}
    assert render(dict(reversed(CLUSTER.items())), turned).stored == first


def test_the_specification_is_input_again() -> None:
    fields = group(
        name="w", labels={"a": "b"}, instance={"type": "m5.large"}, max_pods={"mode": "prefix", "ceiling": True}, reserved={"kube": "auto"}
    )
    once = node_spec(CLUSTER, fields)
    assert node_spec(once["cluster"], once["node_group"]) == once
    assert render(once["cluster"], once["node_group"]).stored == render(CLUSTER, fields).stored
