# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded rows of EKS Anywhere's validation, varied by class on three providers, and held against a second set of rules."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.validate import validate
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.tests.oracle.eks_anywhere_rows import CASES, STRICTER
from ansible_collections.nodebootstrap.eks.tests.oracle.eks_anywhere_second import refused
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.clusters import DELETE

PROVIDERS = ("docker", "vsphere", "tinkerbell")
PLANE, WORKERS, NETWORK = "spec.controlPlaneConfiguration", "spec.workerNodeGroupConfigurations", "spec.clusterNetwork"
Edits = Mapping[str, Any]
"""Path → value."""

ALSO_STRICTER = {
    "anywhere.mirror": "the endpoint would not be a host, or a registry has two places",
    "anywhere.rollout": "a control plane has no maxUnavailable, and RollingUpdate without numbers means nothing",
    "anywhere.taint_effect": "the API server refuses a node with an unknown effect",
    "anywhere.cert_san": "kubeadm refuses a certificate with such a name",
}
"""Rule → why the collection refuses variations that EKS Anywhere accepts at this point."""

HOSTS = ("10.9.0.1", "proxy.lan", "[fd00::1]", "fd00::1", "a b", "user@proxy.lan", "")


def classes(has_etcd: bool) -> Iterator[tuple[str, list[Edits]]]:
    """Every class with its variations."""
    names = ["a", "ab", "A", "Ab", "1a", "-a", "a-", "a--b", "a_b", "a.b", "a b", "ä", "", *("x" * size for size in (2, 34, 35, 36, 64))]
    yield "name", [{"metadata.name": name, "spec.managementCluster": {"name": name}} for name in names]
    yield "count", [{f"{PLANE}.count": count} for count in (-3, -1, 0, 1, 2, 3, 4, 5, 6, 7, None, DELETE, "3", 1.5)]
    if has_etcd:
        yield "etcd", [{"spec.externalEtcdConfiguration.count": count} for count in (-1, 0, 1, 2, 3, 4, 5, 7, None)]
    cells = itertools.product((-1, 0, 1, 3), (-1, 0, 1, 3), (-1, 0, 1, 2, 3, 4, None))
    yield (
        "autoscaling",
        [
            {f"{WORKERS}.0.count": count, f"{WORKERS}.0.autoscalingConfiguration": {"minCount": low, "maxCount": high}}
            for low, high, count in cells
        ],
    )
    yield "count of workers", [{f"{WORKERS}.0.count": count} for count in (-5, -1, 0, 1, 100, None, "1", 2.5, True)]
    yield (
        "taints",
        [
            {f"{WORKERS}.0.taints": [{"key": "a", "effect": effect}], "spec.managementCluster": {"name": manager}}
            for effect in ("NoSchedule", "NoExecute", "PreferNoSchedule", "noschedule", "")
            for manager in ("dev", "other", "")
        ],
    )
    masks = itertools.product((8, 12, 16, 20, 23, 24, 25, 28), (None, 8, 16, 20, 24, 25, 28, 30))
    yield (
        "masks",
        [
            {f"{NETWORK}.pods.cidrBlocks": [f"192.0.0.0/{pods}"], **({} if mask is None else {f"{NETWORK}.nodes": {"cidrMaskSize": mask}})}
            for pods, mask in masks
        ],
    )
    blocks = (
        [],
        [""],
        ["x"],
        ["10.0.0.0"],
        ["10.0.0.0/33"],
        ["300.0.0.0/8"],
        ["172.16.0.0/16", "172.17.0.0/16"],
        ["172.16.0.0/-1"],
        ["172.16.0.0/16"],
        ["172.16.0.0/16 "],
    )
    yield "networks", [{f"{NETWORK}.{part}.cidrBlocks": block} for part in ("pods", "services") for block in blocks]
    modes = ({}, {"policyEnforcementMode": "always"}, {"policyEnforcementMode": "Always"}, {"policyEnforcementMode": ""})
    more = ({"routingMode": "direct"}, {"routingMode": "overlay"}, {"routingMode": "direct", "ipv4NativeRoutingCIDR": "10.0.0.0/8"})
    cilium = [{**one, **({"skipUpgrade": True} if skip else {})} for one in (*modes, *more) for skip in (False, True)]
    configs = [None, {}, {"kindnetd": {}}, {"cilium": {}, "kindnetd": {}}, *({"cilium": one} for one in cilium)]
    yield (
        "CNI",
        [
            {f"{NETWORK}.cniConfig": DELETE if config is None else config, **({f"{NETWORK}.cni": old} if old else {})}
            for config in configs
            for old in (None, "cilium", "kindnetd")
        ],
    )
    strategies = [
        {"type": kind, "rollingUpdate": {"maxSurge": surge, "maxUnavailable": gone}}
        for kind in ("RollingUpdate", "InPlace", "Recreate", "")
        for surge in (-1, 0, 1, 2)
        for gone in (-1, 0, 1)
    ]
    yield "strategies", [{f"{place}.upgradeRolloutStrategy": one} for place in (PLANE, f"{WORKERS}.0") for one in strategies]
    yield (
        "mirror",
        [
            {"spec.registryMirrorConfiguration": {"endpoint": host, "port": port}}
            for host in ("", "10.9.0.5", "registry.lan", "https://registry.lan", "registry.lan/x")
            for port in ("", "0", "1", "443", "65535", "65536", "-1", "x", "4 4")
        ],
    )
    curated = "783794618700.dkr.ecr.us-west-2.amazonaws.com"
    lists = ([], ["public.ecr.aws"], [""], [curated], [curated, curated.replace("us-west-2", "eu-west-1")], ["a.lan", "a.lan"])
    yield (
        "registries",
        [
            {
                "spec.registryMirrorConfiguration": {
                    "endpoint": "r.lan",
                    "ociNamespaces": [{"registry": one, "namespace": "x"} for one in rows],
                }
            }
            for rows in lists
        ],
    )
    proxies = [
        f"{scheme}{host}{port}"
        for scheme in ("", "http://", "https://", "socks5://")
        for host in HOSTS
        for port in ("", ":0", ":3128", ":65536", ":x")
    ]
    yield "proxy", [{"spec.proxyConfiguration": {"httpProxy": one, "httpsProxy": "10.9.0.1:3128"}} for one in proxies]
    yield "proxy without https", [{"spec.proxyConfiguration": {"httpProxy": "10.9.0.1:3128"}}, {"spec.proxyConfiguration": {}}]
    yield (
        "references",
        [
            {field: [one] if field.endswith("s") else one}
            for field in ("spec.identityProviderRefs", "spec.gitOpsRef")
            for one in (
                {"kind": kind, "name": name} for kind in ("OIDCConfig", "AWSIamConfig", "FluxConfig", "x", "") for name in ("a", "")
            )
        ],
    )
    keys = ("a", "a.b/c", "A_b", "", "/a", "a/", "a/b/c", "a b", "-a", "x" * 63, "x" * 64, "ä")
    yield "labels", [{f"{place}.labels": {key: "x"}} for place in (PLANE, f"{WORKERS}.0") for key in keys]
    values = ("", "a", "A-b_c.d", "-a", "a b", "x" * 63, "x" * 64, 1.5, None)
    yield (
        "values of labels",
        [{f"{place}.labels": {"a": value}} for place in (PLANE, f"{WORKERS}.0") for value in values if value is not None],
    )
    sans = ("a.lan", "*.a.lan", "localhost", "10.0.0.1", "fd00::1", "a b", "", "10.0.0.300", "A.LAN")
    yield "certificate names", [{f"{PLANE}.certSans": [one]} for one in sans]
    yield (
        "release",
        [{"spec.eksaVersion": one} for one in ("v0.26.1", "0.26.1", "v0.26", "latest", "", "v0.26.1-dev+build", "v01.2.3", "v1.2.3.4")],
    )
    yield "issuer", [{"spec.podIamConfig": one} for one in ({}, {"serviceAccountIssuer": ""}, {"serviceAccountIssuer": "https://a.lan"})]
    yield (
        "packages",
        [
            {"spec.packages": {part: {"tag": "x"}}, "spec.managementCluster": {"name": manager}}
            for part in ("controller", "cronjob")
            for manager in ("dev", "other")
        ],
    )
    yield "endpoint", [{f"{PLANE}.endpoint": one} for one in ({}, {"host": ""}, {"host": "10.9.0.9"})]
    yield (
        "workers",
        [{WORKERS: []}, {WORKERS: [], f"{PLANE}.taints": [{"key": "a", "effect": "NoSchedule"}]}, {WORKERS: [], f"{PLANE}.taints": []}],
    )
    yield (
        "kubelet",
        [{f"{PLANE}.kubeletConfiguration": one} for one in ({}, {"maxPods": 9}, {"kind": "KubeletConfiguration", "maxPods": 9})],
    )
    yield "fields", [{f"spec.{name}": "x"} for name in ("kubernetesversion", "controlPlane", "cni", "podIAMConfig")]


