# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads settings of Bottlerocket into the form of the input. Settings without a field stay below C(bottlerocket.settings)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import Problems
from ..formats import toml
from .meaning import Meaning
from .model import ReadPart
from .places import place_of

_CLUSTER = {"cluster-name": "name", "api-server": "endpoint", "cluster-certificate": "certificate_authority"}


def read(parts: Sequence[ReadPart]) -> Meaning:
    """The meaning of a TOML document."""
    found = Meaning("bottlerocket")
    [part] = parts
    problems = Problems()
    tree = toml.load(part.text, "", problems)
    if len(problems) or not isinstance(tree.get("settings"), Mapping):
        reason = next((problem.message for problem in problems), "has no table settings")
        found.lose(part, part.text, reason)
        return found
    for key in tree:
        if key != "settings":
            found.lose_at(part, place_of(part, key), "is outside of settings, and Bottlerocket would not boot")
    settings = {name: value for name, value in tree["settings"].items() if name != "kubernetes"}
    kubernetes = dict(tree["settings"].get("kubernetes", {})) if isinstance(tree["settings"].get("kubernetes", {}), Mapping) else {}
    for name, field in _CLUSTER.items():
        if isinstance(kubernetes.get(name), str):
            found.state(field, kubernetes.pop(name))
    if not found.cluster:
        # EKS or Karpenter adds the settings of the cluster.
        found.put("mode", "managed")
    if "cluster-dns-ip" in kubernetes and found.read_dns(kubernetes["cluster-dns-ip"]):
        del kubernetes["cluster-dns-ip"]
    config = {field: kubernetes.pop(name) for name, field in _KUBELET.items() if name in kubernetes}
    labels = kubernetes.get("node-labels")
    if isinstance(labels, Mapping) and all(isinstance(value, str) for value in labels.values()):
        found.put("labels", dict(kubernetes.pop("node-labels")))
    if (taints := _taints(kubernetes.get("node-taints"))) is not None:
        found.put("taints", taints)
        del kubernetes["node-taints"]
    found.read_kubelet(config, {})
    # What has another form than kubelet's is a setting as it is.
    left = found.node_group.pop("kubelet", {}).get("config", {})
    kubernetes |= {name: left[field] for name, field in _KUBELET.items() if field in left}
    if kubernetes:
        settings["kubernetes"] = kubernetes
    found.put("bottlerocket.settings", settings)
    return found


_KUBELET = {"max-pods": "maxPods", "kube-reserved": "kubeReserved", "system-reserved": "systemReserved"}


def _taints(value: Any) -> list[dict[str, str]] | None:
    """Taints by key, each with texts such as C(value:NoSchedule). None for another form."""
    if not isinstance(value, Mapping):
        return None
    found = []
    for key, listed in value.items():
        for item in listed if isinstance(listed, list) else [listed]:
            text, colon, effect = item.rpartition(":") if isinstance(item, str) else ("", "", "")
            if not colon:
                return None
            found.append({"key": key, **({"value": text} if text else {}), "effect": effect})
    return found
