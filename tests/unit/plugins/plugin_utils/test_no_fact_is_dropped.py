# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the cluster says reaches every node that EKS does not tell it, and what would have no effect on the node is refused."""

from __future__ import annotations

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import resolve
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.karpenter import karpenter_manifests
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import problems_of
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.test_nothing_is_dropped import (
    SHAPES,
    Group,
    Shape,
    base,
    shape_id,
)

NODE_LOCAL = {**COMPLETE, "dns_ips": ["169.254.20.10"]}


@pytest.mark.parametrize("shape", SHAPES, ids=shape_id)
def test_name_servers_of_the_cluster(shape: Shape) -> None:
    group = base(*shape)
    try:
        spec, family = resolve(NODE_LOCAL, group)
    except SpecError as error:
        assert shape[1] == "managed"
        assert [problem.path for problem in error.problems] == ["cluster.dns_ips"]
    else:
        in_class = str(karpenter_manifests(NODE_LOCAL, group)) if shape[1] == "karpenter" else ""
        assert "169.254.20.10" in family.user_data(spec).text + in_class


@pytest.mark.parametrize("family", ["al2", "al2023", "bottlerocket", "windows"])
def test_name_servers_that_eks_gives_anyway_are_not_repeated_for_a_managed_group(family: str) -> None:
    spec, module = resolve({**COMPLETE, "dns_ips": ["10.100.0.10"]}, base(family, "managed", None))
    assert module.user_data(spec).text == ""


@pytest.mark.parametrize("shape", SHAPES, ids=shape_id)
def test_local_cluster_on_outposts(shape: Shape) -> None:
    try:
        spec, family = resolve({**COMPLETE, "outpost": True, "id": "abc-1"}, base(*shape))
    except SpecError as error:
        assert {problem.path for problem in error.problems} <= {"cluster.outpost", "node_group.mode"}
    else:
        assert "abc-1" in family.user_data(spec).text


@pytest.mark.parametrize("family", ["al2", "ubuntu"])
@pytest.mark.parametrize("config", [{"containerRuntimeEndpoint": "unix:///x.sock"}, {"providerID": "aws:///x/i-1"}])
def test_static_refuses_configuration_that_its_own_flags_override(family: str, config: Group) -> None:
    group = base(family, "self_managed", "static") | {"kubelet": {"config": config}}
    assert {rule for rule, _path in problems_of(resolve, COMPLETE, group)} == {"kubelet.flag_overrides_config"}
