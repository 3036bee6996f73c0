# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a live node, as the action C(apply) sends it there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..artifacts.node_plan import Machine, Plan, Verify
from ..errors import Problem, Problems, SpecError
from ..families.registry import family_module, resolve
from ..model.compute import needs_running_node
from ..model.fields import CLUSTER_KIND
from ..model.plain import INVALID, plain
from ..model.spec import Cluster, NodeSpec
from .node_family import node_family

_WITH_SHELL = ("al2", "al2023", "ubuntu")


def node_plan(cluster: Any, node_group: Any, instance: Mapping[str, Any] | None = None) -> Plan:
    """The plan of a node of C(node_group) in C(cluster). Raises C(SpecError).

    instance: what the node's metadata service says of it. Its C(instance_type) is what C(max_pods: auto) asks for, and
    what reservations are computed from; without it the node group has to say enough. Its C(region) has to be the cluster's.
    """
    running = None if instance is None else instance.get("instance_type")
    if running is not None and not isinstance(running, str):
        raise SpecError([Problem("instance.instance_type", "is not the name of an instance type", value=running)])
    spec, family = resolve(cluster, node_group, running)
    region = None if instance is None else instance.get("region")
    if region and spec.cluster.region and region != spec.cluster.region:
        fix = "give the node the cluster that is in its region"
        raise SpecError([Problem("cluster.region", f"is not the region of this node, {region}", value=spec.cluster.region, fix=fix)])
    return family.plan(spec)


def way_back(cluster: Any, node_group: Any) -> Plan:
    """The plan of a node that shall be as it was: it says whose node it is, nothing more. Raises C(SpecError).

    The node knows what to undo. So the name of the cluster is enough, for it may be gone; an endpoint is compared where it is given.
    """
    problems = Problems()
    given = plain(cluster, "cluster", problems)
    facts = CLUSTER_KIND({} if given is None else given, "cluster", problems)
    name = None if facts is INVALID else facts.get("name")
    if not name and not problems.touches("cluster.name"):
        problems.add("cluster.name", "is required", fix="say which cluster the node shall leave")
    try:
        family = node_family(node_group)
    except SpecError as error:
        problems.extend(error.problems)
    if problems or not name:
        raise SpecError(problems)
    endpoint = (facts.get("endpoint") or "").rstrip("/")
    if family not in _WITH_SHELL:
        # It says itself why it cannot, and what can.
        return family_module(family).plan(NodeSpec(Cluster(name=name), family))
    return Plan(family, None, Machine((), (), ""), name, endpoint, Verify((), None))


def needs_instance(node_group: Any) -> bool:
    """Whether C(node_plan) of this group needs the instance type of the node. Never raises."""
    return isinstance(node_group, Mapping) and needs_running_node(node_group)
