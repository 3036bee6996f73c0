# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data in a file of another tool: its name, its text, and where it is in the file."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import Problem
from ..formats.located_text import LocatedText, Spot


@dataclass(frozen=True)
class Origin:
    """Where a text is in a file. spots: the place of each line, or only of the beginning; is_verbatim: which of the two."""

    spots: tuple[Spot, ...]
    is_verbatim: bool


@dataclass(frozen=True)
class SourceText:
    """User data.

    path: its place in the file in words, such as C(aws_launch_template.web.user_data). data: as a node gets it.
    family: if the file says it. origin: None if it is not known. is_secret: whether the file marks it as sensitive.
    problem: why the file does not contain the user data. Then data is C(''). settings: the other fields of the launch template, in the
    form of the EC2 API; None if it is not known. launch_template: its name or ID, if it is one of an account.
    """

    path: str
    data: str | bytes
    family: str | None = None
    origin: Origin | None = None
    is_secret: bool = False
    problem: Problem | None = None
    settings: Mapping[str, Any] | None = None
    launch_template: str | None = None


@dataclass(frozen=True)
class MetadataOptions:
    """The options of the instance metadata service of the instances that a file describes, with or without user data.

    path: their place in the file in words. values: in the form of the EC2 API; a value that is known only later is a mapping. names: how
    the file names these fields. places: the place of each field, if it is known. origin: of the options or, without them, of the object.
    is_set: the fields about which there is no warning, because the tool sets them.
    """

    path: str
    values: Mapping[str, Any]
    names: Mapping[str, str]
    places: Mapping[str, Origin]
    origin: Origin | None
    is_set: frozenset[str] = frozenset()


API_NAMES: Mapping[str, str] = {name: name for name in ("HttpEndpoint", "HttpTokens", "HttpPutResponseHopLimit")}
"""The fields under the names that the EC2 API has for them, too."""

Item = SourceText | MetadataOptions
"""What a file of another tool contains."""


def metadata_options(
    path: str, given: Mapping[str, Any], names: Mapping[str, str], beside: Any, is_set: frozenset[str] = frozenset()
) -> MetadataOptions:
    """The options with the names of a tool in the form of the EC2 API. beside: a value of the same object, which shows where it is."""
    values = {name: given[own] for name, own in names.items() if own in given}
    places = {name: found for name, value in values.items() if isinstance(value, str) and (found := origin_of(value)) is not None}
    first = _first_text(given) or _first_text(beside)
    return MetadataOptions(path, {name: _number(value) for name, value in values.items()}, names, places, origin_of(first), is_set)


def _number(value: Any) -> Any:
    """Numbers can be texts in the files of some tools. Terraform and the API have 0 for a hop limit that is not set."""
    found = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 4 else value
    return None if isinstance(found, int) and found == 0 else found


def plain(value: str, path: str, family: str | None = None, *, is_secret: bool = False) -> SourceText:
    """User data that the file contains as text."""
    return SourceText(path, value, family, origin_of(value), is_secret)


def encoded(value: str, path: str, family: str | None = None, *, is_secret: bool = False) -> SourceText:
    """User data that the file contains as base64, because the API of EC2 takes nothing else."""
    try:
        data = base64.b64decode("".join(value.split()), validate=True)
    except (binascii.Error, ValueError):
        message = "is not base64, so EC2 rejects it"
        return SourceText(path, "", family, origin_of(value), is_secret, Problem("sources.not_base64", path, message))
    origin = origin_of(value)
    return SourceText(path, data, family, Origin(origin.spots[:1], False) if origin else None, is_secret)


def unknown(path: str, message: str, value: Any = None, fix: str | None = None) -> SourceText:
    """User data that the file does not contain. value: what it contains instead."""
    return SourceText(path, "", origin=origin_of(_first_text(value)), problem=Problem("sources.unknown_user_data", path, message, fix=fix))


def no_user_data(path: str) -> SourceText:
    """A file of another tool, or an object of an account, that has no user data."""
    return SourceText(path, "", problem=Problem("sources.no_user_data", path, "has no user data"))


def origin_of(value: str | None) -> Origin | None:
    """The place of a value in its file."""
    return Origin(value.spots, value.is_verbatim) if isinstance(value, LocatedText) else None


def _first_text(value: Any) -> LocatedText | None:
    if isinstance(value, LocatedText):
        return value
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((found for child in children if (found := _first_text(child)) is not None), None)


def mapping(value: Any, *names: str) -> dict[str, Any]:
    """The mapping below these keys, or an empty one."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def listed(value: Any) -> list[Any]:
    """C(value) if it is a list, otherwise an empty one."""
    return value if isinstance(value, list) else []
