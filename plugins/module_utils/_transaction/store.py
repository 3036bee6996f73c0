# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state directory of a node: its lock, its manifest, the recover program with its unit, and the recovery.

Nothing of this file stays on a node without a manifest and without a transaction. So a new machine on which an apply fails keeps no
directory, no program and no unit, and a transaction that removes the manifest removes all of them.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import select
import shutil
import time
from contextlib import contextmanager, suppress
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Tuple

from .._node import files, programs
from .._node.errors import ApplyRefused
from . import recovery
from .recovery import US

FOLDER = "/var/lib/nodebootstrap"
UNITS = "/etc/systemd/system"
SHELL = "/bin/sh"

_OUTPUT_LIMIT = 64 * 1024
# A background program may keep the pipe open: after the end of recover, only the output that is already there is read.
_POLL = 0.2
_LOCK_POLL = 0.2
_READ = 65536
_READS_AFTER_THE_END = 16


# The reports of the recover program. Commands cannot print these lines by accident.
_REPORT = re.compile(
    r"\x1f(run\x1f[0-9]{1,4}|failed\x1f[0-9]{1,4}\x1f[0-9]{1,3}|(?:broken|stuck)(?:\x1f[^\x1f]*)+|finished|undone)\x1f\n\Z"
)


class LockHeld(ApplyRefused):
    """Another apply, or a recovery, holds the lock."""


class RecoveryFailed(Exception):
    """A recovery could neither finish nor undo a transaction, so files may be in two states. The text is the whole message."""


class FailedCommand(NamedTuple):
    """A command of a transaction that failed. C(number): its position among the forward and back commands."""

    number: int
    status: int
    output: str


class Outcome(NamedTuple):
    """The result of a run of the recover program.

    C(end): finished, undone, or None for neither; C(reason) then says why. C(failed): the commands that failed, in order. C(broken): path
    and reason of the first file operation that failed. C(rest): the last output.
    """

    end: str | None
    reason: str
    failed: List[FailedCommand]
    broken: Tuple[str, str] | None
    rest: str


class Store:
    """The state directory C(folder) and, below C(units), the unit that recovers at boot. For root only."""

    def __init__(self, folder: str = FOLDER, units: str = UNITS) -> None:
        files.check(folder)
        if not re.match(r"[A-Za-z0-9/_.-]+\Z", folder):
            raise ApplyRefused(f"{folder} cannot be the state directory: its path is part of a systemd unit")
        self.folder = folder
        self.units = units
        self.work = os.path.join(folder, "transaction")
        self._lock: int | None = None
        self._work: int | None = None

    # --- lock ------------------------------------------------------------------------------------------------------------------

    @contextmanager
    def lock(self, create: bool = True, timeout: float = 0.0) -> Iterator[Store]:
        """Hold the lock of this node. Raises LockHeld if another process holds it for C(timeout) seconds. Other methods need the lock.

        C(create) False is for runs that only read: LockHeld is raised, too, but nothing is created, held or removed.
        """
        self._lock = self._take_lock(create, timeout)
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

    def _release(self) -> None:
        for handle in (self._work, self._lock):
            if handle is not None:
                os.close(handle)
        self._work = self._lock = None

    def hold_work(self) -> int | None:
        """Take the lock of the transaction, if there is one. The recover program at boot waits for it until the files are switched."""
        if self._work is None:
            self._work = files.open_folder(self.work, holds_target=True)
            if self._work is not None:
                fcntl.flock(self._work, fcntl.LOCK_EX)
        return self._work

    def _take_lock(self, create: bool, timeout: float) -> int | None:
        deadline = time.monotonic() + timeout
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
                if time.monotonic() >= deadline:
                    raise LockHeld(_held(timeout), "wait until it ends, then run again, or increase lock_timeout") from None
                # The other process may also remove the directory, so the next attempt opens it again.
                time.sleep(min(_LOCK_POLL, max(deadline - time.monotonic(), 0)))
            finally:
                if handle is not None:
                    os.close(handle)

    # --- manifest --------------------------------------------------------------------------------------------------------------

    def manifest(self) -> Dict[str, Any]:
        """The manifest of the last finished transaction, {} without one. Raises ApplyRefused when it cannot be read."""
        path = os.path.join(self.folder, "manifest.json")
        found = files.read(path)
        if found is None:
            return {}
        try:
            result = json.loads(found.content.decode("utf-8"))
        except ValueError as error:
            raise ApplyRefused(f"{path} is damaged ({error}): move it away, then the next apply treats this node as new") from None
        if not isinstance(result, dict):
            raise ApplyRefused(f"{path} is damaged (not a mapping): move it away, then the next apply treats this node as new")
        return result

    # --- recovery --------------------------------------------------------------------------------------------------------------

    def recover(self) -> str | None:
        """Finish or undo an interrupted transaction: "finished", "undone", or None when there was none.

        Raises RecoveryFailed when neither is possible.
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

    def run_recover(self, undo: bool = False, progress: Callable[[int], None] | None = None) -> Outcome:
        """Run the recover program on the transaction until it is finished or undone. Raises RecoveryFailed.

        C(undo): undo a committed transaction, too. C(progress) is called with the number of each command when it starts.
        """
        lock, work = self._need_lock(), self.hold_work()
        if work is None:
            raise ApplyRefused(f"{self.work} was removed during the run")
        try:
            running = programs.start([SHELL, self._program(), "live"] + (["undo"] if undo else []), stdin=lock, stderr=work)
        finally:
            # The program has the lock from now on. It releases it as soon as the files are switched.
            os.close(work)
            self._work = None
        try:
            outcome = _listen(running, progress)
        finally:
            running.process.wait()
        if outcome.end is None:
            reason = outcome.reason or f"it ended with status {running.process.returncode} and printed: {outcome.rest.strip() or 'nothing'}"
            raise RecoveryFailed(
                f"an interrupted change of this node could be neither finished nor undone: {reason}. Until it is, kubelet may not start. "
                f"Correct the cause, then run again, or run: sh {self._program()} boot"
            )
        return outcome

    def _forget_done(self) -> None:
        """Remove the rest of a transaction whose removal was interrupted."""
        shutil.rmtree(self.work + ".done", ignore_errors=True)

    def _program(self) -> str:
        return os.path.join(self.folder, "recover")

    def _need_lock(self) -> int:
        if self._lock is None:
            raise RuntimeError("the store is not locked")
        return self._lock

    # --- what a transaction needs on the node ----------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Install the recover program and its unit, durably, before anything is staged. Needs the lock.

        systemd reads the unit at its next reload or boot. Without a manifest, all of it is removed again at the end of the lock.
        """
        self._need_lock()
        if programs.find("flock") is None:
            raise ApplyRefused("the program flock is missing, which the recovery at boot needs: install util-linux")
        self._write(self._program(), recovery.PROGRAM, 0o700)
        self._make(self.units, 0o755)
        target = os.path.join(self.units, recovery.UNIT_NAME)
        # The unit before the links: a unit that requires a missing unit does not start.
        self._write(target, recovery.unit(self.folder), 0o644)
        for unit in recovery.BEFORE:
            folder = os.path.join(self.units, unit + ".requires")
            self._make(folder, 0o755)
            with files.existing_folder_of(os.path.join(folder, recovery.UNIT_NAME)) as (handle, name):
                if _link_at(handle, name) != target:
                    files.remove(handle, name)
                    os.symlink(target, name, dir_fd=handle)
                    os.fsync(handle)

    def must_be_free(self) -> None:
        """Raise RuntimeError if there is a transaction already: call C(recover) first."""
        self._need_lock()
        if os.path.lexists(self.work):
            raise RuntimeError("an earlier transaction was not recovered")

    def tidy(self) -> None:
        """Remove everything of this file if there is neither a manifest nor a transaction. Needs the lock."""
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

    def _make(self, path: str, mode: int) -> None:
        for missing in files.missing_folders(path):
            try:
                files.make_folder(missing, mode if missing == path else 0o755)
            except FileExistsError:
                continue
            files.sync_folder(os.path.dirname(missing))

    def _make_state_folder(self) -> None:
        try:
            self._make(self.folder, 0o700)
        except BaseException:
            # Only if it is empty: a directory with files is not new.
            _forget(os.rmdir, self.folder)
            raise

    def _write(self, path: str, text: str, mode: int) -> None:
        """Write a file in one step, if it is not up to date."""
        content = text.encode()
        current = files.read(path)
        if current is not None and (current.content, current.mode, current.uid) == (content, mode, os.geteuid()):
            return
        change = files.Change(path, content, mode, os.geteuid(), os.getegid())
        files.write_beside(change)
        with files.existing_folder_of(path) as (folder, name):
            os.rename(os.path.basename(files.staged(path)), name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)


