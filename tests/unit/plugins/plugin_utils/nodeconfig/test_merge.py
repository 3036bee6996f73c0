# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Merging beyond the recorded rows: purity, dropped fields, TOML, refusals."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import tomlkit

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig import merge, read
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages


def config(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": read.API_VERSION, "kind": "NodeConfig", "spec": spec}


RULES = [
    ("the later name", [{"cluster": {"name": "a"}}, {"cluster": {"name": "b"}}], {"cluster": {"name": "b"}}),
    ("an empty text keeps", [{"cluster": {"name": "a"}}, {"cluster": {"name": ""}}], {"cluster": {"name": "a"}}),
    ("true stays", [{"cluster": {"enableOutpost": True}}, {"cluster": {"enableOutpost": False}}], {"cluster": {"enableOutpost": True}}),
    (
        "flags are appended",
        [{"kubelet": {"flags": ["--a"]}}, {"kubelet": {"flags": ["--b", "--a"]}}],
        {"kubelet": {"flags": ["--a", "--b", "--a"]}},
    ),
    (
        "other lists are replaced",
        [{"instance": {"network": {"domains": ["a"]}}}, {"instance": {"network": {"domains": ["b"]}}}],
        {"instance": {"network": {"domains": ["b"]}}},
    ),
    (
        "an empty list keeps",
        [{"instance": {"network": {"domains": ["a"]}}}, {"instance": {"network": {"domains": []}}}],
        {"instance": {"network": {"domains": ["a"]}}},
    ),
    (
        "false replaces a gate",
        [{"featureGates": {"A": True, "B": True}}, {"featureGates": {"A": False}}],
        {"featureGates": {"A": False, "B": True}},
    ),
    (
        "an empty variable replaces",
        [{"instance": {"environment": {"default": {"A": "1"}}}}, {"instance": {"environment": {"default": {"A": ""}, "k": {}}}}],
        {"instance": {"environment": {"default": {"A": ""}, "k": {}}}},
    ),
    (
        "free mappings at any depth",
        [{"kubelet": {"config": {"a": {"b": 1, "c": [1]}}}}, {"kubelet": {"config": {"a": {"b": None, "c": []}}}}],
        {"kubelet": {"config": {"a": {"b": None, "c": []}}}},
    ),
    ("unknown fields vanish", [{"x": 1, "kubelet": {"y": 2}}], {}),
]


@pytest.mark.parametrize(("specs", "merged"), [row[1:] for row in RULES], ids=[row[0] for row in RULES])
def test_rules(specs: list[dict[str, Any]], merged: dict[str, Any]) -> None:
    configs = [config(**spec) for spec in specs]
    before = copy.deepcopy(configs)
    assert merge.merge(configs) == config(**merged)
    assert configs == before


def test_nothing_to_merge() -> None:
    assert merge.merge([]) == config()


def test_toml_is_united() -> None:
    merged = merge.merge_toml("version = 3\n[a.'b.c']\nx = [1, 2]\ny = 'one'\n", "[a.'b.c']\nx = [3]\n[d]\nz = 2026-01-02\n")
    assert tomlkit.parse(merged).unwrap() == tomlkit.parse("version = 3\na.'b.c'.x = [3]\na.'b.c'.y = 'one'\nd.z = 2026-01-02\n").unwrap()
    assert merged == merge.merge_toml("[a.'b.c']\ny = 'one'\nx = [1, 2]\n", "version = 3\n[d]\nz = 2026-01-02\n[a.'b.c']\nx = [3]\n")


@pytest.mark.parametrize("spec", [{"kubelet": []}, {"cluster": {"name": 1}}, {"kubelet": {"flags": "x"}}, {"featureGates": {"A": "b"}}])
def test_wrong_types(spec: dict[str, Any], golden_message: GoldenMessages) -> None:
    with pytest.raises(read.NodeConfigError) as caught:
        merge.merge([config(**spec)])
    golden_message(caught.value)


def test_broken_toml_stops_nodeadm() -> None:
    with pytest.raises(read.NodeConfigError) as caught:
        merge.merge([config(containerd={"config": "a = 1"}), config(containerd={"config": "a ="})])
    assert caught.value.fatal
