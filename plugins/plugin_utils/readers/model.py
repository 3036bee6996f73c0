# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of reading user data: its parts, what they mean, and what was not understood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from ..errors import Problem
from ..formats.compression import Layer
from ..formats.user_data_kind import Kind


@dataclass(frozen=True)
class Place:
    """A place in a text.

    part: the index of the part, from 0; None for the document itself. line, column: from 1, in the decoded text of the part.
    length: in characters, on that line.
    """

    part: int | None
    line: int
    column: int
    length: int

    def plain(self) -> dict[str, int | None]:
        """The place as plain data."""
        return {"part": self.part, "line": self.line, "column": self.column, "length": self.length}


BEGIN = Place(None, 1, 1, 1)
"""The place of a finding about the document as a whole."""


@dataclass(frozen=True)
class ReadPart:
    """One part of a document. A document without MIME is one part.

    kind: what the programs on a node take it for. media_type: of a MIME part, otherwise None. text: decoded, with LF line ends.
    line: the line of the document on which its content begins, from 1. offset: the same place in characters, from 0. size: bytes of
    the content in the document, still encoded. encoding: around the content, outermost first: C(base64), C(quoted-printable), C(gzip),
    C(base64, gzip), or C('').
    path: of the part in messages; C('') for a document without MIME. content_type, headers: of a MIME part.
    """

    index: int
    kind: Kind
    media_type: str | None
    text: str
    line: int
    offset: int
    size: int
    encoding: str
    path: str
    content_type: str = ""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class EmbeddedFile:
    """A file in C(write_files) of a cloud-config. part: its index. key: its place in the part, such as C(write_files[0].content).

    text: None if the document does not contain it as a whole, or if it is not text. kind: of the text.
    """

    part: int
    key: str
    path: str
    text: str | None
    kind: Kind


Effect = Literal["unknown", "argument", "kept", "ignored"]
"""Of text that was not understood. argument: it is an argument of the call of the image's script. kept: the fields contain it, and when
they are rendered, it runs at another time or in another shell. ignored: the programs on a node ignore it. unknown: anything else."""


@dataclass(frozen=True)
class NotUnderstood:
    """Text that was not understood, verbatim."""

    place: Place
    text: str
    reason: str
    effect: Effect = "unknown"


@dataclass(frozen=True)
class UserData:
    """User data that was read.

    layers: wrappers around the document, outermost first. document: the text inside them. problems: of the structure; their path
    is that of a part.
    family: None if the text does not tell it. cluster, node_group: in the form of the input; only what the text says.
    """

    layers: tuple[Layer, ...]
    document: str
    parts: tuple[ReadPart, ...]
    files: tuple[EmbeddedFile, ...]
    problems: tuple[Problem, ...]
    not_understood: tuple[NotUnderstood, ...]
    family: str | None = None
    cluster: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    node_group: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
