# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.bottlerocket_settings import bottlerocket_problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problem, Problems
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import rule_and_path

PEM = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n").decode()


def found(settings: Any, version: tuple[int, int] | None = None, show: Callable[[Problem], str] = str) -> list[str]:
    problems = Problems()
    bottlerocket_problems(settings, "settings", problems, version)
    return [show(problem) for problem in problems]


def nested(path: str, value: Any) -> dict[str, Any]:
    """C(a.b.c) and a value as mappings; a dot inside a key is written C(:)."""
    for name in reversed(path.split(".")):
        value = {name.replace(":", "."): value}
    result: dict[str, Any] = value
    return result


GOOD: list[tuple[str, Any]] = [
    ("kubernetes.api-server", "https://x.eks.amazonaws.com"),
    ("kubernetes.cluster-certificate", PEM),
    ("kubernetes.cluster-name", "my-cluster"),
    ("kubernetes.cluster-dns-ip", "10.100.0.10"),
    ("kubernetes.cluster-dns-ip", ["10.100.0.10", "fd00::a"]),
    ("kubernetes.max-pods", 110),
    ("kubernetes.node-labels", {"a": "true", "example.com/b": ""}),
    ("kubernetes.node-taints", {"dedicated": ["exp:NoSchedule", "exp:NoExecute"], "special": ":NoExecute"}),
    ("kubernetes.eviction-hard", {"memory.available": "15%", "nodefs.available": "1Gi"}),
    ("kubernetes.eviction-soft-grace-period.memory:available", "1m30s"),
    ("kubernetes.kube-reserved", {"cpu": "70m", "memory": "574Mi", "ephemeral-storage": "1Gi", "pid": "100"}),
    ("kubernetes.image-gc-high-threshold-percent", 85),
    ("kubernetes.image-gc-low-threshold-percent", "80"),
    ("kubernetes.shutdown-grace-period", "0s"),
    ("kubernetes.cloud-provider", ""),
    ("kubernetes.reserved-cpus", "0,3-5,8"),
    ("kubernetes.cpu-manager-policy-options", ["full-pcpus-only"]),
    ("kubernetes.topology-manager-policy-options", {"prefer-closest-numa-nodes": True, "max-allowable-numa-nodes": "8"}),
    ("kubernetes.memory-manager-reserved-memory.0", {"enabled": True, "memory": "674Mi", "hugepages-1Gi": "1Gi"}),
    ("kubernetes.static-pods.my-pod", {"enabled": True, "manifest": "e30="}),
    ("kubernetes.credential-providers.ecr-credential-provider", {"enabled": True, "cache-duration": "30m", "environment": {"A": "b"}}),
    ("kubernetes.bootstrap-token", "abcdef.0123456789abcdef"),
    ("kubernetes.provider-id", "aws:///us-west-2a/i-0123"),
    ("host-containers.admin", {"enabled": True, "source": "x/y:1", "superpowered": True, "user-data": "e30="}),
    ("bootstrap-containers.a", {"mode": "once", "source": "x/y:1", "essential": False}),
    ("bootstrap-commands.raid", {"commands": [["apiclient", "ephemeral-storage", "init"]], "mode": "always", "essential": True}),
    ("network.hosts", [["10.0.0.1", ["a.example.com", "b"]]]),
    ("network.https-proxy", "1.2.3.4:8080"),
    ("network.no-proxy", ["localhost", "10.0.0.0/8"]),
    ("dns.name-servers", ["1.2.3.4"]),
    ("ntp.time-servers", ["169.254.169.123"]),
    ("kernel.sysctl", {"net.core.somaxconn": "1024", "net/ipv4/x": "1"}),
    ("kernel.modules.sctp", {"allowed": False}),
    ("kernel.lockdown", "integrity"),
    ("boot.kernel-parameters", {"console": ["tty0"], "splash": []}),
    ("container-runtime.concurrent-download-chunk-size", "32mb"),
    ("container-runtime.concurrent-download-chunk-size", 1024),
    ("container-runtime.max-container-log-line-size", -1),
    ("container-runtime-plugins.soci-snapshotter.parallel-pull-unpack.concurrent-download-chunk-size", "unlimited"),
    ("container-registry.mirrors", [{"registry": "*", "endpoint": ["https://mirror"]}]),
    ("container-registry.credentials", [{"registry": "docker.io", "username": "a", "password": "b"}]),
    ("pki.corporate", {"data": PEM, "trusted": True}),
    ("aws.region", "us-west-2"),
    ("updates.version-lock", "v1.50.0"),
    ("motd", "two\nlines"),
    ("oci-defaults.capabilities.sys-admin", True),
    ("oci-defaults.resource-limits.max-open-files", {"soft-limit": 65536, "hard-limit": "unlimited"}),
    ("kubelet-device-plugins.nvidia", {"device-sharing-strategy": "mps", "mps": {"replicas": 4}}),
    ("kubelet-device-plugins.nvidia.mig.profile", {"a100.40gb": "1g.5gb", "h100.80gb": "4"}),
    ("image-verifier-plugins", {"enabled": True, "notation": {"trustpolicy": "e30="}, "mine": {"trustpolicy": "e30="}}),
]