def _held(timeout: float) -> str:
    waited = f", and did not end within {timeout:g} s" if timeout > 0 else ""
    return f"another apply, or the recovery of an interrupted one, is running on this node{waited}"


def _same(handle: int, path: str) -> bool:
    try:
        found = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(handle), found)


def _link_at(folder: int, name: str) -> str | None:
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError:
        return None


def _forget(remove: Callable[[str], None], path: str) -> None:
    with suppress(OSError):
        remove(path)


def _listen(running: programs.RunningProgram, progress: Callable[[int], None] | None) -> Outcome:
    """Follow the recover program until it ends. Lines that begin with US are its own, all others are output of the current command."""
    reason, broken, printed = "", None, ""
    failed: List[FailedCommand] = []
    for line in _lines(running.output, lambda: running.process.poll() is not None):
        report = _REPORT.match(line)
        if report is None:
            printed = (printed + line)[-_OUTPUT_LIMIT:]
            continue
        word, *fields = report.group(1).split(US)
        if word == "run" and progress is not None:
            progress(int(fields[0]))
        elif word == "failed":
            failed.append(FailedCommand(int(fields[0]), int(fields[1]), printed))
        elif word == "broken":
            # An operation and its operands. Operations that move a file have the target as the second operand.
            target = fields[2 if fields[0] in ("put", "restore") and len(fields) > 2 else -1]
            broken = broken or (target, printed)
        elif word == "stuck":
            reason = f"{fields[0]} ({printed.strip()})" if printed.strip() else fields[0]
            continue
        if word in ("run", "failed", "broken"):
            printed = ""
    end = {0: "finished", 3: "undone"}.get(running.process.wait())
    return Outcome(end, reason, failed, broken, printed)


def _lines(pipe: Any, has_ended: Callable[[], bool]) -> Iterator[str]:
    """The lines of a process as text, until its pipe is closed, or empty after its end."""
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
            # A very long line must not fill the memory.
            rest = rest[-_OUTPUT_LIMIT:]
            for line in lines:
                yield line.decode("utf-8", "replace") + "\n"
    if rest:
        yield rest.decode("utf-8", "replace")
