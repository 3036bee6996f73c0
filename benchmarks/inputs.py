# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is rendered: one cluster, and per family node groups with the fields that most groups have."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import yaml

REPOSITORY = Path(__file__).resolve().parents[1]
COLLECTIONS = REPOSITORY / ".cache"
"""Where tools/setup.sh shows the checkout as an installed collection."""

FAMILIES = ("al2", "al2023", "ubuntu", "bottlerocket", "windows")


def cluster() -> dict[str, Any]:
    """The facts of the example cluster, with a real certificate."""
    text = (REPOSITORY / "examples" / "clusters" / "demo.yml").read_text(encoding="utf-8")
    facts: dict[str, Any] = yaml.safe_load(text)["eks_node_cluster"]
    return facts


def node_groups(family: str, count: int) -> list[dict[str, Any]]:
    """C(count) groups of one family that differ in name, labels, a taint and max pods."""
    return [_group(family, number) for number in range(count)]


def small_group(family: str, cluster_name: str, name: str) -> dict[str, Any]:
    """A group with nothing but an instance type and the two labels that eksctl always sets."""
    labels = {"alpha.eksctl.io/cluster-name": cluster_name, "alpha.eksctl.io/nodegroup-name": name}
    return {"name": name, "family": family, "instance": {"type": "m5.large"}, "labels": labels} | copy.deepcopy(_OF_FAMILY[family])


_OF_FAMILY: dict[str, dict[str, Any]] = {
    "al2": {},
    "al2023": {},
    "ubuntu": {"ubuntu": {"release": "24.04"}},
    "bottlerocket": {},
    "windows": {"windows": {"version": "2022", "edition": "core"}},
}

_KUBELET = {
    "evictionHard": {"memory.available": "5%", "nodefs.available": "10%"},
    "imageGCHighThresholdPercent": 80,
    "imageGCLowThresholdPercent": 70,
}


def _group(family: str, number: int) -> dict[str, Any]:
    group: dict[str, Any] = {
        "name": f"workers-{number:04}",
        "family": family,
        "instance": {"type": "m5.xlarge"},
        "labels": {
            "role": f"role-{number % 10}",
            "example.com/team": f"team-{number:04}",
            "example.com/cost-center": f"{number:06}",
        },
        "taints": [
            {"key": "dedicated", "value": f"team-{number:04}", "effect": "NoSchedule"},
            {"key": "example.com/expensive", "effect": "PreferNoSchedule"},
        ],
        "max_pods": 20 + number % 200,
        "reserved": {"kube": "auto", "system": {"cpu": "100m", "memory": "200Mi"}},
        **copy.deepcopy(_OF_FAMILY[family]),
    }
    if family == "windows":
        # Windows takes kubelet's settings as flags only.
        group["kubelet"] = {"flags": {"image-gc-high-threshold": 80, "image-gc-low-threshold": 70, "eviction-hard": "memory.available<5%"}}
    else:
        group["kubelet"] = {"config": copy.deepcopy(_KUBELET)}
    if family == "bottlerocket":
        group["bottlerocket"] = {"settings": {"kernel": {"sysctl": {"vm.max_map_count": "262144"}}, "motd": f"workers {number}"}}
    else:
        group["commands"] = {"pre": [f"echo workers-{number:04}"]}
    return group
