# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubelet refuses in its configuration and on its command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problem, Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.kubelet_fields import kubelet_config_contradictions, kubelet_config_problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.kubelet_flags import kubelet_flag_problems
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import rule_and_path


def config_problems(config: Any, version: tuple[int, int] | None = None, show: Callable[[Problem], str] = str) -> list[str]:
    problems = Problems()
    kubelet_config_problems(config, version, "config", problems)
    return [show(problem) for problem in problems]


SERVED = {
    "kind": "KubeletConfiguration",
    "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "address": "0.0.0.0",
    "authentication": {"anonymous": {"enabled": False}, "webhook": {"cacheTTL": "2m0s", "enabled": True}, "x509": {"clientCAFile": "/x"}},
    "authorization": {"mode": "Webhook", "webhook": {"cacheAuthorizedTTL": "5m0s", "cacheUnauthorizedTTL": "30s"}},
    "cgroupDriver": "systemd",
    "cgroupRoot": "/",
    "clusterDNS": ["10.100.0.10"],
    "clusterDomain": "cluster.local",
    "evictionHard": {"memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"},
    "featureGates": {"RotateKubeletServerCertificate": True},
    "hairpinMode": "hairpin-veth",
    "kubeReserved": {"cpu": "70m", "ephemeral-storage": "1Gi", "memory": "574Mi"},
    "kubeReservedCgroup": "/runtime",
    "logging": {"verbosity": 2, "flushFrequency": 5_000_000_000},
    "maxPods": 29,
    "protectKernelDefaults": True,
    "providerID": "aws:///us-west-2f/i-1234567890abcdef0",
    "readOnlyPort": 0,
    "registerWithTaints": [{"key": "a", "value": "b", "effect": "NoSchedule"}, {"key": "c", "effect": "NoExecute"}],
    "reservedMemory": [{"numaNode": 0, "limits": {"memory": "1Gi"}}],
    "serializeImagePulls": False,
    "serverTLSBootstrap": True,
    "shutdownGracePeriod": "2m30s",
    "shutdownGracePeriodCriticalPods": "30s",
    "systemReservedCgroup": "",
    "tlsCipherSuites": ["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"],
    "memoryThrottlingFactor": 0.9,
    "resolvConf": None,
}


@pytest.mark.parametrize("version", [None, *((1, minor) for minor in range(24, 37))])
def test_what_nodes_run_is_accepted(version: tuple[int, int] | None) -> None:
    assert config_problems(SERVED, version) == []


