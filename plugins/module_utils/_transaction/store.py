# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state folder of a node: its lock, its manifest, the recover program with its unit, and the recovery itself.

One rule says what stays on a node: without a manifest and without a transaction nothing of this file does. So a fresh machine on which
an apply fails keeps no folder, no program and no unit, and a transaction that removes the manifest is how everything of ours goes.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import select
import shutil
from contextlib import contextmanager, suppress

from .._node import files, programs
from .._node.errors import ApplyRefused
from . import recovery
from .operation_log import US

FOLDER = "/var/lib/nodebootstrap"
UNITS = "/etc/systemd/system"
SHELL = "/bin/sh"

_OUTPUT_LIMIT = 64 * 1024
# A program that stays in the background may hold the pipe open for ever: once recover has ended, only what is there is read.
_POLL = 0.2
_READ = 65536
_READS_AFTER_THE_END = 16


# What recover says, and nothing that a command may print instead.
_SAID = re.compile(r"\x1f(run\x1f[0-9]{1,4}|failed\x1f[0-9]{1,4}\x1f[0-9]{1,3}|(?:broken|stuck)(?:\x1f[^\x1f]*)+|finished|undone)\x1f\n\Z")


class LockHeld(ApplyRefused):
    """Another apply, or a recovery, holds the lock."""


class RecoveryFailed(Exception):
    """A recovery could neither finish nor undo: while files are between two states, kubelet does not start. Text for the user."""


class Outcome:
    """What a run of the recover program told.

    C(end): finished, undone, or None when it was neither; C(reason) then says why. C(failed): number, exit status and output of every
    command that failed, in order. C(broken): path and reason of the first file operation that failed, or None. C(rest): what was
    printed last.
    """

    def __init__(self):
        self.end = None
        self.reason = ""
        self.failed = []
        self.broken = None
        self.rest = ""


