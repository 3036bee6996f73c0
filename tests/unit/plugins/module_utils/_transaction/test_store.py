# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lock, the manifest, what a node keeps of the engine, and the recovery of an interrupted transaction, with both shells."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import ansible_collections
import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import Change
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction import recovery
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction import store as _store
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.recovery import Command
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.store import LockHeld, RecoveryFailed, Store
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.transaction_machine import ME, NEW, Machine, old_files


@pytest.fixture(params=["dash", "bash"])
def node(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """A folder that plays the root of a node, before anything of ours is on it."""
    monkeypatch.setattr(_store, "SHELL", f"/bin/{request.param}")
    yield Machine(tmp_path, f"/bin/{request.param}")


def test_only_one_at_a_time(node: Machine, golden_message: GoldenMessages) -> None:
    with node.store().lock():
        with pytest.raises(LockHeld) as caught, node.store().lock():
            pass
        golden_message(caught.value)
        with pytest.raises(LockHeld), node.store().lock(create=False):
            pass
    with node.store().lock():
        pass


def test_a_lock_is_waited_for(node: Machine, golden_message: GoldenMessages) -> None:
    holder = node.store().lock()
    holder.__enter__()
    with pytest.raises(LockHeld) as caught, node.store().lock(timeout=0.01):
        pass
    golden_message(caught.value)
    # The holder removes the state directory with its lock, because it leaves no manifest.
    release = threading.Timer(0.3, holder.__exit__, (None, None, None))
    release.start()
    with node.store().lock(timeout=300):
        assert node.state.exists()
    release.join()


def test_who_only_looks_makes_nothing(node: Machine) -> None:
    store = node.store()
    with store.lock(create=False):
        assert store.recover() is None
        assert store.manifest() == {}
    assert node.tree() == node.old
    node.apply()
    before = node.tree()
    with store.lock(create=False):
        assert store.manifest() == {"version": 1}
    assert node.tree() == before


def test_without_manifest_everything_of_ours_goes(node: Machine) -> None:
    node.apply()
    originals = node.state / "originals"
    originals.mkdir()
    node.apply(changes=[Change(node.path("a.conf"), None)], folders=[], forward=[], snapshots=[], manifest={})
    assert not node.state.exists()
    assert list((node.top / "units").iterdir()) == []


@pytest.mark.parametrize("content", ["{", "[]", "\ufffe"])
def test_a_damaged_manifest_is_refused(node: Machine, content: str, golden_message: GoldenMessages) -> None:
    node.apply()
    (node.state / "manifest.json").write_bytes(content.encode("utf-16"))
    with pytest.raises(ApplyRefused) as caught:
        node.store().manifest()
    golden_message(caught.value)


@pytest.mark.parametrize("way", ["play", "boot"])
def test_a_committed_transaction_is_finished(node: Machine, way: str) -> None:
    node.interrupt()
    assert node.files() != NEW
    if way == "play":
        assert node.recover() == "finished"
    else:
        assert node.boot().returncode == 0
    assert node.files() == NEW
    assert node.store().manifest() == {"version": 1}
    assert node.recover() is None


def test_boot_does_not_wait_for_units_and_leaves_out_optional_commands(node: Machine) -> None:
    program = node.top / "fake-systemctl"
    program.write_text(f'#!/bin/sh\necho "$@" >> {node.ran}/log\n')
    program.chmod(0o755)
    restart = Command((str(program), "restart", "kubelet.service"), service=True)
    forward = [restart, node.command("never", unless_boot=True), node.command("always")]
    node.interrupt(forward=forward)
    assert node.boot().returncode == 0
    assert node.log() == ["--no-block restart kubelet.service", "always"]
    (node.ran / "log").unlink()
    node.apply(forward=forward, changes=[], snapshots=[])
    assert node.log() == ["restart kubelet.service", "never", "always"]


def test_boot_waits_for_an_apply_that_has_yet_to_recover(node: Machine) -> None:
    node.interrupt()
    store = node.store()
    with store.lock():
        boot = subprocess.Popen([node.shell, str(node.state / "recover"), "boot"])
        wait_until(lambda: "flock -w" in descendants(boot.pid) or boot.poll() is not None)
        assert boot.poll() is None
        assert store.recover() == "finished"
    assert boot.wait(300) == 0
    assert node.files() == NEW


def descendants(pid: int) -> str:
    """The command lines of all processes below one."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        lines = [Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ") for child in children]
    except OSError:
        return ""
    return "\n".join([*lines, *(descendants(int(child)) for child in children)])


def test_a_look_at_an_interrupted_node_does_not_block(node: Machine) -> None:
    node.interrupt()
    with node.store().lock(create=False):
        assert node.boot().returncode == 0
    assert node.files() == NEW


def test_boot_undoes_what_it_cannot_run(node: Machine) -> None:
    node.interrupt(forward=[node.command("image script", undo_at_boot=True)])
    done = node.boot()
    assert (done.returncode, "undone" in done.stdout) == (0, True)
    assert node.files() == old_files(node)
    assert node.log() == ["reload back", "restart back"]
    node.interrupt(forward=[node.command("image script", undo_at_boot=True)])
    assert node.recover() == "finished"


def test_a_failure_at_boot_is_undone_and_the_node_starts(node: Machine) -> None:
    node.interrupt(forward=[node.command("broken", 1)])
    assert node.boot().returncode == 0
    assert node.files() == old_files(node)


def test_boot_lets_pass_while_an_apply_is_at_work(node: Machine) -> None:
    """A unit that the apply restarts requires the boot path: waiting for the apply to end would never end."""
    check = f"timeout 50 {node.shell} {node.state}/recover boot; echo $? > {node.ran}/status"
    node.apply(forward=[Command(("sh", "-c", check))])
    assert (node.ran / "status").read_text() == "0\n"
    assert node.store().manifest() == {"version": 1}


NEWER: dict[str, Callable[[str], str]] = {
    "newer": lambda text: text.replace("\x1f1\x1f", "\x1f2\x1f", 1),
    "unknown operation": lambda text: text.replace("put\x1f", "exchange\x1f", 1).replace("restore\x1f", "exchange\x1f", 1),
}


@pytest.mark.parametrize("case", NEWER)
def test_what_cannot_be_understood_is_not_guessed(node: Machine, case: str, golden_message: GoldenMessages) -> None:
    node.interrupt()
    for path in node.state.glob("transaction/*"):
        path.write_text(NEWER[case](path.read_text()))
    before = node.files()
    with pytest.raises(RecoveryFailed) as caught:
        node.recover()
    golden_message(caught.value)
    assert node.boot().returncode == 4
    assert node.files() == before
    assert node.log() == []


def test_a_list_that_is_cut_off_is_undone_before_anything_of_it_is_done(node: Machine) -> None:
    node.interrupt()
    forward = node.state / "transaction" / "forward"
    forward.write_text(forward.read_text()[:-40])
    assert node.recover() == "undone"
    assert node.files() == old_files(node)


def test_an_unrecovered_transaction_is_in_the_way(node: Machine, golden_message: GoldenMessages) -> None:
    node.interrupt()
    store = node.store()
    with store.lock():
        with pytest.raises(RuntimeError) as caught:
            node.transaction(store).run()
        golden_message(caught.value)
        assert store.recover() == "finished"


def test_a_node_without_flock_is_refused(node: Machine, monkeypatch: pytest.MonkeyPatch, golden_message: GoldenMessages) -> None:
    monkeypatch.setattr(_store.shutil, "which", lambda name, path: None)
    with pytest.raises(ApplyRefused) as caught:
        node.apply()
    golden_message(caught.value)
    assert not node.state.exists()


def test_prepare_repairs_and_repeats(node: Machine) -> None:
    node.apply()
    before = node.tree()
    unit = node.top / "units" / recovery.UNIT_NAME
    link = node.top / "units" / "kubelet.service.requires" / recovery.UNIT_NAME
    link.unlink()
    link.symlink_to("/elsewhere")
    unit.write_text("of an older version")
    (node.state / "recover").unlink()
    store = node.store()
    with store.lock():
        store.prepare()
    assert node.tree() == before
    assert os.readlink(link) == str(unit)


CHILD = """
    import os, signal, sys
    # A run with nohup passes on that this one is ignored.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    sys.path[:0] = {path!r}
    from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction import store as _store
    from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import Change
    from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.recovery import Command
    from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.store import Store
    from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.transaction import Transaction
    _store.SHELL = {shell!r}
    store = Store({state!r}, {units!r})
    with store.lock():
        store.prepare()
        slow = Command(("sh", "-c", "echo begun > {ran}/begun; while [ ! -e {ran}/go ]; do sleep 0.02; done"))
        Transaction(store, [Change({target!r}, b"new a", 0o600, {uid}, {gid})], forward=[slow], manifest={{"version": 1}}).run()
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_an_apply_that_dies_while_a_command_runs(node: Machine, how: signal.Signals) -> None:
    """The connection drops: what is committed goes on by itself, and the next apply waits its turn."""
    path = [str(Path(folder).parent) for folder in ansible_collections.__path__]
    names = {"shell": node.shell, "state": str(node.state), "units": str(node.top / "units"), "target": node.path("a.conf")}
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(CHILD).format(path=path, ran=node.ran, uid=ME[0], gid=ME[1], **names)],
        start_new_session=True, stderr=subprocess.PIPE,
    )  # fmt: skip
    wait_until(lambda: (node.ran / "begun").exists() or child.poll() is not None)
    os.killpg(child.pid, how)
    _unused, complaint = child.communicate(timeout=300)
    assert child.returncode == -how, complaint.decode()
    assert node.recovers() == "busy"
    (node.ran / "go").touch()
    wait_until(lambda: node.recovers() is None)
    assert node.files()["etc/a.conf"] == (0o600, "new a")
    assert json.loads((node.state / "manifest.json").read_text()) == {"version": 1}


def wait_until(condition: Callable[[], bool], seconds: float = 300) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "not in time"
        time.sleep(0.01)


def test_the_unit_names_what_must_wait() -> None:
    text = recovery.unit("/var/lib/nodebootstrap")
    lines = dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("Before=shutdown"))
    assert lines["Before"].split() == lines["RequiredBy"].split() == list(recovery.BEFORE)
    assert lines["ExecStart"] == "/bin/sh /var/lib/nodebootstrap/recover boot"
    assert lines["ConditionPathExistsGlob"] == "/var/lib/nodebootstrap/transaction*"


@pytest.mark.parametrize("folder", ["relative", "/with blank", "/percent%n", "/quote'", "/a/../b"])
def test_a_state_folder_that_a_unit_cannot_name_is_refused(folder: str) -> None:
    with pytest.raises(ApplyRefused):
        Store(folder)
