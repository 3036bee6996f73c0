# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Change files of a node and what runs on it as one: either all of it happens or nothing, whatever interrupts it.

    store = Store()
    with store.lock():                          # LockHeld (a ApplyRefused): somebody else is at it
        recovered = store.recover()             # None, "finished" or "undone"; RecoveryFailed
        ... look at the node, decide ...
        store.prepare()
        Transaction(store, changes, folders, forward, back, snapshots, manifest).run()

Order, each step durable before the next: C(transaction/abort) says how to undo the staging; new contents lie beside their targets, old
inodes are kept by hard links; C(forward.ready), C(back.ready) and C(finish) say everything there is to do. Renaming forward.ready to
forward is the commit. From there on only the program C(recover) works, the same one that works after a crash.
"""

from __future__ import annotations

import json
import os

from .._node import files as _files
from .._node.errors import ApplyRefused
from . import operation_log
from .store import RecoveryFailed


class StepFailed(Exception):
    """A step of a committed transaction failed, and the transaction was undone: the old state is back.

    C(command) is the Command, or None when a file could not be switched; C(status) its exit status; C(output) what it printed (or why
    the file could not be switched). C(not_restored) are the Commands of the way back that failed in their turn.
    """

    def __init__(self, command, output, status=None, not_restored=()):
        what = f"{command} failed with status {status}" if command is not None else "a file could not be switched"
        super().__init__(f"{what}: {output.strip() or 'it printed nothing'}")
        self.command = command
        self.output = output
        self.status = status
        self.not_restored = list(not_restored)


class Transaction:
    """What shall happen, all of it or nothing.

    C(changes): list of Change. C(folders): [(path, mode)] made where they are missing (those that exist stay as they are; folders on the
    way to a changed file are made with 0755 anyway); undone, they go when they are empty. C(forward): Commands after the files are
    switched, in order; the first that fails turns everything back. C(back): Commands after the old files are back; their failures are
    reported, nothing more. C(snapshots): paths of files that commands edit; they are copied before, and undoing puts the copies back or
    removes what was not there. C(manifest): what Store.manifest() returns from then on; {} removes it, None leaves it as it is.
    """

    def __init__(self, store, changes=(), folders=(), forward=(), back=(), snapshots=(), manifest=None):
        self._store = store
        self._changes = list(changes)
        self._folders = list(folders)
        self._forward = list(forward)
        self._back = list(back)
        self._snapshots = [path for path in snapshots if path not in {change.path for change in self._changes}]
        self._manifest = manifest
        for command in self._forward + self._back:
            operation_log.check(command)

    def run(self, progress=None):
        """All of it. Raises StepFailed after having gone back, ApplyRefused when nothing was touched or all is undone, RecoveryFailed."""
        self._store.must_be_free()
        try:
            self.stage()
            self.commit()
            self.forward(progress)
        except (StepFailed, RecoveryFailed):
            raise
        except OSError as error:
            self.undo()
            raise ApplyRefused(f"this node could not be changed and is as it was: {error.strerror or error}") from error
        except BaseException:
            self.undo()
            raise

    def undo(self):
        """Undo what was staged or committed; harmless when there is nothing. Raises RecoveryFailed."""
        if os.path.isdir(self._store.work):
            self._store.run_recover(undo=True)

    def stage(self):
        """Write everything beside its target, and the lists; nothing that a program reads has changed afterwards.

        Raises ApplyRefused for a path that may not or (a full disk) cannot be written, or OSError. The caller then calls C(undo).
        """
        work = self._store.work
        for command in self._forward + self._back:
            if command.argv[0].startswith("/"):
                _files.check_program(command.argv[0])
        existing = {change.path for change in self._changes if _files.exists(change.path)}
        self._changes = [change for change in self._changes if change.content is not None or change.path in existing]
        present = {path for path in self._snapshots if _files.exists(path)}
        missing, gone = self._missing_folders()
        lists = _Lists(self._changes, existing, self._snapshots, present, list(missing), gone)
        _files.make_folder(work, 0o700)
        _files.sync_folder(self._store.folder)
        self._put("abort.new", operation_log.encode(lists.abort()))
        os.rename(os.path.join(work, "abort.new"), os.path.join(work, "abort"))
        _files.sync_folder(work)
        self._write_beside(missing, existing, present)
        touched = lists.folders()
        for folder in touched:
            _files.sync_folder(folder)
        self._put("forward.ready", operation_log.encode(lists.forward() + _numbered(self._forward, 0)))
        back = [command._replace(optional=True) for command in self._back]
        self._put("back.ready", operation_log.encode(lists.back() + _numbered(back, len(self._forward))))
        self._put("finish", operation_log.encode(lists.finish(self._switch_manifest())))
        if any(command.undo_at_boot for command in self._forward):
            self._put("undo-at-boot", b"")
        _files.sync_folder(work)

    def commit(self):
        """The point of no return: from here on the transaction is finished or undone by whoever comes next."""
        # Units that start now wait until the files are switched.
        work = self._store.hold_work()
        os.rename("forward.ready", "forward", src_dir_fd=work, dst_dir_fd=work)
        os.fsync(work)

    def forward(self, progress=None):
        """Switch the files and run the commands. C(progress) is called with each Command that begins.

        Raises StepFailed after having gone back, RecoveryFailed.
        """
        commands = self._forward + self._back
        outcome = self._store.run_recover(progress=None if progress is None else lambda number: progress(commands[number]))
        if outcome.end == "undone":
            # An optional command may have failed before the one that counts.
            forward = [step for step in outcome.failed if step[0] < len(self._forward) and not commands[step[0]].optional]
            not_restored = [commands[step[0]] for step in outcome.failed if step[0] >= len(self._forward)]
            if forward:
                number, status, output = forward[0]
                raise StepFailed(commands[number], output, status, not_restored)
            path, output = outcome.broken or ("?", outcome.rest)
            reason = output.strip() or "it, or what was prepared for it, was changed by somebody else meanwhile"
            raise StepFailed(None, f"{path}: {reason}", None, not_restored)

    def _missing_folders(self):
        """({path: mode} of folders to make, parents first; folders that undoing removes beside those)."""
        missing = {}
        wanted = [(os.path.dirname(change.path), 0o755) for change in self._changes]
        for path, mode in self._folders:
            _files.check(path)
            for folder in _files.missing_folders(path):
                missing[folder] = mode if folder == path else missing.get(folder, 0o755)
        for path, mode in wanted:
            for folder in _files.missing_folders(path):
                missing.setdefault(folder, mode)
        # A folder of a snapshot is not ours to make, only to remove when an undone command made it.
        gone = [folder for path in self._snapshots for folder in _files.missing_folders(os.path.dirname(path))]
        ordered = dict(sorted(missing.items()))
        return ordered, [folder for folder in sorted(set(gone)) if folder not in ordered]

    def _write_beside(self, missing, existing, present):
        for folder, mode in missing.items():
            _files.make_folder(folder, mode)
            _files.sync_folder(os.path.dirname(folder))
        for change in self._changes:
            if change.content is None:
                _files.remove_beside(change.path)
                continue
            _files.write_beside(change)
            if change.path in existing:
                _files.keep_beside(change.path)
        for path in self._snapshots:
            if path in present:
                _files.copy_beside(path)

    def _switch_manifest(self):
        """The operations that make the new manifest valid."""
        path = os.path.join(self._store.folder, "manifest.json")
        if self._manifest is None:
            return []
        if not self._manifest:
            return [("drop", path)]
        self._put("manifest.json", json.dumps(self._manifest, indent=1, sort_keys=True).encode() + b"\n")
        return [("put", os.path.join(self._store.work, "manifest.json"), path)]

    def _put(self, name, content):
        """A synced file in the transaction's own folder."""
        with _files.folder_of(os.path.join(self._store.work, name)) as (folder, _unused):
            _files.write_at(folder, name, content, 0o600, os.geteuid(), os.getegid())


