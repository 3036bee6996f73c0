# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""C(mode: karpenter): with what Karpenter adds, a node has what the same node group has without Karpenter. Nothing is lost or doubled."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig import merge
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.karpenter import karpenter_manifests
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_config import node_config
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_spec import node_spec
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils import karpenter_model as model
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import problems_of
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.test_nothing_is_dropped import put, samples

FACTS = COMPLETE | {"certificate_authority": COMPLETE["certificate_authority"]}
LABELS = {"role": "web", "team": "a"}
TAINTS = [{"key": "dedicated", "value": "web", "effect": "NoSchedule"}]
KUBELET = {
    "evictionHard": {"memory.available": "200Mi"},
    "imageGCHighThresholdPercent": 80,
    "imageGCLowThresholdPercent": 70,
    "cpuCFSQuota": False,
}
GROUP = {"name": "web", "mode": "karpenter", "labels": LABELS, "taints": TAINTS, "max_pods": 58, "kubelet": {"config": KUBELET}}
WINDOWS = {"windows": {"version": "2022"}}


@pytest.fixture(autouse=True)
def certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model and the library get the same cluster."""
    facts = {key: COMPLETE[key] for key in model.CLUSTER}
    monkeypatch.setattr(model, "CLUSTER", facts)


def manifests(family: str, **fields: Any) -> dict[str, Any]:
    return karpenter_manifests({}, {**GROUP, "family": family, **fields})


# The expected texts are derived by hand from the source of Karpenter v1.14.1.

LABELS_ARGUMENT = '--node-labels="role=web,team=a"'
TAINTS_ARGUMENT = '--register-with-taints="dedicated=web:NoSchedule,karpenter.sh/unregistered:NoExecute"'
GC_ARGUMENTS = "--image-gc-high-threshold=80 --image-gc-low-threshold=70 --cpu-cfs-quota=false"
REST = f'--max-pods=58 --eviction-hard="memory.available<200Mi" {GC_ARGUMENTS}'


def test_row_al2() -> None:
    parts = model.launch(manifests("al2", commands={"pre": ["echo one"]}, local_storage={"strategy": "raid0"}))
    assert [headers["Content-Type"] for headers, _unused in parts] == ["text/x-shellscript"] * 2
    assert "echo one" in parts[0][1]
    facts = model.CLUSTER
    assert parts[1][1] == (
        "#!/bin/bash -xe\n"
        f"/etc/eks/bootstrap.sh '{facts['name']}' --apiserver-endpoint '{facts['endpoint']}'"
        f" --b64-cluster-ca '{facts['certificate_authority']}' --dns-cluster-ip '10.100.0.10' --use-max-pods false"
        f" --kubelet-extra-args '{LABELS_ARGUMENT} {TAINTS_ARGUMENT} {REST}' --local-disks raid0"
    )


def test_row_al2023() -> None:
    parts = model.launch(manifests("al2023", commands={"pre": ["echo one"]}, kubelet={"config": {**KUBELET, "podPidsLimit": 100}}))
    types = [headers["Content-Type"] for headers, _unused in parts]
    assert types == ["text/x-shellscript", "application/node.eks.aws", "application/node.eks.aws"]
    ours, theirs = (yaml.safe_load(text)["spec"] for _unused, text in parts[1:])
    assert ours == {"kubelet": {"config": {"podPidsLimit": 100}}}
    assert theirs["kubelet"] == {
        "config": {
            **KUBELET,
            "maxPods": 58,
            "clusterDNS": ["10.100.0.10"],
            "registerWithTaints": [*TAINTS, {"key": "karpenter.sh/unregistered", "effect": "NoExecute"}],
        },
        "flags": [LABELS_ARGUMENT],
    }
    assert theirs["instance"] == {}
    assert theirs["cluster"]["cidr"] == "10.100.0.0/16"


def test_row_bottlerocket() -> None:
    settings = model.launch(
        manifests(
            "bottlerocket",
            bottlerocket={"settings": {"motd": "hi", "kubernetes": {"registry-qps": 5}}},
            local_storage={"strategy": "raid0"},
        )
    )
    kubernetes = settings.pop("kubernetes")
    assert settings == {
        "motd": "hi",
        "bootstrap-commands": {
            "000-mount-instance-storage": {
                "commands": [["apiclient", "ephemeral-storage", "init"], ["apiclient", "ephemeral-storage", "bind"]],
                "essential": True,
                "mode": "always",
            }
        },
    }
    assert kubernetes == {
        "api-server": model.CLUSTER["endpoint"],
        "cluster-certificate": model.CLUSTER["certificate_authority"],
        "cluster-name": "demo",
        "cluster-dns-ip": "10.100.0.10",
        "node-labels": LABELS,
        "node-taints": {"dedicated": ["web:NoSchedule"], "karpenter.sh/unregistered": [":NoExecute"]},
        "max-pods": 58,
        "eviction-hard": {"memory.available": "200Mi"},
        "image-gc-high-threshold-percent": "80",
        "image-gc-low-threshold-percent": "70",
        "cpu-cfs-quota-enforced": False,
        "registry-qps": 5,
    }


def test_row_windows() -> None:
    text = model.launch(manifests("windows", commands={"pre": ["Write-Host one"]}, **WINDOWS))
    facts = model.CLUSTER
    assert text == (
        "<powershell>\nWrite-Host one\n"
        '[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"\n'
        f"& $EKSBootstrapScriptFile -EKSClusterName '{facts['name']}' -APIServerEndpoint '{facts['endpoint']}'"
        f" -Base64ClusterCA '{facts['certificate_authority']}'"
        f" -KubeletExtraArgs '{LABELS_ARGUMENT} {TAINTS_ARGUMENT} {REST}' -DNSClusterIP '10.100.0.10'\n</powershell>"
    )


def test_row_ubuntu() -> None:
    group = {**GROUP, "family": "ubuntu", "strategy": "static", "reserved": {"kube": {"cpu": "1"}}}
    found = karpenter_manifests(COMPLETE, group)
    alone = {**group, "mode": "self_managed", "taints": [*TAINTS, {"key": "karpenter.sh/unregistered", "effect": "NoExecute"}]}
    assert found["ec2_node_class"]["spec"]["amiFamily"] == "Custom"
    assert model.launch(found) == render(COMPLETE, alone).document.text
    assert found["ec2_node_class"]["spec"]["kubelet"] == {**KUBELET, "maxPods": 58, "kubeReserved": {"cpu": "1"}}
    assert found["node_pool"]["spec"]["template"]["metadata"]["labels"] == LABELS


def test_the_resources_refer_to_each_other() -> None:
    found = manifests("al2023")
    name = {"name": "web"}
    assert found["ec2_node_class"]["metadata"] == found["node_pool"]["metadata"] == name
    assert found["ec2_node_class"]["apiVersion"] == "karpenter.k8s.aws/v1"
    assert found["node_pool"]["apiVersion"] == "karpenter.sh/v1"
    assert found["node_pool"]["spec"]["template"]["spec"] == {
        "taints": TAINTS,
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", **name},
    }
    assert "userData" not in manifests("al2")["ec2_node_class"]["spec"]


# Every sample of the test that nothing is dropped, as a node of Karpenter and as a node without it.


def pairs(family: str) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """(field, group of Karpenter, the same group without Karpenter) of each sample that is accepted in both modes."""
    config = {"evictionHard": {"memory.available": "5%"}, "evictionMaxPodGracePeriod": 30, "podPidsLimit": 100}
    named = {"max_pods": 58, **(WINDOWS if family == "windows" else {})}
    for sample in samples(family):
        for beside in ({}, {"labels": LABELS, "taints": TAINTS}, {"kubelet": {"config": config}}):
            group = put({"family": family, **named, **beside, **sample.beside}, sample.place, sample.one)
            both = [{**group, "mode": mode} for mode in ("karpenter", "self_managed")]
            if not any(problems_of(render, COMPLETE, one) for one in both):
                yield sample.path, both[0], both[1]


def without_unregistered(taints: Mapping[str, list[str]]) -> dict[str, list[str]]:
    return {key: sorted(effects) for key, effects in taints.items() if key != "karpenter.sh/unregistered"}


def node_of_al2023(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """What a node gets from its NodeConfigs: labels and taints as mappings, everything else as nodeadm merges it."""
    spec = copy.deepcopy(dict(merge.merge(documents)["spec"]))
    kubelet = spec.pop("kubelet", {})
    labels: dict[str, str] = {}
    taints: dict[str, list[str]] = {}
    flags = []
    for word in kubelet.get("flags", []):
        name, _unused, value = word.partition("=")
        value = value.strip('"')
        if name == "--node-labels":
            labels |= dict(pair.split("=", 1) for pair in value.split(","))
        elif name == "--register-with-taints":
            for one in value.split(","):
                taints.setdefault(one.split("=")[0], []).append(one.split("=", 1)[1])
        else:
            flags.append(word)
    for taint in kubelet.get("config", {}).pop("registerWithTaints", None) or []:
        taints.setdefault(taint["key"], []).append(f"{taint.get('value', '')}:{taint['effect']}")
    instance = {key: value for key, value in spec.pop("instance", {}).items() if value}
    return {
        **spec,
        "instance": instance,
        "kubelet": kubelet.get("config", {}),
        "flags": flags,
        "labels": labels,
        "taints": without_unregistered(taints),
    }


def scripts(parts: list[model.Part]) -> list[str]:
    return [text for headers, text in parts if headers["Content-Type"] != "application/node.eks.aws"]


def test_nothing_is_lost_or_doubled_on_al2023() -> None:
    seen = set()
    for path, ours, alone in pairs("al2023"):
        seen.add(path)
        parts = model.launch(karpenter_manifests(COMPLETE, ours))
        configs = [yaml.safe_load(text) for headers, text in parts if headers["Content-Type"] == "application/node.eks.aws"]
        assert node_of_al2023(configs) == node_of_al2023(node_config(COMPLETE, alone)), path
        for config in configs[:-1]:
            kubelet = config["spec"].get("kubelet", {})
            assert not {*data.karpenter()["kubelet"], "registerWithTaints"} & kubelet.get("config", {}).keys(), path
            assert not any(word.startswith(("--node-labels", "--register-with-taints")) for word in kubelet.get("flags", [])), path
        # Managed node groups run the same scripts; only their guards differ from those of a node that is bootstrapped here.
        managed = render(COMPLETE, {**alone, "mode": "managed"} | {"labels": {}, "taints": []})
        assert scripts(parts) == [piece.text for piece in managed.document.fragments if piece.text.startswith("#!")], path
    assert {
        "labels",
        "taints",
        "max_pods",
        "reserved.kube.cpu",
        "user_data",
        "containerd.config",
        "proxy.https",
        "nodeadm.kubelet.flags",
    } <= seen


def test_nothing_is_lost_or_doubled_on_bottlerocket() -> None:
    seen = set()
    for path, ours, alone in pairs("bottlerocket"):
        seen.add(path)
        found = karpenter_manifests(COMPLETE, ours)
        with_karpenter = model.launch(found)
        without = model.tomllib.loads(render(COMPLETE, alone).document.text)["settings"]
        for settings in (with_karpenter, without):
            kubernetes = settings["kubernetes"]
            kubernetes["node-taints"] = without_unregistered(kubernetes.get("node-taints", {}))
            kubernetes.setdefault("node-labels", {})
            commands = settings.pop("bootstrap-commands", {})
            settings["disks"] = any("storage" in name for name in commands)
        assert with_karpenter == without, path
        own = model.tomllib.loads(found["ec2_node_class"]["spec"].get("userData", "")).get("settings", {}).get("kubernetes", {})
        assert not own.keys() & {*data.karpenter()["bottlerocket_fields"], "node-labels", "node-taints", "cluster-name"}, path
    assert {"labels", "taints", "max_pods", "reserved.kube.cpu", "user_data", "proxy.https", "bottlerocket.settings.motd"} <= seen


@pytest.mark.parametrize("family", ["al2", "windows"])
def test_nothing_is_lost_or_doubled_in_scripts(family: str) -> None:
    seen = set()
    for path, ours, alone in pairs(family):
        seen.add(path)
        launched = model.launch(karpenter_manifests(COMPLETE, ours))
        text = launched if isinstance(launched, str) else launched[-1][1]
        spec = node_spec(COMPLETE, alone)["node_group"]
        taints = [*spec.get("taints", []), model.UNREGISTERED]
        kubelet = {
            **spec.get("kubelet", {}).get("config", {}),
            **{f"{name}Reserved": value for name, value in spec.get("reserved", {}).items()},
        }
        words = model.kubelet_arguments({**kubelet, "maxPods": spec["max_pods"]}, spec.get("labels", {}), taints)
        for word in words:
            assert text.count(word) == 1, (path, word)
        for name in ("max-pods", "node-labels", "register-with-taints"):
            assert str(launched).count(f"--{name}=") <= 1, path
        for command in alone.get("commands", {}).get("pre", []):
            assert command in str(launched), path
    assert {"labels", "taints", "max_pods", "reserved.system.cpu", "commands.pre", "user_data"} <= seen


@pytest.mark.parametrize("label", ["kubernetes.io/arch", "node.kubernetes.io/pool", "example.com/a"])
def test_a_label_that_karpenter_accepts(label: str) -> None:
    assert not problems_of(manifests, "al2023", labels={label: "arm64"})


def test_the_cluster_is_needed_for_ubuntu_only() -> None:
    for family in ("al2", "al2023", "bottlerocket", "windows"):
        assert not problems_of(manifests, family, **(WINDOWS if family == "windows" else {}))
    with pytest.raises(SpecError):
        manifests("ubuntu")


def test_name_servers_are_asked_for_or_left_to_karpenter() -> None:
    kubelet = manifests("al2023")["ec2_node_class"]["spec"]["kubelet"]
    assert "clusterDNS" not in kubelet
    given = karpenter_manifests({"dns_ips": ["10.0.0.1", "10.0.0.2"]}, {**GROUP, "family": "al2023"})
    assert given["ec2_node_class"]["spec"]["kubelet"]["clusterDNS"] == ["10.0.0.1", "10.0.0.2"]
    found = problems_of(karpenter_manifests, {"dns_ips": ["10.0.0.1", "10.0.0.2"]}, {**GROUP, "family": "bottlerocket"})
    assert found == [("karpenter.unsupported_field", "cluster.dns_ips")]
