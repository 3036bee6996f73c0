# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No value is dropped: whatever a node group says is seen in what is rendered, or refused by its path.

Every field is tried in every family, mode and strategy: alone, with another value and without it. What is rendered for the
three must differ, unless the problem that is reported names the field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import resolve
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.fields import FAMILIES, NODE_GROUP
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.plain import NamedFile
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_spec import left_to_eks, left_to_karpenter
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE, PEM

Group = dict[str, Any]
Place = tuple[str, ...]
Shape = tuple[str, str, str | None]
"""Family, mode, strategy."""

SHAPES: list[Shape] = [
    (family, mode, strategy)
    for family in FAMILIES
    for mode in ("self_managed", "managed_custom_ami", "managed", "karpenter")
    for strategy in (("bootstrap_script", "static") if family in ("al2", "ubuntu") else (None,))
    if mode != "managed" or family != "ubuntu"
    if mode not in ("managed", "karpenter") or (family, strategy) != ("al2", "static")
]
"""Without what is refused, whatever else the group says: Ubuntu in managed groups, and strategy static where others call the script."""


@dataclass(frozen=True)
class Sample:
    """Two values of one field, and other fields without which the first would mean nothing."""

    path: str
    one: Any
    other: Any = None
    beside: Group = field(default_factory=dict)

    @property
    def place(self) -> Place:
        return tuple(self.path.split("."))


USER_DATA = {
    "al2": ("#!/bin/bash\necho one\n", "#!/bin/bash\necho two\n"),
    "al2023": ("#!/bin/bash\necho one\n", "#!/bin/bash\necho two\n"),
    "ubuntu": ("#!/bin/bash\necho one\n", "#cloud-config\nhostname: two\n"),
    "bottlerocket": ("[settings.ntp]\ntime-servers = ['a']\n", "[settings.ntp]\ntime-servers = ['b']\n"),
    "windows": ("<powershell>\nWrite-Host one\n</powershell>", "Write-Host two"),
}
OVERRIDE = {
    "al2023": tuple(
        f"apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {{kubelet: {{config: {{maxPods: {n}}}}}}}\n" for n in (5, 6)
    )
}
PODS = {"windows": {"mode": "windows_secondary_ip"}}


