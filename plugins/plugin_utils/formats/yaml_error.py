# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The error of the YAML reader and writer."""

from __future__ import annotations


class YamlError(ValueError):
    """A YAML text that cannot be read, or a value that cannot be written. C(line) and C(column) start at 1."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        self.message, self.line, self.column = message, line, column
        super().__init__(message if line is None else f"line {line}, column {column}: {message}")
