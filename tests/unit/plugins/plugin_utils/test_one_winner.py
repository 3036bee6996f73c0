# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A value that is set in two places has one winner, whatever kinds of places they are: every pair of places, on Amazon Linux 2023.

Equal values are in force once. Different values are an error that names both places, or the declared winner is in force.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_config import node_config
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_spec import node_spec
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.kubelet_reading import SEPARATORS, TABLE, as_text, in_force

CLUSTER = {
    "name": "demo",
    "endpoint": "https://abc.gr7.eu-west-1.eks.amazonaws.com",
    "certificate_authority": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=",
    "service_cidr": "10.100.0.0/16",
    "kubernetes_version": "1.32",
}
PRECEDENCES = (None, "ours", "theirs")

Tree = dict[str, Any]


class Setting(NamedTuple):
    """A field of KubeletConfiguration, its flag, two values, and fields of the node group or the cluster that give it.

    field: C(--name) for a flag without a field.
    """

    field: str
    flag: str
    one: Any
    other: Any
    fields: tuple[str, ...] = ()


SETTINGS = (
    Setting("maxPods", "max-pods", 58, 20, ("max_pods",)),
    Setting("clusterDNS", "cluster-dns", ["9.9.9.9"], ["10.100.0.53", "fd00::a"], ("dns_ips",)),
    Setting("kubeReserved", "kube-reserved", {"cpu": "100m", "memory": "1Gi"}, {"cpu": "90m", "memory": "1Gi"}, ("reserved.kube",)),
    Setting("systemReserved", "system-reserved", {"memory": "200Mi"}, {"memory": "1Gi"}, ("reserved.system",)),
    Setting("evictionHard", "eviction-hard", {"memory.available": "100Mi"}, {"memory.available": "5%"}),
    Setting("featureGates", "feature-gates", {"CPUManagerPolicyBetaOptions": True}, {"CPUManagerPolicyBetaOptions": False}),
    Setting("podPidsLimit", "pod-max-pids", 1024, 2048),
    Setting("serializeImagePulls", "serialize-image-pulls", True, False),
    Setting("streamingConnectionIdleTimeout", "streaming-connection-idle-timeout", "4h0m0s", "1h"),
    Setting("authentication.anonymous.enabled", "anonymous-auth", True, False),
    Setting("allowedUnsafeSysctls", "allowed-unsafe-sysctls", ["net.core.somaxconn"], ["kernel.msg*", "net.*"]),
    Setting("clusterDomain", "cluster-domain", "a.example", "b.example"),
    Setting("--node-labels", "node-labels", {"a": "1"}, {"a": "2"}, ("labels",)),
    Setting(
        "registerWithTaints",
        "register-with-taints",
        [{"key": "a", "value": "1", "effect": "NoSchedule"}],
        [{"key": "a", "value": "2", "effect": "NoSchedule"}],
        ("taints",),
    ),
)


def nest(path: str, value: Any) -> Tree:
    for key in reversed(path.split(".")):
        value = {key: value}
    tree: Tree = value
    return tree


def unite(first: Tree, second: Tree) -> Tree:
    result = dict(first)
    for key, value in second.items():
        old = result.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            result[key] = unite(old, value)
        elif isinstance(old, list) and isinstance(value, list):
            result[key] = [*old, *value]
        else:
            result[key] = value
    return result


def flag_text(flag: str, value: Any) -> str:
    kind = TABLE[flag]["type"]
    if kind == "taints":
        return ",".join(f"{taint['key']}={taint['value']}:{taint['effect']}" for taint in value)
    if isinstance(value, dict):
        return ",".join(f"{key}{SEPARATORS[kind]}{as_text(item)}" for key, item in value.items())
    return ",".join(value) if isinstance(value, list) else str(as_text(value))


def word(setting: Setting, value: Any) -> str:
    return f"--{setting.flag}={flag_text(setting.flag, value)}"


class Place(NamedTuple):
    """A place: who decides there (group, user data, override), the input with a value, and how an error or a warning names it."""

    layer: str
    form: str
    put: Callable[[Setting, Any], Tree]
    named: Callable[[Setting], str]


def _own_field(setting: Setting, value: Any) -> Tree:
    field = setting.fields[0]
    return {"cluster": {"dns_ips": value}} if field == "dns_ips" else {"group": nest(field, value)}


