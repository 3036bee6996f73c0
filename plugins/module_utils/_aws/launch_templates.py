# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Launch templates of one account: reads them with what surrounds them, and writes versions. Runs on the controller."""

from __future__ import annotations

import hashlib
import json
import uuid
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from . import client
from .api import Api
from .unknown_fields import RawAnswers
from .user_data import identity

_NO_TEMPLATE = (
    "InvalidLaunchTemplateName.NotFoundException",
    "InvalidLaunchTemplateId.NotFound",
    "InvalidLaunchTemplateId.NotFoundException",
)
_NO_IMAGE = ("InvalidAMIID.NotFound", "InvalidAMIID.Unavailable", "InvalidAMIID.Malformed")
_RESOLVE = "resolve:ssm:"


class FoundTemplate(NamedTuple):
    """A launch template with its latest version.

    default, latest: the numbers of versions. data: C(LaunchTemplateData) of the latest version. description: of the latest version.
    unknown: the paths of its fields that this version of boto3 does not know, and therefore leaves out of C(data).
    """

    id: str
    name: str
    default: int
    latest: int
    tags: Mapping[str, str]
    data: Mapping[str, Any]
    description: str
    unknown: Tuple[str, ...]


class FoundImage(NamedTuple):
    """An image. platform: C(windows) or C(''). root_size: GiB of the root volume, 0 if it is unknown."""

    id: str
    name: str
    platform: str
    architecture: str
    root_device: str
    root_size: int


class Templates:
    """The launch templates of one region. options: those of C(client.OPTIONS). The methods raise C(client.AwsError)."""

    def __init__(self, options: Dict[str, Any]) -> None:
        self._api = Api(options)
        self._raw = RawAnswers()

    @property
    def region(self) -> str:
        """The name of the region."""
        return str(self._api.client("ec2").meta.region_name)

    def fields(self) -> Dict[str, Any]:
        """What boto3 can send as C(LaunchTemplateData): a tree of C(type), C(members), C(member) and C(enum)."""
        operation = self._api.client("ec2").meta.service_model.operation_model("CreateLaunchTemplateVersion")
        return _tree(operation.input_shape.members["LaunchTemplateData"])

    def read(self, name: str) -> Optional[FoundTemplate]:
        """A launch template by its ID or its name, None if it does not exist."""
        wanted = {"{0}s".format(key): [value] for key, value in identity(name).items()}
        answer = self._api.call("ec2", "describe_launch_templates", _NO_TEMPLATE, **wanted)
        templates = (answer or {}).get("LaunchTemplates", [])
        if not templates:
            return None
        one = templates[0]
        self._raw.watch(self._api.client("ec2"))
        version, unknown = self._version(one["LaunchTemplateId"], one["LatestVersionNumber"])
        return FoundTemplate(
            one["LaunchTemplateId"],
            one["LaunchTemplateName"],
            one["DefaultVersionNumber"],
            one["LatestVersionNumber"],
            {tag["Key"]: tag["Value"] for tag in one.get("Tags", [])},
            version.get("LaunchTemplateData", {}),
            version.get("VersionDescription") or "",
            unknown,
        )

    def _version(self, template: str, number: int) -> Tuple[Dict[str, Any], Tuple[str, ...]]:
        wanted = {"LaunchTemplateId": template, "Versions": [str(number)]}
        versions = self._api.pages("ec2", "describe_launch_template_versions", "LaunchTemplateVersions", **wanted)
        if not versions:
            raise client.AwsError("launch template {0} has no version {1}; fix: run again".format(template, number))
        return versions[0], self._raw.unknown()

    def image(self, name: str) -> Tuple[Optional[FoundImage], str]:
        """An image by its ID or by C(resolve:ssm:PARAMETER), None if it does not exist; and why it could not be read, C('') if it was."""
        try:
            image = self._resolved(name)
            answer = self._api.call("ec2", "describe_images", _NO_IMAGE, ImageIds=[image]) if image else None
        except client.AwsDenied as error:
            return None, str(error)
        images = (answer or {}).get("Images", [])
        return (_image(images[0]) if images else None), ""

    def _resolved(self, name: str) -> str:
        """The ID of an image, C('') if the parameter does not exist."""
        if not name.startswith(_RESOLVE):
            return name
        wanted = {"Name": name[len(_RESOLVE) :]}
        answer = self._api.call("ssm", "get_parameter", ("ParameterNotFound", "ParameterVersionNotFound"), **wanted)
        return str((answer or {}).get("Parameter", {}).get("Value", ""))

    def node_group(self, cluster: str, name: str) -> Tuple[Optional[Dict[str, Any]], str]:
        """A managed node group, None if it does not exist; and why it could not be read, C('') if it was."""
        try:
            answer = self._api.call("eks", "describe_nodegroup", ("ResourceNotFoundException",), clusterName=cluster, nodegroupName=name)
        except client.AwsDenied as error:
            return None, str(error)
        return (answer or {}).get("nodegroup"), ""

    def create(self, name: str, data: Mapping[str, Any], description: str, tags: Mapping[str, str]) -> List[str]:
        """Create a launch template. Returns the warnings of EC2."""
        specifications: Dict[str, Any] = {"TagSpecifications": [_tag_specification(tags)]} if tags else {}
        wanted = {"LaunchTemplateName": name, "LaunchTemplateData": data, "VersionDescription": description}
        return _warnings(self._api.call("ec2", "create_launch_template", **wanted, **specifications))

    def create_version(self, template: FoundTemplate, data: Mapping[str, Any], description: str, *, inherit: bool) -> Tuple[int, List[str]]:
        """Create a version. Returns its number, and the warnings of EC2.

        inherit: whether EC2 copies fields that C(data) does not contain from the version that was read. Two runs that create the same
        version at the same time get the same one, because their requests have the same token. Any other version that was created since
        the template was read is an error.
        """
        self._refuse_others(template, self._later_versions(template))
        wanted: Dict[str, Any] = {"LaunchTemplateId": template.id, "LaunchTemplateData": data, "VersionDescription": description}
        if inherit:
            wanted["SourceVersion"] = str(template.latest)
        number, warnings = self._create_version(wanted, _token(template.latest, wanted))
        later = self._later_versions(template)
        if number not in later:
            # EC2 repeats the answer to an earlier request with this token, although its version was deleted.
            number, warnings = self._create_version(wanted, uuid.uuid4().hex)
            later = self._later_versions(template)
        self._refuse_others(template, [one for one in later if one != number], number)
        return number, warnings

    def _create_version(self, wanted: Mapping[str, Any], token: str) -> Tuple[int, List[str]]:
        made = self._api.call("ec2", "create_launch_template_version", ClientToken=token, **wanted) or {}
        return int(made["LaunchTemplateVersion"]["VersionNumber"]), _warnings(made)

    def _later_versions(self, template: FoundTemplate) -> List[int]:
        """The numbers of the versions that are newer than the one that was read."""
        wanted = {"LaunchTemplateId": template.id, "MinVersion": str(template.latest + 1)}
        found = self._api.pages("ec2", "describe_launch_template_versions", "LaunchTemplateVersions", **wanted)
        return sorted(int(one["VersionNumber"]) for one in found)

    def _refuse_others(self, template: FoundTemplate, others: List[int], created: Optional[int] = None) -> None:
        """Raise C(client.AwsError) if another program has created versions. created: the version of this run."""
        if not others:
            return
        shown = ", ".join(map(str, others))
        text = "launch template {0} got version {1} after version {2} had been read".format(template.name, shown, template.latest)
        if created is not None:
            text += "; version {0}, which was created from version {1}, does not contain its changes".format(created, template.latest)
        raise client.AwsError("{0}; fix: compare the versions, and run again".format(text))

    def set_default(self, template: FoundTemplate, number: int) -> None:
        """Make a version the default one."""
        self._api.call("ec2", "modify_launch_template", LaunchTemplateId=template.id, DefaultVersion=str(number))