class Store:
    """The state folder C(folder) and, below C(units), the unit that recovers at boot. Root only."""

    def __init__(self, folder=FOLDER, units=UNITS):
        files.check(folder)
        if not re.match(r"[A-Za-z0-9/_.-]+\Z", folder):
            raise ApplyRefused(f"{folder} cannot be the state folder: its name stands in a systemd unit")
        self.folder = folder
        self.units = units
        self.work = os.path.join(folder, "transaction")
        self._lock = None
        self._work = None

    # --- lock ------------------------------------------------------------------------------------------------------------------

    @contextmanager
    def lock(self, create=True):
        """Hold the lock of this node; raises LockHeld at once when another process does. Within it everything else of the store works.

        C(create) False is for runs that only look: LockHeld is raised all the same, but nothing is made, held or tidied up.
        """
        self._lock = self._take_lock(create)
        if not create:
            self._release()
        try:
            if create:
                self.hold_work()
            yield self
        finally:
            try:
                if create:
                    self.tidy()
            finally:
                self._release()

    def _release(self):
        for handle in (self._work, self._lock):
            if handle is not None:
                os.close(handle)
        self._work = self._lock = None

    def hold_work(self):
        """Take the transaction's own lock, if there is one: who must not start between two files waits for it (see recover)."""
        if self._work is None:
            self._work = files.open_folder(self.work, holds_target=True)
            if self._work is not None:
                fcntl.flock(self._work, fcntl.LOCK_EX)
        return self._work

    def _take_lock(self, create):
        while True:
            if create:
                self._make_state_folder()
            handle = files.open_folder(self.folder, holds_target=True)
            if handle is None:
                if not create:
                    return None
                continue
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _same(handle, self.folder):
                    result, handle = handle, None
                    return result
            except BlockingIOError:
                raise LockHeld(
                    "another apply (or the recovery of an interrupted one) is at work on this node: wait until it ends and run again"
                ) from None
            finally:
                if handle is not None:
                    os.close(handle)

    # --- manifest --------------------------------------------------------------------------------------------------------------

    def manifest(self):
        """The manifest that the last finished transaction left; {} when there is none. Raises ApplyRefused when it cannot be read."""
        path = os.path.join(self.folder, "manifest.json")
        found = files.read(path)
        if found is None:
            return {}
        try:
            result = json.loads(found.content.decode("utf-8"))
        except ValueError as error:
            raise ApplyRefused(f"{path} is damaged ({error}): move it away, then the next apply takes this node as new") from None
        if not isinstance(result, dict):
            raise ApplyRefused(f"{path} is damaged (no mapping): move it away, then the next apply takes this node as new")
        return result

    # --- recovery --------------------------------------------------------------------------------------------------------------

    def recover(self):
        """Finish or undo what an interrupted transaction left: "finished", "undone", or None when there was nothing.

        Raises RecoveryFailed when neither is possible. Within C(lock(create=False)) of a machine without state folder there is nothing.
        """
        if self._lock is None:
            return None
        self._forget_done()
        if not os.path.isdir(self.work):
            return None
        if files.read(self._program()) is None:
            self._write(self._program(), recovery.PROGRAM, 0o700)
        outcome = self.run_recover()
        return outcome.end

    def run_recover(self, undo=False, progress=None):
        """Run the recover program on the transaction: an C(Outcome) that is finished or undone, else RecoveryFailed is raised.

        C(undo): a committed transaction is undone, too. C(progress) is called with the number of every command that begins.
        """
        self._need_lock()
        self.hold_work()
        if self._work is None:
            raise ApplyRefused(f"{self.work} vanished while it was in use")
        try:
            argv = [SHELL, self._program(), "live"] + (["undo"] if undo else [])
            process, output = programs.start(argv, stdin=self._lock, stderr=self._work)
        finally:
            # From here on it is the program's: it lets go as soon as the files are switched.
            os.close(self._work)
            self._work = None
        try:
            outcome = _listen(process, output, progress)
        finally:
            process.wait()
        outcome.end = {0: "finished", 3: "undone"}.get(process.returncode)
        if outcome.end is None:
            reason = outcome.reason or f"it ended with status {process.returncode} and said: {outcome.rest.strip() or 'nothing'}"
            raise RecoveryFailed(
                f"an interrupted change of this node could be neither finished nor undone: {reason}. Until then kubelet may not start. "
                f"Remove the cause, then run again, or run: sh {self._program()} boot"
            )
        return outcome

    def _forget_done(self):
        """What is left of a transaction that was over when its removal was interrupted."""
        shutil.rmtree(self.work + ".done", ignore_errors=True)

    def _program(self):
        return os.path.join(self.folder, "recover")

    def _need_lock(self):
        if self._lock is None:
            raise RuntimeError("the store is not locked")

    # --- what a transaction needs on the node ----------------------------------------------------------------------------------

    def prepare(self):
        """Lay down the recover program and its unit, durably, before anything is staged. systemd reads the unit at its next reload
        or boot. Needs the lock; what is made goes again at the end of the lock unless a manifest says that the node is ours."""
        self._need_lock()
        if programs.find("flock") is None:
            raise ApplyRefused("the program flock is missing, without which the boot path cannot know who is at work: install util-linux")
        self._write(self._program(), recovery.PROGRAM, 0o700)
        self._make(self.units, 0o755)
        target = os.path.join(self.units, recovery.UNIT_NAME)
        # The unit before the links: what requires a unit that does not exist does not start.
        self._write(target, recovery.unit(self.folder), 0o644)
        for unit in recovery.BEFORE:
            folder = os.path.join(self.units, unit + ".requires")
            self._make(folder, 0o755)
            with files.folder_of(os.path.join(folder, recovery.UNIT_NAME)) as (handle, name):
                if _link_at(handle, name) != target:
                    files.remove(handle, name)
                    os.symlink(target, name, dir_fd=handle)
                    os.fsync(handle)

    def must_be_free(self):
        """RuntimeError when a transaction lies there already: C(recover) comes first."""
        self._need_lock()
        if os.path.lexists(self.work):
            raise RuntimeError("an earlier transaction was not recovered")

    def tidy(self):
        """Remove everything of the engine when there is neither a manifest nor a transaction. Needs the lock."""
        self._need_lock()
        if os.path.lexists(os.path.join(self.folder, "manifest.json")) or os.path.lexists(self.work):
            return
        for unit in recovery.BEFORE:
            folder = os.path.join(self.units, unit + ".requires")
            _forget(os.unlink, os.path.join(folder, recovery.UNIT_NAME))
            _forget(os.rmdir, folder)
        for path in (os.path.join(self.units, recovery.UNIT_NAME), self._program()):
            _forget(os.unlink, files.staged(path))
            _forget(os.unlink, path)
        self._forget_done()
        _forget(os.rmdir, os.path.join(self.folder, "originals"))
        _forget(os.rmdir, self.folder)

    def _make(self, path, mode):
        for missing in files.missing_folders(path):
            try:
                files.make_folder(missing, mode if missing == path else 0o755)
            except FileExistsError:
                continue
            files.sync_folder(os.path.dirname(missing))

    def _make_state_folder(self):
        try:
            self._make(self.folder, 0o700)
        except BaseException:
            # An empty one only: whatever holds something is not new.
            _forget(os.rmdir, self.folder)
            raise

    def _write(self, path, text, mode):
        """Make a file of the engine what it shall be, in one step."""
        content = text.encode()
        current = files.read(path)
        if current is not None and (current.content, current.mode, current.uid) == (content, mode, os.geteuid()):
            return
        change = files.Change(path, content, mode, os.geteuid(), os.getegid())
        files.write_beside(change)
        with files.folder_of(path) as (folder, name):
            os.rename(os.path.basename(files.staged(path)), name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)


