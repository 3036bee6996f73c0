# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data in manifests of Karpenter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .model import Item, listed, mapping, metadata_options, plain

_FAMILIES = (("al2023", "al2023"), ("al2", "al2"), ("bottlerocket", "bottlerocket"), ("ubuntu", "ubuntu"), ("windows", "windows"))
"""The beginning of a name of Karpenter, in lower case, and the family."""


_OPTIONS = {"HttpEndpoint": "httpEndpoint", "HttpTokens": "httpTokens", "HttpPutResponseHopLimit": "httpPutResponseHopLimit"}
_DEFAULTS = {"httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": 1}
"""What Karpenter sets without a value."""
_CHOSEN = frozenset({"HttpPutResponseHopLimit"})
"""Karpenter keeps pods away from the instance metadata service unless the manifest says otherwise, so a limit of 1 is intended."""


def read(document: Mapping[str, Any]) -> list[Item] | None:
    """The user data and the metadata options of an EC2NodeClass or, in old versions, of an AWSNodeTemplate. None for other documents."""
    if document.get("kind") not in ("EC2NodeClass", "AWSNodeTemplate"):
        return None
    spec = mapping(document, "spec")
    text = spec.get("userData")
    name = mapping(document, "metadata").get("name")
    path = f"{document['kind']}/{name}.spec"
    found: list[Item] = [plain(text, f"{path}.userData", _family(spec))] if isinstance(text, str) and text else []
    given = {key: value for key, value in mapping(spec, "metadataOptions").items() if value is not None}
    return [*found, metadata_options(f"{path}.metadataOptions", _DEFAULTS | given, _OPTIONS, name, _CHOSEN)]


def _family(spec: Mapping[str, Any]) -> str | None:
    """The family, which C(amiFamily) sets, or the alias of the images."""
    aliases = [mapping(term).get("alias") for term in listed(spec.get("amiSelectorTerms"))]
    for name in (spec.get("amiFamily"), *aliases):
        if isinstance(name, str):
            found = name.partition("@")[0].lower()
            return next((family for begin, family in _FAMILIES if found == begin or (begin == "windows" and found.startswith(begin))), None)
    return None
