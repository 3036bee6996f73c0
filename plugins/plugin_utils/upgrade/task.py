# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action upgrade_group without Ansible: the report, the plan, and the replacement of an Auto Scaling group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from typing import Any, NamedTuple

from ..drain.api import ClusterApi
from ..drain.finding import Settings, Subnet
from ..drain.report import Report
from ..drain.report_task import make_report
from ..drain.text import summary
from ..outputs import folder
from ..outputs.page import report_format
from ..workloads.model import Node
from . import access, lease
from .adapters import AwsGroup, KubernetesApi, KubernetesClient
from .decide import decide
from .drainer import Drainer
from .loop import LeaseLost, Outcome, RequestRefused, TemporaryError, upgrade
from .model import Done, Group, Observed, Stop, Wanted
from .options import settings, version_name, wanted
from .plan import Plan, replacement_plan
from .report import REPORTS
from .target import FindImage, Target, target_of_image
from .world import GroupWorld, Lease


class UpgradeFailed(Exception):
    """The upgrade cannot begin. The text is the whole message."""


def explained(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The result of C(work), or of the failure to begin."""
    try:
        return work()
    except UpgradeFailed as error:
        return {"failed": True, "msg": str(error)}


class Tools(NamedTuple):
    """What an upgrade touches. kubernetes_error, temporary_error, aws_error: the types of the errors of the clients.
    free_addresses: the subnets of nodes, by their names and provider IDs, and others by their IDs. find_image: reads an image.

    holder: the identity of this process. is_gone: whether a holder does not exist any more. has_ended: whether the playbook has ended.
    """

    kubernetes: KubernetesClient
    kubernetes_error: type[Exception]
    temporary_error: type[Exception]
    aws_error: type[Exception]
    free_addresses: Callable[[Mapping[str, str], Sequence[str]], Sequence[tuple[str, int, tuple[str, ...]]]]
    find_image: FindImage
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    say: Callable[[str], None]
    holder: str
    is_gone: Callable[[str], bool]
    check_mode: bool


@dataclass(frozen=True)
class Prepared:
    """What was found before anything is changed."""

    observed: Observed
    group: Group
    wanted: Wanted
    plan: Plan
    report: Report


def replace_group(options: Mapping[str, Any], group_client: Any, tools: Tools) -> dict[str, Any]:
    """Replace the nodes of an Auto Scaling group, or put it back.

    group_client: the Auto Scaling group, as in C(module_utils/_aws/auto_scaling.py).
    """
    return explained(partial(_replace_group, options, group_client, tools))


def _replace_group(options: Mapping[str, Any], group_client: Any, tools: Tools) -> dict[str, Any]:
    api = KubernetesApi(tools.kubernetes, tools.kubernetes_error)
    group = AwsGroup(group_client, tools.temporary_error, tools.aws_error)
    cluster = ClusterApi(tools.kubernetes, tools.kubernetes_error)
    try:
        drain_settings = settings(options, tools.clock())
        held = Lease(api, lease.name_of("auto-scaling-group", options["auto_scaling_group"]), tools.holder, tools.clock, gone=tools.is_gone)
        world = GroupWorld(api, group, held, Drainer(cluster, drain_settings, tools.clock), clock=tools.clock, sleep=tools.sleep)
        raw = group.describe()
        group.check(raw)
        target = _version(options, group, raw)
        check_access(api, options)
        found = _prepare(world, cluster, options, target, partial(_kubelet, options, group, raw, tools), tools)
    except tools.kubernetes_error as error:
        raise UpgradeFailed(f"{error}; nothing was changed") from None
    except (TemporaryError, RequestRefused) as error:
        raise UpgradeFailed(f"{error}; nothing was changed") from None
    changed = show(found.plan, found.report, options, tools)
    result = result_of(found.plan, found.report, changed)
    if tools.check_mode:
        return {**result, "changed": _would_change(found) or changed}
    if _is_refused(found):
        return {**result, "failed": True, "msg": f"{summary(found.report)}; nothing was changed; fix: correct what blocks, and run again"}
    outcome = _run(world, held, found.wanted, options, tools)
    return {**result, "changed": world.changes > 0 or changed, **outcome_of(outcome)}


def _is_refused(found: Prepared) -> bool:
    """Whether blockers keep the upgrade from beginning. One that has begun continues, or is put back."""
    return found.report.is_blocked and found.group.run is None and not found.wanted.abort


def _would_change(found: Prepared) -> bool:
    return not _is_refused(found) and not isinstance(decide(found.observed, found.wanted), (Done, Stop))


def _run(world: GroupWorld, held: Lease, wanted_now: Wanted, options: Mapping[str, Any], tools: Tools) -> Outcome:
    try:
        held.acquire(tools.sleep, tools.say)
    except (LeaseLost, TemporaryError, RequestRefused) as error:
        return Stop("lease_held", f"{error}; nothing was changed")
    try:
        return upgrade(world, wanted_now, tools.say, pause=options["poll_interval"])
    finally:
        held.release_quietly()


def outcome_of(outcome: Outcome) -> dict[str, Any]:
    """The end of an upgrade as a part of the result."""
    if isinstance(outcome, Stop):
        return {"outcome": outcome.rule, "msg": outcome.message, "is_restored": outcome.is_restored, "failed": True}
    return {"outcome": "done", "msg": outcome.message if isinstance(outcome, Done) else f"{outcome.node} can be upgraded"}


def result_of(plan: Plan, found: Report, changed: bool) -> dict[str, Any]:
    """The report and the plan as a part of the result."""
    return {"changed": changed, "plan": plan.plain(), "findings": [finding.plain() for finding in found.findings]}


def show(plan: Plan, found: Report, options: Mapping[str, Any], tools: Tools) -> bool:
    """Print the report and the plan, or write them. Returns whether a file changed."""
    text = REPORTS[report_format(options["format"], options["report"])](plan, found)
    if options["report"] is None:
        tools.say(text.rstrip("\n"))
        return False
    tools.say(summary(found))
    # Also in check mode, whose purpose is this file.
    return folder.write_file(options["report"], text.encode("utf-8"), "report")


def _version(options: Mapping[str, Any], group: AwsGroup, raw: Mapping[str, Any]) -> str:
    """The number of the requested version, '' if none is requested."""
    name = version_name(options)
    if name.startswith("$"):
        return group.numbers(raw)[name]
    if name:
        group.check_version(raw, name)
    return name


def _kubelet(options: Mapping[str, Any], group: AwsGroup, raw: Mapping[str, Any], tools: Tools, version: str) -> Target:
    """The version of kubelet that new nodes will have: the one that is asked for, or that of the image."""
    if options["kubernetes_version"]:
        return Target(options["kubernetes_version"])
    try:
        return target_of_image(group.image(raw, version), tools.find_image)
    except (TemporaryError, RequestRefused, tools.aws_error) as error:
        return Target(unchecked=(f"the image of the launch template was not checked: {error}",))


def check_access(api: KubernetesApi, options: Mapping[str, Any]) -> None:
    missing = [
        permission
        for permission in access.needed(options["delete_after_timeout"])
        if not access.is_allowed(api.create(access.PATH, access.review(permission)) or {})
    ]
    if missing:
        raise UpgradeFailed(access.message(missing))


def find_blockers(
    cluster: ClusterApi, names: Sequence[str], drain: Settings, target: Target, tools: Tools, subnets: Sequence[str] = ()
) -> Report:
    """The report on these nodes. subnets: the IDs of those in which new nodes can start."""

    def find_subnets(nodes: Iterable[Node]) -> tuple[Subnet, ...] | str:
        try:
            found = tools.free_addresses({node.name: node.provider_id for node in nodes}, subnets)
        except tools.aws_error as error:
            return f"the subnets were not checked: {error}"
        return tuple(Subnet(*one) for one in found)

    # Without names, the report would be on all nodes.
    if not names:
        return Report((), (), ())
    drain = drain._replace(target_version=target.kubelet)
    return make_report(cluster, drain, names, find_subnets=find_subnets, unchecked=target.unchecked)


def run_id(now: float) -> str:
    """The ID of a run that begins."""
    return datetime.fromtimestamp(now, timezone.utc).strftime("%Y%m%dT%H%M%SZ")


def _check_cluster(observed: Observed, group: Group, asked: Wanted) -> None:
    """Refuse a cluster without any node of the group: all its nodes would count as failed. Putting back must be possible without nodes."""
    instances = [instance.id for instance in group.instances if instance.is_active]
    if instances and not observed.nodes and not asked.abort:
        more = f" and {len(instances) - 3} more" if len(instances) > 3 else ""
        raise UpgradeFailed(
            f"the cluster has no node for an instance of the Auto Scaling group {group.name} ({', '.join(instances[:3])}{more}); nothing "
            "was changed; fix: check kubeconfig, context and auto_scaling_group, or wait until the nodes have joined the cluster"
        )


def _prepare(
    world: GroupWorld, cluster: ClusterApi, options: Mapping[str, Any], target: str, kubelet: Callable[[str], Target], tools: Tools
) -> Prepared:
    """The state, the report and the plan. kubelet: the version of kubelet in a version of the launch template."""
    observed = world.observe()
    group = observed.group
    if group is None:
        raise UpgradeFailed("the Auto Scaling group has disappeared")
    asked = wanted(options, run_id(observed.now), target)
    _check_cluster(observed, group, asked)
    version = target or dict(group.names)["$Latest"]
    first = replacement_plan(observed, group, version, asked, {})
    names = tuple(row.node for row in first.rows if row.node)
    found = find_blockers(cluster, names, settings(options, observed.now), kubelet(first.target), tools, world.subnets)
    plan = replacement_plan(observed, group, version, asked, dict(zip(found.nodes, found.pods, strict=True)))
    return Prepared(observed, group, asked, plan, found)
