# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubelet refuses in its configuration and on its command line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.kubernetes import (
    kubelet_config_problems,
    kubelet_flag_problems,
)


def config_problems(config: Any, version: tuple[int, int] | None = None) -> list[str]:
    problems = Problems()
    kubelet_config_problems(config, version, "config", problems)
    return [str(problem) for problem in problems]


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
    ([], None, "config: is not a mapping (got []); allowed: a mapping"),
    # A number of nanoseconds until 1.27; from then on a duration as well.
    (
        {"logging": {"flushFrequency": "5s"}},
        (1, 27),
        f'config.logging.flushFrequency: is not a whole number (got "5s"); allowed: a number from {-(2**63)} to {2**63 - 1}, unquoted',
    ),
    ({"maxpods": 1}, None, 'config.maxpods: kubelet does not know this field; did you mean "maxPods"?; fix: rename it to maxPods'),
    (
        {"authentication": {"webhook": {"cacheTtl": "2m"}}},
        None,
        'config.authentication.webhook.cacheTtl: kubelet does not know this field; allowed: cacheTTL, enabled; did you mean "cacheTTL"?;'
        " fix: rename it to cacheTTL",
    ),
    (
        {"registerWithTaints": [{"key": "a", "effects": "NoSchedule", "effect": "NoExecute"}]},
        None,
        "config.registerWithTaints[0].effects: kubelet does not know this field; allowed: effect, key, timeAdded, value;"
        ' did you mean "effect"?; fix: rename it to effect',
    ),
    ({"registerWithTaints": [{"key": "a"}]}, None, "config.registerWithTaints[0]: effect is missing; fix: add effect"),
    (
        {"registerWithTaints": [{"key": "a", "effect": "NoScheduled"}]},
        None,
        'config.registerWithTaints[0].effect: is not a value that kubelet knows (got "NoScheduled");'
        ' allowed: NoSchedule, PreferNoSchedule, NoExecute; did you mean "NoSchedule"?',
    ),
    ({"maxPods": "110"}, None, 'config.maxPods: is not a whole number (got "110"); allowed: a number from 1 to 2147483647, unquoted'),
    ({"maxPods": 110.0}, None, "config.maxPods: is not a whole number (got 110.0); allowed: a number from 1 to 2147483647, unquoted"),
    ({"maxPods": True}, None, "config.maxPods: is not a whole number (got true); allowed: a number from 1 to 2147483647, unquoted"),
    ({"maxPods": 0}, None, "config.maxPods: is out of range (got 0); allowed: 1 to 2147483647"),
    ({"maxPods": 2**31}, None, "config.maxPods: is out of range (got 2147483648); allowed: 1 to 2147483647"),
    ({"imageGCHighThresholdPercent": 101}, None, "config.imageGCHighThresholdPercent: is out of range (got 101); allowed: 0 to 100"),
    ({"serverTLSBootstrap": "true"}, None, 'config.serverTLSBootstrap: is not a boolean (got "true"); allowed: true or false, unquoted'),
    ({"featureGates": {"A": 1}}, None, "config.featureGates.A: is not a boolean (got 1); allowed: true or false, unquoted"),
    ({"syncFrequency": 60}, None, 'config.syncFrequency: is not text (got 60); allowed: a duration such as "30s" or "1h5m"; fix: quote it'),
    ({"syncFrequency": "60"}, None, 'config.syncFrequency: cannot be read (got "60"); allowed: a duration such as "30s" or "1h5m"'),
    ({"clusterDNS": "10.0.0.10"}, None, 'config.clusterDNS: is not a list (got "10.0.0.10"); allowed: a list; fix: write ["10.0.0.10"]'),
    ({"clusterDNS": ["10.0.0"]}, None, 'config.clusterDNS[0]: cannot be read (got "10.0.0"); allowed: an IP address'),
    (
        {"kubeReserved": {"cpu": 1}},
        None,
        'config.kubeReserved.cpu: is not text (got 1); allowed: a quantity such as "100m", "1Gi" or "500"; fix: quote it',
    ),
    (
        {"kubeReserved": {"memory": "1gb"}},
        None,
        'config.kubeReserved.memory: cannot be read (got "1gb"); allowed: a quantity such as "100m", "1Gi" or "500"',
    ),
    (
        {"systemReserved": {"ephemeral_storage": "1Gi"}},
        None,
        "config.systemReserved.ephemeral_storage: kubelet does not know this key; allowed: cpu, memory, ephemeral-storage, pid;"
        ' did you mean "ephemeral-storage"?; fix: rename it to ephemeral-storage',
    ),
    (
        {"evictionHard": {"memory.available": "101%"}},
        None,
        'config.evictionHard["memory.available"]: cannot be read (got "101%");'
        ' allowed: a quantity such as "100Mi", or a percentage such as "10%"',
    ),
    (
        {"cgroupDriver": "cgroups"},
        None,
        'config.cgroupDriver: is not a value that kubelet knows (got "cgroups"); allowed: cgroupfs, systemd; did you mean "cgroupfs"?',
    ),
    ({"memoryThrottlingFactor": float("nan")}, None, "config.memoryThrottlingFactor: is not a number (got NaN); allowed: a number"),
    ({1: 2}, None, "config[1]: a key is text (got 1); fix: quote it"),
    ({"authentication": "no"}, None, 'config.authentication: is not a mapping (got "no"); allowed: a mapping'),
    ({"logging": {"verbosity": -1}}, None, "config.logging.verbosity: is out of range (got -1); allowed: 0 to 4294967295"),
    (
        {"logging": {"flushFrequency": "x"}},
        None,
        'config.logging.flushFrequency: cannot be read (got "x"); allowed: a duration such as "30s" or "1h5m"',
    ),
    ({"podLogsDir": "/x"}, (1, 29), "config.podLogsDir: kubelet 1.29 does not know this field: it came with 1.30; fix: leave it out"),
    (
        {"crashLoopBackOff": {}},
        (1, 31),
        "config.crashLoopBackOff: kubelet 1.31 does not know this field: it came with 1.32; fix: leave it out",
    ),
    (
        {"containerRuntimeEndpoint": "x"},
        (1, 26),
        "config.containerRuntimeEndpoint: kubelet 1.26 does not know this field: it came with 1.27; fix: leave it out",
    ),
    (
        {"evictionSoft": {"memory.available": "1Gi"}, "evictionSoftGracePeriod": {"nodefs.available": "30s"}},
        None,
        "config.evictionSoftGracePeriod: memory.available is missing: a soft threshold and its grace period go together;"
        " fix: add memory.available\n"
        "config.evictionSoft: nodefs.available is missing: a soft threshold and its grace period go together; fix: add nodefs.available",
    ),
    (
        {"imageGCLowThresholdPercent": 85, "imageGCHighThresholdPercent": 85},
        None,
        "config.imageGCLowThresholdPercent: is not below imageGCHighThresholdPercent (got 85); allowed: less than 85",
    ),
    (
        {"shutdownGracePeriod": "30s", "shutdownGracePeriodCriticalPods": "1m"},
        None,
        'config.shutdownGracePeriodCriticalPods: is longer than shutdownGracePeriod, of which it is a part (got "1m")',
    ),
]