PLACES = {
    "field": Place("group", "config", _own_field, lambda one: "cluster.dns_ips" if one.fields == ("dns_ips",) else one.fields[0]),
    "kubelet.config": Place(
        "group",
        "config",
        lambda one, value: {"group": nest(f"kubelet.config.{one.field}", value)},
        lambda one: f"kubelet.config.{one.field}",
    ),
    "nodeadm.kubelet.config": Place(
        "group",
        "config",
        lambda one, value: {"group": nest(f"nodeadm.kubelet.config.{one.field}", value)},
        lambda one: f"nodeadm.kubelet.config.{one.field}",
    ),
    "kubelet.flags": Place(
        "group",
        "flag",
        lambda one, value: {"group": nest(f"kubelet.flags.{one.flag}", flag_text(one.flag, value))},
        lambda one: f"kubelet.flags.{one.flag}",
    ),
    "nodeadm.kubelet.flags": Place(
        "group",
        "flag",
        lambda one, value: {"group": nest("nodeadm.kubelet.flags", [word(one, value)])},
        lambda one: "nodeadm.kubelet.flags[0]",
    ),
    "user data, config": Place(
        "user_data",
        "config",
        lambda one, value: {"user_data": nest(f"kubelet.config.{one.field}", value)},
        lambda one: f"spec.kubelet.config.{one.field}",
    ),
    "user data, flag": Place(
        "user_data",
        "flag",
        lambda one, value: {"user_data": nest("kubelet.flags", [word(one, value)])},
        lambda one: f"spec.kubelet.flags --{one.flag}",
    ),
    "second user data, config": Place(
        "user_data",
        "config",
        lambda one, value: {"second_user_data": nest(f"kubelet.config.{one.field}", value)},
        lambda one: f"spec.kubelet.config.{one.field}",
    ),
    "second user data, flag": Place(
        "user_data",
        "flag",
        lambda one, value: {"second_user_data": nest("kubelet.flags", [word(one, value)])},
        lambda one: f"spec.kubelet.flags --{one.flag}",
    ),
    "override, config": Place(
        "override",
        "config",
        lambda one, value: {"override": nest(f"kubelet.config.{one.field}", value)},
        lambda one: f"spec.kubelet.config.{one.field}",
    ),
    "override, flag": Place(
        "override",
        "flag",
        lambda one, value: {"override": nest("kubelet.flags", [word(one, value)])},
        lambda one: f"spec.kubelet.flags --{one.flag}",
    ),
}


def pairs(settings: tuple[Setting, ...]) -> Iterator[tuple[Setting, str, str]]:
    for setting in settings:
        known = [
            name
            for name, place in PLACES.items()
            if (name != "field" or setting.fields) and (name == "field" or place.form == "flag" or not setting.field.startswith("--"))
        ]
        for first, second in itertools.combinations(known, 2):
            # Beside other layers, the second document is like the first one.
            is_second = second.startswith("second")
            if not first.startswith("second") and (not is_second or PLACES[first].layer == "user_data"):
                yield setting, first, second


