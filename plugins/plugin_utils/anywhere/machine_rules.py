# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules on the machines of a cluster: the control plane, the groups of workers and etcd."""

from __future__ import annotations

import re
from typing import Any

from ..errors import Problems, joined, nearest
from ..kubernetes import kubelet_label_problem, label_key_problem, label_value_problem, parse_version, taint_effects
from ..quantities import parse_duration
from .cluster_rules import LONGEST_NAME
from .kubelet_rules import check_audit_policy, check_kubelet
from .model import DOCKER, TINKERBELL, Cluster, HealthCheck, Machines, Reference, WorkerGroup
from .parse import FIRST_GROUP
from .schema import is_rejected

ROLLING, IN_PLACE = "RollingUpdate", "InPlace"
_GROUP_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?", re.ASCII)
_LONGEST_GROUP_NAME = 63
_PERCENT = re.compile(r"[0-9]{1,3}%", re.ASCII)
_FIRST_WITHOUT_WORKERS = (1, 22)
_KEEPS_PODS_AWAY = ("NoExecute", "NoSchedule")


def check(cluster: Cluster, problems: Problems, *, allow_api_server_args: bool = False) -> None:
    """Report what is wrong with the machines. allow_api_server_args: whether flags of the API server are enabled."""
    version = parse_version(cluster.version)
    for machines in (cluster.control_plane, *cluster.workers):
        _check_labels(machines, problems)
        _check_taints(machines, problems)
        _check_health(machines.health_check, joined(machines.path, "machineHealthCheck"), problems)
        own = machines.version if isinstance(machines, WorkerGroup) else None
        check_kubelet(machines, parse_version(own) or version, problems)
    _check_health(cluster.health_check, f"{cluster.path}.spec.machineHealthCheck", problems)
    if cluster.has_known_provider:
        _check_machine_references(cluster, problems)
    _check_control_plane(cluster, problems)
    _check_api_server_args(cluster, problems, allowed=allow_api_server_args)
    check_audit_policy(cluster.control_plane, problems)
    _check_etcd(cluster, problems)
    _check_workers(cluster, problems)


def _check_labels(machines: Machines, problems: Problems) -> None:
    path = joined(machines.path, "labels")
    for key, value in machines.labels.items():
        below = joined(path, key)
        reason = label_key_problem(key)
        if reason is not None:
            problems.add("labels.invalid_key", below, reason, value=key)
        elif (refusal := kubelet_label_problem(key)) is not None:
            problems.add("labels.forbidden_prefix", below, refusal, value=key)
        reason = label_value_problem(value)
        if reason is not None and not problems.touches(below):
            problems.add("labels.invalid_value", below, reason, value=value)


def _check_taints(machines: Machines, problems: Problems) -> None:
    path = joined(machines.path, "taints")
    for index, taint in enumerate(machines.taints):
        below = joined(path, index)
        if problems.touches(below):
            continue
        reason = label_key_problem(taint.key)
        if reason is not None:
            problems.add("taints.invalid_key", joined(below, "key"), reason, value=taint.key)
        reason = label_value_problem(taint.value)
        if reason is not None:
            problems.add("taints.invalid_value", joined(below, "value"), reason, value=taint.value)
        if taint.effect not in taint_effects:
            guess = nearest(taint.effect, taint_effects)
            message = "is not an effect of a taint" if taint.effect else "is missing"
            effects = ", ".join(taint_effects)
            problems.add("anywhere.taint_effect", joined(below, "effect"), message, value=taint.effect, allowed=effects, nearest=guess)


def _check_health(health: HealthCheck | None, path: str, problems: Problems) -> None:
    if health is None:
        return
    timeouts = (("nodeStartupTimeout", health.node_startup_timeout), ("unhealthyMachineTimeout", health.unhealthy_timeout))
    for name, text in timeouts:
        seconds = parse_duration(text)
        if seconds is not None and seconds < 0:
            problems.add("anywhere.health_check", joined(path, name), "is negative", value=text, allowed="0s or more")
        elif seconds == 0:
            what = "machines are replaced as soon as they are unhealthy" if name == "unhealthyMachineTimeout" else "the check is off"
            problems.add("anywhere.health_check_at_once", joined(path, name), f"is 0: {what}", value=text)
    most = health.max_unhealthy
    is_number = isinstance(most, int) and most >= 0
    is_percent = isinstance(most, str) and _PERCENT.fullmatch(most) and int(most[:-1]) <= 100
    if most is not None and not is_number and not is_percent:
        message = "is not a number of machines or a percentage"
        problems.add("anywhere.health_check", joined(path, "maxUnhealthy"), message, value=most, allowed='a number, or text such as "40%"')


