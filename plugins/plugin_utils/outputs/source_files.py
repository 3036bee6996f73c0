# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the files with user data that a user named: files, directories and patterns."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Problems, SpecError
from ..formats.compression import unwrap
from ..formats.user_data_kind import classify
from ..model.schema import type_name
from ..sources.read import read as read_sources
from . import folder

_LARGEST = 64_000_000
"""Bytes of a file in a directory that is read: plans of large configurations, but not images and archives."""


@dataclass(frozen=True)
class File:
    """A file with its content.

    path: as the user wrote it, or below a directory that the user wrote. option: the entry that names it, such as C(sources[0]).
    """

    path: str
    content: bytes
    option: str


@dataclass(frozen=True)
class Files:
    """found: files to read, each once. unchecked: paths of files in a directory that do not begin like user data or another source."""

    found: tuple[File, ...]
    unchecked: tuple[str, ...]


def find(sources: Sequence[Any], problems: Problems) -> Files:
    """The files, in the order of the sources; those of a directory and of a pattern are sorted. Mappings are left out. Report
    paths without a file."""
    found: dict[str, File] = {}
    unchecked: list[str] = []
    for index, source in enumerate(sources):
        option = f"sources[{index}]"
        if not isinstance(source, str):
            if not isinstance(source, Mapping):
                problems.add("input.wrong_type", option, f"must be a path or a mapping, not {type_name(source)}", fix="write a path")
            continue
        # A name that exists is not expanded, whatever characters it contains.
        path = source if os.path.lexists(source) else os.path.expandvars(os.path.expanduser(source))
        if os.path.isdir(path):
            content = dict(_of_directory(path))
            wanted = {name: File(name, data, option) for name, data in content.items() if data is not None and _is_source(data)}
            found |= {name: file for name, file in wanted.items() if name not in found}
            unchecked += [name for name in content if name not in wanted]
            if not wanted:
                fix = "name the files, which are then checked whatever they contain"
                problems.add("input.unreadable_file", option, "is a directory without user data", value=path, fix=fix)
            continue
        names = [path]
        if glob.has_magic(path) and not os.path.lexists(path):
            names = sorted(name for name in glob.glob(path, recursive=True) if os.path.isfile(name))
            if not names:
                problems.add("input.unreadable_file", option, "matches no file", value=path, fix="correct the pattern, or remove it")
        for name in names:
            try:
                found.setdefault(name, File(name, folder.read_content(name, option), option))
            except SpecError as error:
                problems.extend(error.problems)
    return Files(tuple(found.values()), tuple(unchecked))


def other_versions(path: str, names: Sequence[str], problems: Problems) -> dict[int, File]:
    """The files with which the files C(names) are compared, by their index. Report a path that cannot be used.

    path: a file for the only name, or a directory with files of the same names.
    """
    option = "compare_to"
    if os.path.isdir(path):
        paths = {index: os.path.join(path, os.path.basename(name)) for index, name in enumerate(names)}
        return {index: File(one, content, option) for index, one in paths.items() if (content := folder.read(one)) is not None}
    if len(names) != 1:
        message, fix = f"is a file, and there are {len(names)} user data to compare with it", "use a directory with files of the same names"
        problems.add("input.conflict", option, message, value=path, fix=fix)
        return {}
    try:
        return {0: File(path, folder.read_content(path, option), option)}
    except SpecError as error:
        problems.extend(error.problems)
        return {}


def _of_directory(path: str) -> Iterator[tuple[str, bytes | None]]:
    """All files below a directory except hidden ones, sorted. None for what is too large or cannot be read."""
    for parent, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            full = os.path.join(parent, name)
            if not name.startswith(".") and os.path.isfile(full):
                yield full, folder.read(full) if os.path.getsize(full) <= _LARGEST else None


def _is_source(content: bytes) -> bool:
    if (texts := read_sources(content)) is not None:
        return any(text.path for text in texts)
    return classify(unwrap(content, "", Problems()).text) not in ("unknown", "empty")
