# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripts of the user that run once for each content, before anything else, as cloud-init would have run them.

What they do cannot be undone, so they are not part of the transaction. The manifest records each one as soon as it has succeeded.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress

from .._node import programs
from .._node.errors import ApplyRefused
from .._transaction.store import Store
from .manifest import Manifest
from .plan import OnceStep, Plan


def due(plan: Plan, manifest: Manifest) -> list[OnceStep]:
    """The steps whose script has not run yet with this content."""
    return [step for step in _steps(plan) if manifest.once.get(step.name) != _digest(step)]


def recorded(plan: Plan, manifest: Manifest) -> dict[str, str]:
    """What the manifest records once all scripts of the plan have run."""
    return {**manifest.once, **{step.name: _digest(step) for step in _steps(plan)}}


def run(step: OnceStep, store: Store, manifest: Manifest) -> Manifest:
    """Run a script, record it, and return the new manifest. Raises ApplyRefused with the last lines of its output."""
    path = os.path.join(store.folder, "script")
    with suppress(FileNotFoundError):
        os.unlink(path)
    try:
        # Only root can enter this folder, and /run and /tmp may be mounted noexec.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o700)
        with os.fdopen(handle, "wb") as file:
            file.write(step.script)
        _execute(step, path)
    finally:
        os.unlink(path)
    done = manifest._replace(once={**manifest.once, step.name: _digest(step)})
    from . import transactions

    transactions.write_manifest(store, done)
    return done


def _execute(step: OnceStep, path: str) -> None:
    try:
        result = programs.execute([path], merge_errors=True)
    except OSError as error:
        raise ApplyRefused(f"{step.name} cannot be run ({error.strerror})", "let its first line name a program that the node has") from None
    if result.status != 0:
        lines = result.output.strip().splitlines()[-6:]
        raise ApplyRefused(
            f"{step.name} failed with status {result.status}: {lines[-1] if lines else 'it printed nothing'}. No file was changed",
            "correct the script and run again: it will then run once more",
            [f"output of {step.name}: {line}" for line in lines],
        )


def _steps(plan: Plan) -> list[OnceStep]:
    return [step for step in plan.steps if isinstance(step, OnceStep)]


def _digest(step: OnceStep) -> str:
    return hashlib.sha256(step.script).hexdigest()