def _numbered(commands, first):
    return [operation_log.run(first + index, command) for index, command in enumerate(commands)]


class _Lists:
    """The operations of a transaction's files. C(missing): folders it makes; C(gone): folders that only undoing removes."""

    def __init__(self, changes, existing, snapshots, present, missing, gone):
        self._written = [change.path for change in changes if change.content is not None]
        self._removed = [change.path for change in changes if change.content is None]
        self._existing = existing
        self._snapshots = snapshots
        self._present = present
        self._missing = missing
        self._gone = gone

    def folders(self):
        """Every folder whose names change, sorted."""
        paths = self._written + self._removed + [path for path in self._snapshots if path in self._present]
        return sorted({os.path.dirname(path) for path in paths} | {os.path.dirname(path) for path in self._missing} | set(self._missing))

    def _olds(self):
        replaced = [path for path in self._written if path in self._existing]
        return [_files.kept(path) for path in replaced + [path for path in self._snapshots if path in self._present]]

    def abort(self):
        paths = [_files.staged(path) for path in self._written] + self._olds()
        return _drop(paths) + [("leave", folder) for folder in reversed(self._missing)]

    def forward(self):
        puts = []
        for path in self._written:
            old = (_files.kept(path),) if path in self._existing else ()
            puts.append(("put", _files.staged(path), path, *old))
        return puts + [("away", path, _files.kept(path)) for path in self._removed] + [("switched",)]

    def back(self):
        result = [("restore", _files.kept(path), path) for path in self._removed]
        for path in reversed(self._written):
            if path in self._existing:
                result.append(("restore", _files.kept(path), path, _files.staged(path)))
            else:
                result.append(("erase", path, _files.staged(path)))
        for path in self._snapshots:
            result.append(("restore", _files.kept(path), path) if path in self._present else ("erase", path))
        result += [("leave", folder) for folder in sorted(set(self._missing) | set(self._gone), reverse=True)]
        return result + self._sync() + [("switched",)]

    def finish(self, manifest):
        olds = self._olds() + [_files.kept(path) for path in self._removed]
        # What commands wrote was nobody's to sync before, and without the journal nothing writes it again.
        return self._sync(self._snapshots) + manifest + _drop(olds) + self._sync()

    def _sync(self, files=()):
        paths = self.folders() + list(files)
        return [("sync", *paths)] if paths else []


def _drop(paths):
    return [("drop", *paths)] if paths else []
