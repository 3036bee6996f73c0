# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which things reach the disk: killing a process shows nothing of it, losing power does.

Every call that changes a file or a folder makes it dirty, fsync makes it clean. Nothing may be dirty when the next thing relies on it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import Change
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.recovery import Command
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.store import Store
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.transaction import Transaction
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

ME = (os.geteuid(), os.getegid())


class Disk:
    """What would be lost if the power failed now, and what was dirty at each step that others rely on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.dirty: set[str] = set()
        self.moments: list[tuple[str, set[str]]] = []
        self.failing = ""
        self._real = {name: getattr(os, name) for name in ("open", "write", "fsync", "rename", "link", "unlink", "mkdir", "symlink")}
        for name in self._real:
            monkeypatch.setattr(os, name, getattr(self, f"_{name}"))
        for name in ("fchmod", "fchown"):
            monkeypatch.setattr(os, name, self._on_handle(getattr(os, name)))

    @staticmethod
    def _path(handle: int) -> str:
        return os.readlink(f"/proc/self/fd/{handle}")

    def _folder(self, path: Any, dir_fd: int | None) -> str:
        return os.path.dirname(path) if dir_fd is None else self._path(dir_fd)

    def _step(self, name: str) -> None:
        self.moments.append((name, set(self.dirty)))

    def _on_handle(self, function: Any) -> Any:
        def changed(handle: int, *arguments: Any) -> Any:
            self.dirty.add(self._path(handle))
            return function(handle, *arguments)

        return changed

    def _open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if flags & os.O_CREAT:
            self._step(f"create {path}")
            self.dirty.add(self._folder(path, dir_fd))
        handle: int = self._real["open"](path, flags, mode, dir_fd=dir_fd)
        return handle

    def _write(self, handle: int, content: Any) -> int:
        self.dirty.add(self._path(handle))
        written: int = self._real["write"](handle, content)
        return written

    def _fsync(self, handle: int) -> None:
        self._real["fsync"](handle)
        self.dirty.discard(self._path(handle))

    def _rename(self, old: str, new: str, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
        self._step(f"rename {os.path.basename(new)}")
        # A dirty file stays dirty under its new name.
        folder = self._folder(old, src_dir_fd)
        if os.path.join(folder, os.path.basename(old)) in self.dirty:
            self.dirty.add(os.path.join(self._folder(new, dst_dir_fd), os.path.basename(new)))
        self.dirty |= {folder, self._folder(new, dst_dir_fd)}
        self._real["rename"](old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    def _link(self, old: str, new: str, *, src_dir_fd: int, dst_dir_fd: int, follow_symlinks: bool) -> None:
        self.dirty.add(self._path(dst_dir_fd))
        self._real["link"](old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd, follow_symlinks=follow_symlinks)

    def _unlink(self, path: str, *, dir_fd: int | None = None) -> None:
        self._real["unlink"](path, dir_fd=dir_fd)
        self.dirty.add(self._folder(path, dir_fd))

    def _mkdir(self, path: str, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        self._step(f"mkdir {path}")
        self.dirty.add(self._folder(path, dir_fd))
        self._real["mkdir"](path, mode, dir_fd=dir_fd)

    def _symlink(self, target: str, path: str, *, dir_fd: int) -> None:
        self._step(f"symlink {path}")
        self.dirty.add(self._path(dir_fd))
        self._real["symlink"](target, path, dir_fd=dir_fd)

    def at(self, prefix: str) -> set[str]:
        """What was dirty when the first step of that name came."""
        return next(dirty for name, dirty in self.moments if name.startswith(prefix))


def committed(top: Path, disk: Disk) -> None:
    store = Store(str(top / "state"), str(top / "units"))
    with store.lock():
        store.prepare()
        transaction = Transaction(
            store,
            [Change(str(top / "etc" / "a.conf"), b"new", 0o644, *ME), Change(str(top / "etc" / "new" / "b.conf"), b"new", 0o644, *ME)],
            [(str(top / "etc" / "empty" / "deep"), 0o755)],
            [Command(("true",), undo_at_boot=True)],
            snapshots=[str(top / "etc" / "edited")],
            manifest={"version": 1},
        )
        transaction.stage()
        transaction.commit()


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    (tmp_path / "etc").mkdir()
    for name in ("a.conf", "edited"):
        (tmp_path / "etc" / name).write_text("old")
    return Disk(monkeypatch)


def test_each_step_relies_on_what_is_on_the_disk(tmp_path: Path, disk: Disk) -> None:
    committed(tmp_path, disk)
    assert (tmp_path / "state" / "transaction" / "forward").exists()
    # The unit exists before anything requires it, and the boot path is whole before there is anything to recover.
    assert disk.at("symlink") == set()
    assert disk.at("mkdir transaction") == set()
    # How to undo the staging is known before the staging begins.
    assert disk.at("mkdir empty") == set()
    assert disk.at("create .a.conf") <= {str(tmp_path / "etc")}
    # The commit is the last to arrive.
    assert disk.at("rename forward") == set()
    assert disk.dirty == set()


def test_the_model_sees_a_missing_fsync(tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    committed(tmp_path, disk)
    lost = {os.path.basename(path) for path in disk.at("rename forward")}
    assert {"etc", ".a.conf.nodebootstrap-new", ".b.conf.nodebootstrap-new", ".edited.nodebootstrap-old", "transaction", "finish"} <= lost


def test_an_fsync_that_fails_is_no_success(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch, golden_message: GoldenMessages
) -> None:
    before = os.fsync

    def broken(handle: int) -> None:
        if os.readlink(f"/proc/self/fd/{handle}").endswith(".b.conf.nodebootstrap-new"):
            raise OSError(5, "Input/output error")
        before(handle)

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(ApplyRefused) as caught:
        committed(tmp_path, disk)
    golden_message(caught.value)
