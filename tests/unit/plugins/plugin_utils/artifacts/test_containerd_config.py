# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""containerd's configuration inside the user's NodeConfigs is checked like C(containerd.config), where nodeadm merges it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import kubelet
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import toml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig.containerd_files import IMAGES
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.oracle.containerd_rows import ACCEPTED, MIRROR, REFUSED, VERSIONS, images, v2
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

PLACES = ("user_data", "override")
AT = {place: f"node_group.{place}.spec.containerd.config" for place in PLACES}


def node_config(config: dict[str, Any], place: str) -> dict[str, str]:
    """A NodeConfig with a configuration for containerd, at its place in a node group."""
    spec = {"containerd": {"config": toml.dump(config)}}
    return {place: json.dumps({"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec}) + "\n"}


def problems(generation: int, **group: Any) -> list[tuple[str, str]]:
    """Rule and path of each problem of an AL2023 group on a generation of containerd."""
    try:
        render(COMPLETE | {"kubernetes_version": VERSIONS[generation]}, {"family": "al2023", **group})
    except SpecError as error:
        return [(problem.rule, problem.path) for problem in error.problems]
    return []


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", REFUSED)
def test_refused_like_the_field(name: str, place: str) -> None:
    generations, rule, config = REFUSED[name]
    for generation in generations:
        as_field = [
            (rule, path.removeprefix("node_group.containerd.config")) for rule, path in problems(generation, containerd={"config": config})
        ]
        assert [found for found, _unused in as_field] == [f"containerd.{rule}"]
        assert problems(generation, **node_config(config, place)) == [(found, AT[place] + below) for found, below in as_field]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted_like_the_field(name: str, place: str) -> None:
    generations, config = ACCEPTED[name]
    assert [problems(generation, **node_config(config, place)) for generation in generations if config] == [
        [] for _one in generations if config
    ]


def test_the_documents_count_together() -> None:
    """One document takes config_path away, and another one sets mirrors; alone, the second one would disable CRI."""
    first, second = v2(registry={"config_path": ""}), v2(registry={"mirrors": MIRROR})
    assert problems(1, **node_config(first, "user_data"), **node_config(second, "override")) == []
    assert [rule for rule, _path in problems(1, **node_config(second, "override"))] == ["containerd.disables_cri"]


def test_a_problem_is_reported_where_it_is_set() -> None:
    ours, theirs = v2(max_concurrent_downloads=9), images(max_concurrent_downloads=8)
    found = problems(2, containerd={"config": ours}, **node_config(theirs, "user_data"))
    assert found == [("containerd.wrong_config_version", f'node_group.containerd.config.plugins["{kubelet.CRI}"]')]
    other = v2(containerd={"default_runtime_name": "own"})
    found = problems(2, containerd={"config": ours}, **node_config(other, "user_data"))
    assert found == [("containerd.disables_cri", f'{AT["user_data"]}.plugins["{kubelet.CRI}"].containerd.default_runtime_name')]
    assert IMAGES not in str(found)


def test_mirrors_of_the_group_are_read() -> None:
    own = v2(registry={"config_path": "/etc/own"})
    mirrors = {"registry_mirrors": {"docker.io": "https://mirror.example.com"}}
    expected = ("containerd.mirrors_not_read", f'{AT["user_data"]}.plugins["{kubelet.CRI}"].registry.config_path')
    assert problems(1, containerd=mirrors, **node_config(own, "user_data")) == [expected]
    assert problems(1, **node_config(own, "user_data")) == []
