# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data in answers and arguments of the AWS CLI: launch templates, launch configurations and instances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from .model import SourceText, encoded, listed, mapping

_USER_DATA = "UserData"


def read(document: Mapping[str, Any]) -> list[SourceText] | None:
    """The user data of all launch templates, launch configurations and instances, or None if the document has none of them."""
    if not document.keys() & {"LaunchTemplateVersions", "LaunchTemplateData", "LaunchConfigurations"}:
        is_attribute = "InstanceId" in document and _USER_DATA in document
        value = mapping(document, _USER_DATA).get("Value")
        return _encoded(value, f"{document['InstanceId']}.{_USER_DATA}") if is_attribute else None
    return list(_all(document))


def template_name(version: Mapping[str, Any]) -> str:
    """The name of a version of a launch template in messages."""
    name = version.get("LaunchTemplateName") or version.get("LaunchTemplateId") or "launch template"
    return f"{name}, version {version['VersionNumber']}" if "VersionNumber" in version else str(name)


def _all(document: Mapping[str, Any]) -> Iterator[SourceText]:
    versions = listed(document.get("LaunchTemplateVersions")) or [document]
    for version in versions:
        data = mapping(version, "LaunchTemplateData")
        name = mapping(version).get("LaunchTemplateName") or mapping(version).get("LaunchTemplateId")
        found = _with_settings(data, f"{template_name(mapping(version))}.{_USER_DATA}")
        yield from (replace(one, launch_template=name if isinstance(name, str) else None) for one in found)
    for one in listed(document.get("LaunchConfigurations")):
        yield from _with_settings(mapping(one), f"{mapping(one).get('LaunchConfigurationName')}.{_USER_DATA}")


def settings(data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a launch template or a launch configuration without its user data."""
    return {str(name): value for name, value in data.items() if name != _USER_DATA}


def _with_settings(data: Mapping[str, Any], path: str) -> list[SourceText]:
    return [replace(one, settings=settings(data)) for one in _encoded(data.get(_USER_DATA), path)]


def _encoded(value: Any, path: str) -> list[SourceText]:
    return [encoded(value, path)] if isinstance(value, str) and value else []