def samples(family: str) -> list[Sample]:
    """Every field that is to be seen. A field whose values depend on the family has those of the family."""
    pods = PODS.get(family, {"mode": "eni"})
    prefix = {"mode": "windows_prefix" if family == "windows" else "prefix"}
    proxy = {"proxy": {"https": "http://proxy.example.com:3128"}}
    reserving = {"max_pods": 20, "reserved": {"kube": "auto"}}
    return [
        Sample("instance.type", "m5.large", "m5.4xlarge", {"max_pods": pods}),
        Sample("instance.types", ["m5.large"], ["m5.4xlarge"], {"max_pods": pods}),
        # Windows gives pods the addresses of one interface, however many there are.
        *([] if family == "windows" else [Sample("instance.max_enis", 3, 5, {"instance": {"ips_per_eni": 10}, "max_pods": pods})]),
        Sample("instance.ips_per_eni", 7, 10, {"instance": {"max_enis": 3, "vcpus": 4}, "max_pods": pods}),
        Sample("instance.vcpus", 2, 32, {"instance": {"max_enis": 3, "ips_per_eni": 10}, **reserving}),
        Sample("labels", {"a": "one"}, {"a": "two"}),
        Sample("labels", {"a": "{instance_id}"}, {"a": "{availability_zone}"}),
        Sample("labels", {"a": "{instance_lifecycle}-x", "b": "c"}, {"a": "{instance_lifecycle}-x", "b": "d"}),
        Sample("taints", [{"key": "k", "value": "v", "effect": "NoSchedule"}], [{"key": "k", "value": "w", "effect": "NoSchedule"}]),
        Sample("taints", [{"key": "k", "effect": "NoSchedule"}], [{"key": "k", "effect": "NoExecute"}]),
        Sample(
            "taints",
            [{"key": "k", "effect": "NoSchedule"}, {"key": "k", "effect": "NoExecute"}],
            [{"key": "k", "effect": "NoSchedule"}, {"key": "l", "effect": "NoExecute"}],
        ),
        Sample("max_pods", 21, 22),
        Sample("max_pods", "auto", 22),
        Sample("max_pods.mode", "prefix", "eni", {"instance": {"type": "m5.large"}}),
        Sample("max_pods.mode", "windows_prefix", "windows_secondary_ip", {"instance": {"type": "m5.large"}}),
        Sample("max_pods.custom_networking", True, False, {"instance": {"type": "m5.large"}, "max_pods": pods}),
        Sample("max_pods.reserved_enis", 1, 0, {"instance": {"type": "m5.large"}, "max_pods": pods}),
        Sample("max_pods.ceiling", True, False, {"instance": {"type": "m5.24xlarge"}, "max_pods": prefix}),
        Sample("reserved.kube", "auto", {"cpu": "1"}, {"max_pods": 20, "instance": {"type": "m5.large"}}),
        Sample("reserved.kube.cpu", "101m", "102m"),
        Sample("reserved.kube.memory", "201Mi", "202Mi"),
        Sample("reserved.kube.ephemeral-storage", "3Gi", "4Gi"),
        Sample("reserved.kube.pid", "500", "600"),
        Sample("reserved.system.cpu", "101m", "102m"),
        Sample("reserved.system.memory", "201Mi", "202Mi"),
        Sample("reserved.system.ephemeral-storage", "3Gi", "4Gi"),
        Sample("reserved.system.pid", "500", "600"),
        Sample("containerd.config", {"plugins": {"x": {"a": 1}}}, {"plugins": {"x": {"a": 2}}}),
        Sample("containerd.registry_mirrors", {"docker.io": ["https://one"]}, {"docker.io": ["https://one", "https://two"]}),
        Sample("containerd.registry_mirrors", {"_default": ["https://one"]}, {"quay.io": ["https://one"]}),
        *(
            Sample("containerd.registry_mirrors", {"docker.io": [{"url": "https://one/a"} | own]}, {"docker.io": ["https://one/a"]})
            for own in (
                {"override_path": True},
                {"ca": PEM},
                {"ca": "/etc/own.pem"},
                {"skip_verify": True},
                {"capabilities": ["pull"]},
                {"dial_timeout": "3s"},
            )
        ),
        Sample("trust", PEM, PEM.replace("MIIB", "MIIC")),
        Sample("trust", [PEM], [PEM, PEM.replace("MIIB", "MIIC")]),
        Sample("containerd.pause_image", *(f"602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:{n}" for n in ("3.5", "3.8"))),
        Sample("containerd.pause_image", "registry.example.com/pause:3.5", "registry.example.com/pause:3.8"),
        Sample("local_storage.strategy", "raid0", "raid10"),
        Sample("local_storage.strategy", "mount", "raid0"),
        Sample("local_storage.mount_path", "/mnt/one", "/mnt/two", {"local_storage": {"strategy": "raid0"}}),
        Sample("proxy.http", "http://one.example.com:3128", "http://two.example.com:3128"),
        Sample("proxy.http", "http://one.example.com:3128", "http://two.example.com:3128", proxy),
        Sample("proxy.https", "http://one.example.com:3128", "http://two.example.com:3128"),
        Sample("proxy.no_proxy", ["one.example.com"], ["two.example.com"], proxy),
        Sample("commands.pre", ["echo one"], ["echo one", "echo two"]),
        Sample("commands.post", ["echo one"], ["echo one", "echo two"]),
        *(Sample("commands.post", [{"run": "echo one"} | own], ["echo one"]) for own in ({"when": "ready"}, {"timeout": 60})),
        Sample("override", *OVERRIDE.get(family, ("echo one", "echo two"))),
        Sample("user_data", *USER_DATA[family]),
        Sample("user_data_files", *([NamedFile("a", text.encode())] for text in reversed(USER_DATA[family]))),
        Sample("nodeadm.instance.localStorage.strategy", "RAID0", "Mount"),
        Sample("nodeadm.instance.localStorage.mountPath", "/a", "/b", {"nodeadm": {"instance": {"localStorage": {"strategy": "RAID0"}}}}),
        Sample(
            "nodeadm.instance.localStorage.disabledMounts",
            ["Containerd"],
            ["PodLogs"],
            {"nodeadm": {"instance": {"localStorage": {"strategy": "RAID0"}}}},
        ),
        Sample("nodeadm.instance.environment", {"default": {"A": "1"}}, {"kubelet": {"A": "1"}}),
        Sample("nodeadm.instance.network.nameservers", ["10.0.0.2"], ["10.0.0.3"]),
        Sample("nodeadm.instance.network.domains", ["one.example.com"], ["two.example.com"]),
        Sample("nodeadm.containerd.config", "[a]\nb = 1\n", "[a]\nb = 2\n"),
        Sample("nodeadm.containerd.baseRuntimeSpec", {"process": {"cwd": "/"}}, {"process": {"cwd": "/a"}}),
        Sample("nodeadm.kubelet.config", {"podPidsLimit": 100}, {"podPidsLimit": 200}),
        Sample("nodeadm.kubelet.config", {"maxPods": 100}, {"maxPods": 200}),
        Sample("nodeadm.kubelet.config", {"clusterDNS": ["10.100.0.53"]}, {"clusterDNS": ["10.100.0.54"]}),
        Sample("nodeadm.kubelet.config", {"kubeReserved": {"cpu": "1"}}, {"kubeReserved": {"cpu": "2"}}),
        Sample("nodeadm.kubelet.flags", ["--v=3"], ["--v=4"]),
        Sample("nodeadm.kubelet.maxPodsExpression", "max_pods + 1", "max_pods + 2"),
        Sample("nodeadm.featureGates", {"InstanceIdNodeName": True}, {"FastImagePull": True}),
        Sample("bottlerocket.settings.motd", "one", "two"),
        Sample("bottlerocket.settings.kubernetes.max-pods", 21, 22),
        Sample("bottlerocket.settings.kubernetes.cluster-dns-ip", "10.100.0.53", ["10.100.0.53", "10.100.0.54"]),
        Sample("bottlerocket.settings.kubernetes.kube-reserved", {"cpu": "1"}, {"cpu": "2"}),
        Sample("bottlerocket.settings.kubernetes.system-reserved", {"cpu": "1"}, {"cpu": "2"}),
        Sample("bottlerocket.settings.kubernetes.node-labels", {"a": "one"}, {"a": "two"}),
        Sample("bottlerocket.settings.kubernetes.node-taints", {"a": ["b:NoSchedule"]}, {"a": ["b:NoExecute"]}),
        Sample("bottlerocket.settings.kernel", {"sysctl": {"vm.max_map_count": "1"}}, {"sysctl": {"vm.max_map_count": "2"}}),
        Sample("windows.excluded_snat_cidrs", ["10.1.0.0/16"], ["10.2.0.0/16"]),
        Sample("windows.kube_proxy_extra_args", ["--v=1"], ["--v=2"]),
        Sample("windows.container_runtime", "docker", "containerd"),
        Sample("windows.eks_endpoint", "https://one.example.com", "https://two.example.com"),
        Sample("windows.persist", True, False),
        Sample("ubuntu.kubelet", "unit", "snap"),
    ]


