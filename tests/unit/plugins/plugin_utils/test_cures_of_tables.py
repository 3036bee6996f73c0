# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The advice for every field and every removed flag of kubelet, on every family, can be followed literally."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.fields import FAMILIES
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.cures.row import group
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.test_cures import wrong_advice

SAMPLES: dict[str, Any] = {"bool": True, "duration": "30s", "quantity": "1Gi", "ip": "10.0.0.1", "float64": 0.5, "threshold": "10%"}


#: Fields of which kubelet takes only a few values.
OF_FIELD: dict[str, Any] = {
    "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
    "cpuCFSQuotaPeriod": "100ms",
    "memorySwap": {"swapBehavior": "NoSwap"},
    "qosReserved": {"memory": "50%"},
    "tlsCurvePreferences": [29],
}

LEFT_OUT = ("reservedMemory", "staticPodURLHeader")
"""Fields whose flag needs another text than the value of the field."""


def sample(node: Mapping[str, Any]) -> Any:
    """A value of a field, which a check may still refuse."""
    kind = node["type"]
    if "enum" in node:
        return node["enum"][-1]
    if kind == "list":
        return [sample(node["items"])]
    if kind == "map":
        return {(node.get("keys") or ["a"])[0]: sample(node["items"])}
    if kind == "struct":
        return {name: sample(below) for name, below in list(node["fields"].items())[:1]}
    return SAMPLES.get(node.get("format", kind), max(node.get("minimum", 5), 5) if "int" in kind or "nano" in kind else "a")


def flags() -> Iterator[tuple[str, str]]:
    """Removed flags, with the first version of ours that does not have them."""
    table = data.kubelet_flags()
    for name, row in table["flags"].items():
        if "until" in row:
            yield name, f"1.{max(row['until'] + 1, table['first'])}"


@pytest.mark.parametrize("family", FAMILIES)
def test_advice_for_every_field(family: str) -> None:
    version = {"kubernetes_version": "1.32"}
    wrong = []
    for name, node in data.kubelet_fields()["fields"].items():
        if name in LEFT_OUT:
            continue
        value = OF_FIELD.get(name, "10.0.0.1" if name.lower().endswith("address") else sample(node))
        group_of_field = {"family": family, "kubelet": {"config": {name: value}}}
        wrong += wrong_advice(group(name, group_of_field, {}, version))
    assert wrong == []


@pytest.mark.parametrize("family", FAMILIES)
def test_advice_for_every_removed_flag(family: str) -> None:
    wrong = []
    for name, version in flags():
        value = {"int": 5, "bool": True}.get(data.kubelet_flags()["flags"][name]["type"], "a")
        group_of_flag = {"family": family, "kubelet": {"flags": {name: value}}}
        wrong += wrong_advice(group(name, group_of_flag, {}, {"kubernetes_version": version}))
    assert wrong == []
