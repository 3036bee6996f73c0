# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Upgrades of managed node groups: which update EKS is asked for, and what its failures mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from . import availability
from .model import Node, Wanted
from .order import in_order
from .plan import Plan, Row

LABEL = "eks.amazonaws.com/nodegroup"

CUSTOM = "CUSTOM"


class CannotUpdate(Exception):
    """EKS would refuse the update. The text is the whole message."""


def request_for(group: Mapping[str, Any], options: Mapping[str, Any], cluster_version: str, template_version: str) -> dict[str, Any]:
    """The fields of UpdateNodegroupVersion, empty if the group is up to date. template_version: the number that is requested, or ''."""
    _check_max_unavailable(group, options["max_unavailable"])
    name, template = group["nodegroupName"], group.get("launchTemplate")
    version, release = options["kubernetes_version"], options["release_version"]
    if template_version and not template:
        raise CannotUpdate(
            f"launch_template_version: the managed node group {name} has no launch template of yours; fix: remove launch_template_version, "
            "or create a node group with a launch template"
        )
    is_custom = group.get("amiType") == CUSTOM
    if is_custom and (version or release):
        raise CannotUpdate(
            f"the managed node group {name} has an AMI of its launch template, which decides the version; fix: remove kubernetes_version "
            "and release_version, and set launch_template_version"
        )
    fields: dict[str, Any] = {}
    if template and template_version and str(template.get("version")) != template_version:
        key = "id" if template.get("id") else "name"
        fields["launchTemplate"] = {key: template[key], "version": template_version}
    if not is_custom:
        wanted = version or ("" if template_version else cluster_version)
        if wanted and wanted != group.get("version"):
            fields["version"] = wanted
        if release and release != "latest" and release != group.get("releaseVersion"):
            fields["releaseVersion"] = release
        elif release == "latest":
            fields.setdefault("version", group.get("version"))
    if fields and options["delete_after_timeout"]:
        fields["force"] = True
    return fields


def _check_max_unavailable(group: Mapping[str, Any], wanted: Any) -> None:
    """EKS reads max_unavailable from the node group. Another value would not be respected."""
    if wanted is not None and str(wanted).strip() != max_unavailable(group):
        raise CannotUpdate(
            f"max_unavailable: EKS reads it from the update configuration of {group['nodegroupName']}, which has {max_unavailable(group)}, "
            f"not {wanted}; fix: remove max_unavailable, or change it with aws eks update-nodegroup-config --update-config"
        )


def max_unavailable(group: Mapping[str, Any]) -> str:
    """The number or percentage of the update configuration."""
    config = group.get("updateConfig") or {}
    percentage = config.get("maxUnavailablePercentage")
    return f"{percentage}%" if percentage else str(config.get("maxUnavailable") or 1)


def managed_plan(
    group: Mapping[str, Any], fields: Mapping[str, Any], nodes: Iterable[Node], pods: Mapping[str, int], *, is_running: bool
) -> Plan:
    """The plan. fields: of the request, empty if nothing has to be done."""
    found = in_order(nodes, Wanted(run=""))
    replaced = found if fields or is_running else []
    rows = [Row(1, node.name, node.instance, node.zone, node.kubelet, "", pods.get(node.name, 0), _state(node)) for node in replaced]
    desired = int((group.get("scalingConfig") or {}).get("desiredSize") or len(found))
    most = max_unavailable(group)
    number = max(1, desired * int(most[:-1]) // 100) if most.endswith("%") else int(most)
    steps = (
        "EKS launches new nodes, drains the old ones in an order of its own, and terminates them.",
        "Pods that have not left a node after 15 minutes are deleted (force)."
        if fields.get("force")
        else "It stops with PodEvictionFailure if pods have not left a node after 15 minutes.",
    )
    return Plan(
        str(group["nodegroupName"]), "managed", shown_version(group), _target(group, fields), number, desired,
        desired - sum(node.is_available for node in found), steps if rows else (), tuple(rows), 0 if rows else len(found), is_running,
        availability.unavailable_names(found),
    )  # fmt: skip


def _state(node: Node) -> str:
    return "cordoned" if node.is_cordoned else "waiting"


def shown_version(group: Mapping[str, Any]) -> str:
    """The version of a node group for people."""
    template = group.get("launchTemplate") or {}
    release = group.get("releaseVersion") or group.get("version") or ""
    return f"{release}, launch template {template['version']}" if template.get("version") else str(release)


def _target(group: Mapping[str, Any], fields: Mapping[str, Any]) -> str:
    template = fields.get("launchTemplate") or {}
    parts = [str(fields.get("releaseVersion") or fields.get("version") or "")]
    parts += [f"launch template {template['version']}"] if template else []
    return ", ".join(filter(None, parts)) or shown_version(group)


_FIXES = {
    "PodEvictionFailure": "let the pods leave, or set delete_after_timeout, and run the playbook again",
    "NodeCreationFailure": "find out on a new node why it does not join: the module join_check, or the playbook doctor",
    "InsufficientFreeAddresses": "add subnets to the node group, or free addresses in its subnets",
    "IpNotAvailable": "add subnets to the node group, or free addresses in its subnets",
    "EniLimitReached": "delete network interfaces that are not used, or raise the quota",
    "AccessDenied": "give eks:node-manager its permissions back, and check the role of the nodes in aws-auth or the access entries",
    "ClusterUnreachable": "check the security groups and the endpoint access of the cluster, and its admission webhooks",
    "AdmissionRequestDenied": "correct the admission webhook that denies the requests of EKS",
    "ConfigurationConflict": "undo the conflicting change",
    "SecurityGroupNotFound": "create the security group again, or use a launch template version with another one",
    "SubnetNotFound": "replace the node group by one in existing subnets",
    "OperationNotPermitted": "give the service-linked role of EKS its policy back",
}


def failure(update: Mapping[str, Any], blockers: Iterable[str]) -> str:
    """The message for an update that has failed. blockers: why pods do not leave, from our own report."""
    errors = update.get("errors") or [{"errorCode": update.get("status"), "errorMessage": "EKS reports no error"}]
    texts = []
    for error in errors:
        code = str(error.get("errorCode") or "Unknown")
        resources = ", ".join(map(str, error.get("resourceIds") or []))
        fix = _FIXES.get(code, "correct what EKS reports, and run the playbook again")
        texts.append(f"{code}: {error.get('errorMessage')}{f' ({resources})' if resources else ''}; fix: {fix}")
    found = list(blockers)[:5]
    return "\n".join([f"the update {update.get('id')} of EKS has failed", *texts, *(f"blocks: {text}" for text in found)])
