# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the YAML file of an EKS Anywhere cluster: its documents with their kinds, names and places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .. import data
from ..errors import Problems, joined, listed
from ..formats.yaml import YamlError
from ..formats.yaml_reader import Node, load_each
from .schema import check_type, type_name

CLUSTER = "Cluster"
FILE = "file"
"""What the path of a problem of the whole file begins with."""

_TOP_LEVEL = ("apiVersion", "kind", "metadata", "spec", "status")
_NAMESPACE = "default"


@dataclass(frozen=True)
class Document:
    """One document of a kind that EKS Anywhere has. spec: the fields that are valid.

    path: what the paths of its problems begin with, such as C(VSphereMachineConfig/cp). line: the number of its first line.
    """

    kind: str
    name: str
    namespace: str
    spec: Mapping[str, Any]
    path: str
    line: int


@dataclass(frozen=True)
class Documents:
    """The documents of a file in their order. lines: the line of every path of the file, for messages."""

    all: tuple[Document, ...]
    lines: Mapping[str, int]

    @property
    def cluster(self) -> Document | None:
        """The first document of kind Cluster."""
        return next((one for one in self.all if one.kind == CLUSTER), None)

    def of_kind(self, kind: str) -> tuple[Document, ...]:
        """The documents of a kind."""
        return tuple(one for one in self.all if one.kind == kind)

    def find(self, kind: str, name: str) -> Document | None:
        """The document to which a reference points."""
        return next((one for one in self.all if (one.kind, one.name) == (kind, name)), None)

    def line_of(self, path: str) -> int | None:
        """The line of a path, or of the nearest part of the file above it."""
        while path and path not in self.lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self.lines.get(path)


def read(text: str, problems: Problems, *, only_cluster: bool = False) -> Documents:
    """Read a file. Reports what is not valid in its form: YAML, kinds, fields and types.

    only_cluster: read the first document of kind Cluster, as the validation of EKS Anywhere does, and ignore the other documents.
    """
    found: list[Document] = []
    lines: dict[str, int] = {}
    for index, (node, value) in enumerate(_each(text, problems, lines)):
        if value is None or (only_cluster and _kind_of(node) != CLUSTER):
            continue
        place = joined(FILE, index)
        document = None
        if isinstance(value, YamlError):
            lines[place] = value.line or node.mark.line + 1
            problems.add("anywhere.not_yaml", place, _yaml_message(value), fix="correct the document")
        else:
            document = _document(value, node, place, problems, lines)
        if document is not None:
            found.append(document)
        if only_cluster:
            break
    documents = Documents(tuple(found), lines)
    if documents.cluster is None and not any(problem.rule == "anywhere.not_yaml" for problem in problems):
        problems.add(
            "anywhere.no_cluster", FILE, "contains no valid document of kind Cluster", fix="add the Cluster, or use the file that has it"
        )
    if not only_cluster:
        _check_names(documents, problems)
    return documents


def _each(text: str, problems: Problems, lines: dict[str, int]) -> Iterator[tuple[Node, Any]]:
    try:
        yield from load_each(text)
    except YamlError as error:
        lines[FILE] = error.line or 1
        problems.add("anywhere.not_yaml", FILE, _yaml_message(error), fix="correct the line; check its indentation, quotes and brackets")


def _yaml_message(error: YamlError) -> str:
    return f"is not valid YAML: {error}"


def _kind_of(node: Node) -> str | None:
    """The kind of a document, also of one that is refused, for example because a key is there twice."""
    pair = node.pairs.get("kind") if node.kind == "mapping" else None
    return str(pair[1].value) if pair and pair[1].kind == "scalar" else None


