# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random node groups with fields of kubelet's configuration, and what a node would make of them.

Every group has one to four fields. A field's value is one of the pairs of C(kubelet_rows), or made from its row in the table of
fields: at a limit, beyond it, or plain. Fields, and the pairs of each, are dealt out in turn, so that each is in the same number of
groups. C(Tally) counts what came up.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import capacity, data, kubelet
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.artifacts.kubelet_layers import image_config
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import resolve
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.spec import NodeSpec
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.kubelet_rows import ROWS, Row

#: Minors whose module the lab pins and builds: the oracle of `make test`.
PINNED = (30, 36)

CLUSTER = {
    "name": "demo",
    "endpoint": "https://abc.gr7.eu-west-1.eks.amazonaws.com",
    "certificate_authority": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUIKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=",
    "service_cidr": "10.100.0.0/16",
    "region": "eu-west-1",
}
TYPE = "m5.large"
HEAD = {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
WAYS = {
    "al2023": {"family": "al2023"},
    "al2": {"family": "al2"},
    "al2-static": {"family": "al2", "strategy": "static"},
    "ubuntu": {"family": "ubuntu"},
    "ubuntu-static": {"family": "ubuntu", "strategy": "static"},
}

#: Fields that are refused anywhere or have a test of their own (name servers), and those whose answer depends on the machine that asks.
NOT_DEALT = {"registerWithTaints", "apiVersion", "kind", "clusterDNS", "failCgroupV1", "singleProcessOOMKill"}
#: (plain, at a limit or beyond it)
_DURATIONS = (("1s", "2m", "3s", "100ms", "1h"), ("0s", "-1s", "29s", "30s", "31s", "2m30s", "151s", "999ms", "2999ms"))
_QUANTITIES = (("1", "100m", "1Gi", "100Mi", "1.5", "10%"), ("0", "-1", "0%", "100%"))


class Dice(random.Random):
    """Random choices. at_limit: whether a value stood at a limit, or beyond it."""

    at_limit = False

    def value(self, plain: Sequence[Any], limits: Sequence[Any], chance: float = 0.5) -> Any:
        """One of C(plain), or with C(chance) one of C(limits)."""
        if self.random() >= chance:
            return self.choice(plain)
        self.at_limit = True
        return self.choice(limits)


@dataclass
class Tally:
    """What came up: groups, those with a value at a limit or beyond it, fields, and both sides of the pairs by their names."""

    groups: int = 0
    at_limit: int = 0
    fields: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)


@cache
def fields(minor: int) -> tuple[str, ...]:
    """The fields of a minor that are dealt out."""
    table = data.kubelet_fields()["fields"]
    return tuple(name for name, row in table.items() if row.get("since", 0) <= minor <= row.get("until", minor) and name not in NOT_DEALT)


@cache
def pieces(minor: int) -> Mapping[str, tuple[tuple[Row, bool], ...]]:
    """Field → the pairs with it, and which side: both sides of every limit that is a matter of several fields."""
    found: dict[str, list[tuple[Row, bool]]] = {}
    for row in ROWS:
        for is_refused in (True, False):
            config = row.refused if is_refused else row.accepted
            if config.keys() <= set(fields(minor)):
                for name in config:
                    found.setdefault(name, []).append((row, is_refused))
    return {name: tuple(sides) for name, sides in found.items()}


def value(row: Mapping[str, Any], dice: Dice) -> Any:
    """A value for a row of the table: half of the numbers stand at a limit or beyond."""
    kind = row["type"]
    if "enum" in row:
        return dice.value(row["enum"], ["nosuch"], 0.2)
    if kind == "bool":
        return dice.random() < 0.5
    if kind in ("int32", "int64", "uint32"):
        least, most = row.get("minimum", 0), row.get("maximum", 2**31 - 1)
        return dice.value([dice.randint(max(least, 1), min(most, 100)), 1, 2, 70], [least, most, least - 1, most + 1])
    if kind == "duration" or row.get("format") == "duration":
        return dice.value(*_DURATIONS)
    if kind == "float64":
        return dice.value([0.1, 0.9], [0.0, 1.0, 1.1])
    if kind == "quantity" or row.get("format") in ("quantity", "threshold"):
        return dice.value(*_QUANTITIES)
    if kind == "list":
        return [value(row["items"], dice) for _unused in range(dice.randint(0, 2))]
    if kind == "map":
        keys = row.get("keys") or ["a", "memory"]
        return {key: value(row["items"], dice) for key in dice.sample(list(keys), dice.randint(0, min(2, len(keys))))}
    if kind == "struct":
        names = list(row["fields"])
        return {name: value(row["fields"][name], dice) for name in dice.sample(names, dice.randint(0, min(2, len(names))))}
    if kind == "duration_or_nanoseconds":
        return dice.value(["5s", 5_000_000_000], ["0s", "-1s"])
    return dice.value(["x", "/x", "10.0.0.1", "unix:///x"], [""], 0.2)


def gates(minor: int, dice: Dice) -> dict[str, bool]:
    """Feature gates: mostly of this minor, sometimes of another one or none."""
    names = sorted(data.kubelet_gates()["gates"])
    here = [name for name in names if any(first <= minor <= last for first, last, *_unused in data.kubelet_gates()["gates"][name])]
    chosen = dice.choices([*here, dice.choice(names), "NoSuchGate"], k=dice.randint(1, 2))
    return {name: dice.random() < 0.7 for name in chosen}


