# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads and writes the directory of rendered user data on the controller."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Problem, Problems, SpecError
from ..model.schema import text
from . import manifest
from .batch import Output, Source, diff, removed_text
from .named_files import with_files


def check_paths(options: Mapping[str, Any]) -> None:
    """Raise C(SpecError) for paths that are not text. The argument check of Ansible would convert a list to a directory name."""
    problems = Problems()
    sources = options.get("sources")
    named = [("", options), *((f"sources[{index}].", one) for index, one in enumerate(sources if isinstance(sources, list) else ()))]
    for prefix, given in named:
        for name in ("eksctl_config", "files_dir", "output_dir") if isinstance(given, Mapping) else ():
            if given.get(name) is not None:
                text(allowed="a path")(given[name], f"{prefix}{name}", problems)
    problems.raise_any()


def absolute(path: str) -> str:
    """A path from the root. Relative paths start at the current directory."""
    return os.path.abspath(path)


def read(path: str) -> bytes | None:
    """The content of a file, or None if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def read_text(path: str, option: str) -> str:
    """The text of a file that the user named in C(option). Raises C(SpecError) if it cannot be read."""
    return read_content(path, option).decode("utf-8", "replace")


def read_content(path: str, option: str) -> bytes:
    """The same as C(read_text), without decoding."""
    full = os.path.abspath(path)
    content = read(full)
    if content is None:
        message, fix = f"cannot be read: there is no readable file {full}", "use the path of an existing file"
        raise SpecError([Problem("input.unreadable_file", option, message, value=path, fix=fix)])
    return content


def source(options: Mapping[str, Any], files_dir: str) -> Source:
    """One source of the action render, with the text of the file in C(eksctl_config), and with the files of the node groups."""
    path, groups = options["eksctl_config"], options["node_groups"]
    read_groups = [with_files(group, files_dir) for group in groups] if isinstance(groups, list) else groups
    return Source(options["cluster"], read_groups, read_text(path, "eksctl_config") if path else None)


@dataclass(frozen=True)
class Change:
    """One file that is written, or removed if C(after) is None. C(place) is its path below the output directory."""

    place: str
    before: bytes | None
    after: bytes | None
    output: Output | None = None
    """The group that is written; None for the manifest and for a file that is removed."""
    private: bool = False
    """Whether the text may contain secrets: other users cannot read the file, and diffs show only sizes."""


@dataclass(frozen=True)
class Changes:
    """All changes of an output directory, in the order in which they are made."""

    folder: str
    files: tuple[Change, ...]
    kept: tuple[str, ...]
    """Files that C(prune) does not remove, because they changed after they had been rendered."""

    @property
    def removed(self) -> list[str]:
        """The files that are removed."""
        return sorted(change.place for change in self.files if change.after is None)


def check_prune(prune: bool, limit: str | None) -> None:
    """Raise C(SpecError) if C(prune) would remove the groups of the hosts that C(--limit) excludes."""
    if prune and limit:
        message = "cannot be used with --limit, because it would remove the files of the other hosts"
        raise SpecError([Problem("output.prune_with_limit", "prune", message, fix="run it without --limit")])


def plan_changes(outputs: Sequence[Output], folder: str, *, prune: bool = False) -> Changes:
    """Compare the directory with what it should contain. Raises C(SpecError) for an unreadable manifest.

    The manifest also lists groups of earlier runs that this run does not render. C(prune) removes their files.
    """
    path = f"{folder}/{manifest.FILE}"
    before = read(path)
    previous = manifest.load(before, path) if before is not None else ()
    entries = {entry.place: entry for entry in map(manifest.entry_of, outputs)}
    kept: list[str] = []
    changes: list[Change] = []
    for entry in previous:
        current = entries.get(entry.place)
        if current is not None:
            # EKS supplies the whole user data of the group now, so that an old file would be wrong.
            removes = entry.file is not None and current.file is None and _exists(folder, entry.place)
        elif entry.file is not None and (not _exists(folder, entry.place) or _is_other_name(entry.place, entries, folder)):
            continue
        elif not prune:
            entries[entry.place] = entry
            continue
        else:
            removes = entry.file is not None and _digest(read(f"{folder}/{entry.place}")) == entry.sha256
            if entry.file is not None and not removes:
                kept.append(entry.place)
                entries[entry.place] = entry
        if removes:
            changes.append(_removal(entry.place, folder))
    for output in outputs:
        if output.file_name and (old := read(f"{folder}/{output.file_name}")) != output.content:
            changes.append(Change(output.file_name, old, output.content, output, output.rendered.spec.allow_secrets))
    content = manifest.dump(entries.values())
    if content != before:
        changes.append(Change(manifest.FILE, before, content))
    return Changes(folder, tuple(changes), tuple(kept))


def _exists(folder: str, place: str) -> bool:
    return os.path.lexists(f"{folder}/{place}")


def _is_other_name(place: str, entries: Iterable[str], folder: str) -> bool:
    """Whether a group that is rendered writes to the same file, because the file system ignores case."""
    same = [name for name in entries if name != place and name.casefold() == place.casefold() and _exists(folder, name)]
    return any(os.path.samefile(f"{folder}/{name}", f"{folder}/{place}") for name in same)


def _digest(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()


def _removal(place: str, folder: str) -> Change:
    path = f"{folder}/{place}"
    return Change(place, read(path), None, private=os.lstat(path).st_mode & 0o077 == 0)


def diffs(changes: Changes) -> list[dict[str, str]]:
    """The diffs of these changes, for C(--diff)."""
    return [_diff(change, f"{changes.folder}/{change.place}") for change in changes.files]


def _diff(change: Change, path: str) -> dict[str, str]:
    if change.output is not None:
        return diff(change.output, path, change.before)
    if change.place == manifest.FILE:
        texts = [(content or b"").decode("ascii", "replace") for content in (change.before, change.after)]
    else:
        texts = [removed_text(change.before or b"", private=change.private), ""]
    headers = [path if content is not None else "(no file)" for content in (change.before, change.after)]
    return {"before_header": headers[0], "after_header": headers[1], "before": texts[0], "after": texts[1]}


def refusals(changes: Changes) -> list[Problem]:
    """One problem for each change, for C(fail_on_change)."""
    fix = "run render without fail_on_change, and commit the result"
    return [Problem("output.would_change", f"{changes.folder}/{change.place}", _verb(change), fix=fix) for change in changes.files]


def result(changes: Changes) -> dict[str, Any]:
    """The changes as plain data, for the result of the task."""
    return {"changed": bool(changes.files), "removed": changes.removed, "kept": list(changes.kept)}


def notes(changes: Changes) -> list[str]:
    """Lines for the table: files that are removed, and files that C(prune) keeps."""
    removed = [f"removed: {changes.folder}/{place}" for place in changes.removed]
    return [*removed, *(f"not removed: {changes.folder}/{place} changed after it had been rendered" for place in changes.kept)]


def _verb(change: Change) -> str:
    if change.after is None:
        return "would be removed"
    return "would be created" if change.before is None else "would change"


def write(changes: Changes) -> None:
    """Make the changes, and replace each file atomically. Raises C(SpecError) if the directory cannot be written."""
    for change in changes.files:
        path = f"{changes.folder}/{change.place}"
        try:
            if change.after is None:
                _remove(path, changes.folder)
            else:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                _replace(path, change.after, 0o600 if change.private else 0o644)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            message = f"{path} cannot be {'removed' if change.after is None else 'written'}: {reason}"
            raise SpecError([Problem("output.unwritable_directory", "output_dir", message, value=changes.folder)]) from error


def write_file(path: str, content: bytes, option: str, *, private: bool = False) -> bool:
    """Write one file, which the user named in C(option). Returns whether it changed. Raises C(SpecError) if it cannot be written.

    private: other users can read neither the file nor a directory that is created for it.
    """
    full = os.path.abspath(path)
    if read(full) == content:
        return False
    try:
        os.makedirs(os.path.dirname(full), 0o700 if private else 0o777, exist_ok=True)
        _replace(full, content, 0o600 if private else 0o644)
    except OSError as error:
        message = f"{full} cannot be written: {error.strerror or type(error).__name__}"
        raise SpecError([Problem("output.unwritable_directory", option, message, value=path)]) from error
    return True


def replace_content(path: str, content: bytes, option: str) -> None:
    """Replace the content of an existing file atomically; its mode stays. Raises C(SpecError) if it cannot be written."""
    full = os.path.realpath(path)
    try:
        _replace(full, content, os.stat(full).st_mode & 0o7777)
    except OSError as error:
        message = f"{full} cannot be written: {error.strerror or type(error).__name__}"
        raise SpecError([Problem("output.unwritable_directory", option, message, value=path)]) from error


def _remove(path: str, folder: str) -> None:
    """Remove a file, and the directory of its cluster if it was the last one."""
    os.unlink(path)
    parent = os.path.dirname(path)
    if parent != folder and not os.listdir(parent):
        os.rmdir(parent)


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