@pytest.mark.parametrize(("config", "version", "message"), CONFIGS)
def test_what_kubelet_refuses_in_its_configuration(config: Any, version: tuple[int, int] | None, message: str) -> None:
    assert "\n".join(config_problems(config, version)) == message


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


def flag_problems(flags: Any, version: tuple[int, int] | None = None) -> list[str]:
    problems = Problems()
    kubelet_flag_problems(flags, version, "flags", problems)
    return [str(problem) for problem in problems]


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
    ("--max-pods=1", None, 'flags: is not a mapping (got "--max-pods=1"); allowed: a mapping of flag names, without dashes, to values'),
    ({"max-pod": 1}, None, 'flags.max-pod: kubelet has no such flag; did you mean "max-pods"?; fix: rename it to max-pods'),
    ({"--max-pods": 1}, None, 'flags.--max-pods: kubelet has no such flag; did you mean "max-pods"?; fix: write max-pods: VALUE'),
    ({"max-pods=1": ""}, None, 'flags["max-pods=1"]: kubelet has no such flag; did you mean "max-pods"?; fix: write max-pods: VALUE'),
    ({"qqqq": 1}, None, "flags.qqqq: kubelet has no such flag; fix: leave it out"),
    ({None: 1}, None, "flags.None: kubelet has no such flag; fix: leave it out"),
    ({"max-pods": "many"}, None, 'flags.max-pods: is not a whole number (got "many"); allowed: a whole number'),
    ({"max-pods": None}, None, "flags.max-pods: is not one value (got null); allowed: text, a whole number or a boolean"),
    ({"max-pods": 1.5}, None, "flags.max-pods: is not one value (got 1.5); allowed: text, a whole number or a boolean"),
    ({"max-pods": [1, 2]}, None, "flags.max-pods: kubelet takes this flag once (got [1, 2]); allowed: one value"),
    ({"register-node": "yes"}, None, 'flags.register-node: is not a boolean (got "yes"); allowed: true or false'),
    ({"sync-frequency": 60}, None, 'flags.sync-frequency: cannot be read (got "60"); allowed: a duration such as "30s" or "1h5m"'),
    ({"node-labels": ["a=b", "c"]}, None, 'flags.node-labels[1]: cannot be read (got "c"); allowed: key=value, joined with commas'),
    ({"feature-gates": "A=1"}, None, 'flags.feature-gates: cannot be read (got "A=1"); allowed: key=true or key=false, joined with commas'),
    (
        {"eviction-hard": "memory.available=1Gi"},
        None,
        'flags.eviction-hard: cannot be read (got "memory.available=1Gi"); allowed: signal<threshold, joined with commas',
    ),
    (
        {"cpu-manager-policy": "statik"},
        None,
        'flags.cpu-manager-policy: is not a value that kubelet knows (got "statik"); allowed: none, static; did you mean "static"?',
    ),
    ({"cloud-provider": "aws"}, (1, 27), 'flags.cloud-provider: is not a value that kubelet knows (got "aws"); allowed: external, ""'),
    (
        {"container-runtime": "remote"},
        (1, 27),
        "flags.container-runtime: kubelet 1.27 does not know this flag: it was removed in 1.27;"
        " fix: leave it out: containerd is the only runtime, and container-runtime-endpoint says where it listens",
    ),
    (
        {"network-plugin": "cni"},
        (1, 24),
        "flags.network-plugin: kubelet 1.24 does not know this flag: it was removed in 1.24;"
        " fix: leave it out: the container runtime calls CNI plugins",
    ),
    (
        {"pod-infra-container-image": "x"},
        (1, 35),
        "flags.pod-infra-container-image: kubelet 1.35 does not know this flag: it was removed in 1.35;"
        " fix: set containerd.pause_image: the runtime starts the pause container",
    ),
    (
        {"iptables-drop-bit": 15},
        (1, 31),
        "flags.iptables-drop-bit: kubelet 1.31 does not know this flag: it was removed in 1.31; fix: set kubelet.config.iptablesDropBit",
    ),
    ({"log-dir": "/x"}, (1, 26), "flags.log-dir: kubelet 1.26 does not know this flag: it was removed in 1.26; fix: leave it out"),
    ({"config-dir": "/x"}, (1, 27), "flags.config-dir: kubelet 1.27 does not know this flag: it came with 1.28; fix: leave it out"),
]


@pytest.mark.parametrize(("flags", "version", "message"), FLAGS)
def test_flags_that_kubelet_refuses(flags: Any, version: tuple[int, int] | None, message: str) -> None:
    assert "\n".join(flag_problems(flags, version)) == message


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
        gone = any("does not know this flag" in message for message in flag_problems({flag: "5"}, (1, minor)))
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