def _check_machine_references(cluster: Cluster, problems: Problems) -> None:
    places: list[tuple[str, Reference | None, str]] = [(cluster.control_plane.path, cluster.control_plane.machine, "the control plane")]
    places += [(group.path, group.machine, f"the worker group {group.name}") for group in cluster.workers]
    if cluster.etcd is not None and cluster.provider != TINKERBELL:
        places.append((cluster.etcd.path, cluster.etcd.machine, "etcd"))
    kind = cluster.machine_kind
    for path, reference, what in places:
        below = joined(path, "machineGroupRef")
        if problems.touches(below) or is_rejected(path, problems):
            continue
        if cluster.provider == DOCKER:
            if reference is not None:
                message = "is not supported by Docker, which has no machine configs"
                problems.add("anywhere.machine_reference", below, message, fix="remove it")
        elif reference is None:
            allowed = f"{{kind: {kind}, name: …}}" if kind else "a reference to the machine config of the provider"
            problems.add("anywhere.machine_reference", below, f"is missing for {what}", allowed=allowed)
        else:
            if kind is not None and reference.kind != kind:
                message = f"is not a kind of machines of {cluster.provider_name}"
                problems.add("anywhere.machine_reference", joined(below, "kind"), message, value=reference.kind, allowed=kind)
            if not reference.name:
                problems.add("input.missing_field", joined(below, "name"), "is required", fix="add the name of the machine config")


def _check_control_plane(cluster: Cluster, problems: Problems) -> None:
    plane = cluster.control_plane
    path = joined(plane.path, "count")
    count = plane.count
    if not problems.touches(path) and not is_rejected(plane.path, problems):
        if count is None or count <= 0:
            message = "is missing" if count is None else "must be positive"
            value: dict[str, Any] = {} if count is None else {"value": count}
            problems.add("anywhere.replicas", path, message, allowed="1, 3 or 5", **value)
        elif count % 2 == 0 and cluster.etcd is None:
            message = "is even, and etcd runs on the control plane: it would tolerate no more failures than with one node less"
            problems.add("anywhere.replicas", path, message, value=count, allowed="1, 3 or 5")
    rollout = plane.rollout
    below = joined(plane.path, "upgradeRolloutStrategy")
    if rollout is None or problems.touches(below):
        return
    _check_rollout(cluster, plane, problems)
    surge = rollout.max_surge
    if rollout.kind == ROLLING and surge is not None and surge not in (0, 1):
        place = f"{below}.rollingUpdate.maxSurge"
        problems.add("anywhere.rollout", place, "is out of range for a control plane", value=surge, allowed="0 or 1")
    if rollout.max_unavailable is not None:
        place = f"{below}.rollingUpdate.maxUnavailable"
        problems.add("anywhere.rollout", place, "is for workers only", value=rollout.max_unavailable, fix="remove it")


def _check_rollout(cluster: Cluster, machines: Machines, problems: Problems) -> None:
    """Report a strategy that the provider does not have. Numbers are checked by the callers."""
    rollout = machines.rollout
    path = joined(machines.path, "upgradeRolloutStrategy")
    if rollout is None:
        return
    if rollout.kind not in (ROLLING, IN_PLACE):
        guess = nearest(rollout.kind, (ROLLING, IN_PLACE))
        message = "is not a strategy" if rollout.kind else "is missing"
        problems.add("anywhere.rollout", joined(path, "type"), message, value=rollout.kind, allowed=f"{ROLLING}, {IN_PLACE}", nearest=guess)
    elif rollout.kind == IN_PLACE and cluster.provider != TINKERBELL:
        message = f"is for Bare Metal only, and the provider is {cluster.provider_name}"
        problems.add("anywhere.rollout", joined(path, "type"), message, value=IN_PLACE, allowed=ROLLING)
    elif rollout.kind == ROLLING and not rollout.has_numbers:
        fix = "add rollingUpdate, or remove upgradeRolloutStrategy for the default"
        problems.add("anywhere.rollout", joined(path, "rollingUpdate"), "is missing", fix=fix)


def _check_worker_rollout(cluster: Cluster, group: WorkerGroup, problems: Problems) -> None:
    rollout = group.rollout
    path = joined(group.path, "upgradeRolloutStrategy")
    if rollout is None or problems.touches(path):
        return
    _check_rollout(cluster, group, problems)
    if rollout.kind != ROLLING or not rollout.has_numbers:
        return
    below = joined(path, "rollingUpdate")
    numbers = {"maxSurge": rollout.max_surge or 0, "maxUnavailable": rollout.max_unavailable or 0}
    for name, number in numbers.items():
        if number < 0:
            problems.add("anywhere.rollout", joined(below, name), "is negative", value=number, allowed="0 or more")
    if not any(numbers.values()):
        message = "has no maxSurge and no maxUnavailable above 0, so no machine could be replaced"
        problems.add("anywhere.rollout", below, message, fix="set one of them to 1 or more")


def _check_api_server_args(cluster: Cluster, problems: Problems, *, allowed: bool) -> None:
    args = cluster.control_plane.api_server_args
    path = joined(cluster.control_plane.path, "apiServerExtraArgs")
    if args is None:
        return
    if not allowed:
        fix = "set API_SERVER_EXTRA_ARGS_ENABLED=true for EKS Anywhere and enable them for this check, or remove them"
        problems.add("anywhere.api_server_args", path, "are refused unless they are enabled", fix=fix)
    if any(one.kind == "OIDCConfig" for one in cluster.identity_providers):
        for name in sorted(args):
            if name.startswith("oidc-"):
                message = "is set by the OIDCConfig in identityProviderRefs"
                problems.add("input.conflict", joined(path, name), message, fix="remove one of the two")


