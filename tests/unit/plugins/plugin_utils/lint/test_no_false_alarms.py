# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the collection renders has no finding of severity error: a rule that fires on it is wrong, or the renderer is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import FAMILIES
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.importers.eksctl import from_eksctl
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.lint.lint import lint
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import Rendered, render
from ansible_collections.nodebootstrap.eks.tests.consistency import project
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import clusters, node_groups


def examples() -> Iterator[tuple[str, Any, Any]]:
    """Name, cluster and node group of each example."""
    for name in project.under("examples", ".yml"):
        if name.count("/") == 1 and name != "examples/demo.yml":
            found: Any = yaml.load(project.text(name))
            for group in found["eks_node_groups"]:
                yield f"{name} {group['name']}", found["eks_node_cluster"], group
    for name in project.under("examples/eksctl", ".yaml"):
        wanted: Any = yaml.load(project.text(name))
        facts: Any = yaml.load(project.text(f"examples/clusters/{wanted['metadata']['name']}.yml"))
        imported = from_eksctl(project.text(name), facts["eks_node_cluster"])
        for group in imported["node_groups"]:
            yield f"{name} {group['name']}", imported["cluster"], group


EXAMPLES = list(examples())
ENCODINGS = ("plain", "base64", "gzip_base64")


def errors(rendered: Rendered) -> list[str]:
    """The errors in rendered user data, with and without what the caller knows about its nodes."""
    spec = rendered.spec
    found = [
        *lint(rendered.text).findings,
        *lint(rendered.text, spec.family).findings,
        *lint(rendered.text, spec.family, spec.cluster.kubernetes_version).findings,
    ]
    return [f"{finding.rule.id}: {finding.message}" for finding in found if finding.rule.severity == "error"]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(("name", "cluster", "group"), EXAMPLES, ids=[name for name, _cluster, _group in EXAMPLES])
def test_examples(name: str, cluster: Any, group: Any, encoding: str) -> None:
    try:
        rendered = render(cluster, group, encoding)
    except SpecError as error:
        assert {problem.rule for problem in error.problems} == {"output.unsupported_encoding"}
        return
    if rendered.text:
        assert errors(rendered) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_any_accepted_input(family: str) -> None:
    @settings(settings.get_profile("family"))
    @given(clusters(), node_groups(family))
    def check(cluster: Any, group: Any) -> None:
        try:
            rendered = render(cluster, group)
        except SpecError:
            return
        if rendered.text:
            assert errors(rendered) == []

    check()