NEVER_SEEN = {
    "name": "names the file, and nothing on the node",
    "role_arn": "is for the cluster: the playbook access reads it",
    "family": "is what the whole output depends on",
    "mode": "is one of the shapes that every field is tried in",
    "strategy": "is one of the shapes that every field is tried in",
    "instance.hostname_type": "states how the subnet names instances; strategy static uses it, the others ask EC2",
    "user_data_precedence": "decides between values; alone it says nothing",
    "allow_secrets_in_user_data": "allows; it says nothing",
    "windows.version": "states which image it is, for the checks of versions",
    "windows.edition": "states which image it is",
    "ubuntu.release": "states which image it is, for the checks of versions",
    "kubelet.config": "tried field by field below",
    "kubelet.flags": "tried flag by flag below",
    "bottlerocket.settings": "free settings, of which samples are tried",
}


def put(group: Group, place: Place, value: Any) -> Group:
    """C(group) with C(value) at C(place)."""
    head, *rest = place
    below = group.get(head)
    return {**group, head: put(below if isinstance(below, dict) else {}, tuple(rest), value) if rest else value}


def base(family: str, mode: str, strategy: str | None) -> Group:
    group: Group = {"family": family, "mode": mode} | ({"strategy": strategy} if strategy else {})
    if (family, mode) == ("windows", "karpenter"):
        group["windows"] = {"version": "2022"}
    # static computes nothing on the node, so it must be told.
    return group | ({"max_pods": 20, "reserved": {"kube": {"cpu": "1"}}} if strategy == "static" else {})


def outcome(group: Group) -> Any:
    """What is rendered, or the problems. The text of the error would differ with the value alone."""
    try:
        spec, family = resolve(COMPLETE, group)
    except SpecError as error:
        return error
    return family.user_data(spec).text, family.files(spec), left_to_eks(spec), left_to_karpenter(spec)


def names(error: SpecError, place: Place) -> bool:
    """Whether one of the problems is about C(place), something in it or something around it."""
    wanted = f"node_group.{'.'.join(place)}"
    for problem in error.problems:
        said = re.sub(r'\["([^"]*)"\]', r".\1", problem.path)
        if wanted.startswith((said, f"{said}.")) or said.startswith((f"{wanted}.", f"{wanted}[")):
            return True
    return False


class Dropped(AssertionError):
    """A value that is neither seen nor refused."""


