# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripts of the user that run once for each content, before anything else, as cloud-init would have run them.

What they do cannot be undone, so they are no part of the transaction. Each is noted in the manifest as soon as it ended well.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress

from .._node import programs
from .._node.errors import ApplyRefused
from .._transaction.transaction import Transaction


def due(plan, manifest):
    """The steps whose script has not run yet with this content."""
    done = manifest.get("once", {})
    return [step for step in _steps(plan) if done.get(step["name"]) != _digest(step)]


def known(plan, manifest):
    """What the manifest notes after a run in which all that was due has run."""
    return dict(manifest.get("once", {}), **{step["name"]: _digest(step) for step in _steps(plan)})


def run(step, store, manifest):
    """Run a script, note it, and return the new manifest. Raises ApplyRefused with the last lines of what it said."""
    path = os.path.join(store.folder, "script")
    with suppress(FileNotFoundError):
        os.unlink(path)
    try:
        # The folder is root's alone; /run and /tmp may be mounted noexec.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o700)
        with os.fdopen(handle, "wb") as file:
            file.write(step["script"].encode("utf-8", "surrogateescape"))
        _execute(step, path)
    finally:
        os.unlink(path)
    done = dict(manifest, format=1, once=dict(manifest.get("once", {}), **{step["name"]: _digest(step)}))
    store.prepare()
    Transaction(store, manifest=done).run()
    return done


def _execute(step, path):
    try:
        result = programs.execute([path], merge_errors=True)
    except OSError as error:
        raise ApplyRefused(f"{step['name']} cannot be run ({error.strerror}): is its first line a program that the node has?") from None
    if result.status != 0:
        lines = result.output.strip().splitlines()[-6:]
        raise ApplyRefused(
            f"{step['name']} failed with status {result.status}: {' | '.join(lines) or 'it said nothing'}. No file was changed by us; "
            "correct the script and run again, then it runs once more"
        )


def _steps(plan):
    return [step for step in plan["steps"] if step["do"] == "once"]


def _digest(step):
    return hashlib.sha256(step["script"].encode("utf-8", "surrogateescape")).hexdigest()
