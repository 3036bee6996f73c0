# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every example is rendered: what a reader copies works."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.importers.eksctl import from_eksctl
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.consistency import project

CLUSTERS = project.under("examples/clusters", ".yml")
GROUPS = tuple(name for name in project.under("examples", ".yml") if name.count("/") == 1 and name != "examples/demo.yml")  # a playbook
EKSCTL = project.under("examples/eksctl", ".yaml")

# The eksctl files of this table say everything EKS does not already know, so nothing is left to render.
NOTHING_TO_ADD = {"ng1-public-ssh", "ng-win-v1"}


def variables(name: str) -> dict[str, Any]:
    loaded = yaml.load(project.text(name))
    assert isinstance(loaded, dict)
    return loaded


def cluster_of(name: str) -> dict[str, Any]:
    """The facts of the cluster that an eksctl file names."""
    wanted = variables(name)["metadata"]["name"]
    found: dict[str, Any] = variables(f"examples/clusters/{wanted}.yml")["eks_node_cluster"]
    return found


@pytest.mark.parametrize("name", GROUPS)
def test_an_example_renders(name: str) -> None:
    given = variables(name)
    assert set(given) == {"eks_node_cluster", "eks_node_groups"}
    for group in given["eks_node_groups"]:
        assert render(given["eks_node_cluster"], group).document.text
        assert node_files(given["eks_node_cluster"], group)


@pytest.mark.parametrize("name", EKSCTL)
def test_an_eksctl_file_is_imported_and_renders(name: str) -> None:
    imported = from_eksctl(project.text(name), cluster_of(name))
    assert imported["node_groups"]
    for group in imported["node_groups"]:
        found = render(imported["cluster"], group).document.text
        assert (found == "") == (group["name"] in NOTHING_TO_ADD)


@pytest.mark.parametrize("name", CLUSTERS)
def test_the_facts_of_a_cluster_are_complete(name: str) -> None:
    given = variables(name)
    assert set(given) == {"eks_node_cluster"}
    assert name == f"examples/clusters/{given['eks_node_cluster']['name']}.yml"
    assert render(given["eks_node_cluster"], {"family": "al2023"}).document.text


def test_one_example_shows_every_family() -> None:
    groups = variables("examples/five-families.yml")["eks_node_groups"]
    assert [group["family"] for group in groups] == ["al2", "al2023", "ubuntu", "bottlerocket", "windows"]
    assert all(group.get("mode", "self_managed") == "self_managed" for group in groups)


@pytest.mark.parametrize("name", [*CLUSTERS, *GROUPS, *EKSCTL])
def test_an_example_says_what_it_shows(name: str) -> None:
    comment = project.text(name).splitlines()[4]
    assert comment.startswith("# ")
    assert comment.endswith(".")
