# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Input to specification: defaults, aliases, values computed, and what is left when something is wrong."""

from __future__ import annotations

import base64
import copy
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.compression import gzip_bytes
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.fields import FAMILY_ALIASES
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.parse import parse
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.spec import Cluster, NodeSpec, Taint, Windows
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_spec import node_spec
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import found
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

SCRIPT = "#!/bin/bash\necho hi\n"


_COMPLETE: Any = object()


def parsed(group: Any, cluster: Any = _COMPLETE) -> tuple[NodeSpec | None, list[str]]:
    problems = Problems()
    return parse(COMPLETE if cluster is _COMPLETE else cluster, group, problems), [str(problem) for problem in problems]


def spec_of(group: dict[str, Any], **cluster: Any) -> NodeSpec:
    spec, problems = parsed(group, COMPLETE | cluster)
    assert problems == []
    assert spec is not None
    return spec


def test_defaults() -> None:
    spec = spec_of({"family": "al2023"})
    assert (spec.mode, spec.strategy, spec.max_pods, spec.hostname_type, spec.managed) == ("self_managed", None, None, "ip_name", False)
    assert (spec.labels, spec.taints, spec.kube_reserved, spec.kubelet_config, spec.kubelet_flags) == ({}, (), {}, {}, {})
    assert (spec.dns_ips, spec.dns_of_group, spec.proxy, spec.user_data, spec.warnings, spec.unchecked) == (
        ("10.100.0.10",),
        False,
        None,
        (),
        (),
        (),
    )
    assert (spec.allow_secrets, spec.windows, spec.given) == (False, Windows(), {"family": "al2023"})


@pytest.mark.parametrize(
    ("family", "strategy"),
    [("al2", "bootstrap_script"), ("ubuntu", "bootstrap_script"), ("al2023", None), ("bottlerocket", None), ("windows", None)],
)
def test_the_default_strategy(family: str, strategy: str | None) -> None:
    assert spec_of({"family": family}).strategy == strategy


def test_the_cluster() -> None:
    spec = spec_of({"family": "al2023"}, endpoint="https://x.example.com/", kubernetes_version="v1.31.4-eks-abc", dns_ips="10.0.0.9")
    assert (spec.cluster.endpoint, spec.cluster.kubernetes_version, spec.cluster.dns_ips) == (
        "https://x.example.com",
        (1, 31),
        ("10.0.0.9",),
    )
    assert spec.dns_ips == ("10.0.0.9",)


@pytest.mark.parametrize(
    ("cidr", "address", "family"),
    [("10.100.0.0/16", "10.100.0.10", "ipv4"), ("10.100.0.64/26", "10.100.0.74", "ipv4"), ("fd30::/108", "fd30::a", "ipv6")],
)
def test_the_name_server_is_host_10(cidr: str, address: str, family: str) -> None:
    spec = spec_of({"family": "al2023"}, service_cidr=cidr)
    assert (spec.dns_ips, spec.cluster.ip_family) == ((address,), family)


def test_a_cluster_without_cidr_counts_as_ipv4() -> None:
    assert Cluster().ip_family == "ipv4"


@pytest.mark.parametrize("alias", sorted(FAMILY_ALIASES))
def test_other_names_of_families(alias: str) -> None:
    family, implied = FAMILY_ALIASES[alias]
    version = "1.29" if "2004" in alias else "1.32" if family == "al2" else "1.35"
    spec = spec_of({"family": alias}, kubernetes_version=version)
    assert (spec.family, spec.given["family"]) == (family, alias)
    assert spec.ubuntu_release == implied.get("ubuntu", {}).get("release")
    assert spec.windows == Windows(**implied.get("windows", {}))


def test_an_alias_and_its_field_may_agree() -> None:
    assert spec_of({"family": "Ubuntu2204", "ubuntu": {"release": 22.04}}).ubuntu_release == "22.04"
    spec = spec_of({"family": "WindowsServer2022CoreContainer", "windows": {"persist": True}})
    assert (spec.windows.version, spec.windows.edition, spec.windows.persist) == ("2022", "core", True)


def test_labels_flags_and_mirrors_are_sorted_and_taints_are_not() -> None:
    spec = spec_of(
        {
            "family": "al2023",
            "labels": {"b": "1", "a": "2"},
            "taints": [{"key": "b", "effect": "NoExecute"}, {"key": "a", "value": "x", "effect": "NoSchedule"}],
            "kubelet": {"flags": {"v": 2, "event-qps": 1}},
            "containerd": {"registry_mirrors": {"quay.io": ["https://b", "https://a"], "docker.io": "https://c"}},
        }
    )
    assert list(spec.labels) == ["a", "b"]
    assert spec.taints == (Taint("b", "", "NoExecute"), Taint("a", "x", "NoSchedule"))
    assert list(spec.kubelet_flags.items()) == [("event-qps", ("1",)), ("v", ("2",))]
    mirrors = [(host, [mirror.url for mirror in listed]) for host, listed in spec.containerd.registry_mirrors.items()]
    assert mirrors == [("docker.io", ["https://c"]), ("quay.io", ["https://b", "https://a"])]


