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
import subprocess
from contextlib import contextmanager

from ansible_collections.nodebootstrap.eks.plugins.module_utils import _files, _recover
from ansible_collections.nodebootstrap.eks.plugins.module_utils._files import Refused
from ansible_collections.nodebootstrap.eks.plugins.module_utils._journal import US

FOLDER = "/var/lib/nodebootstrap"
UNITS = "/etc/systemd/system"
SHELL = "/bin/sh"

_OUTPUT_LIMIT = 64 * 1024
# A program that stays in the background may hold the pipe open for ever; what it says later is not part of the step.
_AFTER_THE_END = 0.2


class Busy(Refused):
    """Another apply, or a recovery, holds the lock."""


class Stuck(Exception):
    """A recovery could neither finish nor undo: the node is between two states and its kubelet does not start. Text for the user."""


class Outcome:
    """What a run of the recover program told. C(end) is finished, undone or stuck; C(failed) the number of the first command that
    failed, or the words of the file operation; C(output) what that command printed; C(warnings) numbers of failed commands of the way
    back."""

    def __init__(self):
        self.end = None
        self.reason = ""
        self.failed = None
        self.status = None
        self.output = ""
        self.also_failed = []


class Store:
    """The state folder C(folder) and, below C(units), the unit that recovers at boot. Root only."""

    def __init__(self, folder=FOLDER, units=UNITS):
        _files.check(folder)
        if not re.match(r"[A-Za-z0-9/_.-]+\Z", folder):
            raise Refused(f"{folder} cannot be the state folder: its name stands in a systemd unit")
        self.folder = folder
        self.units = units
        self.work = os.path.join(folder, "transaction")
        self._lock = None

    # --- lock ------------------------------------------------------------------------------------------------------------------

    @contextmanager
    def lock(self, create=True):
        """Hold the lock of this node; raises Busy at once when another process does. Within it everything else of the store works.

        C(create) False is for runs that only look: a folder that does not exist is not made, and nothing is tidied up at the end.
        """
        self._lock = self._take_lock(create)
        try:
            yield self
        finally:
            try:
                if create:
                    self.tidy()
            finally:
                if self._lock is not None:
                    os.close(self._lock)
                self._lock = None

    def _take_lock(self, create):
        while True:
            if create:
                self._make(self.folder, 0o700)
            handle = _files.open_folder(self.folder, holds_target=True)
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
                raise Busy(
                    "another apply (or the recovery of an interrupted one) is at work on this node: wait until it ends and run again"
                ) from None
            finally:
                if handle is not None:
                    os.close(handle)

    # --- manifest --------------------------------------------------------------------------------------------------------------

    def manifest(self):
        """The manifest that the last finished transaction left; {} when there is none. Raises Refused when it cannot be read."""
        path = os.path.join(self.folder, "manifest.json")
        found = _files.read(path)
        if found is None:
            return {}
        try:
            result = json.loads(found.content.decode("utf-8"))
        except ValueError as error:
            raise Refused(f"{path} is damaged ({error}): move it away, then the next apply takes this node as new") from None
        if not isinstance(result, dict):
            raise Refused(f"{path} is damaged (no mapping): move it away, then the next apply takes this node as new")
        return result

    # --- recovery --------------------------------------------------------------------------------------------------------------

    def recover(self):
        """Finish or undo what an interrupted transaction left: "finished", "undone", or None when there was nothing.

        Raises Stuck when neither is possible. Needs the lock.
        """
        if not os.path.isdir(self.work):
            return None
        self._need_lock()
        if _files.read(self._program()) is None:
            self._write(self._program(), _recover.PROGRAM, 0o700)
        outcome = self.run_recover()
        return outcome.end

    def run_recover(self, undo=False, progress=None):
        """Run the recover program on the transaction: an C(Outcome) that is finished or undone, else Stuck is raised.

        C(undo): a committed transaction is undone, too. C(progress) is called with the number of every command that begins.
        """
        self._need_lock()
        # The transaction's own lock: who must not start between two files waits for it (see recover).
        work = _files.open_folder(self.work, holds_target=True)
        if work is None:
            raise Refused(f"{self.work} vanished while it was in use")
        try:
            fcntl.flock(work, fcntl.LOCK_EX)
            process = subprocess.Popen(
                [SHELL, self._program(), "live"] + (["undo"] if undo else []),
                stdin=self._lock,
                stdout=subprocess.PIPE,
                stderr=work,
                cwd="/",
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
                start_new_session=True,
            )
        finally:
            os.close(work)
        outcome = _listen(process, progress)
        if outcome.end not in ("finished", "undone"):
            reason = outcome.reason or f"it ended with status {process.returncode} and said: {outcome.output.strip() or 'nothing'}"
            raise Stuck(
                f"the node's configuration is between two states and could be neither finished nor undone: {reason}. "
                f"Remove the cause, then run again, or run: sh {self._program()} boot"
            )
        return outcome

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
        self._write(self._program(), _recover.PROGRAM, 0o700)
        self._make(self.units, 0o755)
        self._write(os.path.join(self.units, _recover.UNIT_NAME), _recover.unit(self.folder), 0o644)
        for unit in _recover.BEFORE:
            folder = os.path.join(self.units, unit + ".requires")
            self._make(folder, 0o755)
            link = os.path.join(folder, _recover.UNIT_NAME)
            if not os.path.islink(link):
                os.symlink(os.path.join(self.units, _recover.UNIT_NAME), link)
                _files.sync_folder(folder)

    def tidy(self):
        """Remove everything of the engine when there is neither a manifest nor a transaction. Needs the lock."""
        self._need_lock()
        if os.path.lexists(os.path.join(self.folder, "manifest.json")) or os.path.lexists(self.work):
            return
        for unit in _recover.BEFORE:
            folder = os.path.join(self.units, unit + ".requires")
            _forget(os.unlink, os.path.join(folder, _recover.UNIT_NAME))
            _forget(os.rmdir, folder)
        for path in (os.path.join(self.units, _recover.UNIT_NAME), self._program()):
            _forget(os.unlink, _files.staged(path))
            _forget(os.unlink, path)
        _forget(os.rmdir, os.path.join(self.folder, "originals"))
        _forget(os.rmdir, self.folder)

    def _make(self, path, mode):
        for missing in _files.missing_folders(path):
            try:
                _files.make_folder(missing, mode if missing == path else 0o755)
            except FileExistsError:
                continue
            _files.sync_folder(os.path.dirname(missing))

    def _write(self, path, text, mode):
        """Make a file of the engine what it shall be, in one step."""
        content = text.encode()
        current = _files.read(path)
        if current is not None and (current.content, current.mode, current.uid) == (content, mode, os.geteuid()):
            return
        change = _files.Change(path, content, mode, os.geteuid(), os.getegid())
        _files.write_beside(change)
        os.rename(_files.staged(path), path)
        _files.sync_folder(os.path.dirname(path))


