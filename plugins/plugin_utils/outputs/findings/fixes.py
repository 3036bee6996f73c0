# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Corrects a file with user data, and shows what changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...formats.secrets import find_secrets
from ...kubelet_fields import Version
from ...lint.finding import Finding
from ...lint.fix import fix
from ...sources.read import read
from .. import folder
from ..source_files import File


@dataclass(frozen=True)
class FixedFile:
    """A file before and after its corrections. corrected: the findings that are gone."""

    path: str
    before: bytes
    content: bytes
    corrected: tuple[Finding, ...]

    def write(self) -> None:
        """Write the file if it changed. Raises C(SpecError)."""
        if self.content != self.before:
            folder.replace_content(self.path, self.content, "sources")

    def rows(self) -> list[dict[str, Any]]:
        """The corrected findings as plain data."""
        return [{"source": self.path, **finding.plain()} for finding in self.corrected]

    def diff(self) -> dict[str, str]:
        """The change for C(--diff)."""
        texts = [_shown(content) for content in (self.before, self.content)]
        return {"before_header": self.path, "after_header": self.path, "before": texts[0], "after": texts[1]}


def fixed_file(file: File, family: str | None, version: Version) -> FixedFile:
    """Correct user data itself. Files of other tools stay as they are: the tool has the source of their text."""
    if read(file.content) is not None:
        return FixedFile(file.path, file.content, file.content, ())
    result = fix(file.content, family, version)
    return FixedFile(file.path, file.content, result.content, result.corrected)


def _shown(content: bytes) -> str:
    text = content.decode("utf-8", "replace")
    return f"{len(content)} bytes, not shown: they may contain secrets\n" if find_secrets(text) else text
