# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder that plays a node, and a transaction over its files."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import Change
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.recovery import Command
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.store import LockHeld, Store
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.transaction import Transaction

ME = (os.geteuid(), os.getegid())


class Machine:
    """Old files, a transaction that changes them, and what the folder holds."""

    def __init__(self, top: Path, shell: str) -> None:
        self.top, self.shell = top, shell
        self.etc = top / "etc"
        self.etc.mkdir()
        (self.etc / "a.conf").write_text("old a")
        (self.etc / "gone.conf").write_text("old gone")
        (self.etc / "edited").write_text("old edited")
        self.ran = top / "ran"
        self.ran.mkdir()
        self.state = top / "var" / "lib" / "nodebootstrap"
        self.old = self.tree()

    def store(self) -> Store:
        return Store(str(self.state), str(self.top / "units"))

    def path(self, name: str) -> str:
        return str(self.etc / name)

    def command(self, name: str, status: int = 0, **how: Any) -> Command:
        """Notes that it ran."""
        return Command(("/bin/sh", "-c", f'echo "$@" >> {self.ran}/log; echo {name} says; exit {status}', "sh", name), **how)

    def log(self) -> list[str]:
        path = self.ran / "log"
        return path.read_text().splitlines() if path.exists() else []

    def transaction(self, store: Store, **parts: Any) -> Transaction:
        edit = f"echo new edited > {self.path('edited')}; mkdir {self.path('image')}; echo made > {self.path('image/made')}"
        whole: dict[str, Any] = {
            "changes": [
                Change(self.path("a.conf"), b"new a", 0o600, *ME),
                Change(self.path("new/deep/b.conf"), b"new b", 0o644, *ME),
                Change(self.path("gone.conf"), None),
                Change(self.path("never.conf"), None),
            ],
            "folders": [(self.path("empty"), 0o750)],
            "forward": [Command(("sh", "-c", edit)), self.command("reload"), self.command("restart")],
            "back": [self.command("reload back"), self.command("restart back")],
            "snapshots": [self.path("edited"), self.path("image/made")],
            "manifest": {"version": 1},
        }
        return Transaction(store, **{**whole, **parts})

    def apply(self, **parts: Any) -> str | None:
        store = self.store()
        with store.lock():
            recovered: str | None = store.recover()
            store.prepare()
            self.transaction(store, **parts).run()
            return recovered

    def interrupt(self, **parts: Any) -> None:
        """Committed, then nothing more."""
        store = self.store()
        with store.lock():
            store.prepare()
            transaction = self.transaction(store, **parts)
            transaction.stage()
            transaction.commit()

    def boot(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.shell, str(self.state / "recover"), "boot"], capture_output=True, text=True, check=False)

    def recover(self) -> str | None:
        store = self.store()
        with store.lock():
            result: str | None = store.recover()
            return result

    def recovers(self) -> str | None:
        try:
            return self.recover()
        except LockHeld:
            return "busy"

    def tree(self) -> dict[str, tuple[int, str | None]]:
        """Everything of the node but the notes of commands: mode and content."""
        paths = [path for path in self.top.rglob("*") if path != self.top / "ran" and self.top / "ran" not in path.parents]
        return {
            str(path.relative_to(self.top)): (path.lstat().st_mode & 0o7777, path.read_text() if path.is_file() else None) for path in paths
        }

    def files(self) -> dict[str, tuple[int, str | None]]:
        return {path: entry for path, entry in self.tree().items() if path.startswith("etc/")}


NEW = {
    "etc/a.conf": (0o600, "new a"),
    "etc/edited": (0o644, "new edited\n"),
    "etc/empty": (0o750, None),
    "etc/image": (0o755, None),
    "etc/image/made": (0o644, "made\n"),
    "etc/new": (0o755, None),
    "etc/new/deep": (0o755, None),
    "etc/new/deep/b.conf": (0o644, "new b"),
}


def old_files(node: Machine) -> dict[str, tuple[int, str | None]]:
    return {path: entry for path, entry in node.old.items() if path.startswith("etc/")}