def image_of_version(api: Api, template: Mapping[str, str], version: str) -> str:
    """The image in a version of a launch template, C('') without one. template: C(LaunchTemplateId) or C(LaunchTemplateName)."""
    found = api.pages("ec2", "describe_launch_template_versions", "LaunchTemplateVersions", Versions=[version], **template)
    return str(found[0].get("LaunchTemplateData", {}).get("ImageId") or "") if found else ""


class Account:
    """The launch templates of one account, by region. options: those of C(client.OPTIONS)."""

    def __init__(self, options: Dict[str, Any]) -> None:
        self._options = options
        self._regions: Dict[Optional[str], Templates] = {}

    def in_region(self, region: Optional[str]) -> Templates:
        """The launch templates of a region; without one, those of the region of the options."""
        if region not in self._regions:
            self._regions[region] = Templates({**self._options, "region": region or self._options["region"]})
        return self._regions[region]


def _image(found: Mapping[str, Any]) -> FoundImage:
    root = found.get("RootDeviceName") or ""
    sizes = [one.get("Ebs", {}).get("VolumeSize", 0) for one in found.get("BlockDeviceMappings", []) if one.get("DeviceName") == root]
    # moto says "Linux/UNIX" where EC2 has no value.
    platform = "windows" if str(found.get("Platform", "")).lower() == "windows" else ""
    return FoundImage(found["ImageId"], found.get("Name") or "", platform, found.get("Architecture") or "", root, sizes[0] if sizes else 0)


def _tag_specification(tags: Mapping[str, str]) -> Dict[str, Any]:
    return {"ResourceType": "launch-template", "Tags": [{"Key": key, "Value": value} for key, value in sorted(tags.items())]}


def _token(*parts: Any) -> str:
    """The same text for the same request: EC2 answers a repeated request with the result of the first one."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode("utf-8")).hexdigest()


def _warnings(answer: Optional[Mapping[str, Any]]) -> List[str]:
    errors = ((answer or {}).get("Warning") or {}).get("Errors", [])
    return ["{0}: {1}".format(one.get("Code", ""), one.get("Message", "")) for one in errors]


def _tree(shape: Any) -> Dict[str, Any]:
    """A shape of boto3 as plain data."""
    if shape.type_name == "structure":
        return {"type": "structure", "members": {name: _tree(member) for name, member in shape.members.items()}}
    if shape.type_name == "list":
        return {"type": "list", "member": _tree(shape.member)}
    return {"type": shape.type_name, **({"enum": list(shape.enum)} if getattr(shape, "enum", None) else {})}