def _same(handle, path):
    try:
        found = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(handle), found)


def _link_at(folder, name):
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError:
        return None


def _forget(remove, path):
    with suppress(OSError):
        remove(path)


def _listen(process, output, progress):
    """Follow the recover program: lines that begin with US are its own, all others belong to the command that runs."""
    outcome = Outcome()
    printed = ""
    for line in _lines(output, lambda: process.poll() is not None):
        said = _SAID.match(line)
        if said is None:
            printed = (printed + line)[-_OUTPUT_LIMIT:]
            continue
        word, *fields = said.group(1).split(US)
        if word == "run":
            printed = ""
            if progress is not None:
                progress(int(fields[0]))
        elif word == "failed":
            outcome.failed.append((int(fields[0]), int(fields[1]), printed))
            printed = ""
        elif word == "broken":
            # An operation and its operands; those that move something name the target second.
            target = fields[2 if fields[0] in ("put", "restore") and len(fields) > 2 else -1]
            outcome.broken = outcome.broken or (target, printed)
            printed = ""
        elif word == "stuck":
            outcome.reason = f"{fields[0]} ({printed.strip()})" if printed.strip() else fields[0]
    outcome.rest = printed
    return outcome


def _lines(pipe, has_ended):
    """Lines of a process as text, until its pipe is closed, or empty after its end."""
    rest = b""
    left = _READS_AFTER_THE_END
    with pipe:
        while left:
            ended = has_ended()
            left -= ended
            ready, _unused, _unused = select.select([pipe], [], [], 0 if ended else _POLL)
            part = os.read(pipe.fileno(), _READ) if ready else b""
            if not part and (ready or ended):
                break
            *lines, rest = (rest + part).split(b"\n")
            # A line without end is no reason to run out of memory.
            rest = rest[-_OUTPUT_LIMIT:]
            for line in lines:
                yield line.decode("utf-8", "replace") + "\n"
    if rest:
        yield rest.decode("utf-8", "replace")
