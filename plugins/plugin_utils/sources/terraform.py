# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data and metadata options in the output of C(terraform show -json), for a plan or a state."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .model import Item, encoded, listed, mapping, metadata_options, plain, unknown

_INSTANCE = (("user_data", False), ("user_data_base64", True))
_ATTRIBUTES: Mapping[str, tuple[tuple[str, bool], ...]] = {
    "aws_instance": _INSTANCE,
    "aws_launch_configuration": _INSTANCE,
    "aws_launch_template": (("user_data", True),),
    "aws_spot_instance_request": _INSTANCE,
}
"""The attributes with user data, and whether they contain base64."""

_TEMPLATES = ("aws_launch_configuration", "aws_launch_template")
"""Resources that launch nodes. An instance is taken for one only if it has user data, and can get its options from a template."""
_BLOCK = "metadata_options"
_OPTIONS = {"HttpEndpoint": "http_endpoint", "HttpTokens": "http_tokens", "HttpPutResponseHopLimit": "http_put_response_hop_limit"}

_INDEX = re.compile(r'\["(?:[^"\\]|\\.)*"\]|\[[0-9]+\]')
_HASH = re.compile(r"[0-9a-f]{40}")
"""What versions of the AWS provider before 6 keep of C(user_data) of an instance."""


def read(document: Mapping[str, Any]) -> list[Item] | None:
    """The user data and the metadata options of all resources, or None if the document is not of Terraform."""
    if "format_version" not in document or not ("planned_values" in document or "values" in document):
        return None
    values = mapping(document, "planned_values") or mapping(document, "values")
    changes = {change.get("address"): mapping(change, "change") for change in listed(document.get("resource_changes"))}
    found: list[Item] = []
    for resource in _resources(mapping(values, "root_module")):
        address = str(resource.get("address"))
        not_known = mapping(changes.get(address), "after_unknown")
        for name, is_base64 in _ATTRIBUTES.get(str(resource.get("type")), ()):
            path, value = f"{address}.{name}", mapping(resource, "values").get(name)
            is_secret = bool(mapping(resource, "sensitive_values").get(name))
            if not isinstance(value, str) or not value:
                # A provider can compute an attribute that is not set, so it is unknown, too.
                if not_known.get(name) is True and name in _expressions(document, address):
                    message = "is known only after apply"
                    found.append(unknown(path, message, fix="apply the plan, and check the output of terraform show -json for the state"))
            elif is_base64:
                found.append(encoded(value, path, is_secret=is_secret))
            elif _HASH.fullmatch(value):
                message = "is a hash, because this version of the AWS provider does not keep the text"
                found.append(unknown(path, message, value, fix="set user_data_base64 instead, or use version 6 of the provider"))
            else:
                found.append(plain(value, path, is_secret=is_secret))
        found += _metadata_options(resource, not_known.get(_BLOCK), _expressions(document, address).get(_BLOCK))
    return found


def _metadata_options(resource: Mapping[str, Any], not_known: Any, written: Any) -> Iterator[Item]:
    """The options of a resource, unless all of them are known only after apply.

    not_known: what is known only after apply, also because it is not set. written: the block in the configuration.
    """
    values, address = mapping(resource, "values"), str(resource.get("address"))
    has_user_data = any(values.get(name) for name, _is_base64 in _INSTANCE)
    if resource.get("type") not in _TEMPLATES and (not has_user_data or values.get("launch_template")):
        return
    if not_known is True and written is not None:
        return
    block = next(iter(listed(values.get(_BLOCK))), None)
    known = {name: value for name, value in mapping(block).items() if value is not None}
    given = next((mapping(one) for one in listed(written)), None)
    for name, is_unknown in mapping(next(iter(listed(not_known)), None)).items():
        if is_unknown is True and (given is None or name in given):
            known[name] = {}
    yield metadata_options(f"{address}.{_BLOCK}", known, _OPTIONS, values)


def _resources(module: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for resource in listed(module.get("resources")):
        if isinstance(resource, dict) and resource.get("mode", "managed") == "managed":
            yield resource
    for child in listed(module.get("child_modules")):
        yield from _resources(mapping(child))


def _expressions(document: Mapping[str, Any], address: str) -> Mapping[str, Any]:
    """The arguments of a resource in the configuration."""
    module = mapping(document, "configuration", "root_module")
    steps = _INDEX.sub("", address).split(".")
    while steps[:1] == ["module"] and len(steps) > 2:
        module = mapping(module, "module_calls", steps[1], "module")
        steps = steps[2:]
    resources = (mapping(resource) for resource in listed(module.get("resources")))
    return next((mapping(one, "expressions") for one in resources if one.get("address") == ".".join(steps)), {})