ONLY_REFUSED = ("fields", "proxy without https")
NAMES = [name for name, _edits in classes(has_etcd=True)]


def edited(provider: str, edits: Edits) -> dict[str, Any]:
    """The recorded row of a provider, with other values."""
    text = next(case["text"] for case in CASES if case["id"] == f"{provider}: as it is")
    cluster: dict[str, Any] = copy.deepcopy(yaml.load_all(text)[0])
    for path, value in edits.items():
        if value is not DELETE or path.rpartition(".")[2] in str(cluster):
            clusters.change(cluster, path, value if value is DELETE else copy.deepcopy(value))
    return cluster


@cache
def results(provider: str, name: str) -> list[tuple[str, str | None, frozenset[str]]]:
    """Every variation of a class, with the reason of the second rules and the rules by which the library refuses it."""
    found = []
    for edits in dict(classes(has_etcd=provider != "tinkerbell")).get(name, []):
        cluster = edited(provider, edits)
        rules = frozenset(problem.rule for problem in validate(yaml.dump(cluster), "cluster").errors)
        found.append((str(edits), refused(cluster), rules))
    return found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_class_of_variations(provider: str, name: str) -> None:
    wrong = []
    for edits, reason, rules in results(provider, name):
        if reason is not None and not rules:
            wrong.append(f"accepted, and EKS Anywhere refuses it ({reason}): {edits}")
        elif reason is None and rules - STRICTER.keys() - ALSO_STRICTER.keys():
            wrong.append(f"refused for {sorted(rules)}, and EKS Anywhere accepts it: {edits}")
    assert not wrong, "\n".join(wrong)


