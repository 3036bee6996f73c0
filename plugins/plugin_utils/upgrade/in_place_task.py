# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action upgrade_nodes without Ansible: the steps of an upgrade in place, between which the tasks of a play run on the nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..drain.api import ClusterApi
from ..drain.text import summary
from ..errors import Problems
from . import in_place, lease
from .adapters import KubernetesApi
from .availability import limit
from .drainer import Drainer
from .loop import LeaseLost, RequestRefused, TemporaryError, upgrade
from .model import Action, Observed, Run, Stop, Wanted
from .observe import instance_of, is_of_karpenter
from .options import FORMATS, KARPENTER, check_shared, seconds, settings, wanted
from .order import sizes
from .plan import in_place_plan
from .target import Target
from .task import Tools, UpgradeFailed, check_access, explained, find_blockers, outcome_of, result_of, run_id, show
from .world import NODES, Lease, NodesWorld

STATES = ("planned", "resumed", "reserved", "drained", "ready", "put_back", "ended", "aborted")

OPTIONS: dict[str, Any] = {
    "cluster": {"type": "dict", "required": True},
    "state": {"type": "str", "choices": list(STATES), "required": True},
    "group": {"type": "str", "default": "nodes"},
    "hosts": {"type": "list", "elements": "str"},
    "nodes": {"type": "list", "elements": "str"},
    "node": {"type": "str"},
    "tasks": {"type": "str", "default": "the tasks of the play run on the node"},
    "kubernetes_version": {"type": "raw"},
    "max_unavailable": {"type": "raw"},
    "by_zone": {"type": "bool", "default": False},
    "canary": {"type": "int", "default": 1},
    "drain_timeout": {"type": "str", "default": "15m"},
    "delete_after_timeout": {"type": "bool", "default": False},
    "delete_unmanaged_pods": {"type": "bool", "default": False},
    "delete_emptydir_data": {"type": "bool", "default": False},
    "load_balancer_wait": {"type": "str", "default": "60s"},
    "node_timeout": {"type": "str", "default": "15m"},
    "poll_interval": {"type": "float", "default": 5.0},
    "format": {"type": "str", "choices": list(FORMATS)},
    "report": {"type": "path"},
}
RULES: dict[str, Any] = {
    "required_if": [
        ("state", "planned", ("hosts",)),
        ("state", "resumed", ("hosts",)), ("state", "aborted", ("hosts",)), ("state", "reserved", ("node", "nodes")),
        ("state", "drained", ("node", "nodes")), ("state", "ready", ("node", "nodes")), ("state", "put_back", ("node", "nodes")),
        ("state", "ended", ("nodes",)),
    ]
}  # fmt: skip

HOST_VARIABLES = ("eks_node_upgrade_node_name", "instance_id", "ansible_host")
"""The variables of a host that tell which node it is."""

_STEPS: dict[str, Callable[[Observed, Wanted, str], Action]] = {
    "reserved": in_place.reserve,
    "drained": in_place.prepare,
    "ready": in_place.finish,
    "put_back": in_place.put_back,
}


