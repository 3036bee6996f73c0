# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bottlerocket: which settings the user data contains, and what is refused."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems, SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import toml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils import problem_list
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import error_of, rules_and_paths

CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
CLUSTER = {
    "name": "demo",
    "endpoint": "https://abc.gr7.eu-west-1.eks.amazonaws.com",
    "certificate_authority": CA,
    "service_cidr": "10.100.0.0/16",
    "kubernetes_version": "1.33",
}
IDENTITY = {"api-server": CLUSTER["endpoint"], "cluster-certificate": CA, "cluster-name": "demo", "cluster-dns-ip": "10.100.0.10"}


def text(cluster: dict[str, Any] | None = None, **fields: Any) -> str:
    return render(CLUSTER if cluster is None else cluster, {"family": "bottlerocket", **fields}).document.text


def settings(cluster: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    found = Problems()
    tree = toml.load(text(cluster, **fields), "test", found)
    assert not list(found)
    return tree.get("settings", {})


def kubernetes(**fields: Any) -> dict[str, Any]:
    """settings.kubernetes without what every self-managed node gets."""
    found = settings(**fields)["kubernetes"]
    assert {key: found.pop(key) for key in IDENTITY} == IDENTITY
    return found


def problems(cluster: dict[str, Any] | None = None, **fields: Any) -> str:
    with pytest.raises(SpecError) as caught:
        text(cluster, **fields)
    return str(caught.value)


def br(**fields: Any) -> dict[str, Any]:
    return {"bottlerocket": {"settings": fields}}


def config(**fields: Any) -> dict[str, Any]:
    return {"kubelet": {"config": fields}}


TAINTS = [
    {"key": "k", "value": "v", "effect": "NoSchedule"},
    {"key": "k", "effect": "NoExecute"},
    {"key": "example.com/other", "value": "x", "effect": "PreferNoSchedule"},
]

KUBERNETES_ROWS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("nothing but the cluster; its DNS is always written (eksctl W-08)", {}, {}),
    ("labels stay text", {"labels": {"b": "1", "a.b/c": "true", "e": ""}}, {"node-labels": {"a.b/c": "true", "b": "1", "e": ""}}),
    (
        "one taint key keeps every effect (eksctl W-11)",
        {"taints": TAINTS},
        {"node-taints": {"k": ["v:NoSchedule", ":NoExecute"], "example.com/other": ["x:PreferNoSchedule"]}},
    ),
    ("max pods is a number", {"max_pods": "32"}, {"max-pods": 32}),
    ("max pods from the setting", br(kubernetes={"max-pods": 32}), {"max-pods": 32}),
    (
        "reservations",
        {"reserved": {"kube": {"cpu": "70m", "memory": "574Mi"}, "system": {"pid": "100"}}},
        {"kube-reserved": {"cpu": "70m", "memory": "574Mi"}, "system-reserved": {"pid": "100"}},
    ),
    (
        "reserved.kube: auto follows the final max pods",
        {"max_pods": 110, "instance": {"type": "m5.large"}, "reserved": {"kube": "auto"}},
        {"max-pods": 110, "kube-reserved": {"cpu": "70m", "memory": "1465Mi", "ephemeral-storage": "1Gi"}},
    ),
    ("hostname_type needs no setting: EC2 forms the private DNS name by it", {"instance": {"hostname_type": "resource_name"}}, {}),
    (
        "labels of the field and of the settings are united",
        {"labels": {"a": "1"}, **br(kubernetes={"node-labels": {"b": "2", "a": "1"}})},
        {"node-labels": {"a": "1", "b": "2"}},
    ),
    (
        "taints of the field and of the settings are united by key",
        {"taints": TAINTS[:1], **br(kubernetes={"node-taints": {"k": [":NoExecute", "v:NoSchedule"], "z": "y:NoExecute"}})},
        {"node-taints": {"k": ["v:NoSchedule", ":NoExecute"], "z": ["y:NoExecute"]}},
    ),
    ("the same value twice is not a conflict", br(kubernetes={"cluster-name": "demo"}), {}),
    ("any other setting passes", br(kubernetes={"log-level": 4, "standalone-mode": False}), {"log-level": 4, "standalone-mode": False}),
]


@pytest.mark.parametrize(("fields", "expected"), [pytest.param(*row[1:], id=row[0]) for row in KUBERNETES_ROWS])
def test_kubernetes_settings(fields: dict[str, Any], expected: dict[str, Any]) -> None:
    assert kubernetes(**fields) == expected


