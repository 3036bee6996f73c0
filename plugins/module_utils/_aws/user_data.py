# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user data of launch templates, launch configurations, Auto Scaling groups and instances. Only reads. Runs on the controller."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional

from ansible.module_utils.basic import missing_required_lib

from . import client

_VERSION_DEFAULT = "$Default"


class FoundUserData(NamedTuple):
    """name: of the object that has the user data. base64: as the API returns it, '' if there is none. template: all its fields, or
    None for an instance, which has no template any more."""

    name: str
    base64: str
    template: Optional[Mapping[str, Any]]


class Reader:
    """Reads user data of one account and region. options: those of C(client.OPTIONS). The methods raise C(client.AwsError)."""

    def __init__(self, options: Dict[str, Any]) -> None:
        self._options = options
        self._session: Any = None
        self._clients: Dict[str, Any] = {}

    def read(self, wanted: Mapping[str, Any]) -> List[FoundUserData]:
        """What one entry of C(sources) names: C(launch_template), C(auto_scaling_group), C(instance) or C(all_launch_templates)."""
        if client.BOTO3_ERROR:
            raise client.AwsError(missing_required_lib("boto3"))
        version = str(wanted.get("version") or _VERSION_DEFAULT)
        with client.explained_errors(self._options, "EC2"):
            if wanted.get("launch_template"):
                return [self._launch_template(_identity(str(wanted["launch_template"])), version)]
            if wanted.get("auto_scaling_group"):
                return list(self._group(str(wanted["auto_scaling_group"])))
            if wanted.get("instance"):
                return [self._instance(str(wanted["instance"]))]
            return list(self._all(wanted.get("tags") or {}, version))

    def _all(self, tags: Mapping[str, Any], version: str) -> Iterator[FoundUserData]:
        filters = [{"Name": "tag:" + key, "Values": [str(value)]} for key, value in sorted(tags.items())]
        for found in self._pages("ec2", "describe_launch_templates", "LaunchTemplates", Filters=filters):
            yield self._launch_template({"LaunchTemplateId": found["LaunchTemplateId"]}, version)

    def _launch_template(self, identity: Dict[str, str], version: str) -> FoundUserData:
        name = next(iter(identity.values()))
        found = self._pages("ec2", "describe_launch_template_versions", "LaunchTemplateVersions", Versions=[version], **identity)
        if not found:
            raise client.AwsError("there is no version {0} of the launch template {1}; fix: check the version".format(version, name))
        one = found[0]
        shown = "launch template {0}, version {1}".format(one.get("LaunchTemplateName", name), one.get("VersionNumber", version))
        data = one.get("LaunchTemplateData", {})
        return FoundUserData(shown, data.get("UserData") or "", data)

    def _group(self, name: str) -> Iterator[FoundUserData]:
        groups = self._pages("autoscaling", "describe_auto_scaling_groups", "AutoScalingGroups", AutoScalingGroupNames=[name])
        if not groups:
            region = self._client("autoscaling").meta.region_name
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
        for found in self._pages("autoscaling", "describe_launch_configurations", "LaunchConfigurations", LaunchConfigurationNames=[name]):
            yield FoundUserData("launch configuration {0}".format(name), found.get("UserData") or "", found)

    def _instance(self, instance_id: str) -> FoundUserData:
        with self._explained("ec2", "describe_instance_attribute") as api:
            answer = api.describe_instance_attribute(InstanceId=instance_id, Attribute="userData")
        return FoundUserData("instance {0}".format(instance_id), answer.get("UserData", {}).get("Value") or "", None)

    def _client(self, service: str) -> Any:
        if self._session is None:
            self._session = client.new_session(self._options)
        if service not in self._clients:
            self._clients[service] = client.new_client(self._session, service, self._options)
        return self._clients[service]

    def _pages(self, service: str, operation: str, key: str, **arguments: Any) -> List[Dict[str, Any]]:
        """All items of an operation with pages."""
        with self._explained(service, operation) as api:
            ask: Callable[..., Any] = api.get_paginator(operation).paginate
            return [item for page in ask(**arguments) for item in page.get(key, [])]

    @contextmanager
    def _explained(self, service: str, operation: str) -> Iterator[Any]:
        """A client of the service. Errors of the operation become C(client.AwsError)."""
        api = self._client(service)
        action = "{0}:{1}".format(service, "".join(word.capitalize() for word in operation.split("_")))
        try:
            yield api
        except client.client_error() as error:
            raise client.AwsError(_refusal(action, error)) from None
        except client.no_connection() as error:
            text = client.explain_unreachable(api, self._session, self._options["endpoint_url"], "EC2")
            raise client.AwsError("{0} ({1})".format(text, type(error).__name__)) from None
        except client.not_understood():
            raise client.AwsError("the answer is not from AWS; fix: check endpoint_url") from None


def _identity(name: str) -> Dict[str, str]:
    return {"LaunchTemplateId" if name.startswith("lt-") else "LaunchTemplateName": name}


def _refusal(action: str, error: Any) -> str:
    code, text = client.parse_error(error)
    if client.is_access_denied(code):
        return "the credentials may not call {0}; fix: allow it in their policy ({1}: {2})".format(action, code, text)
    return client.explain_credentials(code, text) or "AWS refused {0} ({1}: {2})".format(action, code, text)