def _check_etcd(cluster: Cluster, problems: Problems) -> None:
    etcd = cluster.etcd
    if etcd is None:
        return
    path = joined(etcd.path, "count")
    if cluster.provider == TINKERBELL:
        message = f"is not supported by {cluster.provider_name}"
        problems.add("anywhere.external_etcd", etcd.path, message, fix="remove it: etcd then runs on the control plane")
        return
    if problems.touches(path):
        return
    count = etcd.count or 0
    if count <= 0:
        message = "is missing" if etcd.count is None else "must be positive"
        problems.add("anywhere.external_etcd", path, message, value=etcd.count, allowed="1, 3 or 5")
    elif count % 2 == 0:
        message = "is even: etcd would tolerate no more failures than with one member less"
        problems.add("anywhere.external_etcd", path, message, value=count, allowed="1, 3 or 5")


def _check_workers(cluster: Cluster, problems: Problems) -> None:
    path = f"{cluster.path}.spec.workerNodeGroupConfigurations"
    if problems.touches(path) and not cluster.workers:
        return
    if not cluster.workers and cluster.provider != TINKERBELL:
        problems.add("anywhere.no_workers", path, f"is empty, and {cluster.provider_name} needs workers", allowed="at least one group")
    if not cluster.workers and cluster.provider == TINKERBELL and cluster.control_plane.taints:
        message = "keep pods away from the control plane, and there are no workers"
        taints = joined(cluster.control_plane.path, "taints")
        problems.add("anywhere.no_workers", taints, message, fix="add a group of workers, or remove them")
    version = parse_version(cluster.version)
    if not cluster.workers and cluster.provider == TINKERBELL and version is not None and version < _FIRST_WITHOUT_WORKERS:
        message = f"is empty, and Kubernetes {cluster.version} needs workers"
        problems.add("anywhere.no_workers", path, message, allowed="at least one group, or Kubernetes 1.22 and newer")
    names: dict[str, str] = {}
    for group in cluster.workers:
        _check_group_name(cluster, group, names, problems)
        _check_count(group, problems)
        _check_worker_rollout(cluster, group, problems)
    tainted = [group for group in cluster.workers if any(taint.effect in _KEEPS_PODS_AWAY for taint in group.taints)]
    if cluster.is_self_managed and tainted and len(tainted) == len(cluster.workers):
        message = "every group has a taint NoSchedule or NoExecute, and the controllers of a management cluster need a node"
        fix = "add a group without such a taint, or remove the taint from one group"
        problems.add("anywhere.all_workers_tainted", path, message, fix=fix)


def _check_group_name(cluster: Cluster, group: WorkerGroup, names: dict[str, str], problems: Problems) -> None:
    path = joined(group.path, "name")
    if problems.touches(path):
        return
    if not group.name:
        message = f"is missing: only the first group has a default, {FIRST_GROUP}"
        problems.add("input.missing_field", path, message, fix="add a name")
        return
    if group.name in names:
        message = f"is the name of {names[group.name]}, too"
        problems.add("anywhere.worker_name", path, message, value=group.name, fix="rename one of the two groups")
    names.setdefault(group.name, group.path)
    if not _GROUP_NAME.fullmatch(group.name):
        allowed = "lower case letters, digits and -, with a letter or digit at both ends"
        problems.add("anywhere.worker_name", path, "is not a valid name", value=group.name, allowed=allowed)
    elif len(cluster.name) + 1 + len(group.name) > _LONGEST_GROUP_NAME and len(cluster.name) <= LONGEST_NAME:
        allowed = f"at most {_LONGEST_GROUP_NAME - 1 - len(cluster.name)} characters"
        problems.add("anywhere.worker_name", path, "is too long together with the name of the cluster", value=group.name, allowed=allowed)


def _check_count(group: WorkerGroup, problems: Problems) -> None:
    path = joined(group.path, "count")
    scaling = joined(group.path, "autoscalingConfiguration")
    if problems.touches(path) or problems.touches(scaling):
        return
    if group.minimum is None or group.maximum is None:
        if group.replicas < 0:
            problems.add("anywhere.worker_count", path, "is negative", value=group.count, allowed="0 or more")
        return
    if group.minimum < 0:
        problems.add("anywhere.autoscaling", joined(scaling, "minCount"), "is negative", value=group.minimum, allowed="0 or more")
    elif group.minimum > group.maximum:
        message = f"is greater than maxCount, {group.maximum}"
        problems.add("anywhere.autoscaling", joined(scaling, "minCount"), message, value=group.minimum, fix="exchange or correct the two")
    elif not group.minimum <= group.replicas <= group.maximum:
        allowed = f"{group.minimum} to {group.maximum}, as autoscalingConfiguration says, or no count"
        problems.add("anywhere.autoscaling", path, "is outside of the limits of the autoscaler", value=group.count, allowed=allowed)