def test_every_class_has_files_of_both_kinds_and_every_listed_rule_is_used() -> None:
    used: set[str] = set()
    for name in NAMES:
        rows = [row for provider in PROVIDERS for row in results(provider, name)]
        assert any(reason is not None for _edits, reason, _rules in rows), name
        assert name in ONLY_REFUSED or any(reason is None and not rules for _edits, reason, rules in rows), name
        used |= {rule for _edits, reason, rules in rows if reason is None for rule in rules}
    assert used >= ALSO_STRICTER.keys(), ALSO_STRICTER.keys() - used


NOT_READ = "error converting YAML to JSON"
"""Rows of the record that EKS Anywhere could not read: the second rules begin behind the reader."""


def test_the_second_rules_are_those_of_the_record() -> None:
    wrong = []
    for case in CASES:
        try:
            documents = yaml.load_all(case["text"])
        except yaml.YamlError:
            continue
        cluster = next((one for one in documents if isinstance(one, dict) and one.get("kind") == "Cluster"), None)
        if cluster is not None and NOT_READ not in case["said"] and (refused(cluster) is None) != case["valid"]:
            wrong.append(f"{case['id']}: {refused(cluster)}; the record says: {case['said'] or 'valid'}")
    assert not wrong, "\n".join(wrong)
