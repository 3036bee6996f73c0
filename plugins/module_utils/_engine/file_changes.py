# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the files of a plan with those of the node: what to write, restore or remove, and what the manifest says afterwards.

A change without an effect on the program that reads the file, such as another comment, restarts nothing.
A file that already is as planned counts as ours: user data made by this collection has written it.
"""

from __future__ import annotations

import grp
import hashlib
import json
import os
import pwd
from typing import Any, Callable, Iterable, NamedTuple, Sequence

from .._node import files, nodeadm_files
from .._node.diff import Diff
from .._node.errors import ApplyRefused
from .._node.files import Change, Current, Reader
from .._transaction.store import Store
from .manifest import ManagedFile, Manifest, Original
from .plan import ImageScriptStep, Plan

_SYSTEMD_FOLDERS = ("/etc/systemd/", "/usr/lib/systemd/", "/run/systemd/")


class FileChange(NamedTuple):
    """A file that has to change. C(action): how the result describes it.

    C(has_effect): whether the programs that read the file behave differently afterwards. C(is_secret): no diff shows its content.
    """

    change: Change
    current: Current | None
    has_effect: bool
    read_by: Sequence[str]
    is_secret: bool
    action: str


class Originals:
    """What was on the node before us, below C(originals/) of the state folder, and what this run adds there."""

    def __init__(self, store: Store, manifest: Manifest) -> None:
        self.folder = os.path.join(store.folder, "originals")
        self._manifest = manifest
        self._added: dict[str, bytes] = {}

    def is_known(self, path: str) -> bool:
        """Whether an earlier run, or a program that it ran, has written this path."""
        return path in self._manifest.image or path in self._manifest.files

    def known(self, path: str) -> Original | None:
        """What was at a known path before us; None if there was no file."""
        if path in self._manifest.image:
            return self._manifest.image[path]
        return self._manifest.files[path].original if path in self._manifest.files else None

    def keep(self, path: str, current: Current | None) -> Original | None:
        """The entry for a file as it is now. The transaction stores its content."""
        if current is None:
            return None
        name = hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
        self._added[name] = current.content
        return Original(name, current.mode, current.uid, current.gid)

    def before_write(self, path: str, current: Current | None) -> Original | None:
        """The entry for a path that is about to be written: the one that is known, otherwise the file as it is now."""
        return self.known(path) if self.is_known(path) else self.keep(path, current)

    def restoring(self, path: str, original: Original | None) -> Change:
        """The change that restores an original."""
        if original is None:
            return Change(path, None)
        content = self._added.get(original.kept)
        if content is None:
            stored = files.read(os.path.join(self.folder, original.kept))
            if stored is None:
                raise ApplyRefused(f"{self.folder}/{original.kept} is missing, which holds the old content of {path}", "put it there")
            content = stored.content
        return Change(path, content, original.mode, original.uid, original.gid)

    def changes(self, manifest: Manifest) -> list[Change]:
        """The changes of C(originals/) that belong to a new manifest."""
        needed = _kept_names(manifest)
        added = [Change(os.path.join(self.folder, name), content, 0o600) for name, content in self._added.items() if name in needed]
        removed = sorted(_kept_names(self._manifest) - needed)
        return added + [Change(os.path.join(self.folder, name), None) for name in removed]


def _kept_names(manifest: Manifest) -> set[str]:
    originals = [file.original for file in manifest.files.values()] + list(manifest.image.values())
    return {original.kept for original in originals if original is not None}


class Comparison(NamedTuple):
    """C(changes): the files that have to change. C(files): the files for the new manifest."""

    changes: list[FileChange]
    files: dict[str, ManagedFile]


def compare(
    plan: Plan,
    manifest: Manifest,
    originals: Originals,
    containerd_dump: Callable[[bytes], str | None] | None,
    label: Callable[[str], str | None],
    read: Reader | None = None,
) -> Comparison:
    """Compare the plan with the node. C(containerd_dump): see C(is_equivalent). C(label): the SELinux context for a new file at a path."""
    read = read or files.read
    changes: list[FileChange] = []
    managed: dict[str, ManagedFile] = {}
    for file in plan.files:
        path = file.path
        current = read(path)
        uid, gid = _id(pwd.getpwnam, file.owner, path), _id(grp.getgrnam, file.group, path)
        earlier = manifest.files.get(path)
        if current == Current(file.content, file.mode, uid, gid):
            original = earlier.original if earlier is not None else originals.known(path)
        else:
            original = originals.before_write(path, current)
            change = Change(path, file.content, file.mode, uid, gid, label(path) if current is None else None)
            has_effect = current is None or not is_equivalent(file.form, current.content, file.content, containerd_dump)
            is_secret = file.sensitive or (_is_private(current) if earlier is None else earlier.sensitive)
            changes.append(FileChange(change, current, has_effect, file.read_by, is_secret, f"write {path}"))
        managed[path] = ManagedFile(hashlib.sha256(file.content).hexdigest(), file.read_by, file.sensitive, original)
    changes += _leftovers(plan, manifest, originals, read)
    return Comparison(changes, managed)


def _leftovers(plan: Plan, manifest: Manifest, originals: Originals, read: Reader) -> list[FileChange]:
    """Restore or remove what an earlier run has written and this plan does not contain."""
    planned, programs = plan.paths, written_by_programs(plan)
    found = []
    for path, file in sorted(manifest.files.items()):
        if path not in planned:
            found.append(restore(path, file.original, originals, read, file.read_by, file.sensitive))
    for path, original in sorted(manifest.image.items()):
        if path not in planned and path not in programs and path not in manifest.files:
            found.append(restore(path, original, originals, read))
    for path in manifest.owned:
        if path not in planned and path not in plan.owned:
            found.append(restore(path, None, originals, read, is_secret=True))
    return [change for change in found if change is not None]


def written_by_programs(plan: Plan) -> set[str]:
    """The files that programs of the image write when the steps of a plan run them."""
    paths = set(nodeadm_files.WRITES if plan.runs_nodeadm else ())
    for step in plan.steps:
        if isinstance(step, ImageScriptStep):
            paths.update(step.writes)
    return paths


def restore(
    path: str, original: Original | None, originals: Originals, read: Reader, read_by: Sequence[str] = (), is_secret: bool = False
) -> FileChange | None:
    """The change that restores an original; None if the file is like that already."""
    current = read(path)
    change = originals.restoring(path, original)
    if current is None and change.content is None:
        return None
    if current is not None and tuple(current) == (change.content, change.mode, change.uid, change.gid):
        return None
    has_effect = current is None or current.content != change.content
    verb = "remove" if change.content is None else "restore"
    return FileChange(change, current, has_effect, read_by, is_secret or _is_private(current), f"{verb} {path}")


def _is_private(current: Current | None) -> bool:
    """Whether only root can read a file. Then a diff should not show it to others."""
    return current is not None and not current.mode & 0o044


def _id(look_up: Callable[[str], Any], name: str, path: str) -> int:
    try:
        return int(look_up(name)[2])
    except KeyError:
        raise ApplyRefused(f"{path} should belong to {name!r}, but the node has no such user or group") from None


def missing_folders(plan: Plan) -> list[tuple[str, int]]:
    """The folders of the plan that do not exist: [(path, mode)]."""
    found = []
    for folder in plan.directories:
        handle = files.open_folder(folder.path)
        if handle is None:
            found.append((folder.path, folder.mode))
        else:
            os.close(handle)
    return found


def changes_units(changes: Iterable[FileChange]) -> bool:
    """Whether a file of systemd changes, so that systemd has to read its files again."""
    return any(item.change.path.startswith(_SYSTEMD_FOLDERS) for item in changes)


def diff_of(item: FileChange) -> Diff:
    """The before and after of one file, as C(--diff) shows it."""
    path, change, current = item.change.path, item.change, item.current
    before = _shown(None if current is None else current.content, item.is_secret)
    after = _shown(change.content, item.is_secret)
    if item.is_secret and current is not None and before and after:
        after = "(another content that is not shown)\n" if current.content != change.content else before
    old = " (absent)" if current is None else f" ({current.mode:04o})"
    new = " (absent)" if change.content is None else f" ({change.mode:04o})"
    return Diff(f"{path}{old}", f"{path}{new}", before, after)


def _shown(content: bytes | None, is_secret: bool) -> str:
    if content is None:
        return ""
    if is_secret:
        return "(content that is not shown)\n"
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return "(binary content)\n"


def is_equivalent(form: str, before: bytes, after: bytes, containerd_dump: Callable[[bytes], str | None] | None = None) -> bool:
    """Whether two contents have the same effect. When in doubt they do not.

    C(containerd_dump): returns what containerd makes of a configuration, None if it cannot read it.
    """
    if before == after:
        return True
    if form == "json":
        return _is_same_json(before, after)
    if form == "unit":
        return unit_directives(before) == unit_directives(after)
    if form == "containerd" and containerd_dump is not None:
        old = containerd_dump(before)
        return old is not None and old == containerd_dump(after)
    return False


def _is_same_json(before: bytes, after: bytes) -> bool:
    try:
        # Texts are compared, because true and 1 are equal as values.
        return _canonical(before) == _canonical(after)
    except (ValueError, RecursionError):
        return False


def _canonical(content: bytes) -> str:
    return json.dumps(json.loads(content.decode("utf-8")), sort_keys=True)


def unit_directives(content: bytes) -> list[str]:
    """The lines of a unit file that systemd acts on, continued lines joined."""
    found = []
    continued = ""
    for line in content.decode("utf-8", "surrogateescape").split("\n"):
        if line.lstrip()[:1] in ("#", ";") or (not continued and not line.strip()):
            continue  # systemd also skips a comment inside a continued line
        if line.endswith("\\"):
            continued += line[:-1] + " "
            continue
        found.append((continued + line).strip())
        continued = ""
    return found + ([continued.strip()] if continued else [])