CONFIGS: list[tuple[Any, tuple[int, int] | None, str]] = [
    ([], None, "kubelet.wrong_type config"),
    # A number of nanoseconds until 1.27; from then on a duration as well.
    (
        {"logging": {"flushFrequency": "5s"}},
        (1, 27),
        "kubelet.wrong_type config.logging.flushFrequency",
    ),
    ({"maxpods": 1}, None, "kubelet.unknown_field config.maxpods"),
    (
        {"authentication": {"webhook": {"cacheTtl": "2m"}}},
        None,
        "kubelet.unknown_field config.authentication.webhook.cacheTtl",
    ),
    (
        {"registerWithTaints": [{"key": "a", "effects": "NoSchedule", "effect": "NoExecute"}]},
        None,
        "kubelet.unknown_field config.registerWithTaints[0].effects",
    ),
    ({"registerWithTaints": [{"key": "a"}]}, None, "kubelet.missing_field config.registerWithTaints[0]"),
    (
        {"registerWithTaints": [{"key": "a", "effect": "NoScheduled"}]},
        None,
        "kubelet.unknown_value config.registerWithTaints[0].effect",
    ),
    ({"maxPods": "110"}, None, "kubelet.wrong_type config.maxPods"),
    ({"maxPods": 110.0}, None, "kubelet.wrong_type config.maxPods"),
    ({"maxPods": True}, None, "kubelet.wrong_type config.maxPods"),
    ({"maxPods": 0}, None, "kubelet.out_of_range config.maxPods"),
    ({"maxPods": 2**31}, None, "kubelet.out_of_range config.maxPods"),
    ({"imageGCHighThresholdPercent": 101}, None, "kubelet.out_of_range config.imageGCHighThresholdPercent"),
    ({"serverTLSBootstrap": "true"}, None, "kubelet.wrong_type config.serverTLSBootstrap"),
    ({"featureGates": {"A": 1}}, None, "kubelet.wrong_type config.featureGates.A"),
    ({"syncFrequency": 60}, None, "kubelet.wrong_type config.syncFrequency"),
    ({"syncFrequency": "60"}, None, "kubelet.invalid_value config.syncFrequency"),
    ({"clusterDNS": "10.0.0.10"}, None, "kubelet.wrong_type config.clusterDNS"),
    ({"clusterDNS": ["10.0.0"]}, None, "kubelet.invalid_value config.clusterDNS[0]"),
    (
        {"kubeReserved": {"cpu": 1}},
        None,
        "kubelet.wrong_type config.kubeReserved.cpu",
    ),
    (
        {"kubeReserved": {"memory": "1gb"}},
        None,
        "kubelet.invalid_value config.kubeReserved.memory",
    ),
    (
        {"systemReserved": {"ephemeral_storage": "1Gi"}},
        None,
        "kubelet.unknown_field config.systemReserved.ephemeral_storage",
    ),
    (
        {"evictionHard": {"memory.available": "101%"}},
        None,
        'kubelet.invalid_value config.evictionHard["memory.available"]',
    ),
    (
        {"cgroupDriver": "cgroups"},
        None,
        "kubelet.unknown_value config.cgroupDriver",
    ),
    ({"memoryThrottlingFactor": float("nan")}, None, "kubelet.wrong_type config.memoryThrottlingFactor"),
    ({1: 2}, None, "input.key_not_text config[1]"),
    ({"authentication": "no"}, None, "kubelet.wrong_type config.authentication"),
    ({"logging": {"verbosity": -1}}, None, "kubelet.out_of_range config.logging.verbosity"),
    (
        {"logging": {"flushFrequency": "x"}},
        None,
        "kubelet.invalid_value config.logging.flushFrequency",
    ),
    ({"podLogsDir": "/x"}, (1, 29), "kubelet.field_not_in_version config.podLogsDir"),
    (
        {"crashLoopBackOff": {}},
        (1, 31),
        "kubelet.field_not_in_version config.crashLoopBackOff",
    ),
    (
        {"containerRuntimeEndpoint": "x"},
        (1, 26),
        "kubelet.field_not_in_version config.containerRuntimeEndpoint",
    ),
]


CONTRADICTIONS = [
    (
        {"evictionSoft": {"memory.available": "1Gi"}, "evictionSoftGracePeriod": {"nodefs.available": "30s"}},
        "kubelet.inconsistent_fields config.evictionSoftGracePeriod\nkubelet.inconsistent_fields config.evictionSoft",
    ),
    (
        {"imageGCLowThresholdPercent": 85, "imageGCHighThresholdPercent": 85},
        "kubelet.inconsistent_fields config.imageGCLowThresholdPercent",
    ),
    (
        {"shutdownGracePeriod": "30s", "shutdownGracePeriodCriticalPods": "1m"},
        "kubelet.inconsistent_fields config.shutdownGracePeriodCriticalPods",
    ),
]


@pytest.mark.parametrize(("config", "message"), CONTRADICTIONS)
def test_contradictions_of_fields_that_are_both_given(config: Any, message: str) -> None:
    problems = Problems()
    kubelet_config_contradictions(config, "config", problems)
    assert [rule_and_path(problem) for problem in problems] == message.splitlines()


@pytest.mark.parametrize(("config", "version", "message"), CONFIGS)
def test_what_kubelet_refuses_in_its_configuration(config: Any, version: tuple[int, int] | None, message: str) -> None:
    assert "\n".join(config_problems(config, version, rule_and_path)) == message


