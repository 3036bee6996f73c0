# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data in manifests of Karpenter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .model import SourceText, listed, mapping, plain

_FAMILIES = (("al2023", "al2023"), ("al2", "al2"), ("bottlerocket", "bottlerocket"), ("ubuntu", "ubuntu"), ("windows", "windows"))
"""The beginning of a name of Karpenter, in lower case, and the family."""


def read(document: Mapping[str, Any]) -> list[SourceText] | None:
    """The user data of an EC2NodeClass or, in old versions, of an AWSNodeTemplate. None for other documents."""
    if document.get("kind") not in ("EC2NodeClass", "AWSNodeTemplate"):
        return None
    spec = mapping(document, "spec")
    text = spec.get("userData")
    if not isinstance(text, str) or not text:
        return []
    name = mapping(document, "metadata").get("name")
    return [plain(text, f"{document['kind']}/{name}.spec.userData", _family(spec))]


def _family(spec: Mapping[str, Any]) -> str | None:
    """The family, which C(amiFamily) sets, or the alias of the images."""
    aliases = [mapping(term).get("alias") for term in listed(spec.get("amiSelectorTerms"))]
    for name in (spec.get("amiFamily"), *aliases):
        if isinstance(name, str):
            found = name.partition("@")[0].lower()
            return next((family for begin, family in _FAMILIES if found == begin or (begin == "windows" and found.startswith(begin))), None)
    return None
