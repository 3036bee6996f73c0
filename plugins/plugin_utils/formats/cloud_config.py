# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads and writes C(#cloud-config) documents, and predicts how cloud-init merges several of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import Problems, joined
from .read_once import read_once
from .yaml import YamlError
from .yaml import dump as _dump_yaml
from .yaml import load as _load_yaml

HEADER = "#cloud-config\n"


@read_once
def load(text: str, path: str, problems: Problems) -> dict[str, Any]:
    """The mapping in the document. If the document is not one mapping, report a problem and return an empty mapping."""
    try:
        document = _load_yaml(text)
    except YamlError as error:
        problems.add(
            "cloud_config.unreadable", path, f"is not cloud-config: {error}", fix="write one YAML mapping below the line #cloud-config"
        )
        return {}
    if document is None:
        return {}
    if not isinstance(document, dict):
        problems.add(
            "cloud_config.unreadable", path, "is not cloud-config: not a mapping", fix="write one YAML mapping below the line #cloud-config"
        )
        return {}
    return document


def conflicts(documents: Sequence[tuple[str, Mapping[str, Any]]], problems: Problems) -> None:
    """Report the keys of an earlier document that a later one replaces.

    documents: (path in the user's input, mapping) in the order of the parts. cloud-init merges top-level keys by
    replacing them (22.4), so a second C(runcmd) makes the first disappear, unless the later document asks for another
    way with C(merge_how) or C(merge_type).
    """
    owners: dict[str, tuple[str, Any]] = {}
    for path, document in documents:
        merges = "merge_how" in document or "merge_type" in document
        for key, value in document.items():
            if key in ("merge_how", "merge_type"):
                continue
            if key in owners and not merges and owners[key][1] != value:
                problems.add(
                    "cloud_config.replaced_key",
                    joined(path, key),
                    f"replaces the {key} of {owners[key][0]}: cloud-init keeps only the last",
                    fix="put both into one #cloud-config, or set merge_how in the later one",
                )
            owners[key] = (path, value)


def dump(document: Mapping[str, Any]) -> str:
    """A C(#cloud-config) text. Raises C(YamlError) for values that YAML cannot represent."""
    return HEADER + _dump_yaml(dict(document))