def _document(value: Any, node: Node, place: str, problems: Problems, lines: dict[str, int]) -> Document | None:
    """The document, or None if its kind cannot be read or is not one of EKS Anywhere. Its problems are reported."""
    lines[place] = node.mark.line + 1
    if not isinstance(value, dict):
        problems.add("input.wrong_type", place, f"must be a mapping, not {type_name(value)}", allowed="a document with apiVersion and kind")
        return None
    kind = value.get("kind")
    if not isinstance(kind, str) or not kind:
        _add_lines(node, place, lines)
        problems.add("anywhere.unknown_kind", joined(place, "kind"), "is missing, or is not text", allowed=listed(_kinds(), None))
        return None
    given = value.get("metadata")
    metadata: dict[str, Any] = given if isinstance(given, dict) else {}
    name = metadata.get("name")
    path = f"{kind}/{name}" if isinstance(name, str) and name and name.isprintable() else kind
    _add_lines(node, path, lines)
    if not _check_kind(kind, value.get("apiVersion"), path, problems):
        return None
    _check_top_level(value, path, problems)
    checked = check_type(metadata, "@metadata", joined(path, "metadata"), problems)
    if value.get("status") is not None:
        check_type(value["status"], "@status", joined(path, "status"), problems)
    spec = value.get("spec")
    if spec is None:
        spec = {}
    if not isinstance(spec, dict):
        problems.add("input.wrong_type", joined(path, "spec"), f"must be a mapping, not {type_name(spec)}", value=spec)
        spec = {}
    fields = check_type(spec, f"@{data.eks_anywhere()['kinds'][kind]}", joined(path, "spec"), problems)
    namespace = checked.get("namespace") or _NAMESPACE
    return Document(kind, checked.get("name") or "", namespace, fields, path, node.mark.line + 1)


def _kinds() -> list[str]:
    return sorted(data.eks_anywhere()["kinds"])


def _check_kind(kind: str, api_version: Any, path: str, problems: Problems) -> bool:
    """Whether the library checks the fields of a document. Reports other documents."""
    table = data.eks_anywhere()
    place = joined(path, "apiVersion")
    if kind in table["kinds"] or kind in table["package_kinds"]:
        expected = table["api_version"] if kind in table["kinds"] else table["packages_api_version"]
        if api_version != expected:
            problems.add("anywhere.api_version", place, "is not the API version of this kind", value=api_version, allowed=expected)
        return kind in table["kinds"]
    if isinstance(api_version, str) and api_version and "eks.amazonaws.com" not in api_version:
        problems.add("anywhere.foreign_document", path, f"is of {api_version}: EKS Anywhere does not read it from this file")
    else:
        guess, message = problems.nearest(kind, _kinds()), "is not a kind of EKS Anywhere"
        problems.add("anywhere.unknown_kind", joined(path, "kind"), message, value=kind, allowed=listed(_kinds(), guess), nearest=guess)
    return False


def _check_top_level(value: Mapping[str, Any], path: str, problems: Problems) -> None:
    for key in value:
        if key not in _TOP_LEVEL:
            guess = problems.nearest(key, _TOP_LEVEL)
            fix = f"rename it to {guess}" if guess else "move it below spec, or remove it"
            allowed = ", ".join(_TOP_LEVEL)
            problems.add("input.unknown_field", joined(path, key), "is not a field", allowed=allowed, nearest=guess, fix=fix)
    metadata = value.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        problems.add("input.wrong_type", joined(path, "metadata"), f"must be a mapping, not {type_name(metadata)}")


def _check_names(documents: Documents, problems: Problems) -> None:
    """Report documents without a name, and documents that are there twice."""
    seen: dict[tuple[str, str], Document] = {}
    clusters = documents.of_kind(CLUSTER)
    for one in clusters[1:]:
        message = f"is a second Cluster, in line {one.line}: EKS Anywhere reads only the one in line {clusters[0].line}"
        problems.add("anywhere.several_clusters", one.path, message, fix="use a file for each cluster")
    for one in documents.all:
        first = seen.setdefault((one.kind, one.name), one)
        if first is not one and one.kind != CLUSTER:
            message = f"is there twice, in lines {first.line} and {one.line}"
            problems.add("anywhere.duplicate_document", one.path, message, fix="rename or remove one of the two")
        if not one.name and one.kind != CLUSTER:
            problems.add("input.missing_field", f"{one.path}.metadata.name", "is required", fix="add the name")


def _add_lines(node: Node, path: str, lines: dict[str, int]) -> None:
    """Note the line of every path of a document. The first document of a path wins."""
    waiting = [(node, path)]
    while waiting:
        one, place = waiting.pop()
        lines.setdefault(place, one.mark.line + 1)
        if one.kind == "mapping":
            for key, (key_node, child) in one.pairs.items():
                below = joined(place, key)
                lines.setdefault(below, key_node.mark.line + 1)
                waiting.append((child, below))
        elif one.kind == "sequence":
            waiting += [(child, joined(place, index)) for index, child in enumerate(one.children)]