@pytest.mark.parametrize(
    ("field", "since"),
    [
        ("containerRuntimeEndpoint", 27),
        ("imageMaximumGCAge", 29),
        ("containerLogMaxWorkers", 30),
        ("failCgroupV1", 31),
        ("singleProcessOOMKill", 32),
        ("userNamespaces", 33),
        ("tlsCurvePreferences", 36),
        ("maxPods", None),
    ],
)
def test_since_when_fields_are_known(field: str, since: int | None) -> None:
    node = data.kubelet_fields()["fields"][field]
    assert node.get("since") == since
    assert (data.kubelet_fields()["first"], data.kubelet_fields()["last"]) == (24, 36)


def test_a_kubelet_newer_than_the_table_is_read_as_the_newest_known() -> None:
    assert config_problems({"tlsCurvePreferences": [1]}, (1, 40)) == []
    assert config_problems({"tlsCurvePreferences": [1]}, (1, 10)) != []


def flag_problems(flags: Any, version: tuple[int, int] | None = None, show: Callable[[Problem], str] = str) -> list[str]:
    problems = Problems()
    kubelet_flag_problems(flags, version, "flags", problems)
    return [show(problem) for problem in problems]


GOOD_FLAGS = {
    "max-pods": 110,
    "v": "2",
    "node-labels": ["a=b,c=d", "e="],
    "register-with-taints": "a=b:NoSchedule",
    "feature-gates": "A=true,B=false",
    "serialize-image-pulls": False,
    "protect-kernel-defaults": "true",
    "node-status-update-frequency": "10s",
    "cluster-dns": ["10.0.0.10", "10.0.0.11"],
    "kube-reserved": "cpu=100m,memory=1Gi",
    "eviction-hard": "memory.available<100Mi,nodefs.available<10%",
    "cloud-provider": "external",
    "cgroup-driver": "systemd",
    "hostname-override": "x",
    "address": "0.0.0.0",
    "system-reserved": "",
}


@pytest.mark.parametrize("version", [None, *((1, minor) for minor in range(24, 37))])
def test_flags_that_every_kubelet_takes(version: tuple[int, int] | None) -> None:
    assert flag_problems(GOOD_FLAGS, version) == []


FLAGS: list[tuple[Any, tuple[int, int] | None, str]] = [
    ("--max-pods=1", None, "kubelet.wrong_type flags"),
    ({"max-pod": 1}, None, "kubelet.unknown_flag flags.max-pod"),
    ({"--max-pods": 1}, None, "kubelet.unknown_flag flags.--max-pods"),
    ({"max-pods=1": ""}, None, 'kubelet.unknown_flag flags["max-pods=1"]'),
    ({"qqqq": 1}, None, "kubelet.unknown_flag flags.qqqq"),
    ({None: 1}, None, "kubelet.unknown_flag flags.None"),
    ({"max-pods": "many"}, None, "kubelet.wrong_type flags.max-pods"),
    ({"max-pods": None}, None, "kubelet.wrong_type flags.max-pods"),
    ({"max-pods": 1.5}, None, "kubelet.wrong_type flags.max-pods"),
    ({"max-pods": [1, 2]}, None, "kubelet.repeated_flag flags.max-pods"),
    ({"register-node": "yes"}, None, "kubelet.wrong_type flags.register-node"),
    ({"sync-frequency": 60}, None, "kubelet.invalid_value flags.sync-frequency"),
    ({"node-labels": ["a=b", "c"]}, None, "kubelet.invalid_value flags.node-labels[1]"),
    ({"feature-gates": "A=on"}, None, "kubelet.invalid_value flags.feature-gates"),
    (
        {"eviction-hard": "memory.available=1Gi"},
        None,
        "kubelet.invalid_value flags.eviction-hard",
    ),
    (
        {"cpu-manager-policy": "statik"},
        None,
        "kubelet.unknown_value flags.cpu-manager-policy",
    ),
    ({"cloud-provider": "aws"}, (1, 27), "kubelet.unknown_value flags.cloud-provider"),
    (
        {"container-runtime": "remote"},
        (1, 27),
        "kubelet.flag_not_in_version flags.container-runtime",
    ),
    (
        {"network-plugin": "cni"},
        (1, 24),
        "kubelet.flag_not_in_version flags.network-plugin",
    ),
    (
        {"pod-infra-container-image": "x"},
        (1, 35),
        "kubelet.flag_not_in_version flags.pod-infra-container-image",
    ),
    (
        {"iptables-drop-bit": 15},
        (1, 31),
        "kubelet.flag_not_in_version flags.iptables-drop-bit",
    ),
    ({"log-dir": "/x"}, (1, 26), "kubelet.flag_not_in_version flags.log-dir"),
    ({"config-dir": "/x"}, (1, 27), "kubelet.flag_not_in_version flags.config-dir"),
]


