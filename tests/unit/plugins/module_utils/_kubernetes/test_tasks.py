# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task that outlives its playbook: it knows which process the playbook was, and ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from multiprocessing.connection import Connection

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes import holder, tasks

FORK = multiprocessing.get_context("fork")


def task(connection: Connection, playbook: int, *, is_late: bool) -> None:
    """A task that sleeps when its playbook is killed. is_late: it begins only then."""
    sleep = None if is_late else tasks.sleep_until_end()
    connection.send("ready")
    while is_late and os.getppid() == playbook:
        time.sleep(0.01)
    try:
        (sleep or tasks.sleep_until_end())(600)
    except KeyboardInterrupt:
        connection.send((tasks.playbook_pid(), holder.is_gone(holder.holder(tasks.playbook_pid()))))


def playbook(connection: Connection, is_late: bool) -> None:
    """A playbook that runs one task."""
    FORK.Process(target=task, args=(connection, os.getpid()), kwargs={"is_late": is_late}).start()
    signal.pause()


@pytest.mark.parametrize("is_late", [False, True])
def test_a_task_ends_after_its_playbook_is_killed(is_late: bool) -> None:
    ours, theirs = FORK.Pipe()
    process = FORK.Process(target=playbook, args=(theirs, is_late))
    process.start()
    assert ours.recv() == "ready"
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert ours.poll(60), "the task still sleeps"
    # As the holder of a Lease, it does not keep the next run out.
    assert ours.recv() == (process.pid, True)


def test_a_process_without_a_playbook_is_its_own() -> None:
    assert tasks.playbook_pid() == os.getpid()
    tasks.sleep_until_end()(0.01)


def test_a_call_is_not_made_when_the_playbook_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "playbook_pid", os.getppid)
    calls: list[int] = []
    call = tasks.until_end(calls.append)
    call(1)
    monkeypatch.setattr(os, "getppid", lambda: 1)
    with pytest.raises(KeyboardInterrupt):
        call(2)
    assert calls == [1]