@pytest.mark.parametrize(("path", "value"), GOOD)
def test_what_bottlerocket_takes(path: str, value: Any) -> None:
    assert found(nested(path, value)) == []
    assert found(nested(path, value), (1, 36)) == []


BAD: list[tuple[str, Any, str]] = [
    ("kubernets", {}, "bottlerocket.unknown_setting settings.kubernets"),
    ("kubernetes.max_pods", 1, "bottlerocket.unknown_setting settings.kubernetes.max_pods"),
    ("xyzzy.cluster", "x", "bottlerocket.unknown_setting settings.xyzzy"),
    ("host-containers.admin.enable", True, "bottlerocket.unknown_setting settings.host-containers.admin.enable"),
    (
        "kubernetes.eviction-hard.memory:availabl",
        "1Gi",
        'bottlerocket.unknown_setting settings.kubernetes.eviction-hard["memory.availabl"]',
    ),
    ("settings", {}, "bottlerocket.nested_settings settings.settings"),
    ("kubernetes", [], "bottlerocket.wrong_type settings.kubernetes"),
    (
        "kubernetes.max-pods",
        "110",
        "bottlerocket.out_of_range settings.kubernetes.max-pods",
    ),
    (
        "kubernetes.max-pods",
        0,
        "bottlerocket.out_of_range settings.kubernetes.max-pods",
    ),
    ("kubernetes.max-pods", None, "bottlerocket.null settings.kubernetes.max-pods"),
    (
        "kubernetes.image-gc-high-threshold-percent",
        "101",
        "bottlerocket.out_of_range settings.kubernetes.image-gc-high-threshold-percent",
    ),
    (
        "kubernetes.server-tls-bootstrap",
        "true",
        "bottlerocket.wrong_type settings.kubernetes.server-tls-bootstrap",
    ),
    (
        "kubernetes.node-labels.a",
        1,
        "bottlerocket.wrong_type settings.kubernetes.node-labels.a",
    ),
    (
        "kubernetes.node-labels.a b",
        "c",
        'bottlerocket.invalid_name settings.kubernetes.node-labels["a b"]',
    ),
    (
        "kubernetes.node-taints.a",
        ["b:NoSchedul"],
        "bottlerocket.invalid_value settings.kubernetes.node-taints.a[0]",
    ),
    ("kubernetes.cluster-dns-ip", ["x"], "bottlerocket.invalid_value settings.kubernetes.cluster-dns-ip[0]"),
    (
        "kubernetes.shutdown-grace-period",
        "100",
        "bottlerocket.invalid_value settings.kubernetes.shutdown-grace-period",
    ),
    (
        "kubernetes.shutdown-grace-period",
        "9ns",
        "bottlerocket.invalid_value settings.kubernetes.shutdown-grace-period",
    ),
    (
        "kubernetes.cpu-manager-policy",
        "statik",
        "bottlerocket.unknown_value settings.kubernetes.cpu-manager-policy",
    ),
    ("kubernetes.cluster-certificate", "%%", "bottlerocket.invalid_value settings.kubernetes.cluster-certificate"),
    ("kubernetes.server-key", 5, "bottlerocket.wrong_type settings.kubernetes.server-key"),
    ("pki.x.data", "aGFsbG8=", "bottlerocket.invalid_value settings.pki.x.data"),
    (
        "host-containers.ad min",
        {},
        'bottlerocket.invalid_name settings.host-containers["ad min"]',
    ),
    (
        "bootstrap-commands.x",
        {"commands": [["rm", "-rf"]]},
        "bottlerocket.invalid_value settings.bootstrap-commands.x.commands[0]\nbottlerocket.missing_setting settings.bootstrap-commands.x",
    ),
    (
        "oci-defaults.resource-limits.max-open-files",
        {"soft-limit": -2},
        "bottlerocket.invalid_value settings.oci-defaults.resource-limits.max-open-files.soft-limit\n"
        "bottlerocket.missing_setting settings.oci-defaults.resource-limits.max-open-files",
    ),
    (
        "network.hosts",
        [["x", ["a"]]],
        "bottlerocket.invalid_value settings.network.hosts[0]",
    ),
    (
        "kernel.sysctl",
        {"../x": "1"},
        'bottlerocket.invalid_name settings.kernel.sysctl["../x"]',
    ),
    ("aws.region", "a\nb", "bottlerocket.invalid_value settings.aws.region"),
    (
        "updates.version-lock",
        "1.50",
        "bottlerocket.invalid_value settings.updates.version-lock",
    ),
    (
        "container-runtime.concurrent-download-chunk-size",
        "many",
        "bottlerocket.invalid_value settings.container-runtime.concurrent-download-chunk-size",
    ),
    ("container-registry.mirrors", {}, "bottlerocket.wrong_type settings.container-registry.mirrors"),
    ("container-registry.mirrors", [{"registry": "x"}], "bottlerocket.missing_setting settings.container-registry.mirrors[0]"),
]


