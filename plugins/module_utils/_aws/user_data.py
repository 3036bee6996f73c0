# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user data of launch templates, launch configurations, Auto Scaling groups and instances. Only reads. Runs on the controller."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional

from . import client
from .api import Api

_VERSION_DEFAULT = "$Default"


class FoundUserData(NamedTuple):
    """name: of the object that has the user data. base64: as the API returns it, '' if there is none. template: all its fields, or
    None for an instance, which has no template any more. launch_template: its name."""

    name: str
    base64: str
    template: Optional[Mapping[str, Any]]
    launch_template: Optional[str] = None


class Reader:
    """Reads user data of one account and region. options: those of C(client.OPTIONS). The methods raise C(client.AwsError)."""

    def __init__(self, options: Dict[str, Any]) -> None:
        self._api = Api(options)

    def read(self, wanted: Mapping[str, Any]) -> List[FoundUserData]:
        """What one entry of C(sources) names: C(launch_template), C(auto_scaling_group), C(instance) or C(all_launch_templates)."""
        version = str(wanted.get("version") or _VERSION_DEFAULT)
        if wanted.get("launch_template"):
            return [self._launch_template(identity(str(wanted["launch_template"])), version)]
        if wanted.get("auto_scaling_group"):
            return list(self._group(str(wanted["auto_scaling_group"])))
        if wanted.get("instance"):
            return [self._instance(str(wanted["instance"]))]
        return list(self._all(wanted.get("tags") or {}, version))

    def _all(self, tags: Mapping[str, Any], version: str) -> Iterator[FoundUserData]:
        filters = [{"Name": "tag:" + key, "Values": [str(value)]} for key, value in sorted(tags.items())]
        for found in self._api.pages("ec2", "describe_launch_templates", "LaunchTemplates", Filters=filters):
            yield self._launch_template({"LaunchTemplateId": found["LaunchTemplateId"]}, version)

    def _launch_template(self, identity: Dict[str, str], version: str) -> FoundUserData:
        name = next(iter(identity.values()))
        found = self._api.pages("ec2", "describe_launch_template_versions", "LaunchTemplateVersions", Versions=[version], **identity)
        if not found:
            raise client.AwsError("there is no version {0} of the launch template {1}; fix: check the version".format(version, name))
        one = found[0]
        shown = "launch template {0}, version {1}".format(one.get("LaunchTemplateName", name), one.get("VersionNumber", version))
        data = one.get("LaunchTemplateData", {})
        return FoundUserData(shown, data.get("UserData") or "", data, one.get("LaunchTemplateName", name))

    def _group(self, name: str) -> Iterator[FoundUserData]:
        groups = self._api.pages("autoscaling", "describe_auto_scaling_groups", "AutoScalingGroups", AutoScalingGroupNames=[name])
        if not groups:
            region = self._api.client("autoscaling").meta.region_name
            raise client.AwsError(
                "there is no Auto Scaling group {0} in region {1}; fix: check the name and the region".format(name, region)
            )
        prefix = "Auto Scaling group {0}, ".format(name)
        for found in [*self._templates_of(groups[0]), *self._configuration_of(groups[0])]:
            yield found._replace(name=prefix + found.name)

    def _templates_of(self, group: Mapping[str, Any]) -> Iterator[FoundUserData]:
        """The launch template of a group, and those of its instance types."""
        policy = group.get("MixedInstancesPolicy", {}).get("LaunchTemplate", {})
        specifications = [group.get("LaunchTemplate"), policy.get("LaunchTemplateSpecification")]
        specifications += [override.get("LaunchTemplateSpecification") for override in policy.get("Overrides", [])]
        seen = set()
        for one in specifications:
            if one:
                template, version = one["LaunchTemplateId"], one.get("Version") or _VERSION_DEFAULT
                if (template, version) not in seen:
                    yield self._launch_template({"LaunchTemplateId": template}, version)
                seen.add((template, version))

    def _configuration_of(self, group: Mapping[str, Any]) -> Iterator[FoundUserData]:
        name = group.get("LaunchConfigurationName")
        if not name:
            return
        for found in self._api.pages(
            "autoscaling", "describe_launch_configurations", "LaunchConfigurations", LaunchConfigurationNames=[name]
        ):
            yield FoundUserData("launch configuration {0}".format(name), found.get("UserData") or "", found)

    def _instance(self, instance_id: str) -> FoundUserData:
        answer = self._api.call("ec2", "describe_instance_attribute", InstanceId=instance_id, Attribute="userData") or {}
        return FoundUserData("instance {0}".format(instance_id), answer.get("UserData", {}).get("Value") or "", None)


def identity(name: str) -> Dict[str, str]:
    """The argument that names a launch template by its ID or its name."""
    return {"LaunchTemplateId" if name.startswith("lt-") else "LaunchTemplateName": name}
