# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One managed node group of EKS and its updates. Runs on the controller."""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional

from . import client
from .api import Api
from .launch_templates import image_of_version


class NodeGroup:
    """A managed node group by its name. The methods raise C(client.AwsError)."""

    def __init__(self, api: Api, cluster: str, name: str) -> None:
        self._api = api
        self._cluster = cluster
        self._name = name

    def describe(self) -> Dict[str, Any]:
        """The node group as the API describes it."""
        names = self._api.pages("eks", "list_nodegroups", "nodegroups", clusterName=self._cluster)
        if self._name not in names:
            few = ", ".join(names[:12]) or "none"
            raise client.AwsError(
                "managed_node_group: the cluster {0} in region {1} has no managed node group {2}; existing node groups: {3}{4}".format(
                    self._cluster, self._api.client("eks").meta.region_name, self._name, few, client.nearest(self._name, names)
                )
            )
        return dict(self._call("describe_nodegroup")["nodegroup"])

    def cluster_version(self) -> str:
        """The Kubernetes version of the cluster."""
        found = self._api.call("eks", "describe_cluster", name=self._cluster) or {}
        return str(found["cluster"].get("version") or "")

    def numbers(self, template: Mapping[str, Any]) -> Dict[str, str]:
        """The numbers that C($Latest) and C($Default) stand for in a launch template."""
        key, name = ("LaunchTemplateIds", template["id"]) if template.get("id") else ("LaunchTemplateNames", template.get("name"))
        found = self._api.pages("ec2", "describe_launch_templates", "LaunchTemplates", **{key: [name]})
        if not found:
            raise client.AwsError("the launch template {0} of {1} does not exist".format(name, self._name))
        return {"$Latest": str(found[0]["LatestVersionNumber"]), "$Default": str(found[0]["DefaultVersionNumber"])}

    def image(self, template: Mapping[str, Any], version: str) -> str:
        """The image in a version of a launch template: an ID or a parameter, C('') without one."""
        name = {"LaunchTemplateId": template["id"]} if template.get("id") else {"LaunchTemplateName": str(template.get("name"))}
        return image_of_version(self._api, name, version)

    def start(self, fields: Mapping[str, Any]) -> Dict[str, Any]:
        """Start an update to another version."""
        return dict(self._call("update_nodegroup_version", **fields)["update"])

    def running(self) -> Optional[Dict[str, Any]]:
        """The update that is in progress, None if there is none."""
        ids = self._api.pages("eks", "list_updates", "updateIds", name=self._cluster, nodegroupName=self._name)
        for update_id in ids:
            update = self.update(update_id)
            if update.get("status") == "InProgress":
                return update
        return None

    def update(self, update_id: str) -> Dict[str, Any]:
        """An update as the API describes it."""
        found = self._api.call("eks", "describe_update", name=self._cluster, nodegroupName=self._name, updateId=update_id) or {}
        return dict(found["update"])

    def _call(self, operation: str, **arguments: Any) -> Dict[str, Any]:
        return self._api.call("eks", operation, clusterName=self._cluster, nodegroupName=self._name, **arguments) or {}
