# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One Auto Scaling group: what it is, and the requests of an upgrade. Runs on the controller."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence

from . import client
from .api import Api
from .launch_templates import image_of_version

_SERVICE = "autoscaling"
_OWNED_BY_EKS = "eks:nodegroup-name"


class AutoScaling:
    """An Auto Scaling group by its name. The methods raise C(client.AwsError)."""

    def __init__(self, api: Api, name: str) -> None:
        self._api = api
        self._name = name

    def describe(self) -> Dict[str, Any]:
        """The group as the API describes it."""
        found = self._api.pages(_SERVICE, "describe_auto_scaling_groups", "AutoScalingGroups", AutoScalingGroupNames=[self._name])
        if not found:
            raise client.AwsError(self._unknown())
        return dict(found[0])

    def check(self, group: Mapping[str, Any]) -> None:
        """Refuse a group whose instances are not replaced by us."""
        tags = {tag["Key"]: tag.get("Value", "") for tag in group.get("Tags", [])}
        if _OWNED_BY_EKS in tags:
            raise client.AwsError(
                "the Auto Scaling group {0} belongs to the managed node group {1}, which EKS upgrades; fix: set managed_node_group: {1} "
                "instead of auto_scaling_group".format(self._name, tags[_OWNED_BY_EKS])
            )
        if group.get("LaunchConfigurationName"):
            raise client.AwsError(
                "the Auto Scaling group {0} uses the launch configuration {1}, which has no versions; fix: use a launch template".format(
                    self._name, group["LaunchConfigurationName"]
                )
            )
        overrides = group.get("MixedInstancesPolicy", {}).get("LaunchTemplate", {}).get("Overrides", [])
        if any(one.get("LaunchTemplateSpecification") for one in overrides):
            raise client.AwsError(
                "the Auto Scaling group {0} uses several launch templates, one for each of some instance types; fix: use one group for "
                "each launch template".format(self._name)
            )
        self._check_refresh()

    def _check_refresh(self) -> None:
        try:
            found = self._api.call(_SERVICE, "describe_instance_refreshes", AutoScalingGroupName=self._name, MaxRecords=1) or {}
        except client.AwsError:
            # It is a check only: without the permission, the upgrade is possible.
            return
        for one in found.get("InstanceRefreshes", []):
            if one.get("Status") in ("Pending", "InProgress", "Cancelling", "RollbackInProgress"):
                raise client.AwsError(
                    "an instance refresh of the Auto Scaling group {0} is in progress ({1}); fix: wait for its end, or cancel it".format(
                        self._name, one.get("InstanceRefreshId")
                    )
                )

    def numbers(self, group: Mapping[str, Any]) -> Dict[str, str]:
        """The numbers that C($Latest) and C($Default) stand for in the launch template of the group."""
        template = template_of(group).get("LaunchTemplateId")
        found = self._api.pages("ec2", "describe_launch_templates", "LaunchTemplates", LaunchTemplateIds=[template])
        if not found:
            raise client.AwsError("the launch template {0} of {1} does not exist".format(template, self._name))
        return {"$Latest": str(found[0]["LatestVersionNumber"]), "$Default": str(found[0]["DefaultVersionNumber"])}

    def image(self, group: Mapping[str, Any], version: str) -> str:
        """The image in a version of the launch template of the group: an ID or a parameter, C('') if instance types choose it."""
        return image_of_version(self._api, {"LaunchTemplateId": template_of(group)["LaunchTemplateId"]}, version)

    def check_version(self, group: Mapping[str, Any], version: str) -> None:
        """Refuse a version that the launch template of the group does not have."""
        template = template_of(group)["LaunchTemplateId"]
        found = self._api.pages(
            "ec2", "describe_launch_template_versions", "LaunchTemplateVersions", LaunchTemplateId=template, MinVersion="0"
        )
        numbers = [str(one["VersionNumber"]) for one in found]
        if version not in numbers:
            allowed = ", ".join(sorted(numbers, key=int)[-12:])
            raise client.AwsError(
                "launch_template_version: the launch template {0} has no version {1}; allowed: latest, default, {2}".format(
                    template, version, allowed
                )
            )

    def change(self, group: Mapping[str, Any], desired: Optional[int], max_size: Optional[int], version: str) -> None:
        """Change the group in one request. None and '' leave a field as it is."""
        fields: Dict[str, Any] = {}
        if desired is not None:
            fields["DesiredCapacity"] = desired
        if max_size is not None:
            fields["MaxSize"] = max_size
        if version:
            fields.update(_with_version(group, version))
        self._api.call(_SERVICE, "update_auto_scaling_group", AutoScalingGroupName=self._name, **fields)

    def suspend(self, processes: Sequence[str]) -> None:
        """Suspend processes."""
        self._api.call(_SERVICE, "suspend_processes", AutoScalingGroupName=self._name, ScalingProcesses=list(processes))

    def resume(self, processes: Sequence[str]) -> None:
        """Resume processes."""
        self._api.call(_SERVICE, "resume_processes", AutoScalingGroupName=self._name, ScalingProcesses=list(processes))

    def terminate(self, instance: str, decrement: bool) -> None:
        """Terminate an instance of the group."""
        self._api.call(_SERVICE, "terminate_instance_in_auto_scaling_group", InstanceId=instance, ShouldDecrementDesiredCapacity=decrement)

    def write_tag(self, key: str, value: str) -> None:
        """Create or replace a tag of the group, which instances do not inherit."""
        self._api.call(_SERVICE, "create_or_update_tags", Tags=[dict(self._tag(key), Value=value, PropagateAtLaunch=False)])

    def remove_tag(self, key: str) -> None:
        """Remove a tag of the group, if it has it."""
        self._api.call(_SERVICE, "delete_tags", Tags=[self._tag(key)])

    def template(self, group: Mapping[str, Any]) -> Mapping[str, Any]:
        """The launch template of the group, with its version."""
        return template_of(group)

    def failures(self) -> List[str]:
        """Why the group did not launch or terminate instances, newest first: the status message and the cause of each failed activity."""
        try:
            found = self._api.call(_SERVICE, "describe_scaling_activities", AutoScalingGroupName=self._name, MaxRecords=10) or {}
        except client.AwsError:
            return []
        failed = [one for one in found.get("Activities", []) if one.get("StatusCode") == "Failed"]
        return [" ".join(text for text in (one.get("StatusMessage"), one.get("Cause")) if text) for one in failed]

    def _tag(self, key: str) -> Dict[str, str]:
        return {"ResourceId": self._name, "ResourceType": "auto-scaling-group", "Key": key}

    def _unknown(self) -> str:
        names = [one["AutoScalingGroupName"] for one in self._api.pages(_SERVICE, "describe_auto_scaling_groups", "AutoScalingGroups")]
        hint = client.nearest(self._name, names) or ("" if names else "; the region has no Auto Scaling groups")
        return "auto_scaling_group: there is no Auto Scaling group {0} in region {1}{2}; fix: check the name and the region".format(
            self._name, self._api.client(_SERVICE).meta.region_name, hint
        )


def template_of(group: Mapping[str, Any]) -> Mapping[str, Any]:
    """The launch template of a group, with its version."""
    mixed = group.get("MixedInstancesPolicy", {}).get("LaunchTemplate", {}).get("LaunchTemplateSpecification")
    return group.get("LaunchTemplate") or mixed or {}


def _with_version(group: Mapping[str, Any], version: str) -> Dict[str, Any]:
    """The fields that give the group another version of its launch template."""
    template = {"LaunchTemplateId": template_of(group)["LaunchTemplateId"], "Version": version}
    if group.get("LaunchTemplate"):
        return {"LaunchTemplate": template}
    policy = group["MixedInstancesPolicy"]
    return {"MixedInstancesPolicy": dict(policy, LaunchTemplate=dict(policy["LaunchTemplate"], LaunchTemplateSpecification=template))}