def test_values_with_a_field_of_their_own_leave_the_kubelet_configuration() -> None:
    config = {"maxPods": 40, "clusterDNS": ["10.0.0.9"], "kubeReserved": {"cpu": "1"}, "systemReserved": {"cpu": "2"}, "podPidsLimit": 9}
    spec = spec_of({"family": "al2023", "kubelet": {"config": config}})
    assert (spec.max_pods, spec.dns_ips, spec.dns_of_group) == (40, ("10.0.0.9",), True)
    assert (spec.kube_reserved, spec.system_reserved, spec.kubelet_config) == ({"cpu": "1"}, {"cpu": "2"}, {"podPidsLimit": 9})
    assert spec.kubelet_document("maxPods", "clusterDNS") == config
    assert spec.kubelet_document() == {key: config[key] for key in ("kubeReserved", "systemReserved", "podPidsLimit")}


def test_max_pods_of_the_kubelet_configuration_count_for_automatic_reservations() -> None:
    group = {"family": "al2023", "kubelet": {"config": {"maxPods": 110}}, "reserved": {"kube": "auto"}, "instance": {"type": "m5.large"}}
    assert spec_of(group).kube_reserved == {"cpu": "70m", "memory": "1465Mi", "ephemeral-storage": "1Gi"}


def test_explicit_reservations_stand_beside_automatic_ones() -> None:
    group = {"family": "al2023", "instance": {"type": "m5.large"}, "reserved": {"kube": "auto"}}
    group["kubelet"] = {"config": {"kubeReserved": {"memory": "1Gi", "pid": "1000"}}}
    assert spec_of(group).kube_reserved == {"cpu": "70m", "memory": "1Gi", "ephemeral-storage": "1Gi", "pid": "1000"}
    mixed = {"family": "al2023", "instance": {"type": "m5.large"}, "reserved": {"kube": {"cpu": "auto", "memory": "1Gi"}}}
    assert spec_of(mixed).kube_reserved == {"cpu": "70m", "memory": "1Gi", "ephemeral-storage": "1Gi"}


@pytest.mark.parametrize("family", ["al2", "ubuntu"])
def test_static_computes_reservations_unless_they_are_given(family: str) -> None:
    group = {"family": family, "strategy": "static", "max_pods": 110, "instance": {"type": "m5.large"}}
    assert spec_of(group).kube_reserved["memory"] == "1465Mi"
    assert spec_of(group | {"reserved": {"kube": {"cpu": "1"}}}).kube_reserved == {"cpu": "1"}
    assert spec_of(group | {"reserved": {"kube": {}}}).kube_reserved == {}


def test_nothing_is_reserved_unless_asked() -> None:
    spec = spec_of({"family": "al2023", "instance": {"type": "m5.large"}})
    assert (spec.max_pods, spec.kube_reserved, spec.warnings) == (None, {}, ())


def test_a_number_of_pods_without_reservations_is_a_warning() -> None:
    group = {"family": "al2023", "max_pods": 110, "instance": {"type": "m5.large"}}
    assert found(spec_of(group).warnings) == [("reserved.sized_for_other_max_pods", "node_group.max_pods")]
    assert spec_of(group | {"reserved": {"kube": "auto"}}).warnings == ()
    assert spec_of(group | {"reserved": {"kube": {"memory": "2Gi"}}}).warnings == ()


def test_what_cannot_be_checked_is_said() -> None:
    spec = spec_of({"family": "al2023"}, kubernetes_version=None)
    assert found(spec.unchecked) == [("cluster.version_unknown", "cluster.kubernetes_version")]


def test_the_proxy_gets_what_every_node_needs() -> None:
    proxy = spec_of({"family": "al2023", "proxy": {"https": "http://p:3128", "no_proxy": ["10.0.0.0/8", "localhost"]}}).proxy
    assert proxy is not None
    assert proxy.no_proxy[:2] == ("10.0.0.0/8", "localhost")
    assert {"169.254.169.254", ".internal", "10.100.0.0/16", "abc.gr7.eu-west-1.eks.amazonaws.com"} <= set(proxy.no_proxy)
    assert len(proxy.no_proxy) == len(set(proxy.no_proxy))
    assert proxy.variables() == {"HTTPS_PROXY": "http://p:3128", "NO_PROXY": ",".join(proxy.no_proxy)}


@pytest.mark.parametrize(
    "text",
    [SCRIPT, base64.b64encode(SCRIPT.encode()).decode(), base64.b64encode(gzip_bytes(SCRIPT.encode())).decode()],
    ids=["plain", "base64", "gzip"],
)
def test_user_data_is_decoded(text: str) -> None:
    assert spec_of({"family": "al2", "user_data": text}).user_data == (SCRIPT,)
    assert spec_of({"family": "al2", "user_data": ["", text, " \n"]}).user_data == (SCRIPT,)