OTHER_ROWS: list[tuple[str, dict[str, Any], str, Any]] = [
    (
        "mirrors",
        {"containerd": {"registry_mirrors": {"docker.io": ["https://m1", "https://m2"], "_default": "https://all"}}},
        "container-registry",
        {"mirrors": [{"registry": "*", "endpoint": ["https://all"]}, {"registry": "docker.io", "endpoint": ["https://m1", "https://m2"]}]},
    ),
    (
        "mirrors are asked as on the other families: Bottlerocket itself appends /v2 only to a URL without a path",
        {
            "containerd": {
                "registry_mirrors": {
                    "docker.io": [
                        "https://m1/proxy/",
                        "https://m2/v2/docker-hub",
                        "https://m3/registry/v2",
                        {"url": "https://m4/v2/x", "override_path": False},
                        {"url": "https://m5/own", "override_path": True, "skip_verify": False, "capabilities": ["resolve", "pull"]},
                    ]
                }
            }
        },
        "container-registry",
        {
            "mirrors": [
                {
                    "registry": "docker.io",
                    "endpoint": [
                        "https://m1/proxy/v2",
                        "https://m2/v2/docker-hub",
                        "https://m3/registry/v2",
                        "https://m4/v2/x/v2",
                        "https://m5/own",
                    ],
                }
            ]
        },
    ),
    (
        "instance store disks",
        {"local_storage": {"strategy": "raid0"}},
        "bootstrap-commands",
        {
            "000-nodebootstrap-local-storage": {
                "commands": [
                    ["apiclient", "ephemeral-storage", "init"],
                    ["apiclient", "ephemeral-storage", "bind", "--dirs", "/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods"],
                ],
                "essential": True,
                "mode": "always",
            }
        },
    ),
    ("free settings", br(motd='say "hi"', kernel={"sysctl": {"net.core.somaxconn": "1024"}}), "motd", 'say "hi"'),
    ("quoted keys stay one key", br(kernel={"sysctl": {"a.b.c": "1"}}), "kernel", {"sysctl": {"a.b.c": "1"}}),
    (
        "the admin container is passed on as it is written",
        br(**{"host-containers": {"admin": {"enabled": True}}}),
        "host-containers",
        {"admin": {"enabled": True}},
    ),
]


@pytest.mark.parametrize(("fields", "table", "expected"), [pytest.param(*row[1:], id=row[0]) for row in OTHER_ROWS])
def test_other_settings(fields: dict[str, Any], table: str, expected: Any) -> None:
    assert settings(**fields)[table] == expected


def test_proxy() -> None:
    network = settings(proxy={"http": "http://p:3128", "https": "http://p:3128", "no_proxy": ["10.0.0.0/8"]})["network"]
    assert network["https-proxy"] == "http://p:3128"
    assert network["no-proxy"][0] == "10.0.0.0/8"
    assert {"169.254.169.254", "10.100.0.0/16", "abc.gr7.eu-west-1.eks.amazonaws.com"} <= set(network["no-proxy"])


def test_dns() -> None:
    several = ["169.254.20.10", "10.100.0.10"]
    assert settings({**CLUSTER, "dns_ips": several})["kubernetes"]["cluster-dns-ip"] == several
    # node-ip follows the family of this address: without it an IPv6 node gets an IPv4 one.
    ipv6 = {**CLUSTER, "service_cidr": "fd40:6404:f93b::/108"}
    assert settings(ipv6)["kubernetes"]["cluster-dns-ip"] == "fd40:6404:f93b::a"


def test_the_document_is_what_the_merger_of_eks_reads() -> None:
    document = text(labels={"a.b/c": "d"}, taints=TAINTS, **br(kernel={"sysctl": {"a.b": "1"}}))
    headers = [line for line in document.splitlines() if line.startswith("[")]
    assert headers == [
        "[settings.kernel.sysctl]",
        "[settings.kubernetes]",
        "[settings.kubernetes.node-labels]",
        "[settings.kubernetes.node-taints]",
    ]
    assert '"a.b/c" = "d"' in document.splitlines()


MANAGED_ROWS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("nothing to say", {}, {}),
    ("labels and taints are left to EKS", {"labels": {"a": "b"}, "taints": TAINTS}, {}),
    ("max pods", {"max_pods": 20}, {"kubernetes": {"max-pods": 20}}),
    ("kubelet configuration", config(podPidsLimit=99), {"kubernetes": {"pod-pids-limit": 99}}),
    ("DNS of the node group's own", config(clusterDNS=["169.254.20.10"]), {"kubernetes": {"cluster-dns-ip": "169.254.20.10"}}),
    ("settings", br(motd="hello"), {"motd": "hello"}),
    ("existing settings", {"user_data": '[settings]\nmotd = "x"\n'}, {"motd": "x"}),
]


