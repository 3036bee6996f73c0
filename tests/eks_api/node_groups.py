# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Managed node groups and their updates, with the rules of the Amazon EKS User Guide ("Update a managed node group")."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from .access_entries import add_own_entry
from .errors import in_use, invalid_parameter, invalid_request, not_found
from .state import Cluster, Request, Response, Update, now, page

if TYPE_CHECKING:
    from .eks import Eks

_COPIED = ("subnets", "labels", "taints", "instanceTypes", "capacityType", "remoteAccess", "tags", "diskSize")


def _create(eks: Eks, request: Request) -> Response:
    cluster = eks.cluster(request["clusterName"])
    name = request["nodegroupName"]
    if name in cluster.node_groups:
        raise in_use(f"NodeGroup already exists with name {name} and cluster name {cluster.name}", clusterName=cluster.name)
    template = request.get("launchTemplate")
    if template is not None:
        _check_template(template, cluster.name)
    if template and "diskSize" in request:
        raise invalid_parameter("Disk size must be specified within the launch template.", clusterName=cluster.name, nodegroupName=name)
    version = request.get("version", cluster.description["version"])
    kind = request.get("amiType", "AL2023_x86_64_STANDARD")
    moment = now()
    ident = str(uuid4())
    group = {
        "nodegroupName": name,
        "nodegroupArn": eks.arn("nodegroup", cluster.name, name, ident),
        "clusterName": cluster.name,
        "version": version,
        "releaseVersion": request.get("releaseVersion", f"{version}.0-20260101"),
        "createdAt": moment,
        "modifiedAt": moment,
        "status": "ACTIVE",
        "amiType": kind,
        "nodeRole": request["nodeRole"],
        "scalingConfig": request.get("scalingConfig", {"minSize": 1, "maxSize": 2, "desiredSize": 2}),
        "updateConfig": request.get("updateConfig", {"maxUnavailable": 1}),
        "resources": {"autoScalingGroups": [{"name": f"eks-{name}-{ident}"}]},
        "health": {"issues": []},
        "tags": {},
        **{key: request[key] for key in _COPIED if key in request},
        **({"launchTemplate": template} if template else {}),
    }
    cluster.node_groups[name] = group
    add_own_entry(eks, cluster, request["nodeRole"], "EC2_WINDOWS" if kind.startswith("WINDOWS") else "EC2_LINUX")
    return {"nodegroup": group}


def _find(eks: Eks, request: Request) -> tuple[Cluster, dict[str, Any]]:
    cluster, name = eks.cluster(request["clusterName"]), request["nodegroupName"]
    if name not in cluster.node_groups:
        raise not_found(f"No node group found for name: {name}.", clusterName=cluster.name, nodegroupName=name)
    return cluster, cluster.node_groups[name]


def _describe(eks: Eks, request: Request) -> Response:
    return {"nodegroup": _find(eks, request)[1]}


def _list(eks: Eks, request: Request) -> Response:
    return page("nodegroups", list(eks.cluster(request["clusterName"]).node_groups), request)


def _delete(eks: Eks, request: Request) -> Response:
    cluster, group = _find(eks, request)
    del cluster.node_groups[group["nodegroupName"]]
    return {"nodegroup": {**group, "status": "DELETING"}}


def _update_version(eks: Eks, request: Request) -> Response:
    cluster, group = _find(eks, request)
    _check_state(cluster, group)
    names = {"clusterName": cluster.name, "nodegroupName": group["nodegroupName"]}
    template = request.get("launchTemplate")
    if group["amiType"] == "CUSTOM" and ("version" in request or "releaseVersion" in request):
        raise invalid_parameter("You cannot specify version or releaseVersion for a node group with a custom AMI.", **names)
    if group["amiType"] == "CUSTOM" and not template:
        raise invalid_parameter("You must specify launchTemplate for a node group with a custom AMI.", **names)
    if template:
        _check_template(template, cluster.name)
        if "launchTemplate" not in group:
            raise invalid_parameter("The node group was not created with a launch template of yours, so it cannot get one.", **names)
        if any(template[key] != group["launchTemplate"].get(key, template[key]) for key in ("id", "name") if key in template):
            raise invalid_parameter("You cannot change the launch template of a node group, only its version.", **names)
    version = request.get("version") or (group["version"] if template or "releaseVersion" in request else cluster.description["version"])
    if _minor(version) > _minor(cluster.description["version"]):
        raise invalid_parameter(f"The Kubernetes version {version} is newer than that of the cluster.", **names)
    if _minor(version) < _minor(group["version"]):
        raise invalid_parameter(f"The Kubernetes version {version} is older than that of the node group.", **names)
    changes: dict[str, Any] = {"version": version, "releaseVersion": request.get("releaseVersion", f"{version}.0-20260601")}
    params = [{"type": "Version", "value": version}, {"type": "ReleaseVersion", "value": changes["releaseVersion"]}]
    if template:
        changes = {"launchTemplate": {**group["launchTemplate"], **template}}
        params = [{"type": "LaunchTemplateVersion", "value": template.get("version", "$Default")}]
    return {"update": _start(eks, cluster, group, "VersionUpdate", params, changes).plain()}


