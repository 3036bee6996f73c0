# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan that the action C(apply) sends to a live node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..artifacts.node_plan import Machine, Plan, Verify
from ..errors import Problem, Problems, SpecError
from ..families.registry import family_module, resolve
from ..model.compute import needs_running_node
from ..model.described_cluster import check_cluster
from ..model.plain import INVALID
from ..model.spec import Cluster, NodeSpec
from ..model.written import as_written
from .node_family import node_family

_WITH_SHELL = ("al2", "al2023", "ubuntu")


def node_plan(cluster: Any, node_group: Any, instance: Mapping[str, Any] | None = None) -> Plan:
    """Return the plan for a node of C(node_group) in C(cluster). Raises C(SpecError).

    instance: data from the metadata service of the node. C(instance_type) resolves C(max_pods: auto) and computes reservations;
    without it the node group must provide these values. C(region) must be the region of the cluster.
    """
    running = None if instance is None else instance.get("instance_type")
    if running is not None and not isinstance(running, str):
        raise SpecError(
            [Problem("capacity.unknown_instance_type", "instance.instance_type", "is not the name of an instance type", value=running)]
        )
    spec, family = resolve(cluster, node_group, running)
    region = None if instance is None else instance.get("region")
    if region and spec.cluster.region and region != spec.cluster.region:
        fix = "use the cluster that is in the node's region"
        raise SpecError(
            [
                Problem(
                    "live.other_region", "cluster.region", f"is not the region of this node, {region}", value=spec.cluster.region, fix=fix
                )
            ]
        )
    try:
        return family.plan(spec)
    except SpecError as error:
        given = {"cluster": cluster, "node_group": node_group}
        raise SpecError(as_written(problem, given) for problem in error.problems) from error


def removal_plan(cluster: Any, node_group: Any) -> Plan:
    """Return the plan that removes a node from C(cluster). Raises C(SpecError).

    The node stores what has to be undone, and the cluster may no longer exist. So only the name of the cluster is required;
    an endpoint is compared if it is given.
    """
    problems = Problems()
    facts = check_cluster(cluster, problems)
    name = None if facts is INVALID else facts.get("name")
    if not name and not problems.touches("cluster.name"):
        problems.add("cluster.missing_field", "cluster.name", "is required", fix="name the cluster that the node leaves")
    try:
        family = node_family(node_group)
    except SpecError as error:
        problems.extend(error.problems)
    if problems or not name:
        raise SpecError(problems)
    endpoint = (facts.get("endpoint") or "").rstrip("/")
    if family not in _WITH_SHELL:
        # This raises the error that names the role for this family.
        return family_module(family).plan(NodeSpec(Cluster(name=name), family))
    return Plan(family, None, Machine((), (), ""), name, endpoint, Verify((), None))


def needs_instance(node_group: Any) -> bool:
    """Return whether C(node_plan) needs the instance type of the node for this group. Never raises."""
    return isinstance(node_group, Mapping) and needs_running_node(node_group)