@pytest.mark.parametrize(("flags", "version", "message"), FLAGS)
def test_flags_that_kubelet_refuses(flags: Any, version: tuple[int, int] | None, message: str) -> None:
    assert "\n".join(flag_problems(flags, version, rule_and_path)) == message


@pytest.mark.parametrize(
    ("flag", "last"),
    [
        ("network-plugin", 23),
        ("cni-bin-dir", 23),
        ("cni-conf-dir", 23),
        ("cni-cache-dir", 23),
        ("docker-endpoint", 23),
        ("container-runtime", 26),
        ("master-service-namespace", 26),
        ("keep-terminated-pod-volumes", 30),
        ("cloud-config", 33),
        ("register-schedulable", 33),
        ("pod-infra-container-image", 34),
        ("container-runtime-endpoint", 36),
    ],
)
def test_the_last_minor_that_knows_a_flag(flag: str, last: int) -> None:
    assert data.kubelet_flags()["flags"][flag].get("until", 36) == last
    for minor in range(24, 37):
        gone = f"kubelet.flag_not_in_version flags.{flag}" in flag_problems({flag: "5"}, (1, minor), rule_and_path)
        assert gone is (minor > last)


def test_every_flag_that_sets_a_field_names_one() -> None:
    for name, row in data.kubelet_flags()["flags"].items():
        node: Any = {"fields": data.kubelet_fields()["fields"]}
        for part in filter(None, row.get("config", "").split(".")):
            node = node["fields"][part]
        assert row["type"], name


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | st.integers() | st.none(), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(sorted(data.kubelet_fields()["fields"]))
FLAG_NAMES = st.sampled_from(sorted(data.kubelet_flags()["flags"]))
MINORS = st.none() | st.tuples(st.just(1), st.integers(0, 99))


@given(ANYTHING | st.dictionaries(FIELDS, ANYTHING, max_size=4), MINORS)
def test_any_configuration_is_answered(config: Any, version: tuple[int, int] | None) -> None:
    assert all(message.startswith("config") and "\n" not in message for message in config_problems(config, version))


@given(ANYTHING | st.dictionaries(FLAG_NAMES, ANYTHING, max_size=4), MINORS)
def test_any_flags_are_answered(flags: Any, version: tuple[int, int] | None) -> None:
    assert all(message.startswith("flags") and "\n" not in message for message in flag_problems(flags, version))


def deep(levels: int) -> Any:
    value: Any = []
    for _unused in range(levels):
        value = [value]
    return value


HOSTILE = [10**5000, deep(5000), "\0", "\ud800", "x" * 100_000, float("inf"), object(), b"x", {10**5000: 1}, {"\n": {"\0": None}}]


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_values_are_answered_in_one_line_each(value: Any) -> None:
    configs = [value, *({name: value} for name in data.kubelet_fields()["fields"])]
    flags = [value, *({name: given} for name in data.kubelet_flags()["flags"] for given in (value, [value]))]
    messages = [message for config in configs for message in config_problems(config)]
    messages += [message for given in flags for message in flag_problems(given)]
    assert messages and all(message.isprintable() and len(message) < 1_000 for message in messages)