def read_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The cluster. Raises C(SpecError) with all problems of the options."""
    problems = Problems()
    cluster = check_shared(options, problems)
    problems.raise_any()
    return cluster


def upgrade_nodes(options: Mapping[str, Any], hosts: Mapping[str, Mapping[str, Any]], tools: Tools) -> dict[str, Any]:
    """One step of the upgrade. options: checked. hosts: the variables of the hosts, by name."""
    return explained(_InPlace(options, hosts, tools).run)


class _InPlace:
    def __init__(self, options: Mapping[str, Any], hosts: Mapping[str, Mapping[str, Any]], tools: Tools) -> None:
        self._options, self._hosts, self._tools = {"surge": False, **options}, hosts, tools
        self._api = KubernetesApi(tools.kubernetes, tools.kubernetes_error)
        self._cluster = ClusterApi(tools.kubernetes, tools.kubernetes_error)
        duration = int(seconds(options["node_timeout"])) + 3600
        name = lease.name_of("in-place", options["group"])
        # Between the steps, tasks run on the nodes, and nothing renews the lease.
        self._lease = Lease(self._api, name, tools.holder, tools.clock, gone=tools.is_gone, duration=duration)

    def run(self) -> dict[str, Any]:
        state = self._options["state"]
        try:
            if state in ("planned", "resumed"):
                return self._plan()
            if state in ("ended", "aborted"):
                return self._end(state == "aborted")
            return self._step(state)
        except (TemporaryError, RequestRefused, LeaseLost, self._tools.kubernetes_error) as error:
            raise UpgradeFailed(str(error)) from None

    # --- the plan -------------------------------------------------------------------------------------------------------------------

    def _plan(self) -> dict[str, Any]:
        options, tools = self._options, self._tools
        names = self._find_nodes()
        check_access(self._api, options)
        run = self._lease.read_run()
        if run is None and options["state"] == "resumed":
            return {"changed": False, "outcome": "done", "msg": "no upgrade in place has been interrupted: there is nothing to resume"}
        world = self._world(names.values(), run)
        observed = world.observe()
        if any(is_of_karpenter(raw) for raw in world.raws):
            raise UpgradeFailed(f"{KARPENTER}; nothing was changed")
        asked = self._wanted(run)
        first = in_place_plan(observed, options["group"], asked, {}, options["tasks"])
        target = Target(options["kubernetes_version"] or "")
        found = find_blockers(self._cluster, [row.node for row in first.rows], settings(options, tools.clock()), target, tools)
        plan = in_place_plan(observed, options["group"], asked, dict(zip(found.nodes, found.pods, strict=True)), options["tasks"])
        written = show(plan, found, options, tools)
        host_of = {node: host for host, node in names.items()}
        order = [{"host": host_of[row.node], "node": row.node} for row in plan.rows]
        most = limit(asked.max_unavailable, len(observed.nodes))
        result = {
            **result_of(plan, found, written),
            "order": order,
            "batches": sizes(len(order), asked, most),
            "nodes": sorted(names.values()),
        }
        if tools.check_mode:
            is_refused = bool(plan.obstacle) or (found.is_blocked and run is None)
            return {**result, "changed": (bool(order) and not is_refused) or written}
        if plan.obstacle:
            fix = "repair or uncordon these nodes, or increase max_unavailable"
            return {**result, "failed": True, "outcome": "already_unavailable", "msg": f"{plan.obstacle}; nothing was changed; fix: {fix}"}
        if found.is_blocked and run is None:
            return {**result, "failed": True, "msg": f"{summary(found)}; nothing was changed; fix: correct what blocks, and run again"}
        if order or run is not None:
            self._lease.acquire(tools.sleep, tools.say)
            self._lease.write_run(run or Run(run_id(tools.clock())))
        return result

    def _find_nodes(self) -> dict[str, str]:
        """The node of every host. Raises C(UpgradeFailed) with all hosts without one."""
        if not self._hosts:
            raise UpgradeFailed(
                "no host matches eks_node_hosts, so there are no nodes to upgrade; fix: check the pattern and the inventory"
            )
        raws = self._api.list(NODES)
        found = {host: _node_of(host, variables, raws) for host, variables in self._hosts.items()}
        missing = [host for host, node in found.items() if not node]
        if missing:
            raise UpgradeFailed(
                f"no node is found for {', '.join(missing[:12])}; nothing was changed; fix: set eks_node_upgrade_node_name of the host "
                "to the name of the node"
            )
        return found

    # --- steps ----------------------------------------------------------------------------------------------------------------------

    def _step(self, state: str) -> dict[str, Any]:
        options, tools = self._options, self._tools
        run = self._lease.read_run()
        if run is None:
            raise UpgradeFailed("no upgrade has begun; fix: run the whole playbook")
        world = self._world(options["nodes"], run)
        choose = partial(self._choose, _STEPS[state])
        outcome = upgrade(world, self._wanted(run), tools.say, choose=choose, pause=options["poll_interval"])
        if isinstance(outcome, Stop) and state != "put_back":
            return {"changed": world.changes > 0, **outcome_of(outcome)}
        if state == "put_back":
            # The record stays, so that the next run continues with the nodes that are left.
            self._lease.release_quietly(keep=True)
        return {"changed": world.changes > 0, **outcome_of(outcome)}

    def _choose(self, step: Callable[[Observed, Wanted, str], Action], observed: Observed, asked: Wanted) -> Action:
        return step(observed, asked, self._options["node"])

    def _end(self, is_abort: bool) -> dict[str, Any]:
        options, tools = self._options, self._tools
        names = self._find_nodes().values() if is_abort else options["nodes"]
        run = self._lease.read_run()
        if tools.check_mode:
            return {"changed": run is not None}
        if run is None and not is_abort:
            return {"changed": False, "outcome": "done", "msg": "all nodes are upgraded already"}
        self._lease.acquire(tools.sleep, tools.say)
        world = self._world(names, run)
        outcome = upgrade(world, self._wanted(run), tools.say, choose=in_place.clean_up, pause=options["poll_interval"])
        if not isinstance(outcome, Stop):
            self._lease.release_quietly()
        return {"changed": world.changes > 0, **outcome_of(outcome)}

    def _world(self, names: Any, run: Run | None) -> NodesWorld:
        tools = self._tools
        drainer = Drainer(self._cluster, settings(self._options, tools.clock()), tools.clock)
        return NodesWorld(self._api, names, self._lease, drainer, run, clock=tools.clock, sleep=tools.sleep)

    def _wanted(self, run: Run | None) -> Wanted:
        options = {**self._options, "state": "aborted" if self._options["state"] == "aborted" else "present"}
        return wanted(options, run_id(self._tools.clock()) if run is None else run.id, "")


def _node_of(host: str, variables: Mapping[str, Any], raws: list[dict[str, Any]]) -> str:
    """The name of the node of a host, '' if there is none."""
    names = {raw["metadata"]["name"] for raw in raws}
    named = variables.get("eks_node_upgrade_node_name")
    if named:
        return str(named) if named in names else ""
    if host in names:
        return host
    wanted_instance, address = variables.get("instance_id"), variables.get("ansible_host") or host
    for raw in raws:
        addresses = {one.get("address") for one in (raw.get("status") or {}).get("addresses") or ()}
        instance = instance_of(str((raw.get("spec") or {}).get("providerID") or ""))
        if (wanted_instance and instance == wanted_instance) or address in addresses:
            return str(raw["metadata"]["name"])
    return ""
