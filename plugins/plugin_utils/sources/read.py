# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds user data in a file of any tool. The content decides which tool it is of, and the name of the file does not matter."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import Problem
from ..formats.json import JsonError
from ..formats.located_text import load_json
from ..formats.yaml_error import YamlError
from . import cloud_formation, cluster_api, karpenter, launch_templates, terraform
from .model import Item, SourceText, listed, no_user_data

_READERS: tuple[Callable[[Mapping[str, Any]], list[Item] | None], ...] = (
    terraform.read,
    karpenter.read,
    cluster_api.read,
    cloud_formation.read,
    launch_templates.read,
)

_USER_DATA = re.compile(r"\s*(?:#!|#cloud-|#include|##[ \t]*template:)", re.IGNORECASE)
"""The beginning of user data that contains no other document, whatever its lines look like."""

_DOCUMENT = re.compile(
    r"""^(?:---[ \t]+)?["']?(?:
        kind["']?[ \t]*:[ \t]*["']?(?:EC2NodeClass|AWSNodeTemplate|EKSConfig(?:Template)?|NodeadmConfig(?:Template)?|List)\b
        | (?:AWSTemplateFormatVersion|Resources|LaunchTemplateVersions)["']?[ \t]*:
    )""",
    re.MULTILINE | re.VERBOSE,
)
"""A line of a YAML document in which user data can be."""

_LARGEST_YAML = 4_000_000
"""Characters of YAML that are read: a larger manifest is not written by hand."""


def read(content: bytes) -> list[SourceText] | None:
    """All user data in a file, or None if the file is user data itself. It raises nothing."""
    items = read_all(content)
    return None if items is None else [item for item in items if isinstance(item, SourceText)]


def read_all(content: bytes) -> list[Item] | None:
    """All user data in a file, and options of its instances. None if the file is user data itself. It raises nothing."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if _USER_DATA.match(text):
        return None
    if text.lstrip()[:1] == "{":
        try:
            return _of_documents([load_json(text)])
        except JsonError:
            return None
    return _of_yaml(text) if _DOCUMENT.search(text) else None


def _of_yaml(text: str) -> list[Item] | None:
    from ..formats.yaml_reader import load_located

    if len(text) > _LARGEST_YAML:
        return [_unreadable(f"has more than {_LARGEST_YAML:,} characters")]
    try:
        return _of_documents(load_located(text))
    except YamlError as error:
        return [_unreadable(f"is not YAML: {error}")]


def _unreadable(message: str) -> SourceText:
    return SourceText("", "", problem=Problem("sources.unreadable", "", message))


def _of_documents(documents: list[Any]) -> list[Item] | None:
    found: list[Item] = []
    is_known = False
    for document in documents:
        items = [document]
        if isinstance(document, dict) and document.get("kind") == "List":
            items = listed(document.get("items"))
        for item in items:
            for reader in _READERS:
                if isinstance(item, dict) and (texts := reader(item)) is not None:
                    is_known = True
                    found += texts
    if is_known and not any(isinstance(item, SourceText) for item in found):
        found.insert(0, no_user_data(""))
    return found if is_known else None
