# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""User data for EC2: encoded, and checked against the size limit of EC2."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from ..artifacts.model import UserData
from ..errors import Problem, Problems, SpecError, nearest
from ..families.registry import resolve
from ..formats.compression import LIMIT, gzip_bytes
from ..model.spec import NodeSpec

ENCODINGS = ("plain", "base64", "gzip_base64")
RAW_ENCODINGS = (*ENCODINGS, "gzip")
"""C(gzip) gives bytes, which only a file can contain."""

_MERGED = "EKS merges its own part into the user data of a managed node group, and cannot read it compressed"

EKS_SHARE = 3072
"""Bytes of the limit that are reserved for the part that EKS or Karpenter adds to the user data."""


@dataclass(frozen=True)
class Rendered:
    """User data ready to use: the specification it came from, the document, and its encoded form."""

    spec: NodeSpec
    document: UserData
    encoding: str
    stored: bytes
    """The bytes that EC2 stores and counts: the document, compressed if the encoding is gzip."""

    @property
    def text(self) -> str:
        """The encoded document as text; C(gzip) has no text form."""
        return self.document.text if self.encoding == "plain" else base64.b64encode(self.stored).decode("ascii")


def render(cluster: Any, node_group: Any, encoding: str = "plain") -> Rendered:
    """The user data of C(node_group) in C(cluster). Raises C(SpecError)."""
    problems = Problems()
    if encoding not in RAW_ENCODINGS:
        guess = nearest(encoding, ENCODINGS)
        problems.add(
            "input.unknown_value", "encoding", "is not a known encoding", value=encoding, allowed=", ".join(ENCODINGS), nearest=guess
        )
        problems.raise_any()
    spec, family = resolve(cluster, node_group)
    document = family.user_data(spec)
    compressed = encoding.startswith("gzip")
    refused = document.gzip_refused or (_MERGED if spec.managed else None)
    if spec.mode == "karpenter" and encoding != "plain":
        message = "cannot be used, because Karpenter reads userData as text, and encodes it itself"
        problems.add("output.unsupported_encoding", "encoding", message, value=encoding, allowed="plain")
        refused = None
    if compressed and refused and document.text:
        problems.add("output.unsupported_encoding", "encoding", refused, value=encoding, allowed="plain, base64")
    data = document.text.encode("utf-8")
    stored = gzip_bytes(data) if compressed and data else data
    _check_size(spec, document, stored, not compressed and refused is None and spec.mode != "karpenter", problems)
    problems.raise_any()
    return Rendered(spec, document, encoding, stored)


def _check_size(spec: NodeSpec, document: UserData, stored: bytes, compressible: bool, problems: Problems) -> None:
    limit = LIMIT - EKS_SHARE if spec.completed else LIMIT
    if len(stored) <= limit:
        return
    owner = "EKS's" if spec.managed else "Karpenter's"
    kept = f", of which {EKS_SHARE:,} are reserved for {owner} own part" if spec.completed else ""
    pieces = ", ".join(f"{piece.name} {len(piece.text.encode('utf-8')):,}" for piece in document.fragments)
    fix = "move long commands into the image or an object that the node downloads"
    if compressible:
        smaller = len(gzip_bytes(document.text.encode("utf-8")))
        fix = f"set encoding: gzip_base64 ({smaller:,} bytes), or {fix}" if smaller <= limit else fix
    message = f"has {len(stored):,} bytes, but EC2 stores at most {LIMIT:,}{kept}; bytes by part: {pieces}"
    problems.add("user_data.too_large", "user_data", message, fix=fix)


def render_text(cluster: Any, node_group: Any, encoding: str = "plain") -> str:
    """The encoded user data as text: C(plain), C(base64) or C(gzip_base64). Raises C(SpecError)."""
    if encoding == "gzip":
        fix = "use gzip_base64, or use the action render, which writes a file"
        raise SpecError(
            [
                Problem(
                    "output.unsupported_encoding",
                    "encoding",
                    "produces bytes, which templates cannot process",
                    value=encoding,
                    allowed=", ".join(ENCODINGS),
                    fix=fix,
                )
            ]
        )
    return render(cluster, node_group, encoding).text