def configurations(minor: int, seed: str, count: int, tally: Tally | None = None) -> Iterator[dict[str, Any]]:
    """Configurations, the same ones for the same seed."""
    dice, tally = Dice(seed), Tally() if tally is None else tally
    table = data.kubelet_fields()["fields"]
    # A field that only some of the pinned minors have comes twice as often there.
    names = [name for name in fields(minor) for _unused in range(1 if all(name in fields(one) for one in PINNED) else 2)]
    deck: list[str] = []
    sides: dict[str, list[tuple[Row, bool]]] = {}
    for _unused in range(count):
        config: dict[str, Any] = {}
        dice.at_limit = False
        # Half of the groups have one field: what is wrong with one hides what is wrong with others.
        for _other in range(dice.choice((1, 1, 1, 2, 3, 4))):
            if not deck:
                deck = dice.sample(names, len(names))
            name = deck.pop()
            if name in pieces(minor) and dice.random() < 0.6:
                if not sides.get(name):
                    sides[name] = dice.sample(pieces(minor)[name], len(pieces(minor)[name]))
                row, is_refused = sides[name].pop()
                config |= row.refused if is_refused else row.accepted
                (tally.refused if is_refused else tally.accepted)[row.id] += 1
                dice.at_limit = True
            elif name == "featureGates":
                config[name] = gates(minor, dice)
            else:
                config[name] = value(table[name], dice)
        tally.groups += 1
        tally.at_limit += dice.at_limit
        tally.fields.update(config.keys())
        yield config


def group(way: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """A node group with a configuration."""
    pods = {"max_pods": 29} if way.endswith("static") and "maxPods" not in config else {}
    return {**WAYS[way], "instance": {"type": TYPE}, "kubelet": {"config": dict(config)}, **pods}


def rendered(way: str, minor: int, config: Mapping[str, Any]) -> tuple[NodeSpec, dict[str, Any]] | SpecError:
    """The specification of a group and the question that asks kubelet about what we render for it, or why it is refused."""
    try:
        spec, family = resolve(CLUSTER | {"kubernetes_version": f"1.{minor}"}, group(way, config))
        files = {file.path: file.content for file in family.files(spec)}
    except SpecError as error:
        return error
    if way == "al2023":
        document = yaml.load(files["/etc/eks/nodeadm.d/50-nodebootstrap.yaml"])
        found = document["spec"].get("kubelet", {})
        own = found.get("config")
        return spec, question(way, minor, json.dumps({**HEAD, **own}) if own else "", tuple(found.get("flags", ())))
    if way.endswith("static"):
        return spec, question(way, minor, files["/etc/kubernetes/kubelet/kubelet-config.json"], ())
    drop_in = files.get("/etc/kubernetes/kubelet/config.json.d/50-nodebootstrap.conf", "")
    pods = (f"--max-pods={spec.max_pods}",) if spec.max_pods is not None else ()
    return spec, question(way, minor, drop_in, pods)


def as_written(way: str, minor: int, config: Mapping[str, Any]) -> dict[str, Any]:
    """The question that asks kubelet about a configuration as the user wrote it, whatever we say of it."""
    document = {**HEAD, **config}
    if way.endswith("static"):
        base = base_config(way, minor)
        if isinstance(config.get("maxPods"), int) and 0 < config["maxPods"] <= 1000:
            # The strategy computes the reservations for the number of pods in force.
            base = {**base, "kubeReserved": _reserved(config["maxPods"])}
        if "reservedSystemCPUs" in config:
            base = {name: one for name, one in base.items() if name not in kubelet.RESERVED_CGROUPS}
        without = {name: one for name, one in kubelet.deep_merge(base, config).items() if one is not None}
        return question(way, minor, json.dumps({**HEAD, **without}), ())
    return question(way, minor, json.dumps(document), ())


@cache
def base_config(way: str, minor: int) -> dict[str, Any]:
    """What the image leaves on the node of this type."""
    pods = capacity.max_pods(capacity.instance_shape(TYPE))
    computed = {"kubeReserved": _reserved(pods), "maxPods": pods, "clusterDNS": ["10.100.0.10"]}
    return {**image_config(WAYS[way]["family"], minor), **computed}


def _reserved(pods: int) -> dict[str, str]:
    return capacity.kube_reserved(pods, capacity.instance_shape(TYPE).vcpus or 2)


def unit_flags(minor: int) -> tuple[str, ...]:
    """The flag that kubelet requires of its unit: before 1.27 no field of the configuration has the endpoint."""
    return ("--container-runtime-endpoint=unix:///run/containerd/containerd.sock",) if minor == 26 else ()


def question(way: str, minor: int, text: str, flags: tuple[str, ...]) -> dict[str, Any]:
    """A question for C(kubelet_check). The machine that asks may have cgroup v1, which kubelet refuses from 1.35 on."""
    base = dict(base_config(way, minor))
    if minor >= 31 and "failCgroupV1" not in text:
        base["failCgroupV1"] = False
    static = way.endswith("static")
    if static and minor >= 31 and "failCgroupV1" not in text:
        text = json.dumps({"failCgroupV1": False, **json.loads(text)})
    if way == "al2023" and minor < 29 and text:
        # nodeadm merges the configurations. (Newer ones write a drop-in for 1.28, too, which we warn of.)
        text, base = "", kubelet.deep_merge(base, json.loads(text))
    return {
        "config": text if static else json.dumps({**HEAD, **base}),
        "drop_in": "" if static else text,
        "args": [*flags, *unit_flags(minor)],
        "cpus": 2,
        "memory": 8 << 30,
    }