@pytest.mark.parametrize(("fields", "expected"), [pytest.param(*row[1:], id=row[0]) for row in MANAGED_ROWS])
@pytest.mark.parametrize("cluster", [{}, CLUSTER], ids=["no cluster facts", "all cluster facts"])
def test_managed(cluster: dict[str, Any], fields: dict[str, Any], expected: dict[str, Any]) -> None:
    assert settings(cluster, mode="managed", **fields) == expected


def test_managed_without_anything_to_add_is_empty() -> None:
    assert text({}, mode="managed", labels={"a": "b"}) == ""
    assert node_files({}, {"family": "bottlerocket", "mode": "managed"}) == []


def test_managed_custom_ami_renders_like_self_managed() -> None:
    fields = {"labels": {"a": "b"}, "taints": TAINTS, "max_pods": 9}
    assert text(mode="managed_custom_ami", **fields) == text(**fields)


def test_aliases_of_eksctl() -> None:
    for alias in ("Bottlerocket", "BottlerocketFips", "bottlerocket"):
        assert render(CLUSTER, {"family": alias}).document.text == text()


def test_gzip(golden_message: GoldenMessages) -> None:
    assert render(CLUSTER, {"family": "bottlerocket"}, "gzip_base64").stored.startswith(b"\x1f\x8b")
    with pytest.raises(SpecError) as caught:
        render({}, {"family": "bottlerocket", "mode": "managed", "max_pods": 9}, "gzip_base64")
    assert problem_list.found(caught.value.problems) == [("output.unsupported_encoding", "encoding")]
    golden_message(caught.value)


THEIRS = """\
[settings.kubernetes]
api-server = "https://other"
max-pods = 7
[settings.kubernetes.node-labels]
a = "theirs"
c = "3"
[settings.kubernetes.node-taints]
k = "w:NoSchedule"
z = [":NoExecute"]
[settings.ntp]
time-servers = ["169.254.169.123"]
"""
CONFLICTING = {"user_data": THEIRS, "max_pods": 9, "labels": {"a": "ours", "b": "2"}, "taints": TAINTS[:2]}


def test_existing_settings_that_disagree() -> None:
    assert problems(**CONFLICTING).splitlines() == [
        "node_group.user_data.settings.kubernetes.max-pods: conflicts with node_group.max_pods, which is 9 (got 7); "
        "fix: set it in one place only, or set user_data_precedence: ours or theirs",
        'node_group.user_data.settings.kubernetes.node-labels.a: conflicts with node_group.labels.a, which is "ours" (got "theirs"); '
        "fix: set it in one place only, or set user_data_precedence: ours or theirs",
        "node_group.user_data.settings.kubernetes.node-taints.k: conflicts with node_group.taints, which is "
        '"v:NoSchedule" (got "w:NoSchedule"); fix: set it in one place only, or set user_data_precedence: ours or theirs',
    ]


def test_precedence() -> None:
    ours = settings(user_data_precedence="ours", **CONFLICTING)
    assert ours["kubernetes"] == {
        **IDENTITY,
        "max-pods": 9,
        "node-labels": {"a": "ours", "b": "2", "c": "3"},
        "node-taints": {"k": ["v:NoSchedule", ":NoExecute"], "z": [":NoExecute"]},
    }
    assert ours["ntp"] == {"time-servers": ["169.254.169.123"]}
    theirs = settings(user_data_precedence="theirs", **CONFLICTING)["kubernetes"]
    assert (theirs["api-server"], theirs["max-pods"]) == ("https://other", 7)
    assert theirs["node-labels"] == {"a": "theirs", "b": "2", "c": "3"}
    assert theirs["node-taints"] == {"k": ["w:NoSchedule", ":NoExecute"], "z": [":NoExecute"]}


def test_cluster_identity_of_existing_settings_gives_way() -> None:
    assert settings(user_data='[settings.kubernetes]\ncluster-name = "old"\n')["kubernetes"]["cluster-name"] == "demo"