def _update_config(eks: Eks, request: Request) -> Response:
    cluster, group = _find(eks, request)
    _check_state(cluster, group)
    changes: dict[str, Any] = {key: {**group[key], **request[key]} for key in ("scalingConfig", "updateConfig") if key in request}
    if "updateConfig" in request and {"maxUnavailable", "maxUnavailablePercentage"} <= set(request["updateConfig"]):
        raise invalid_parameter("Specify maxUnavailable or maxUnavailablePercentage, not both.", clusterName=cluster.name)
    if "updateConfig" in request:
        changes["updateConfig"] = request["updateConfig"]
    if "labels" in request:
        kept = {key: value for key, value in group.get("labels", {}).items() if key not in request["labels"].get("removeLabels", [])}
        changes["labels"] = kept | request["labels"].get("addOrUpdateLabels", {})
    params = [{"type": "MaxSize", "value": str(changes["scalingConfig"]["maxSize"])}] if "scalingConfig" in changes else []
    return {"update": _start(eks, cluster, group, "ConfigUpdate", params, changes).plain()}


def _start(eks: Eks, cluster: Cluster, group: dict[str, Any], kind: str, params: list[dict[str, str]], changes: dict[str, Any]) -> Update:
    def settle() -> None:
        group["status"] = "ACTIVE"
        group["modifiedAt"] = now()

    update = Update(str(uuid4()), cluster.name, group["nodegroupName"], kind, params, now(), lambda: group.update(changes), settle)
    group["status"] = "UPDATING"
    cluster.updates[update.id] = update
    return update


def _describe_update(eks: Eks, request: Request) -> Response:
    cluster = eks.cluster(request["name"])
    update = cluster.updates.get(request["updateId"])
    if update is None or update.node_group != request.get("nodegroupName", update.node_group):
        raise not_found(f"An update with ID {request['updateId']} was not found.", clusterName=cluster.name)
    if "nodegroupName" not in request:
        raise invalid_parameter("The update is one of a node group: nodegroupName is required.", clusterName=cluster.name)
    update.checks += 1
    if update.status == "InProgress":
        eks.on_describe_update(update)
    return {"update": update.plain()}


def _list_updates(eks: Eks, request: Request) -> Response:
    cluster = eks.cluster(request["name"])
    found = [update.id for update in cluster.updates.values() if update.node_group == request.get("nodegroupName")]
    return page("updateIds", found, request)


def _check_state(cluster: Cluster, group: dict[str, Any]) -> None:
    if group["status"] not in ("ACTIVE", "DEGRADED"):
        raise invalid_request(
            "Nodegroup cannot be updated as it is currently not in Active State",
            clusterName=cluster.name, nodegroupName=group["nodegroupName"],
        )  # fmt: skip


def _check_template(template: dict[str, Any], cluster: str) -> None:
    if ("id" in template) == ("name" in template):
        raise invalid_parameter("Specify the id or the name of the launch template, and not both.", clusterName=cluster)


def _minor(version: str) -> int:
    return int(version.split(".")[1])


OPERATIONS: dict[str, Callable[[Eks, Request], Response]] = {
    "CreateNodegroup": _create,
    "DeleteNodegroup": _delete,
    "DescribeNodegroup": _describe,
    "DescribeUpdate": _describe_update,
    "ListNodegroups": _list,
    "ListUpdates": _list_updates,
    "UpdateNodegroupConfig": _update_config,
    "UpdateNodegroupVersion": _update_version,
}
