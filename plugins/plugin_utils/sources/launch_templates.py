# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data and metadata options in answers and arguments of the AWS CLI: launch templates, launch configurations and instances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from .model import API_NAMES, Item, SourceText, encoded, listed, mapping, metadata_options

_USER_DATA = "UserData"
_FIELD = "MetadataOptions"


def read(document: Mapping[str, Any]) -> list[Item] | None:
    """The user data and the metadata options of all launch templates, launch configurations and instances.

    None if the document has none of them.
    """
    if not document.keys() & {"LaunchTemplateVersions", "LaunchTemplateData", "LaunchConfigurations"}:
        is_attribute = "InstanceId" in document and _USER_DATA in document
        value = mapping(document, _USER_DATA).get("Value")
        return [*_encoded(value, f"{document['InstanceId']}.{_USER_DATA}")] if is_attribute else None
    return list(_all(document))


def template_name(version: Mapping[str, Any]) -> str:
    """The name of a version of a launch template in messages."""
    name = version.get("LaunchTemplateName") or version.get("LaunchTemplateId") or "launch template"
    return f"{name}, version {version['VersionNumber']}" if "VersionNumber" in version else str(name)


def _all(document: Mapping[str, Any]) -> Iterator[Item]:
    versions = listed(document.get("LaunchTemplateVersions")) or [document]
    for version in versions:
        data = mapping(version, "LaunchTemplateData")
        name = mapping(version).get("LaunchTemplateName") or mapping(version).get("LaunchTemplateId")
        title = template_name(mapping(version))
        for one in _with_settings(data, f"{title}.{_USER_DATA}"):
            yield replace(one, launch_template=name if isinstance(name, str) else None)
        if data:
            yield metadata_options(f"{title}.{_FIELD}", mapping(data, _FIELD), API_NAMES, name or data)
    for configuration in map(mapping, listed(document.get("LaunchConfigurations"))):
        title = str(configuration.get("LaunchConfigurationName"))
        yield from _with_settings(configuration, f"{title}.{_USER_DATA}")
        yield metadata_options(f"{title}.{_FIELD}", mapping(configuration, _FIELD), API_NAMES, configuration)


def settings(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a launch template or a launch configuration without its user data."""
    return {str(name): value for name, value in data.items() if name != _USER_DATA}


def _with_settings(data: Mapping[str, Any], path: str) -> list[SourceText]:
    return [replace(one, settings=settings(data)) for one in _encoded(data.get(_USER_DATA), path)]


def _encoded(value: Any, path: str) -> list[SourceText]:
    return [encoded(value, path)] if isinstance(value, str) and value else []