@pytest.mark.parametrize(("path", "value", "message"), BAD)
def test_what_bottlerocket_refuses(path: str, value: Any, message: str) -> None:
    assert "\n".join(found(nested(path, value), show=rule_and_path)) == message


@pytest.mark.parametrize(
    ("path", "value", "first"),
    [
        ("kubernetes.container-log-max-workers", 3, 30),
        ("kubernetes.container-log-monitor-interval", "20s", 30),
        ("kubernetes.single-process-oom-kill", True, 32),
        ("kubernetes.ids-per-pod", 65536, 33),
        ("kubernetes.topology-manager-policy-options.max-allowable-numa-nodes", 8, 35),
    ],
)
def test_settings_that_came_with_a_kubernetes_version(path: str, value: Any, first: int) -> None:
    assert found(nested(path, value), (1, first)) == []
    message = f"settings.{path}: Bottlerocket has this setting from Kubernetes 1.{first}, not in 1.{first - 1}; fix: remove it"
    assert found(nested(path, value), (1, first - 1)) == [message]


@pytest.mark.parametrize(
    "path", ["container-registry.credentials", "aws.credentials", "kubernetes.server-key", "kubernetes.bootstrap-token"]
)
def test_secrets_are_not_repeated(path: str) -> None:
    value: Any = [{"registry": "x", "password": ["hunter2"]}] if path.startswith("container") else "hunter2\n"
    messages = found(nested(path, value))
    assert messages and not any("hunter2" in message for message in messages)


def leaves(node: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, str):
        yield path, node
        return
    if node["type"] not in {"table", "map", "list", "one_or_list"}:
        yield path, node["type"]
    for name, child in node.get("settings", {}).items():
        yield from leaves(child, f"{path}.{name}")
    if "items" in node:
        yield from leaves(node["items"], f"{path}.*")


def test_the_table() -> None:
    tree = data.bottlerocket_settings()
    found_leaves = dict(leaves({"type": "table", "settings": tree}, "settings"))
    assert len(tree["kubernetes"]["settings"]) == 62
    assert len(tree["oci-defaults"]["settings"]["capabilities"]["settings"]) == 41
    assert len(tree["oci-defaults"]["settings"]["resource-limits"]["settings"]) == 16
    assert len(found_leaves) > 213
    assert found_leaves["settings.kubernetes.node-taints.*.*"] == "taint"
    assert found_leaves["settings.host-containers.*.user-data"] == "base64"


def test_every_leaf_answers_a_wrong_value() -> None:
    for path, _kind in leaves({"type": "table", "settings": data.bottlerocket_settings()}, ""):
        assert found(nested(path.removeprefix(".").replace("*", "0"), object())), path


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | st.integers() | st.none(), inner, max_size=3),
    max_leaves=8,
)
GROUPS = st.sampled_from(sorted(data.bottlerocket_settings()))
KUBERNETES = st.sampled_from(sorted(data.bottlerocket_settings()["kubernetes"]["settings"]))


@given(
    ANYTHING
    | st.dictionaries(GROUPS, ANYTHING, max_size=3)
    | st.fixed_dictionaries({"kubernetes": st.dictionaries(KUBERNETES, ANYTHING, max_size=3)}),
    st.none() | st.tuples(st.just(1), st.integers(0, 99)),
)
def test_any_settings_are_answered(settings: Any, version: tuple[int, int] | None) -> None:
    assert all(message.startswith("settings") and "\n" not in message for message in found(settings, version))


def deep(levels: int) -> Any:
    value: Any = []
    for _unused in range(levels):
        value = [value]
    return value


HOSTILE = [10**5000, deep(5000), "\0", "\ud800", "x" * 100_000, float("inf"), object(), b"x", {10**5000: 1}, {"\n": {"\0": None}}]


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_values_are_answered_in_one_line_each(value: Any) -> None:
    paths = [path for path, _kind in leaves({"type": "table", "settings": data.bottlerocket_settings()}, "")]
    for settings in [value, *(nested(path.removeprefix(".").replace("*", "0"), value) for path in paths)]:
        assert all(message.isprintable() and len(message) < 1_000 for message in found(settings))
