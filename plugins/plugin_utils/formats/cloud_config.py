# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads and writes C(#cloud-config) documents, and predicts how cloud-init merges several of them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Problems, joined
from . import compression
from .read_once import read_once
from .yaml import YamlError
from .yaml import dump as _dump_yaml
from .yaml import load as _load_yaml

_COMPRESSED = ("gz+b64", "gz+base64", "gzip+b64", "gzip+base64")
HEADER = "#cloud-config\n"


@dataclass(frozen=True)
class WrittenFile:
    """A file of C(write_files). content: None if the document does not contain it as a whole.

    index: its place in the list.
    """

    path: str
    content: str | None
    index: int = 0


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


def written_files(document: Mapping[str, Any]) -> Iterator[WrittenFile]:
    """The files that C(write_files) writes."""
    listed = document.get("write_files")
    for index, item in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(item, Mapping) and isinstance(item.get("path"), str):
            yield WrittenFile(item["path"], _content(item), index)


def _content(item: Mapping[str, Any]) -> str | None:
    content, encoding = item.get("content", ""), str(item.get("encoding") or "text/plain").lower()
    if not isinstance(content, str) or item.get("append") or "source" in item:
        return None
    if encoding in ("b64", "base64"):
        try:
            return base64.b64decode(content).decode()
        except (binascii.Error, UnicodeDecodeError):
            return None
    if encoding in _COMPRESSED:
        found = compression.unwrap("".join(content.split()), "", Problems())
        return found.text if found.layers == ("base64", "gzip") else None
    return content if encoding == "text/plain" else None


def commands(document: Mapping[str, Any]) -> Iterator[str]:
    """The commands of C(bootcmd) and C(runcmd), as text."""
    for key in ("bootcmd", "runcmd"):
        listed = document.get(key)
        for item in listed if isinstance(listed, list) else []:
            yield " ".join(map(str, item)) if isinstance(item, list) else str(item)


def dump(document: Mapping[str, Any]) -> str:
    """A C(#cloud-config) text. Raises C(YamlError) for values that YAML cannot represent."""
    return HEADER + _dump_yaml(dict(document))
