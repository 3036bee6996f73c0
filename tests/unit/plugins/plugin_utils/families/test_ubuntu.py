# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ubuntu: the exact script, the settings of the kubelet snap, and what Canonical's images cannot express."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest
import tomllib
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts import linux_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families import ubuntu
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import error_of, rules_and_paths

CA = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="
CLUSTER = {
    "name": "demo",
    "endpoint": "https://abc.gr7.eu-west-1.eks.amazonaws.com",
    "certificate_authority": CA,
    "service_cidr": "10.100.0.0/16",
    "region": "eu-west-1",
    "kubernetes_version": "1.31",
}
IPV6 = {"service_cidr": "fd40:6404:f93b::/108"}
CALL = f"/etc/eks/bootstrap.sh demo --apiserver-endpoint {CLUSTER['endpoint']} --b64-cluster-ca {CA} --dns-cluster-ip 10.100.0.10"
HEAD = "#!/bin/bash\nset -eo pipefail\n"
STATIC: dict[str, Any] = {"strategy": "static", "max_pods": 29, "instance": {"type": "m5.large"}}


def text(cluster: dict[str, Any] | None = None, **fields: Any) -> str:
    return render(CLUSTER | (cluster or {}), {"family": "ubuntu", **fields}).document.text


def files(cluster: dict[str, Any] | None = None, **fields: Any) -> dict[str, str]:
    return {file["path"]: file["content"] for file in node_files(CLUSTER | (cluster or {}), {"family": "ubuntu", **fields})}


def problems(cluster: dict[str, Any] | None = None, **fields: Any) -> dict[str, str]:
    with pytest.raises(SpecError) as caught:
        text(cluster, **fields)
    return {problem.path: str(problem) for problem in caught.value.problems}


CALLS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("endpoint and CA, so that private clusters work", {}, {}, ""),
    ("a Pro image", {}, {"family": "UbuntuPro2204"}, ""),
    ("managed_custom_ami", {}, {"mode": "managed_custom_ami"}, ""),
    (
        "every kind of word in its order",
        {},
        {
            "labels": {"b": "2", "a": "1"},
            "taints": [{"key": "k", "effect": "NoSchedule"}],
            "max_pods": 58,
            "kubelet": {"config": {"podPidsLimit": 100}, "flags": {"v": 4}},
        },
        " --use-max-pods false --kubelet-extra-args '--node-labels=a=1,b=2 --register-with-taints=k=:NoSchedule --max-pods=58"
        " --config-dir=/etc/kubernetes/kubelet/config.json.d --v=4'",
    ),
    (
        "a percent sign means nothing to the snap",
        {},
        {"kubelet": {"flags": {"manifest-url-header": "h:%b"}}},
        " --kubelet-extra-args --manifest-url-header=h:%b",
    ),
    (
        "a pause image",
        {},
        {"containerd": {"pause_image": "111122223333.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.9"}},
        " --pause-container-account 111122223333 --pause-container-version 3.9",
    ),
]


@pytest.mark.parametrize(("cluster", "fields", "rest"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS])
def test_the_call(cluster: dict[str, Any], fields: dict[str, Any], rest: str) -> None:
    script = text(cluster, **fields)
    assert script.startswith(HEAD)
    assert script.rpartition("\n/")[1:] == ("\n/", f"{CALL[1:]}{rest}\n")


def test_ipv6() -> None:
    call = shlex.split(text(IPV6).rpartition("\n/")[2])
    assert call[6:] == ["--dns-cluster-ip", "fd40:6404:f93b::a", "--ip-family", "ipv6", "--service-ipv6-cidr", "fd40:6404:f93b::/108"]
    assert "fd40:6404:f93b::a" in text(IPV6 | {"dns_ips": ["fd40:6404:f93b:0::a"]})


def test_nothing_restarts_kubelet() -> None:
    script = text(kubelet={"config": {"podPidsLimit": 100}}, proxy={"http": "http://p:1"})
    assert "jq" not in script and "snap" not in script.replace("snap.kubelet-eks.daemon.service.d", "")


def test_proxy_units() -> None:
    units = [path.split("/")[4] for path in files(proxy={"http": "http://p:1"}) if path.endswith("-proxy.conf")]
    assert units == ["containerd.service.d", "snap.kubelet-eks.daemon.service.d"]


def f(value: str) -> dict[str, Any]:
    return {"kubelet": {"flags": {"manifest-url-header": "h:" + value.replace(",", ",h:")}}}


def c(**values: Any) -> dict[str, Any]:
    return {"kubelet": {"config": values}}


