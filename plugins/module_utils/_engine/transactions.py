# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a transaction, and explains why it failed. Most runs change nothing and do not load this file."""

from __future__ import annotations

import time
from typing import Sequence

from .._transaction.recovery import Command
from .._transaction.store import Store
from .._transaction.transaction import StepFailed, Transaction
from .manifest import Manifest

__all__ = ("Transaction", "run", "write_manifest")


def run(transaction: Transaction, back: Sequence[Command], kubelet: str | None = None) -> None:
    """Run a transaction. A failure is raised as ApplyRefused with its cause. C(kubelet): the unit whose journal may contain the cause."""
    # One second earlier, since times in the journal are rounded.
    began = time.time() - 1
    undo_began: list[float] = []

    def progress(command: Command) -> None:
        if not undo_began and any(command is one for one in back):
            undo_began.append(time.time())

    try:
        transaction.run(progress)
    except StepFailed as failure:
        from . import failures

        raise failures.explain(failure, began, undo_began[0] if undo_began else None, kubelet) from None


def write_manifest(store: Store, manifest: Manifest) -> None:
    """Write the manifest alone."""
    store.prepare()
    Transaction(store, manifest=manifest.plain()).run()
