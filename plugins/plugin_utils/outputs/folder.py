# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads and writes the directory of rendered user data on the controller."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import Problem, Problems, SpecError
from ..model.schema import text
from .batch import Output, Source, diff


def check_paths(options: Mapping[str, Any]) -> None:
    """Raise C(SpecError) for paths that are not text. The argument check of Ansible would convert a list to a directory name."""
    problems = Problems()
    sources = options.get("sources")
    named = [("", options), *((f"sources[{index}].", one) for index, one in enumerate(sources if isinstance(sources, list) else ()))]
    for prefix, given in named:
        for name in ("eksctl_config", "output_dir") if isinstance(given, Mapping) else ():
            if given.get(name) is not None:
                text(allowed="a path")(given[name], f"{prefix}{name}", problems)
    problems.raise_any()


def read(path: str) -> bytes | None:
    """The content of a file, or None if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def read_text(path: str, option: str) -> str:
    """The text of a file that the user named in C(option). Raises C(SpecError) if it cannot be read."""
    content = read(path)
    if content is None:
        raise SpecError([Problem("input.unreadable_file", option, "cannot be read", value=path, fix="use the path of an existing file")])
    return content.decode("utf-8", "replace")


def source(options: Mapping[str, Any]) -> Source:
    """One source of the action render, with the text of the file in C(eksctl_config)."""
    path = options["eksctl_config"]
    return Source(options["cluster"], options["node_groups"], read_text(path, "eksctl_config") if path else None)


def changed(outputs: Iterable[Output], folder: str) -> list[Output]:
    """The outputs whose file is missing or differs."""
    return [output for output in outputs if output.file_name and read(f"{folder}/{output.file_name}") != output.content]


def diffs(outputs: Iterable[Output], folder: str) -> list[dict[str, str]]:
    """The diffs of these outputs, for C(--diff)."""
    return [diff(output, folder, read(f"{folder}/{output.file_name}")) for output in outputs]


def write(outputs: Iterable[Output], folder: str) -> None:
    """Write the outputs, and replace each file atomically. Raises C(SpecError) if the directory cannot be written."""
    for output in outputs:
        path = f"{folder}/{output.file_name}"
        try:
            os.makedirs(folder, exist_ok=True)
            _replace(path, output.content, 0o600 if output.rendered.spec.allow_secrets else 0o644)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise SpecError(
                [Problem("output.unwritable_directory", "output_dir", f"{path} cannot be written: {reason}", value=folder)]
            ) from error


def _replace(path: str, content: bytes, mode: int) -> None:
    handle, temporary = tempfile.mkstemp(prefix=".render-", dir=os.path.dirname(path))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