def seen_or_refused(shape: Shape, sample: Sample) -> bool:
    """Whether the first value is seen (True) or refused by its path (False); anything else fails the test."""
    without = {**base(*shape), **sample.beside}
    one = outcome(put(without, sample.place, sample.one))
    if isinstance(one, SpecError):
        if not any(names(one, place) for place in (sample.place, *((name,) for name in sample.beside))):
            raise Dropped(f"{sample.path} is not what is refused: {one}")
        return False
    other = outcome(put(without, sample.place, sample.other))
    if one == other:
        raise Dropped(f"changing {sample.path} from {sample.one!r} to {sample.other!r} changes nothing")
    # static writes the image's defaults, too: what equals its default is seen when another value makes a difference.
    if one == outcome(without) and (shape[2] != "static" or isinstance(other, SpecError)):
        raise Dropped(f"removing {sample.path}: {sample.one!r} changes nothing")
    return True


def all_seen_or_refused(shape: Shape, tried: Iterable[Sample]) -> list[str]:
    """The paths that were seen; fails with everything that was dropped."""
    seen, dropped = [], []
    for sample in tried:
        try:
            seen += [sample.path] if seen_or_refused(shape, sample) else []
        except Dropped as error:
            dropped.append(str(error))
    assert dropped == []
    return seen


def beside(tried: Iterable[Sample], name: str, value: str) -> list[Sample]:
    """The samples of other fields, each with C(name) beside it."""
    return [replace(sample, beside={**sample.beside, name: value}) for sample in tried if sample.path != name]


def shape_id(shape: Shape) -> str:
    return "-".join(filter(None, shape))


@pytest.mark.parametrize("shape", SHAPES, ids=shape_id)
def test_every_field(shape: Shape) -> None:
    assert all_seen_or_refused(shape, samples(shape[0]))


ONCE = [shape for shape in SHAPES if shape[1] != "managed_custom_ami"]
"""managed_custom_ami renders what self_managed renders, which the tests of single fields show."""


@pytest.mark.parametrize("shape", ONCE, ids=shape_id)
def test_every_field_beside_existing_user_data(shape: Shape) -> None:
    assert all_seen_or_refused(shape, beside(samples(shape[0]), "user_data", USER_DATA[shape[0]][0]))


OVERRIDABLE = [
    (family, mode, strategy)
    for family, mode, strategy in ONCE
    if mode != "karpenter" or family == "ubuntu"
    if family == "al2023" or (family != "bottlerocket" and mode != "managed" and strategy != "static")
]


@pytest.mark.parametrize("shape", OVERRIDABLE, ids=shape_id)
def test_every_field_beside_an_override(shape: Shape) -> None:
    override = OVERRIDE.get(shape[0], ("echo one",))[0]
    assert all_seen_or_refused(shape, beside(samples(shape[0]), "override", override))


def public_fields(path: Place = (), group: Group | None = None) -> Iterator[str]:
    """The paths of all fields, as the specification itself lists them when it meets an unknown one."""
    probe = put({"family": "al2"}, (*path, "qqqqqqqq"), 1)
    listed = None
    try:
        resolve(COMPLETE, probe)
    except SpecError as error:
        listed = next((one.allowed for one in error.problems if one.rule == "input.unknown_field"), None)
    if not listed:
        yield ".".join(path)
        return
    for name in listed.split(", "):
        yield from public_fields((*path, name))


def test_every_public_field_has_a_sample() -> None:
    tried = {sample.path for sample in samples("al2")}
    missing = {
        path
        for path in public_fields()
        if path not in NEVER_SEEN and not any(one == path or one.startswith(f"{path}.") or path.startswith(f"{one}.") for one in tried)
    }
    assert missing == set()
    assert {path.partition(".")[0] for path in (*tried, *NEVER_SEEN)} == set(NODE_GROUP)


VERSION = 32


def exists(row: dict[str, Any]) -> bool:
    return row.get("since", 0) <= VERSION < row.get("until", 999)


def example(row: dict[str, Any], number: int) -> Any:
    """A value of a kubelet field, another one for each number."""
    kind = row["type"]
    if "enum" in row:
        return row["enum"][number % len(row["enum"])]
    if kind == "struct":
        name = next(name for name, below in row["fields"].items() if exists(below))
        return {name: example(row["fields"][name], number)}
    if kind == "map":
        keys = row.get("keys") or []
        key = keys[0] if isinstance(keys, list) and keys else "memory.available"
        items = row.get("items")
        return {key: example(items, number) if isinstance(items, dict) else f"{number + 3}00Mi"}
    if kind == "list":
        return [example(row["items"], number)]
    form = row.get("format")
    if kind == "bool":
        return number == 0
    if kind.startswith(("int", "float")):
        return int(row.get("minimum", 0)) + 7 + number
    if kind == "duration":
        return f"{number + 1}m0s"
    return {"ip": f"10.1.0.{number + 1}", "quantity": f"{number + 1}0Mi"}.get(form, f"x{number}")