def test_several_documents_are_united_and_may_not_disagree(golden_message: GoldenMessages) -> None:
    both = ['[settings]\nmotd = "a"\n', '[settings.ntp]\ntime-servers = ["1.2.3.4"]\n']
    assert settings(user_data=both)["motd"] == "a"
    assert settings(user_data=both)["ntp"] == {"time-servers": ["1.2.3.4"]}
    error = error_of(text, user_data=[both[0], '[settings]\nmotd = "b"\n'], user_data_precedence="ours")
    assert rules_and_paths(error) == ["input.conflict node_group.user_data[1].settings.motd"]
    golden_message(error)


REFUSED_ROWS: list[tuple[str, dict[str, Any], str]] = [
    ("commands.pre", {"commands": {"pre": ["x"]}}, "family.unsupported_field node_group.commands.pre"),
    ("commands.post", {"commands": {"post": ["x"]}}, "family.unsupported_field node_group.commands.post"),
    ("override", {"override": "x"}, "family.unsupported_field node_group.override"),
    ("strategy", {"strategy": "static"}, "family.unsupported_field node_group.strategy"),
    ("containerd.config", {"containerd": {"config": {"a": 1}}}, "family.unsupported_field node_group.containerd.config"),
    ("pause image", {"containerd": {"pause_image": "x"}}, "family.unsupported_field node_group.containerd.pause_image"),
    ("raid10", {"local_storage": {"strategy": "raid10"}}, "bottlerocket.unsupported_storage node_group.local_storage.strategy"),
    ("mount", {"local_storage": {"strategy": "mount"}}, "bottlerocket.unsupported_storage node_group.local_storage.strategy"),
    (
        "mount path",
        {"local_storage": {"strategy": "raid0", "mount_path": "/mnt"}},
        "family.unsupported_field node_group.local_storage.mount_path",
    ),
    ("http proxy only", {"proxy": {"http": "http://p:1"}}, "bottlerocket.http_proxy node_group.proxy.http"),
    ("two proxies", {"proxy": {"http": "http://p:1", "https": "http://p:2"}}, "bottlerocket.http_proxy node_group.proxy.http"),
    ("a label of the booting node", {"labels": {"a": "{instance_id}"}}, "labels.known_at_boot_only node_group.labels.a"),
    ("another family's field", {"windows": {"persist": True}}, "family.foreign_field node_group.windows"),
    (
        "a misspelt setting",
        br(kubernetes={"max-podz": 1}),
        "bottlerocket.unknown_setting node_group.bottlerocket.settings.kubernetes.max-podz",
    ),
    ("a misspelt group", br(kubernets={"a": 1}), "bottlerocket.unknown_setting node_group.bottlerocket.settings.kubernets"),
    (
        "a wrong type",
        br(kubernetes={"standalone-mode": "yes"}),
        "bottlerocket.wrong_type node_group.bottlerocket.settings.kubernetes.standalone-mode",
    ),
    ("null", br(motd=None), "bottlerocket.null node_group.bottlerocket.settings.motd"),
    (
        "a field and its setting",
        {"max_pods": 3, **br(kubernetes={"max-pods": 4})},
        "input.conflict node_group.bottlerocket.settings.kubernetes.max-pods",
    ),
    (
        "identity that disagrees",
        br(kubernetes={"cluster-name": "other"}),
        "input.conflict node_group.bottlerocket.settings.kubernetes.cluster-name",
    ),
    (
        "a label and its setting",
        {"labels": {"a": "1"}, **br(kubernetes={"node-labels": {"a": "2"}})},
        "input.conflict node_group.bottlerocket.settings.kubernetes.node-labels.a",
    ),
    (
        "a taint with two values for one effect",
        {"taints": TAINTS[:1], **br(kubernetes={"node-taints": {"k": ["w:NoSchedule"]}})},
        "input.conflict node_group.bottlerocket.settings.kubernetes.node-taints.k",
    ),
    (
        "a label that kubelet refuses",
        br(kubernetes={"node-labels": {"node-role.kubernetes.io/x": ""}}),
        'labels.forbidden_prefix node_group.bottlerocket.settings.kubernetes.node-labels["node-role.kubernetes.io/x"]',
    ),
    (
        "settings outside of settings",
        {"user_data": "[settings]\nmotd = 'x'\n[kubernetes]\nx = 1\n"},
        "bottlerocket.outside_settings node_group.user_data.kubernetes",
    ),
    ("no settings", {"user_data": "a = 1\n"}, "bottlerocket.outside_settings node_group.user_data.a"),
    ("no TOML", {"user_data": "[settings\n"}, "toml.unreadable node_group.user_data"),
    ("a script", {"user_data": "#!/bin/bash\nx\n"}, "user_data.wrong_kind node_group.user_data"),
    (
        "an unknown setting there",
        {"user_data": "[settings]\nmotdd = 'x'\n"},
        "bottlerocket.unknown_setting node_group.user_data.settings.motdd",
    ),
    ("settings that are no table", {"user_data": "settings = 1\n"}, "bottlerocket.no_settings node_group.user_data"),
]


