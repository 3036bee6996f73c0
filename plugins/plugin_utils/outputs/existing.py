# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decodes an existing user data file into readable parts, for diffs."""

from __future__ import annotations

from ..artifacts.model import Fragment
from ..errors import Problems
from ..formats import mime, mime_reader
from ..formats.compression import unpack
from ..formats.user_data_kind import classify


def fragments_of(content: bytes) -> tuple[Fragment, ...]:
    """Return the content of a file for a diff: MIME parts by content type, anything else in one piece. Never raises."""
    problems = Problems()
    text = unpack(content, "file", problems)
    if len(problems):
        return (Fragment("unreadable file", f"{len(content)} bytes that are no user data\n"),)
    if classify(text) != "mime":
        return (Fragment("document", text),) if text else ()
    parts = mime_reader.read(text, "file", problems)
    if len(problems):
        return (Fragment("document", text),)
    return tuple(Fragment(part.content_type, mime.decoded(part, "file", problems)) for part in parts)
