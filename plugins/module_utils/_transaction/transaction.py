# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes files and services of a node all or nothing, whatever interrupts the change.

    store = Store()
    with store.lock():                          # raises LockHeld
        recovered = store.recover()             # None, "finished" or "undone"; raises RecoveryFailed
        ... observe the node, decide ...
        store.prepare()
        Transaction(store, changes, folders, forward, back, snapshots, manifest).run()

Each step is durable before the next one. C(transaction/abort) lists how to undo the staging. New contents are staged next to their targets,
and hard links keep the old files. C(forward.ready), C(back.ready) and C(finish) list everything to do. The commit renames forward.ready to
forward. From then on the program C(recover) works on the transaction, the same one that works after a crash. Only the files are
switched here, because the program needs a process for each of them; it switches what a failure or a kill leaves.
"""

from __future__ import annotations

import json
import os
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Sequence, Set, Tuple

from .._node import files as _files
from .._node.errors import ApplyRefused
from .._node.files import Change
from . import recovery
from .recovery import Command, Operation
from .store import RecoveryFailed, Store


class StepFailed(Exception):
    """A step of a committed transaction failed, and the transaction was undone: the old state is restored.

    C(command): None if a file could not be replaced. C(status): its exit status. C(output): its output, or why the file could not be
    switched. C(not_restored): the commands that failed while the transaction was undone.
    """

    def __init__(self, command: Command | None, output: str, status: int | None = None, not_restored: Iterable[Command] = ()) -> None:
        what = f"{command} failed with status {status}" if command is not None else "a file could not be replaced"
        super().__init__(f"{what}: {output.strip() or 'no output'}")
        self.command = command
        self.output = output
        self.status = status
        self.not_restored = list(not_restored)


class Transaction:
    """Files and commands that are changed and run all or nothing.

    C(folders): directories to make, with their modes; existing ones do not change, and parents of changed files are made with 0755 anyway.
    Undoing removes them if they are empty. C(forward): commands to run after the files are switched; the first one that fails undoes the
    transaction. C(back): commands to run after the old files are restored; their failures are only reported. C(snapshots): files that
    commands edit; undoing restores or removes them. C(manifest): the new manifest; {} removes it, None does not change it.
    """

    def __init__(
        self,
        store: Store,
        changes: Iterable[Change] = (),
        folders: Iterable[Tuple[str, int]] = (),
        forward: Iterable[Command] = (),
        back: Iterable[Command] = (),
        snapshots: Iterable[str] = (),
        manifest: Mapping[str, Any] | None = None,
    ) -> None:
        self._store = store
        self._changes = list(changes)
        self._folders = list(folders)
        self._forward = list(forward)
        self._back = list(back)
        self._snapshots = [path for path in snapshots if path not in {change.path for change in self._changes}]
        self._manifest = manifest
        self._switches: List[Operation] = []
        for command in self._forward + self._back:
            recovery.check(command)

    def run(self, progress: Callable[[Command], None] | None = None) -> None:
        """Stage, commit and carry out. Raises StepFailed after undoing, ApplyRefused if the node is unchanged, RecoveryFailed."""
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

    def undo(self) -> None:
        """Undo what was staged or committed, if anything. Raises RecoveryFailed."""
        if os.path.isdir(self._store.work):
            self._store.run_recover(undo=True)

    def stage(self) -> None:
        """Write all new contents next to their targets, and the lists. No file that programs read changes.

        Raises ApplyRefused for a path that must not or (a full disk) cannot be written, or OSError. The caller then calls C(undo).
        """
        work = self._store.work
        for command in self._forward + self._back:
            if command.argv[0].startswith("/"):
                _files.check_program(command.argv[0])
        existing = {change.path for change in self._changes if _files.exists(change.path)}
        self._changes = [change for change in self._changes if change.content is not None or change.path in existing]
        present = {path for path in self._snapshots if _files.exists(path)}
        missing, gone = self._missing_folders()
        written = [change.path for change in self._changes if change.content is not None]
        removed = [change.path for change in self._changes if change.content is None]
        lists = _Lists(written, removed, existing, self._snapshots, present, list(missing), gone)
        _files.make_folder(work, 0o700)
        _files.sync_folder(self._store.folder)
        self._put("abort.new", recovery.encode(lists.abort()))
        os.rename(os.path.join(work, "abort.new"), os.path.join(work, "abort"))
        _files.sync_folder(work)
        self._write_beside(missing, existing, present)
        touched = lists.folders()
        for folder in touched:
            _files.sync_folder(folder)
        self._switches = lists.switches()
        forward = [*self._switches, ("switched",), *_numbered(self._forward, 0)]
        self._put("forward.ready", recovery.encode(forward))
        back = [command._replace(optional=True) for command in self._back]
        self._put("back.ready", recovery.encode(lists.back() + _numbered(back, len(self._forward))))
        self._put("finish", recovery.encode(lists.finish(self._switch_manifest())))
        if any(command.undo_at_boot for command in self._forward):
            self._put("undo-at-boot", b"")
        _files.sync_folder(work)

    def commit(self) -> None:
        """Commit: from now on the next run, or the recovery at boot, finishes or undoes the transaction."""
        # Units that start now wait until the files are switched.
        work = self._store.hold_work()
        if work is None:
            raise ApplyRefused(f"{self._store.work} was removed during the run")
        os.rename("forward.ready", "forward", src_dir_fd=work, dst_dir_fd=work)
        os.fsync(work)

    def forward(self, progress: Callable[[Command], None] | None = None) -> None:
        """Switch the files and run the commands. C(progress) is called with each command when it starts.

        Raises StepFailed after undoing, RecoveryFailed.
        """
        commands = self._forward + self._back
        self._switch()
        outcome = self._store.run_recover(progress=None if progress is None else lambda number: progress(commands[number]))
        if outcome.end == "undone":
            # Optional commands may have failed before.
            forward = [step for step in outcome.failed if step[0] < len(self._forward) and not commands[step[0]].optional]
            not_restored = [commands[step[0]] for step in outcome.failed if step[0] >= len(self._forward)]
            if forward:
                number, status, output = forward[0]
                raise StepFailed(commands[number], output, status, not_restored)
            path, output = outcome.broken or ("?", outcome.rest)
            reason = output.strip() or "the file, or what was staged for it, was changed by another program"
            raise StepFailed(None, f"{path}: {reason}", None, not_restored)

    def _switch(self) -> None:
        """Switch the files, in the same order as the recover program. The program repeats what fails, and reports it."""
        for _name, source, target, *_old in self._switches:
            try:
                os.rename(source, target)
            except OSError:
                return

    def _missing_folders(self) -> Tuple[Dict[str, int], List[str]]:
        """The directories to make with their modes, parents first, and more directories that undoing removes."""
        missing: Dict[str, int] = {}
        wanted = [(os.path.dirname(change.path), 0o755) for change in self._changes]
        for path, mode in self._folders:
            _files.check(path)
            for folder in _files.missing_folders(path):
                missing[folder] = mode if folder == path else missing.get(folder, 0o755)
        for path, mode in wanted:
            for folder in _files.missing_folders(path):
                missing.setdefault(folder, mode)
        # Directories of snapshots are not made, but undoing removes them if a command made them.
        gone = [folder for path in self._snapshots for folder in _files.missing_folders(os.path.dirname(path))]
        ordered = dict(sorted(missing.items()))
        return ordered, [folder for folder in sorted(set(gone)) if folder not in ordered]

    def _write_beside(self, missing: Mapping[str, int], existing: Set[str], present: Set[str]) -> None:
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

    def _switch_manifest(self) -> List[Operation]:
        """The operations that activate the new manifest."""
        path = os.path.join(self._store.folder, "manifest.json")
        if self._manifest is None:
            return []
        if not self._manifest:
            return [("drop", path)]
        self._put("manifest.json", json.dumps(self._manifest, indent=1, sort_keys=True).encode() + b"\n")
        return [("put", os.path.join(self._store.work, "manifest.json"), path)]

    def _put(self, name: str, content: bytes) -> None:
        """Write and sync a file in the directory of the transaction."""
        with _files.existing_folder_of(os.path.join(self._store.work, name)) as (folder, _unused):
            _files.write_at(folder, name, content, 0o600, os.geteuid(), os.getegid())


def _numbered(commands: Iterable[Command], first: int) -> List[Operation]:
    return [recovery.run(first + index, command) for index, command in enumerate(commands)]


class _Lists(NamedTuple):
    """The file operations of a transaction. C(missing): directories it makes. C(gone): directories that only undoing removes."""

    written: List[str]
    removed: List[str]
    existing: Set[str]
    snapshots: List[str]
    present: Set[str]
    missing: List[str]
    gone: List[str]

    def folders(self) -> List[str]:
        """The directories whose entries change, sorted."""
        paths = self.written + self.removed + [path for path in self.snapshots if path in self.present]
        return sorted({os.path.dirname(path) for path in paths} | {os.path.dirname(path) for path in self.missing} | set(self.missing))

    def _olds(self) -> List[str]:
        replaced = [path for path in self.written if path in self.existing]
        return [_files.kept(path) for path in replaced + [path for path in self.snapshots if path in self.present]]

    def abort(self) -> List[Operation]:
        paths = [_files.staged(path) for path in self.written] + self._olds()
        return _drop(paths) + [("leave", folder) for folder in reversed(self.missing)]

    def switches(self) -> List[Operation]:
        """The operations that put the new files in place of the old ones."""
        puts: List[Operation] = []
        for path in self.written:
            old = (_files.kept(path),) if path in self.existing else ()
            puts.append(("put", _files.staged(path), path, *old))
        return puts + [("away", path, _files.kept(path)) for path in self.removed]

    def back(self) -> List[Operation]:
        result: List[Operation] = [("restore", _files.kept(path), path) for path in self.removed]
        for path in reversed(self.written):
            if path in self.existing:
                result.append(("restore", _files.kept(path), path, _files.staged(path)))
            else:
                result.append(("erase", path, _files.staged(path)))
        for path in self.snapshots:
            result.append(("restore", _files.kept(path), path) if path in self.present else ("erase", path))
        result += [("leave", folder) for folder in sorted(set(self.missing) | set(self.gone), reverse=True)]
        return result + self._sync() + [("switched",)]

    def finish(self, manifest: List[Operation]) -> List[Operation]:
        olds = self._olds() + [_files.kept(path) for path in self.removed]
        # Files that commands wrote are not synced yet, and after this the transaction cannot write them again.
        return self._sync(self.snapshots) + manifest + _drop(olds) + self._sync()

    def _sync(self, files: Iterable[str] = ()) -> List[Operation]:
        paths = self.folders() + list(files)
        return [("sync", *paths)] if paths else []


def _drop(paths: Sequence[str]) -> List[Operation]:
    return [("drop", *paths)] if paths else []