@pytest.mark.parametrize(("fields", "problem"), [pytest.param(*row[1:], id=row[0]) for row in REFUSED_ROWS])
def test_refused(fields: dict[str, Any], problem: str, golden_message: GoldenMessages) -> None:
    error = error_of(text, **fields)
    assert problem in rules_and_paths(error)
    golden_message(error)


MANAGED_REFUSED_ROWS = [
    (
        {"bottlerocket": {"settings": {"kubernetes": {"cluster-name": "x"}}}},
        "bottlerocket.written_by_eks node_group.bottlerocket.settings.kubernetes.cluster-name",
    ),
    (
        {"bottlerocket": {"settings": {"kubernetes": {"node-labels": {"a": "b"}}}}},
        "bottlerocket.written_by_eks node_group.bottlerocket.settings.kubernetes.node-labels.a",
    ),
    (
        {"bottlerocket": {"settings": {"kubernetes": {"node-taints": {"a": ["b:NoExecute"]}}}}},
        "bottlerocket.written_by_eks node_group.bottlerocket.settings.kubernetes.node-taints.a",
    ),
    (
        {"user_data": '[settings.kubernetes.node-labels]\na = "b"\n'},
        "bottlerocket.written_by_eks node_group.user_data.settings.kubernetes.node-labels.a",
    ),
    ({"bottlerocket": {"settings": {"motd": "a'''\"\n"}}}, "toml.unsafe_for_eks node_group.bottlerocket.settings.motd"),
    ({"commands": {"pre": ["x"]}}, "family.unsupported_field node_group.commands.pre"),
]


@pytest.mark.parametrize(("fields", "problem"), MANAGED_REFUSED_ROWS)
def test_managed_refused(fields: dict[str, Any], problem: str, golden_message: GoldenMessages) -> None:
    error = error_of(text, {}, mode="managed", **fields)
    assert problem in rules_and_paths(error)
    golden_message(error)


def test_outposts_are_refused(golden_message: GoldenMessages) -> None:
    golden_message(problems({**CLUSTER, "outpost": True, "id": "abc"}))


def test_all_problems_at_once() -> None:
    found = problems(
        {"kubernetes_version": "1.33"},
        labels={"a": "{instance_id}"},
        commands={"pre": ["x"]},
        user_data="nonsense",
        **br(x=1),
        **config(syncFrequency="1m"),
    )
    paths = {line.partition(": ")[0] for line in found.splitlines()}
    assert paths >= {
        "cluster.name",
        "cluster.endpoint",
        "cluster.certificate_authority",
        "cluster.service_cidr",
        "node_group.labels.a",
        "node_group.commands.pre",
        "node_group.user_data",
        "node_group.bottlerocket.settings.x",
        "node_group.kubelet.config.syncFrequency",
    }


def test_secrets_are_not_repeated() -> None:
    found = problems(
        allow_secrets_in_user_data=True,
        proxy={"https": "http://u:hunter2@p:1"},
        **br(network={"https-proxy": "http://u:hunter3@p:1"}),
    )
    assert mentions(found, "network.https-proxy: ", "node_group.proxy.https")
    assert "hunter" not in found


def test_node_files() -> None:
    (file,) = node_files(CLUSTER, {"family": "bottlerocket", "max_pods": 9})
    assert (file["path"], file["mode"]) == ("/etc/nodebootstrap/settings.toml", "0600")
    assert file["content"] == text(max_pods=9)


def test_inputs_stay_as_they_are_and_order_does_not_matter() -> None:
    fields = {
        "family": "bottlerocket",
        "labels": {"b": "1", "a": "2"},
        "taints": TAINTS,
        **br(motd="x", kubernetes={"max-pods": 3, "log-level": 1}),
    }
    cluster, group = copy.deepcopy(CLUSTER), copy.deepcopy(fields)
    first = render(cluster, group).document
    assert (cluster, group) == (CLUSTER, fields)
    turned = {key: dict(reversed(value.items())) if isinstance(value, dict) else value for key, value in reversed(fields.items())}
    assert render(dict(reversed(CLUSTER.items())), turned).document == first