# name, cluster, node group, path (below node_group unless it begins with cluster), part of the message
REFUSED: list[tuple[str, dict[str, Any], dict[str, Any], str, str]] = [
    ("managed", {}, {"mode": "managed"}, "mode", "mode.unknown_on_family"),
    ("local disks", {}, {"local_storage": {"strategy": "raid0"}}, "local_storage", "family.unsupported_field"),
    ("local disks, static", {}, {**STATIC, "local_storage": {"strategy": "raid0"}}, "local_storage", "family.unsupported_field"),
    ("Outposts", {"outpost": True, "id": "1"}, {}, "cluster.outpost", "cluster.unsupported_outpost"),
    ("containerd", {}, {"containerd": {"config": {"root": "/x"}}}, "containerd.config", "family.unsupported_field"),
    ("two DNS addresses", {"dns_ips": ["10.100.0.10", "10.100.0.11"]}, {}, "cluster.dns_ips", "cluster.too_many_dns_ips"),
    ("DNS in IPv6", IPV6 | {"dns_ips": ["fd40::53"]}, {}, "cluster.dns_ips", "cluster.ignored_dns_ips"),
    ("configuration, 1.29", {"kubernetes_version": "1.29"}, c(podPidsLimit=9), "kubelet.config", "kubelet.no_config_drop_in"),
    ("configuration, no version", {"kubernetes_version": None}, c(podPidsLimit=9), "kubelet.config", "kubelet.no_config_drop_in"),
    ("domain", {}, c(clusterDomain="x.local"), "kubelet.config.clusterDomain", "kubelet.flag_overrides_config"),
    ("resolv.conf", {}, c(resolvConf="/x"), "kubelet.config.resolvConf", "kubelet.flag_overrides_config"),
    (
        "anonymous",
        {},
        c(authentication={"anonymous": {"enabled": True}}),
        "kubelet.config.authentication.anonymous.enabled",
        "kubelet.flag_overrides_config",
    ),
    ("a blank", {}, f("a b"), "kubelet.flags.manifest-url-header", "kubelet.unsafe_flag_value"),
    ("a single quote", {}, f("a'b"), "kubelet.flags.manifest-url-header", "kubelet.unsafe_flag_value"),
    ("a double quote", {}, f('a"b'), "kubelet.flags.manifest-url-header", "kubelet.unsafe_flag_value"),
    ("a backslash", {}, f("a\\b"), "kubelet.flags.manifest-url-header", "kubelet.unsafe_flag_value"),
    ("a variable", {}, f("$HOME"), "kubelet.flags.manifest-url-header", "kubelet.unsafe_flag_value"),
    ("a line break", {}, f("a\nb"), "kubelet.flags.manifest-url-header", "input.control_character"),
    ("a blank, static", {}, {**STATIC, **f("a b")}, "kubelet.flags.manifest-url-header", "kubelet.unsafe_flag_value"),
    ("override and static", {}, {**STATIC, "override": "true"}, "override", "family.unsupported_field"),
    ("a name", {}, {"instance": {"hostname_type": "ip_name"}}, "instance.hostname_type", "strategy.hostname_type"),
    ("nodeadm", {}, {"nodeadm": {"kubelet": {"flags": ["--v=2"]}}}, "nodeadm", "family.foreign_field"),
    ("a second call", {}, {"user_data": "#!/bin/sh\n/etc/eks/bootstrap.sh x\n"}, "user_data", "user_data.bootstraps_twice"),
]


