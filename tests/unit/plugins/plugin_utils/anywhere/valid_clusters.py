# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated files of clusters that are valid, for every provider."""

from __future__ import annotations

import ipaddress
from typing import Any

from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.clusters import DELETE, PROVIDERS, Change, Documents

CLUSTER = "Cluster"
PLANE, WORKERS, NETWORK = "spec.controlPlaneConfiguration", "spec.workerNodeGroupConfigurations", "spec.clusterNetwork"
_NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,33}[a-z0-9]", fullmatch=True)
_GROUP_NAMES = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?", fullmatch=True)
_LABELS = st.dictionaries(
    st.sampled_from(["a", "example.com/role", "b.c", "team_1"]), st.sampled_from(["", "x", "a-b", "1.2", "A_b"]), max_size=3
)
_TAINTS = st.lists(
    st.fixed_dictionaries({"key": st.sampled_from(["a", "example.com/gpu"]), "effect": st.just("PreferNoSchedule")}), max_size=2
)
_MODES = st.sampled_from(["always", "default", "never"])


@st.composite
def _network(draw: st.DrawFn) -> dict[str, Any]:
    """Networks of pods and services without a common address, with room for nodes."""
    pods = draw(st.integers(9, 22))
    services = draw(st.integers(12, 28))
    first = ipaddress.ip_network(f"10.{draw(st.integers(0, 127))}.0.0/{pods}", strict=False)
    second = ipaddress.ip_network(f"172.{draw(st.integers(16, 31))}.{draw(st.integers(0, 255))}.0/{services}", strict=False)
    mask = draw(st.one_of(st.none(), st.integers(pods + 1, min(pods + 16, 30))))
    nodes = {} if mask is None else {"nodes": {"cidrMaskSize": mask}}
    cilium = draw(st.one_of(st.just({}), st.just({"skipUpgrade": True}), _MODES.map(lambda mode: {"policyEnforcementMode": mode})))
    return {
        "cniConfig": {"cilium": cilium},
        "pods": {"cidrBlocks": [str(first)]},
        "services": {"cidrBlocks": [str(second)]},
        **nodes,
    }


@st.composite
def _group(draw: st.DrawFn, template: dict[str, Any], name: str, minor: int) -> dict[str, Any]:
    count = draw(st.integers(0, 9))
    scaling = draw(st.booleans())
    group = {**template, "name": name, "count": count, "labels": draw(_LABELS), "taints": draw(_TAINTS)}
    if scaling:
        group["autoscalingConfiguration"] = {"minCount": draw(st.integers(0, count)), "maxCount": draw(st.integers(count, 20))}
    if draw(st.booleans()):
        group["kubernetesVersion"] = f"1.{draw(st.integers(minor - 3, minor))}"
    if draw(st.booleans()):
        numbers = {"maxSurge": draw(st.integers(0, 3)), "maxUnavailable": draw(st.integers(1, 3))}
        group["upgradeRolloutStrategy"] = {"type": "RollingUpdate", "rollingUpdate": numbers}
    return group


@st.composite
def valid_documents(draw: st.DrawFn, providers: tuple[str, ...] = PROVIDERS) -> Documents:
    """The documents of a valid cluster."""
    provider = draw(st.sampled_from(providers))
    name = draw(_NAMES)
    minor = draw(st.integers(32, 36))
    found = clusters.documents(provider)
    spec = found[0]["spec"]
    has_etcd = "externalEtcdConfiguration" in spec
    changes: list[Change] = [
        (CLUSTER, "metadata.name", name),
        (CLUSTER, "spec.managementCluster", {"name": draw(st.sampled_from([name, ""]))}),
        (CLUSTER, "spec.kubernetesVersion", f"1.{minor}"),
        (CLUSTER, NETWORK, draw(_network())),
        (CLUSTER, f"{PLANE}.count", draw(st.integers(1, 9)) if has_etcd else draw(st.sampled_from([1, 3, 5, 7]))),
        (CLUSTER, f"{PLANE}.labels", draw(_LABELS)),
    ]
    if has_etcd:
        changes.append((CLUSTER, "spec.externalEtcdConfiguration.count", draw(st.sampled_from([1, 3, 5]))))
    if "endpoint" in spec["controlPlaneConfiguration"]:
        changes.append((CLUSTER, f"{PLANE}.endpoint.host", f"192.0.2.{draw(st.integers(1, 254))}"))
    names = draw(st.lists(_GROUP_NAMES, min_size=1, max_size=3, unique=True))
    template = spec["workerNodeGroupConfigurations"][0]
    changes.append((CLUSTER, WORKERS, [draw(_group(template, one, minor)) for one in names]))
    if provider == "tinkerbell":
        # The name of an image says for which versions it is.
        minors = "-".join(f"1.{number}" for number in range(minor - 3, minor + 1))
        changes.append(("TinkerbellDatacenterConfig", "spec.osImageURL", f"https://example.com/ubuntu-{minors}.gz"))
    changes += draw(st.lists(st.sampled_from(_OPTIONAL), max_size=4, unique_by=lambda change: change[1]))
    for kind, path, value in changes:
        clusters.change(next(one for one in found if one["kind"] == kind), path, value)
    return found