EXAMPLES: dict[str, tuple[Any, Any]] = {
    "evictionSoftGracePeriod": ({"memory.available": "1m0s"}, {"memory.available": "2m0s"}),
    "featureGates": ({"NodeSwap": True}, {"NodeSwap": False}),
    "kubeReserved": ({"memory": "300Mi"}, {"memory": "400Mi"}),
    "systemReserved": ({"memory": "300Mi"}, {"memory": "400Mi"}),
    "logging": ({"verbosity": 5}, {"verbosity": 6}),
    "allowedUnsafeSysctls": (["net.a"], ["net.b"]),
    "containerRuntimeEndpoint": ("unix:///a", "unix:///b"),
    "imageServiceEndpoint": ("unix:///a", "unix:///b"),
    "imageGCHighThresholdPercent": (91, 92),
    "imageMaximumGCAge": ("3m0s", "4m0s"),
    "memoryThrottlingFactor": (0.5, 0.6),
    "podLogsDir": ("/a", "/b"),
    "qosReserved": ({"memory": "10%"}, {"memory": "20%"}),
    "reservedMemory": ([{"numaNode": 0, "limits": {"memory": "1Gi"}}], [{"numaNode": 0, "limits": {"memory": "2Gi"}}]),
    "staticPodURLHeader": ({"a": ["b"]}, {"a": ["c"]}),
    "tlsCipherSuites": (["TLS_AES_128_GCM_SHA256"], ["TLS_AES_256_GCM_SHA384"]),
    "tracing": ({"endpoint": "a:1"}, {"endpoint": "b:1"}),
}
"""Values of fields of which the rows say too little."""
FIELDS = [name for name, row in data.kubelet_fields()["fields"].items() if exists(row) and len(row.get("enum", "ab")) > 1]
FLAGS = {name: row for name, row in data.kubelet_flags()["flags"].items() if exists(row)}
FLAG_VALUES = {
    "bool": ("true", "false"),
    "int": ("7", "8"),
    "duration": ("1m0s", "2m0s"),
    "ip": ("10.1.0.1", "10.1.0.2"),
    "map": ("a=1", "a=2"),
    "map_bool": ("a=true", "a=false"),
    "thresholds": ("memory.available<100Mi", "memory.available<200Mi"),
}
FLAG_EXAMPLES = {
    "allowed-unsafe-sysctls": ("net.a", "net.b"),
    "container-runtime-endpoint": ("unix:///a", "unix:///b"),
    "eviction-minimum-reclaim": ("memory.available=1Mi", "memory.available=2Mi"),
    "feature-gates": ("NodeSwap=true", "NodeSwap=false"),
    "image-gc-high-threshold": ("91", "92"),
    "image-service-endpoint": ("unix:///a", "unix:///b"),
    "manifest-url-header": ("a:1", "a:2"),
    "qos-reserved": ("memory=1%", "memory=2%"),
    "tls-cipher-suites": ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"),
}


def field_sample(name: str) -> Sample:
    row = data.kubelet_fields()["fields"][name]
    return Sample(f"kubelet.config.{name}", *EXAMPLES.get(name, (example(row, 0), example(row, 1))))


def flag_sample(name: str) -> Sample:
    return Sample(f"kubelet.flags.{name}", *FLAG_EXAMPLES.get(name, FLAG_VALUES.get(FLAGS[name]["type"], ("x", "y"))))


LEAST = {"al2023": (100, 120), "al2": (100, 120), "ubuntu": (100, 120), "bottlerocket": (30, 20), "windows": (2, 120)}
KARPENTER = {"al2": (10, 0), "windows": (10, 0), "bottlerocket": (30, 14)}
"""How many fields and flags a family can express at least: a test in which all were refused would show nothing."""


@pytest.mark.parametrize("shape", SHAPES, ids=shape_id)
def test_every_kubelet_field_and_flag(shape: Shape) -> None:
    fields = all_seen_or_refused(shape, map(field_sample, FIELDS))
    flags = all_seen_or_refused(shape, map(flag_sample, FLAGS))
    family, mode, _unused = shape
    if mode == "managed" and family in ("al2", "windows"):
        assert (fields, flags) == ([], [])
    else:
        least = KARPENTER.get(family, LEAST[family]) if mode == "karpenter" else LEAST[family]
        assert len(fields) >= least[0]
        assert len(flags) >= least[1]
