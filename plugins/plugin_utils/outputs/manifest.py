# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manifest of an output directory: one entry for each rendered group, with the digest of its file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import Problem, SpecError
from .batch import Output, file_place

FILE = "manifest.json"
_VERSION = 1

_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Entry:
    """One rendered group. C(file), below the output directory, and C(sha256) are None if the group needs no user data."""

    cluster: str | None
    group: str
    file: str | None
    sha256: str | None
    bytes: int
    """The size of the file."""
    encoding: str
    mode: str
    family: str
    warnings: tuple[Mapping[str, Any], ...]

    @property
    def place(self) -> str:
        """The path of the file below the output directory, also if there is no file. It identifies the group."""
        return file_place(self.cluster, self.group)


def entry_of(output: Output) -> Entry:
    """The entry of a rendered group."""
    spec, written = output.rendered.spec, output.file_name is not None
    return Entry(
        spec.cluster.name,
        output.group,
        output.file_name,
        output.digest if written else None,
        len(output.content) if written else 0,
        output.rendered.encoding,
        spec.mode,
        spec.family,
        tuple(problem.plain() for problem in spec.warnings),
    )


def dump(entries: Iterable[Entry]) -> bytes:
    """The manifest as JSON, sorted by cluster and group: the same entries always give the same bytes."""
    ordered = sorted(entries, key=lambda entry: (entry.cluster or "", entry.group))
    document = {"version": _VERSION, "groups": [asdict(entry) for entry in ordered]}
    return (json.dumps(document, indent=2) + "\n").encode("ascii")


def load(content: bytes, path: str) -> tuple[Entry, ...]:
    """The entries of a manifest. Raises C(SpecError) if it is not one: files are removed by what it says.

    path: of the file, for the message.
    """
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    rows = document.get("groups") if isinstance(document, dict) and document.get("version") == _VERSION else None
    entries = [_entry(row) for row in rows] if isinstance(rows, list) else [None]
    found = tuple(entry for entry in entries if entry is not None)
    if len(found) != len(entries):
        message = "is not a manifest that this version of render has written"
        raise SpecError([Problem("output.invalid_manifest", path, message, fix="remove it, and the files that you no longer need")])
    return found


def _entry(row: Any) -> Entry | None:
    """One entry, or None unless every field has the form in which C(dump) writes it."""
    if not isinstance(row, dict) or row.keys() != Entry.__dataclass_fields__.keys():
        return None
    entry = Entry(**{**row, "warnings": tuple(row["warnings"]) if isinstance(row["warnings"], list) else ()})
    names = [entry.group, *([] if entry.cluster is None else [entry.cluster])]
    texts = (entry.encoding, entry.mode, entry.family)
    if not all(isinstance(name, str) and _NAME.fullmatch(name) for name in names) or not all(isinstance(text, str) for text in texts):
        return None
    if entry.file is None:
        return entry if entry.sha256 is None and entry.bytes == 0 else None
    digest = isinstance(entry.sha256, str) and _DIGEST.fullmatch(entry.sha256)
    return entry if entry.file == entry.place and digest and isinstance(entry.bytes, int) else None