_OPTIONAL: list[Change] = [
    (CLUSTER, "spec.eksaVersion", "v0.26.1"),
    (CLUSTER, "spec.proxyConfiguration", {"httpProxy": "10.9.0.1:3128", "httpsProxy": "http://proxy.lan:3128", "noProxy": ["a"]}),
    (CLUSTER, "spec.registryMirrorConfiguration", {"endpoint": "10.9.0.5", "port": "443", "caCertContent": clusters.CA}),
    (CLUSTER, "spec.machineHealthCheck", {"maxUnhealthy": "40%", "nodeStartupTimeout": "10m0s", "unhealthyMachineTimeout": "5m"}),
    (CLUSTER, "spec.packages", {"disable": True}),
    (CLUSTER, f"{PLANE}.certSans", ["api.example.com", "192.0.2.7"]),
    (CLUSTER, f"{PLANE}.upgradeRolloutStrategy", {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}),
    (CLUSTER, f"{PLANE}.kubeletConfiguration", {"kind": "KubeletConfiguration", "maxPods": 80}),
]


BREAKS: dict[str, list[Change]] = {
    "anywhere.name": [(CLUSTER, "metadata.name", name) for name in ("", "a", "1dev", "-dev", "dev_x", "dev.x", "ä", "a b")],
    "anywhere.name_too_long": [(CLUSTER, "metadata.name", "x" * length) for length in (36, 81)],
    "anywhere.version": [(CLUSTER, "spec.kubernetesVersion", text) for text in ("", "abc", "1", "1.34.1", "v1.34", DELETE)],
    "anywhere.version_not_text": [(CLUSTER, "spec.kubernetesVersion", number) for number in (1.3, 1, 1.34)],
    "anywhere.version_skew": [(CLUSTER, f"{WORKERS}.0.kubernetesVersion", version) for version in ("1.37", "1.28")],
    "anywhere.release": [(CLUSTER, "spec.eksaVersion", text) for text in ("", "x", "0.26", "v1")],
    "anywhere.unknown_provider": [(CLUSTER, "spec.datacenterRef.kind", kind) for kind in ("X", "", "dockerdatacenterconfig")],
    "anywhere.replicas": [(CLUSTER, f"{PLANE}.count", count) for count in (0, -1, DELETE)],
    "anywhere.worker_count": [(CLUSTER, f"{WORKERS}.0", {"name": "a", "count": -1})],
    "anywhere.autoscaling": [
        (CLUSTER, f"{WORKERS}.0", {"count": count, "autoscalingConfiguration": {"minCount": low, "maxCount": high}})
        for count, low, high in ((1, 3, 1), (1, -1, 1), (9, 1, 3), (0, 1, 3), (1, 1, 0))
    ],
    "anywhere.worker_name": [(CLUSTER, f"{WORKERS}.0.name", name) for name in ("A", "a_b", "-a", "a b")],
    "anywhere.taint_effect": [(CLUSTER, f"{WORKERS}.0.taints", [{"key": "a", "effect": effect}]) for effect in ("x", "", "noschedule")],
    "anywhere.all_workers_tainted": [
        (CLUSTER, WORKERS, [{"taints": [{"key": "a", "effect": effect}]}]) for effect in ("NoSchedule", "NoExecute")
    ],
    "labels.invalid_key": [(CLUSTER, f"{WORKERS}.0.labels", {key: "x"}) for key in ("a b", "/a", "a/b/c", "-a")],
    "labels.forbidden_prefix": [(CLUSTER, f"{WORKERS}.0.labels", {key: ""}) for key in ("node-role.kubernetes.io/x", "k8s.io/a")],
    "labels.invalid_value": [(CLUSTER, f"{PLANE}.labels", {"a": value}) for value in ("-b", "b c", "x" * 64)],
    "anywhere.rollout": [
        (CLUSTER, f"{WORKERS}.0.upgradeRolloutStrategy", {"type": kind, "rollingUpdate": {"maxSurge": surge, "maxUnavailable": 0}})
        for kind, surge in (("x", 1), ("", 1), ("RollingUpdate", 0), ("RollingUpdate", -1))
    ],
    "anywhere.cidr": [
        *((CLUSTER, f"{NETWORK}.pods", {"cidrBlocks": one}) for one in ([], ["x"], ["10.0.0.0"], ["10.0.0.0/33"], ["10.0.0.0/9"] * 2)),
        *((CLUSTER, f"{NETWORK}.services", {"cidrBlocks": blocks}) for blocks in ([], ["10.0.0.1/16"], ["300.0.0.0/16"])),
    ],
    "anywhere.cidr_overlap": [(CLUSTER, f"{NETWORK}.services.cidrBlocks", ["10.0.0.0/12"])],
    "anywhere.service_network": [(CLUSTER, f"{NETWORK}.services.cidrBlocks", [block]) for block in ("172.16.0.0/30", "172.0.0.0/11")],
    "anywhere.node_mask": [(CLUSTER, f"{NETWORK}.nodes", {"cidrMaskSize": size}) for size in (1, 8, 9, 33, 64)],
    "anywhere.cni": [(CLUSTER, f"{NETWORK}.cniConfig", config) for config in ({}, DELETE, {"cilium": {}, "kindnetd": {}})],
    "anywhere.cilium": [
        (CLUSTER, f"{NETWORK}.cniConfig", {"cilium": settings})
        for settings in ({"policyEnforcementMode": "x"}, {"routingMode": "direct"}, {"skipUpgrade": True, "routingMode": "overlay"})
    ],
    "anywhere.cert_san": [(CLUSTER, f"{PLANE}.certSans", [name]) for name in ("a b", "localhost", "A.example.com", "10.0.0.300")],
    "anywhere.proxy": [
        (CLUSTER, "spec.proxyConfiguration", {"httpProxy": proxy, "httpsProxy": "10.0.0.1:1"})
        for proxy in ("", "x y", "10.0.0.1", "10.0.0.1:0", "10.0.0.1:99999", "http://", "http://x", "httpx://x:1", "300.1.1.1:80")
    ],
    "anywhere.mirror": [
        (CLUSTER, "spec.registryMirrorConfiguration", mirror)
        for mirror in ({}, {"endpoint": "a b"}, {"endpoint": "r", "port": "0"}, {"endpoint": "r", "ociNamespaces": [{"namespace": "x"}]})
    ],
    "input.missing_field": [
        (CLUSTER, "spec.registryMirrorConfiguration", {"endpoint": "r", "ociNamespaces": [{"registry": "x.example.com"}]}),
        (CLUSTER, "spec.podIamConfig", {"serviceAccountIssuer": ""}),
        (CLUSTER, "spec.gitOpsRef", {"kind": "FluxConfig"}),
        (CLUSTER, f"{WORKERS}.1", {"count": 1}),
    ],
    "anywhere.identity_provider": [(CLUSTER, "spec.identityProviderRefs", [{"kind": kind, "name": "x"}]) for kind in ("", "X")],
    "anywhere.git_ops": [(CLUSTER, "spec.gitOpsRef", {"kind": kind, "name": "x"}) for kind in ("", "X")],
    "anywhere.api_server_args": [(CLUSTER, f"{PLANE}.apiServerExtraArgs", {"v": "2"})],
    "anywhere.duration": [(CLUSTER, "spec.machineHealthCheck", {"nodeStartupTimeout": value}) for value in ("5", 5, "x", True)],
    "anywhere.kubelet_kind": [(CLUSTER, f"{PLANE}.kubeletConfiguration", {"maxPods": 1})],
    "anywhere.kubelet_field": [(CLUSTER, f"{PLANE}.kubeletConfiguration", {"kind": "KubeletConfiguration", "providerID": "x"})],
    "anywhere.audit_policy": [(CLUSTER, f"{PLANE}.auditPolicyContent", text) for text in ("a: [", "x", "kind: Policy\n")],
    "input.unknown_field": [
        (CLUSTER, "spec.unknownField", 1),
        (CLUSTER, f"{PLANE}.replicas", 3),
        (CLUSTER, f"{WORKERS}.0.machineGroup", {}),
        (CLUSTER, f"{NETWORK}.pods.cidr", "10.0.0.0/8"),
        (CLUSTER, "spec.bundlesRef", {"kind": "Bundles"}),
    ],
    "input.wrong_type": [
        (CLUSTER, f"{PLANE}.count", value) for value in ("3", 1.5, True, [1], {"a": 1})
    ] + [(CLUSTER, WORKERS, {}), (CLUSTER, "spec.packages.disable", "true"), (CLUSTER, f"{PLANE}.labels", {"a": True})],
}  # fmt: skip
"""Rule → changes of a valid file, each of which breaks it."""