@pytest.mark.parametrize(("cluster", "fields", "path", "rule"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_refused_with_path_and_reason(
    cluster: dict[str, Any], fields: dict[str, Any], path: str, rule: str, golden_message: GoldenMessages
) -> None:
    error = error_of(text, cluster, **fields)
    full_path = path if path.startswith("cluster.") else f"node_group.{path}"
    assert f"{rule} {full_path}" in rules_and_paths(error)
    golden_message(error)


def test_static_gives_settings_to_the_snap_and_starts_it_once() -> None:
    script = text(**STATIC, labels={"a": "b", "zone": "{availability_zone}"}, kubelet={"flags": {"v": 4, "manifest-url-header": "h:a*;b"}})
    commands = script[script.index("/etc/nodebootstrap/node-facts\n. ") :].split("\n")
    setting = next(line for line in commands if line.startswith("snap set"))
    assert shlex.split(setting) == [
        "snap", "set", "kubelet-eks",
        "config=/etc/kubernetes/kubelet/kubelet-config.json",
        "kubeconfig=/var/lib/kubelet/kubeconfig",
        "container-runtime-endpoint=unix:///run/containerd/containerd.sock",
        "image-credential-provider-config=/etc/eks/ecr-credential-provider/config.json",
        "image-credential-provider-bin-dir=/etc/eks/ecr-credential-provider",
        "node-ip=${NODE_IP}",
        "cloud-provider=external",
        "hostname-override=${NODE_NAME}",
        "pod-infra-container-image=602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.10",
        "args=--node-labels=a=b,zone=${AVAILABILITY_ZONE} --provider-id=$PROVIDER_ID --manifest-url-header=h:a*;b --v=4",
        "&&", "break",
    ]  # fmt: skip
    assert [line for line in commands if line.startswith("snap")] == ["snap stop kubelet-eks", setting, "snap start --enable kubelet-eks"]


@pytest.mark.parametrize(("version", "provider"), [("1.26", "aws"), ("1.27", "external"), (None, "external")])
def test_static_follows_the_version(version: str | None, provider: str) -> None:
    script = text({"kubernetes_version": version}, **STATIC)
    assert f"cloud-provider={provider}" in script
    assert ("container-runtime=remote" in script) == (version == "1.26")
    assert ("--provider-id" in script) == (provider == "external")


def test_static_pause_flag_ends_with_1_34() -> None:
    assert "pod-infra-container-image=" in text({"kubernetes_version": "1.34"}, **STATIC)
    assert "pod-infra-container-image=" not in text({"kubernetes_version": "1.35"}, **STATIC)


def test_static_files() -> None:
    own = {"plugins": {"io.containerd.grpc.v1.cri": {"max_concurrent_downloads": 9}}}
    laid = files(
        {"dns_ips": ["10.100.0.10", "10.100.0.11"]}, **STATIC, containerd={"config": own}, kubelet={"config": {"clusterDomain": "x.local"}}
    )
    config = json.loads(laid["/etc/kubernetes/kubelet/kubelet-config.json"])
    assert config["clusterDNS"] == ["10.100.0.10", "10.100.0.11"]
    assert config["clusterDomain"] == "x.local"
    assert config["resolvConf"] == "/run/systemd/resolve/resolv.conf"
    assert "protectKernelDefaults" not in config
    containerd = tomllib.loads(laid["/etc/containerd/config.toml"])["plugins"]["io.containerd.grpc.v1.cri"]
    assert containerd["max_concurrent_downloads"] == 9
    assert containerd["registry"]["config_path"] == "/etc/containerd/certs.d:/etc/docker/certs.d"
    assert "snap set kubelet-eks" in laid["/etc/nodebootstrap/bootstrap.sh"]


def test_static_for_a_kubelet_that_is_a_unit() -> None:
    fields = {
        **STATIC,
        "ubuntu": {"kubelet": "unit"},
        "kubelet": {"flags": {"manifest-url-header": "h:a b"}},
        "proxy": {"https": "http://p:1"},
    }
    script = text(**fields)
    assert script.endswith("systemctl enable containerd kubelet\nsystemctl restart containerd\nsystemctl start kubelet\n")
    assert "snap" not in script
    laid = files(**fields)
    start = next(line for line in laid["/etc/systemd/system/kubelet.service.d/50-nodebootstrap.conf"].splitlines() if "--config" in line)
    assert '"--manifest-url-header=h:a b"' in start and "--v=" not in start
    assert "--image-credential-provider-bin-dir=/etc/eks/image-credential-provider" in start
    assert {linux_files.proxy_path(unit) for unit in ("containerd.service", "kubelet.service")} <= laid.keys()
    assert json.loads(laid["/etc/kubernetes/kubelet/kubelet-config.json"])["resolvConf"] == "/run/systemd/resolve/resolv.conf"


def test_only_finished_files_start_a_kubelet_that_is_a_unit(golden_message: GoldenMessages) -> None:
    with pytest.raises(SpecError) as caught:
        text(ubuntu={"kubelet": "unit"})
    assert rules_and_paths(caught.value) == ["input.conflict node_group.ubuntu.kubelet"]
    golden_message(caught.value)


@settings(settings.get_profile("part"))
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), st.sampled_from([{}, STATIC]))
def test_whatever_is_not_refused_stands_in_one_word(value: str, strategy: dict[str, Any]) -> None:
    try:
        script = text(**strategy, **f(value))
    except SpecError as error:
        assert {problem.path for problem in error.problems} == {"node_group.kubelet.flags.manifest-url-header"}
    else:
        found = next(word for word in shlex.split(script) if "--manifest-url-header=" in word)
        assert found.split(" ")[-1] == f"--manifest-url-header=h:{value.replace(',', ',h:')}"


@given(st.text(max_size=12))
def test_words_of_the_snap_hold_nothing_to_split_or_undo(word: str) -> None:
    if ubuntu.word_problem(word) is None:
        assert shlex.split(word) == [word] or not word or set(word) & set("#")
        assert word.split() == [word] or not word
