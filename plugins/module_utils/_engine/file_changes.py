# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a plan beside those of the node: what has to be written, put back or removed, and what the manifest says afterwards.

The manifest's C(files) are {path: {"sha256", "read_by", "sensitive", "original"}}. An original is what lay there before us: null, or
{"kept": name below originals/, "mode", "uid", "gid"}. C(image) holds originals of files that programs of the image write.
A file that already was as it has to be counts as ours: user data that this collection made had laid it down.
"""

from __future__ import annotations

import grp
import hashlib
import os
import pwd
from typing import NamedTuple

from .._node import files as _files
from .._node.files import ApplyRefused, Change
from . import equivalence, steps
from .plan import mode_of

UNITS = ("/etc/systemd/", "/usr/lib/systemd/", "/run/systemd/")


class Item(NamedTuple):
    """One file that has to change. C(effect): what reads it behaves differently then. C(action): what a user reads of it."""

    change: Change
    current: _files.Current | None
    effect: bool
    read_by: tuple
    secret: bool
    action: str


class Originals:
    """What lay on the node before us, below C(originals/) of the state folder, and what this run adds to it or takes away."""

    def __init__(self, store, manifest):
        self.folder = os.path.join(store.folder, "originals")
        self._manifest = manifest
        self._kept = {}
        self._before = _names(manifest)

    def entry(self, path):
        """(known, original) of a path; C(known) False means that we never touched it."""
        for where in ("image", "files"):
            found = self._manifest.get(where, {}).get(path)
            if where == "files" and found is not None:
                return True, found["original"]
            if path in self._manifest.get(where, {}):
                return True, found
        return False, None

    def keep(self, path, current):
        """The entry for a file as it is now; its content is kept with the transaction."""
        if current is None:
            return None
        name = hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
        self._kept[name] = current.content
        return {"kept": name, "mode": current.mode, "uid": current.uid, "gid": current.gid}

    def original(self, path, current):
        """The entry for a path that we are about to write: what is kept already, else what is there now."""
        known, entry = self.entry(path)
        return entry if known else self.keep(path, current)

    def back(self, path, entry):
        """The change that brings an original back."""
        if entry is None:
            return Change(path, None)
        name = entry["kept"]
        content = self._kept.get(name)
        if content is None:
            kept = _files.read(os.path.join(self.folder, name))
            if kept is None:
                raise ApplyRefused(f"{self.folder}/{name} is missing, which holds the old content of {path}: put it there")
            content = kept.content
        return Change(path, content, entry["mode"], entry["uid"], entry["gid"])

    def changes(self, manifest):
        """The changes of C(originals/) that belong to a new manifest."""
        needed = _names(manifest)
        added = [Change(os.path.join(self.folder, name), content, 0o600) for name, content in self._kept.items() if name in needed]
        return added + [Change(os.path.join(self.folder, name), None) for name in sorted(self._before - needed)]


def _names(manifest):
    entries = [file.get("original") for file in manifest.get("files", {}).values()] + list(manifest.get("image", {}).values())
    return {entry["kept"] for entry in entries if entry}


def compare(plan, manifest, originals, dump, label, read=None):
    """(items that have to change, the manifest's new C(files)).

    C(dump): see C(_effective.same). C(label): the SELinux context for a new file at a path, or None.
    """
    read = read or _files.read
    items, files = [], {}
    before = manifest.get("files", {})
    for file in plan["files"]:
        path, content = file["path"], file["content"].encode("utf-8", "surrogateescape")
        current = read(path)
        uid, gid = _number(pwd.getpwnam, file["owner"], path), _number(grp.getgrnam, file["group"], path)
        right = current is not None and (current.mode, current.uid, current.gid) == (mode_of(file), uid, gid)
        if right and current.content == content:
            original = before[path]["original"] if path in before else originals.entry(path)[1]
        else:
            original = originals.original(path, current)
            change = Change(path, content, mode_of(file), uid, gid, label(path) if current is None else None)
            effect = current is None or not equivalence.same(file["form"], current.content, content, dump)
            secret = file["sensitive"] or before.get(path, {}).get("sensitive", False) or (path not in before and _private(current))
            items.append(Item(change, current, effect, tuple(file["read_by"]), secret, f"write {path}"))
        digest = hashlib.sha256(content).hexdigest()
        files[path] = {"sha256": digest, "read_by": file["read_by"], "sensitive": file["sensitive"], "original": original}
    items += _left(plan, manifest, originals, read)
    return items, files


def _left(plan, manifest, originals, read):
    """What an earlier run wrote and the plan has no more."""
    wanted = {file["path"] for file in plan["files"]}
    items, before = [], manifest.get("files", {})
    for path, entry in sorted(before.items()):
        if path not in wanted:
            items.append(put_back(path, entry["original"], originals, read, tuple(entry["read_by"]), entry["sensitive"]))
    programs = steps.written_by_programs(plan)
    for path, entry in sorted(manifest.get("image", {}).items()):
        if path not in wanted and path not in programs and path not in before:
            items.append(put_back(path, entry, originals, read))
    for path in manifest.get("owned", []):
        if path not in wanted and path not in plan["owned"]:
            items.append(put_back(path, None, originals, read, (), True))
    return [item for item in items if item is not None]


def put_back(path, entry, originals, read=None, read_by=(), secret=False):
    """The item that brings an original back; None where it is there already."""
    current = (read or _files.read)(path)
    change = originals.back(path, entry)
    if current is None and change.content is None:
        return None
    if current is not None and tuple(current) == (change.content, change.mode, change.uid, change.gid):
        return None
    effect = current is None or current.content != change.content
    verb = "remove" if change.content is None else "restore"
    return Item(change, current, effect, read_by, secret or _private(current), f"{verb} {path}")


def _private(current):
    """Whether others than root may not read a file: then nobody else should read it in a diff."""
    return current is not None and not current.mode & 0o044


def _number(look_up, name, path):
    try:
        found = look_up(name)
    except KeyError:
        raise ApplyRefused(f"the node knows no user or group {name!r}, to whom {path} shall belong") from None
    return found[2]


def folders(plan):
    """The folders that have to be made: [(path, mode)]."""
    found = []
    for folder in plan["directories"]:
        handle = _files.open_folder(folder["path"])
        if handle is None:
            found.append((folder["path"], mode_of(folder)))
        else:
            os.close(handle)
    return found


def touches_units(items):
    """Whether a file of systemd changes, so that it has to read its files again."""
    return any(item.change.path.startswith(UNITS) for item in items)


def diff_of(item):
    """The before and after of one file, as C(--diff) shows it."""
    path = item.change.path
    before, after = (_shown(content, item.secret) for content in (item.current and item.current.content, item.change.content))
    old, new = _mode(item.current), _mode(item.change if item.change.content is not None else None)
    if item.secret and before and after:
        after = "(another content that is not shown)\n" if item.current.content != item.change.content else before
    return {"before_header": f"{path}{old}", "after_header": f"{path}{new}", "before": before, "after": after}


def _mode(file):
    return " (absent)" if file is None else f" ({file.mode:04o})"


def _shown(content, secret):
    if content is None:
        return ""
    if secret:
        return "(content that is not shown)\n"
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return "(binary content)\n"