def document(spec: Tree) -> str:
    return yaml.dump({"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec})


def inputs(precedence: str | None, *trees: Tree) -> tuple[Tree, Tree]:
    united: Tree = {}
    for tree in trees:
        united = unite(united, tree)
    group = {"family": "al2023", **united.get("group", {})}
    documents = [document(united[name]) for name in ("user_data", "second_user_data") if name in united]
    group |= {"user_data": documents} if documents else {}
    group |= {"override": document(united["override"])} if "override" in united else {}
    return {**CLUSTER, **united.get("cluster", {})}, group | ({"user_data_precedence": precedence} if precedence else {})


def cannot_win(setting: Setting, winner: str, loser: str) -> bool:
    """kubelet appends the items of a list flag, so no document can remove one that is in user data.

    For the same reason, two documents of the user cannot both have it, even with the same items.
    """
    return is_appended(setting) and loser in USER_FLAGS and winner != loser


USER_FLAGS = ("user data, flag", "second user data, flag")


def is_appended(setting: Setting) -> bool:
    return bool(TABLE[setting.flag]["type"] == "list")


def winner_of(first: str, second: str, precedence: str | None) -> str | None:
    """The place that wins if the two values differ. None: it is an error."""
    layers = [PLACES[first].layer, PLACES[second].layer]
    if layers[0] == layers[1]:
        return None
    if "override" in layers:
        return second if layers[1] == "override" else first
    wanted = {"ours": "group", "theirs": "user_data"}.get(precedence or "")
    return {layers[0]: first, layers[1]: second}.get(wanted or "")


def same_text(one: Any, other: Any) -> bool:
    return bool(as_text(one) == as_text(other))


def check_pair(setting: Setting, first: str, second: str) -> None:
    for precedence in PRECEDENCES:
        beside = {"group": {"kubelet": {"config": BESIDE.get(setting.field, {})}}}
        equal = inputs(precedence, beside, PLACES[first].put(setting, setting.one), PLACES[second].put(setting, setting.one))
        if not is_appended(setting) or not {first, second} <= {*USER_FLAGS, "override, flag"}:
            assert same_text(in_force(node_config(*equal))[setting.field], setting.one), (first, second, precedence)
        values = {first: setting.one, second: setting.other}
        both = inputs(precedence, beside, *(PLACES[place].put(setting, value) for place, value in values.items()))
        winner = winner_of(first, second, precedence)
        if winner is not None and not cannot_win(setting, winner, second if winner == first else first):
            found = in_force(node_config(*both))[setting.field]
            assert same_text(found, values[winner]), (first, second, precedence)
            if PLACES[winner].layer == "override":
                warnings = [str(warning["message"]) for warning in node_spec(*both)["warnings"]]
                assert any(all(part in text for part in _names(setting, first, second)) for text in warnings), (first, second, warnings)
        else:
            with pytest.raises(SpecError) as refused:
                node_config(*both)
            text = str(refused.value)
            assert all(part in text for part in _names(setting, first, second)), (first, second, precedence, text)


def _names(setting: Setting, *places: str) -> list[str]:
    layers = [PLACES[place].layer for place in places]
    if layers == ["user_data", "user_data"] and places[1].startswith("second"):
        return ["user_data[0]", "user_data[1]"]
    names = {"user_data": "user_data", "override": "spec.kubelet"}
    return [names.get(layer, PLACES[place].named(setting)) for place, layer in zip(places, layers, strict=True)]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda one: one.field)
def test_every_pair_of_places_has_one_winner(setting: Setting) -> None:
    for _unused, first, second in pairs((setting,)):
        check_pair(setting, first, second)


SAMPLES: dict[str, tuple[Any, Any]] = {
    "bool": (True, False),
    "int": (5, 6),
    "duration": ("1m0s", "90s"),
    "ip": ("127.0.0.1", "0.0.0.0"),
    "list": (["a"], ["b", "c"]),
    "map": ({"a": "1"}, {"a": "2"}),
    "string": ("a", "b"),
}
OF_FLAG = {
    "authorization-mode": ("Webhook", "AlwaysAllow"),
    "cgroup-driver": ("systemd", "cgroupfs"),
    "container-log-max-files": (5, 6),
    "container-log-max-size": ("10Mi", "20Mi"),
    "cpu-cfs-quota-period": ("100ms", "50ms"),
    "container-runtime-endpoint": ("unix:///run/containerd/containerd.sock", "unix:///run/a.sock"),
    "image-service-endpoint": ("unix:///run/containerd/containerd.sock", "unix:///run/a.sock"),
    "reserved-cpus": ("0", "0-1"),
    "cpu-manager-policy": ("none", "static"),
    "cpu-manager-policy-options": ({"full-pcpus-only": "true"}, {"full-pcpus-only": "false"}),
    "eviction-minimum-reclaim": ({"memory.available": "1Mi"}, {"memory.available": "2Mi"}),
    "eviction-soft": ({"memory.available": "1Gi"}, {"memory.available": "2Gi"}),
    "eviction-soft-grace-period": ({"memory.available": "1m"}, {"memory.available": "2m"}),
    "hairpin-mode": ("hairpin-veth", "none"),
    "image-gc-high-threshold": (90, 95),
    "image-gc-low-threshold": (50, 60),
    "qos-reserved": ({"memory": "50%"}, {"memory": "60%"}),
    "tls-cipher-suites": (["TLS_AES_128_GCM_SHA256"], ["TLS_AES_256_GCM_SHA384"]),
    "tls-min-version": ("VersionTLS12", "VersionTLS13"),
    "topology-manager-policy": ("none", "restricted"),
    "topology-manager-policy-options": ({"prefer-closest-numa-nodes": "true"}, {"prefer-closest-numa-nodes": "false"}),
    "topology-manager-scope": ("container", "pod"),
}
BESIDE = {
    "cgroupsPerQOS": {"enforceNodeAllocatable": ["none"]},
    "cpuManagerPolicyOptions": {"cpuManagerPolicy": "static"},
    "cpuCFSQuotaPeriod": {"featureGates": {"CustomCPUCFSQuotaPeriod": True}},
    "reservedSystemCPUs": {"systemReservedCgroup": "", "kubeReservedCgroup": ""},
    "evictionSoft": {"evictionSoftGracePeriod": {"memory.available": "1m"}},
    "evictionSoftGracePeriod": {"evictionSoft": {"memory.available": "1Gi"}},
    "qosReserved": {"featureGates": {"QOSReserved": True}},
    "topologyManagerPolicyOptions": {"topologyManagerPolicy": "best-effort"},
}
"""Fields that kubelet needs beside another one."""
NO_TEXT = {
    "manifest-url-header": "a map of lists",
    "reserved-memory": "a list of mappings",
    "register-with-taints": "labels and taints are below",
}
"""Flags whose field has a form that no flag has. Pairs of such a flag and its field are never the same value: see below."""

FEW = {
    "memory-manager-policy": "Static needs reservedMemory of this machine",
    "enforce-node-allocatable": "needs the cgroups that it names",
    "runonce": "kubelet takes only false",
}
"""Flags that have no two valid values, or only with values of one machine."""


def of_table() -> Iterator[Setting]:
    """Every other flag with a field, if kubelet 1.32 has it."""
    covered = {setting.flag for setting in SETTINGS}
    for flag, row in TABLE.items():
        if "config" in row and flag not in {*covered, *NO_TEXT, *FEW} and row.get("until", 99) >= 32 >= row.get("since", 0):
            one, other = OF_FLAG.get(flag) or SAMPLES[row["type"]]
            yield Setting(row["config"], flag, one, other)


REST = sorted(of_table())


@pytest.mark.parametrize("setting", REST, ids=lambda one: one.field)
@pytest.mark.matrix
def test_every_pair_of_places_of_every_flag_has_one_winner(setting: Setting) -> None:
    for _unused, first, second in pairs((setting,)):
        check_pair(setting, first, second)


def test_a_pair_of_places_of_every_flag_has_one_winner() -> None:
    every = [list(pairs((setting,))) for setting in REST]
    for index, listed in enumerate(every):
        check_pair(*listed[index % len(listed)])


MAPS = {
    "evictionHard": ("eviction-hard", ("memory.available", "nodefs.available", "imagefs.available"), ("100Mi", "200Mi", "5%")),
    "kubeReserved": ("kube-reserved", ("cpu", "memory", "pid"), ("100m", "2", "1Gi")),
    "featureGates": ("feature-gates", ("CPUManagerPolicyBetaOptions", "GracefulNodeShutdown", "TopologyAwareHints"), (True, False)),
}
FORMS = ("config", "flag")
CHOSEN = ("user data", "group", "override")
"""The layers of the generated inputs, weakest first if C(user_data_precedence) is C(ours)."""

_single = st.sampled_from([setting for setting in SETTINGS if setting.field not in MAPS and not setting.field.startswith("--")])
_layers = st.fixed_dictionaries({}, optional=dict.fromkeys(CHOSEN, st.sampled_from(FORMS)))


def place_of(layer: str, form: str) -> Place:
    names = {"group": {"config": "kubelet.config", "flag": "kubelet.flags"}}
    return PLACES[names[layer][form] if layer in names else f"{layer}, {form}"]


@st.composite
def three_layers(draw: st.DrawFn) -> tuple[Setting, dict[str, tuple[str, Any]]]:
    """A setting, and for some layers the form and the value."""
    forms = draw(_layers)
    if draw(st.booleans()):
        field, (flag, keys, values) = draw(st.sampled_from(sorted(MAPS.items())))
        value = st.dictionaries(st.sampled_from(keys), st.sampled_from(values), min_size=1)
        setting = Setting(field, flag, None, None, ("reserved.kube",) if field == "kubeReserved" else ())
    else:
        setting = draw(_single)
        value = st.sampled_from([setting.one, setting.other])
    return setting, {layer: (form, draw(value)) for layer, form in forms.items()}


def expected(layers: dict[str, tuple[str, Any]], order: tuple[str, ...]) -> Any:
    """The value that is in force: of maps, every key has the value of its strongest layer."""
    result: Any = None
    for layer in order:
        value = layers[layer][1] if layer in layers else None
        result = {**result, **value} if isinstance(result, dict) and isinstance(value, dict) else result if value is None else value
    return result


def disagree(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return any(one[key] != other[key] for key in one.keys() & other.keys())
    return bool(one != other)


@given(three_layers(), st.sampled_from(PRECEDENCES))
def test_every_layer_is_in_force_where_no_stronger_one_sets_the_value(
    found: tuple[Setting, dict[str, tuple[str, Any]]], precedence: str | None
) -> None:
    setting, layers = found
    inputs_of = [place_of(layer, form).put(setting, value) for layer, (form, value) in layers.items()]
    order = ("group", "user data", "override") if precedence == "theirs" else CHOSEN
    values = {layer: value for layer, (_form, value) in layers.items()}
    unresolved = precedence is None and {"group", "user data"} <= layers.keys() and disagree(values["group"], values["user data"])
    flags = {layer for layer, (form, _value) in layers.items() if form == "flag"}
    wanted = expected(layers, order)
    taken_back = is_appended(setting) and "user data" in flags and ("override" in flags or not same_text(values["user data"], wanted))
    try:
        documents = node_config(*inputs(precedence, *inputs_of))
    except SpecError as error:
        assert {problem.rule for problem in error.problems} == {"user_data.conflict"}
        assert unresolved or taken_back, error
        return
    assert not unresolved and not taken_back
    assert wanted is None or same_text(in_force(documents)[setting.field], wanted)