def _same(handle, path):
    try:
        found = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(handle), found)


def _forget(remove, path):
    try:
        remove(path)
    except OSError:
        pass


def _listen(process, progress):
    """Follow the recover program: lines that begin with US are its own, all others belong to the command that runs."""
    outcome = Outcome()
    output = []
    for line in _lines(process):
        if not line.startswith(US):
            output.append(line)
            continue
        word, *fields = line.rstrip("\n").split(US)[1:-1]
        if word == "run":
            del output[:]
            if progress is not None:
                progress(int(fields[0]))
        elif word in ("failed", "broken") and outcome.failed is None:
            outcome.failed = int(fields[0]) if word == "failed" else " ".join(fields[0].split(" ")[:3])
            outcome.status = int(fields[1]) if word == "failed" else None
            outcome.output = "".join(output)[-_OUTPUT_LIMIT:]
        elif word == "failed":
            outcome.also_failed.append(int(fields[0]))
        elif word == "stuck":
            outcome.end, outcome.reason = word, " ".join(fields + [" ".join("".join(output).split("\n")[-3:]).strip()]).strip()
        elif word in ("finished", "undone"):
            outcome.end = word
    if outcome.failed is None:
        outcome.output = "".join(output)[-_OUTPUT_LIMIT:]
    return outcome


def _lines(process):
    """Lines of a process as text, until it has ended and its pipe is empty."""
    rest = b""
    with process.stdout as pipe:
        while True:
            ended = process.poll() is not None
            ready, _unused, _unused = select.select([pipe], [], [], 0 if ended else _AFTER_THE_END)
            part = os.read(pipe.fileno(), 65536) if ready else b""
            if not part and (ready or ended):
                break
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                yield line.decode("utf-8", "replace") + "\n"
    process.wait()
    if rest:
        yield rest.decode("utf-8", "replace")
