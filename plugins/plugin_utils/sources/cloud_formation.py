# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data and metadata options in templates of CloudFormation, in JSON or YAML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..formats.located_text import LocatedText
from .model import API_NAMES, Item, encoded, listed, mapping, metadata_options, plain, unknown

_INSTANCE = "AWS::EC2::Instance"
_PLACES: Mapping[str, tuple[str, ...]] = {
    "AWS::AutoScaling::LaunchConfiguration": ("UserData",),
    _INSTANCE: ("UserData",),
    "AWS::EC2::LaunchTemplate": ("LaunchTemplateData", "UserData"),
}
_FIELD = "MetadataOptions"
_BASE64, _JOIN, _SUB = "Fn::Base64", "Fn::Join", "Fn::Sub"
_TAGS = {"!Base64": _BASE64, "!Join": _JOIN, "!Sub": _SUB}
_VARIABLE = re.compile(r"\$\{[^!]")
_ESCAPE = re.compile(r"\$\{!")


def read(document: Mapping[str, Any]) -> list[Item] | None:
    """The user data of all resources, or None if the document is not a template."""
    resources = document.get("Resources")
    is_template = isinstance(resources, dict) and any("::" in str(mapping(one).get("Type")) for one in resources.values())
    return list(_all(resources)) if isinstance(resources, dict) and is_template else None


def _all(resources: Mapping[str, Any]) -> Iterator[Item]:
    for name, resource in resources.items():
        if (steps := _PLACES.get(str(mapping(resource).get("Type")))) is None:
            continue
        fields = mapping(resource, "Properties", *steps[:-1])
        value = fields.get(steps[-1])
        path = ".".join([name, *steps])
        if isinstance(value, str):
            yield encoded(value, path)
        elif value is not None:
            function, argument = _function(value)
            text = _text(argument) if function == _BASE64 else None
            if text is None:
                message = "depends on values that CloudFormation inserts when it creates the stack"
                yield unknown(path, message, value, fix="check the launch template after the stack has been created")
            else:
                yield plain(text, path)
        if (options := _metadata_options(fields, is_required=resource.get("Type") != _INSTANCE)) is not None:
            yield metadata_options(".".join([name, *steps[:-1], _FIELD]), options, API_NAMES, resource.get("Type"))


def _metadata_options(fields: Mapping[str, Any], *, is_required: bool) -> Mapping[str, Any] | None:
    """The options, or None if they are known only when the stack is created. is_required: whether a resource without them has an effect:
    an instance can get them from its launch template."""
    options = fields.get(_FIELD)
    if options is None:
        return {} if is_required and not _is_function(fields) else None
    return options if isinstance(options, dict) and not _is_function(options) else None


def _is_function(value: Mapping[str, Any]) -> bool:
    return len(value) == 1 and next(iter(value)).startswith(("!", "Fn::", "Ref"))


def _function(value: Any) -> tuple[str, Any]:
    """The name and the argument of a function, with the name of its long form."""
    if isinstance(value, dict) and len(value) == 1:
        name, argument = next(iter(value.items()))
        return _TAGS.get(str(name), str(name)), argument
    return "", None


def _text(value: Any) -> str | None:
    """The text that a value results in, or None if it depends on the stack."""
    if isinstance(value, str):
        return value
    function, argument = _function(value)
    if function == _SUB and isinstance(argument, str) and not _VARIABLE.search(argument):
        return _without_escapes(argument)
    if function == _JOIN and isinstance(argument, list) and len(argument) == 2 and isinstance(argument[0], str):
        pieces = [_text(piece) for piece in listed(argument[1])]
        known = [piece for piece in pieces if piece is not None]
        return argument[0].join(known) if len(known) == len(pieces) and isinstance(argument[1], list) else None
    return None


def _without_escapes(text: str) -> str:
    """C(${!name}) is the text C(${name}). Columns behind it differ from the file."""
    if not _ESCAPE.search(text):
        return text
    spots = text.spots[:1] if isinstance(text, LocatedText) else ()
    result = _ESCAPE.sub("${", text)
    return LocatedText(result, spots, is_verbatim=False) if spots else result