def test_what_is_wrong_is_missing_and_the_rest_goes_on() -> None:
    spec, problems = parsed(
        {"family": "al2023", "labels": {"a": 1, "b": "2"}, "max_pods": 0, "taints": [{"key": "a"}], "colour": "blue"},
        COMPLETE | {"service_cidr": "10.0.0.1/8", "region": "here"},
    )
    assert spec is not None
    assert (spec.labels, spec.max_pods, spec.taints, spec.cluster.service_cidr, spec.cluster.name) == ({"b": "2"}, None, (), None, "demo")
    assert sorted(line.split(":")[0] for line in problems) == [
        "cluster.region",
        "cluster.service_cidr",
        "node_group.colour",
        "node_group.labels.a",
        "node_group.max_pods",
        "node_group.taints[0].effect",
    ]


@pytest.mark.parametrize("group", [None, [], "al2023", {}, {"family": None}, {"family": "debian"}, {"family": ["al2023"]}, 7])
def test_without_a_family_there_is_no_specification(group: Any) -> None:
    spec, problems = parsed(group)
    assert spec is None
    assert len(problems) == 1
    assert problems[0].startswith("node_group")


def test_no_cluster_is_a_cluster_of_which_nothing_is_known() -> None:
    spec, problems = parsed({"family": "al2023", "mode": "managed"}, None)
    assert spec is not None
    assert (spec.cluster, spec.managed, problems) == (Cluster(), True, [])


def test_auto_is_refused_for_the_system_and_negative_quantities_everywhere() -> None:
    assert parsed({"family": "al2023", "reserved": {"system": {"cpu": "auto"}}})[1] == [
        "node_group.reserved.system: auto is available only for reserved.kube; fix: use quantities such as 100m or 100Mi"
    ]
    assert parsed({"family": "al2023", "reserved": {"kube": {"cpu": "-1"}}})[1] == [
        'node_group.reserved.kube.cpu: is negative (got "-1"); allowed: a quantity such as 100m or 574Mi'
    ]


EVERYTHING: dict[str, dict[str, Any]] = {
    "al2": {"max_pods": {"mode": "prefix"}, "reserved": {"kube": "auto"}, "user_data": base64.b64encode(SCRIPT.encode()).decode()},
    "al2023": {
        "reserved": {"kube": "auto", "system": {"cpu": 1}},
        "kubelet": {"config": {"clusterDNS": ["10.0.0.9"], "podPidsLimit": 5, "kubeReserved": {"pid": "10"}}, "flags": {"v": 2}},
        "nodeadm": {"kubelet": {"config": {"maxPods": 30}, "flags": ["--event-qps=1"]}, "featureGates": {"FastImagePull": True}},
        "proxy": {"https": "http://p:3128", "no_proxy": ["a"]},
        "local_storage": {"strategy": "raid0"},
    },
    "BottlerocketFips": {
        "max_pods": {"mode": "eni"},
        "bottlerocket": {"settings": {"motd": "x", "kubernetes": {"cluster-dns-ip": "10.0.0.9", "kube-reserved": {"cpu": "1"}}}},
    },
    "Ubuntu2204": {"strategy": "static", "max_pods": 50},
    "WindowsServer2022FullContainer": {
        "max_pods": {"mode": "windows_prefix"},
        "windows": {"persist": True, "excluded_snat_cidrs": "10.0.0.0/8"},
    },
    "al2023 managed": {"mode": "managed", "labels": {"a": "b"}, "max_pods": 20, "kubelet": {"config": {"clusterDNS": ["10.0.0.9"]}}},
}


@pytest.mark.parametrize("name", EVERYTHING)
def test_the_specification_as_data_is_input_again_and_means_the_same(name: str) -> None:
    group = {"family": name.split()[0], "name": "workers", "instance": {"types": ["m5.xlarge", "m5.large"]}} | EVERYTHING[name]
    before = copy.deepcopy(group)
    once = node_spec(COMPLETE, group)
    again = node_spec(once["cluster"], once["node_group"])
    assert again == {**once, "warnings": again["warnings"]}
    assert render(once["cluster"], once["node_group"]).stored == render(COMPLETE, group).stored
    assert group == before


def test_what_eks_does_itself_is_listed() -> None:
    group = {"family": "al2023", "mode": "managed", "labels": {"a": "b"}, "taints": [{"key": "t", "effect": "NoSchedule"}]}
    found = node_spec({}, group)
    assert found["left_to_eks"] == {"labels": {"a": "b"}, "taints": [{"key": "t", "effect": "NoSchedule"}]}
    assert node_spec(COMPLETE, group | {"mode": "self_managed"})["left_to_eks"] == {}
