# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Transactions in a folder of their own, with both shells that nodes have. Crashes: tests/oracle/test_transaction_crash.py."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import Change
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction import recovery
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction import store as _store
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.recovery import Command
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.transaction import StepFailed, Transaction
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.transaction_machine import ME, NEW, Machine, old_files


@pytest.fixture(params=["dash", "bash"])
def node(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """A folder that plays the root of a node, before anything of ours is on it."""
    monkeypatch.setattr(_store, "SHELL", f"/bin/{request.param}")
    yield Machine(tmp_path, f"/bin/{request.param}")


def test_it_happens(node: Machine) -> None:
    assert node.apply() is None
    assert node.files() == NEW
    assert node.log() == ["reload", "restart"]
    assert node.store().manifest() == {"version": 1}
    assert sorted(path.name for path in node.state.iterdir()) == ["manifest.json", "recover"]
    assert oct(node.state.stat().st_mode)[-3:] == "700"
    assert (node.etc / "a.conf").stat().st_nlink == 1
    links = {f"{unit}.requires/{recovery.UNIT_NAME}" for unit in recovery.BEFORE}
    units = node.top / "units"
    assert {str(path.relative_to(units)) for path in units.rglob("*") if path.is_symlink()} == links
    assert all((units / link).resolve() == units / recovery.UNIT_NAME for link in links)


def test_files_are_switched_before_recover_starts(node: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    switched: list[dict[str, tuple[int, str | None]]] = []
    run_recover = _store.Store.run_recover

    def started(store: _store.Store, *arguments: Any, **named: Any) -> Any:
        switched.append({path: entry for path, entry in node.files().items() if not path.endswith(("-old", "edited"))})
        return run_recover(store, *arguments, **named)

    monkeypatch.setattr(_store.Store, "run_recover", started)
    node.apply()
    assert switched == [{path: entry for path, entry in NEW.items() if not path.startswith(("etc/image", "etc/edited"))}]
    assert node.files() == NEW


@pytest.mark.parametrize("name", ["a.conf", "b.conf", ".gone.conf.nodebootstrap-old"])
def test_recover_switches_the_files_that_are_left(node: Machine, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    rename = os.rename

    def failing(source: str, target: str, **named: Any) -> None:
        if os.path.isabs(target) and os.path.basename(target) == name:
            raise OSError(errno.EIO, "injected")
        rename(source, target, **named)

    monkeypatch.setattr(os, "rename", failing)
    node.apply()
    assert node.files() == NEW


def test_a_second_one_changes_what_the_first_wrote(node: Machine) -> None:
    node.apply()
    again = [Change(node.path("a.conf"), b"newer a", 0o644, *ME), Change(node.path("new/deep/b.conf"), None)]
    node.apply(changes=again, folders=[], forward=[], snapshots=[], manifest={"version": 2})
    assert node.files() == {**{key: NEW[key] for key in NEW if not key.endswith("b.conf")}, "etc/a.conf": (0o644, "newer a")}
    assert node.store().manifest() == {"version": 2}


def test_a_failing_command_turns_everything_back(node: Machine, golden_message: GoldenMessages) -> None:
    begun: list[str] = []
    store = node.store()
    with store.lock(), pytest.raises(StepFailed) as failed:
        store.prepare()
        forward = [*node.transaction(store)._forward, node.command("start", 3)]
        back = [node.command("reload back"), node.command("stop back", 4), node.command("restart back")]
        node.transaction(store, forward=forward, back=back).run(progress=lambda command: begun.append(command.argv[-1]))
    assert failed.value.command == forward[-1]
    assert (failed.value.status, failed.value.output, failed.value.not_restored) == (3, "start says\n", [back[1]])
    golden_message(failed.value)
    assert node.log() == ["reload", "restart", "start", "reload back", "stop back", "restart back"]
    assert begun[1:] == node.log()
    # A fresh machine: nothing of ours stays, not even the folder.
    assert not node.state.exists() and not (node.top / "units" / recovery.UNIT_NAME).exists()
    assert node.files() == old_files(node)


def test_a_failure_on_a_node_of_ours_keeps_its_manifest(node: Machine) -> None:
    node.apply()
    with pytest.raises(StepFailed):
        node.apply(forward=[node.command("restart", 1)], manifest={"version": 2}, folders=[], snapshots=[])
    assert node.files() == NEW
    assert node.store().manifest() == {"version": 1}


def test_an_optional_command_may_fail(node: Machine) -> None:
    node.apply(forward=[node.command("first", 1, optional=True), node.command("second")], snapshots=[])
    assert node.log() == ["first", "second"]


def test_the_failure_that_is_told_is_the_one_that_counts(node: Machine) -> None:
    with pytest.raises(StepFailed) as failed:
        node.apply(forward=[node.command("may", 1, optional=True), node.command("must", 2)])
    assert (failed.value.command.argv[-1], failed.value.status, failed.value.output) == ("must", 2, "must says\n")


def test_words_reach_a_program_as_they_are(node: Machine) -> None:
    words = ["", "a b", "*", "$HOME", "`id`", "two\nlines\n", "'\"\\", "-n", "é", " ", ""]
    script = f'for word; do printf "%s|" "$word"; done > {node.ran}/words'
    node.apply(forward=[Command(("sh", "-c", script, "sh", *words))])
    assert (node.ran / "words").read_text() == "".join(f"{word}|" for word in words)


@pytest.mark.parametrize("argv", [(), ("",), ("a", "b\x1fc"), ("a", "b\x1ec"), ("a\0",), ("a", 1)])
def test_a_word_that_cannot_be_written_down_is_an_error(node: Machine, argv: tuple[Any, ...], golden_message: GoldenMessages) -> None:
    with pytest.raises(ValueError) as caught:
        Transaction(node.store(), forward=[Command(argv)])
    golden_message(caught.value)


def test_a_program_gets_nothing_of_ours(node: Machine) -> None:
    look = f"ls /proc/self/fd > {node.ran}/descriptors; cat > {node.ran}/input; env | sort > {node.ran}/environment"
    os.environ["SECRET_OF_THE_APPLY"] = "x"
    try:
        node.apply(forward=[Command(("sh", "-c", look))])
    finally:
        del os.environ["SECRET_OF_THE_APPLY"]
    # 3 is the folder that ls itself reads.
    assert (node.ran / "descriptors").read_text().split() == ["0", "1", "2", "3"]
    assert (node.ran / "input").read_text() == ""
    assert "SECRET_OF_THE_APPLY" not in (node.ran / "environment").read_text()


def test_a_program_that_stays_neither_hangs_us_nor_keeps_the_lock(node: Machine) -> None:
    node.apply(forward=[Command(("sh", "-c", f"sleep 300 & echo $! > {node.ran}/pid; yes >&2 & echo $! > {node.ran}/noisy"))])
    try:
        for name in ("pid", "noisy"):
            os.kill(int((node.ran / name).read_text()), 0)
        assert node.recover() is None
    finally:
        for name in ("pid", "noisy"):
            os.kill(int((node.ran / name).read_text()), signal.SIGKILL)


def test_a_missing_program_is_a_failing_command(node: Machine) -> None:
    with pytest.raises(StepFailed) as failed:
        node.apply(forward=[Command(("no-such-systemctl", "daemon-reload"))], back=[Command(("no-such-systemctl", "daemon-reload"))])
    assert failed.value.status == 127
    assert node.files() == old_files(node)


REFUSALS: dict[str, Callable[[Machine], dict[str, Any]]] = {
    "link": lambda node: {"changes": [Change(node.path("a.conf"), b"x", 0o644, *ME), Change(node.path("link"), b"x", 0o644, *ME)]},
    "folder in the way": lambda node: {"changes": [Change(node.path("a.conf/below"), b"x", 0o644, *ME)]},
    "link as folder": lambda node: {"folders": [(node.path("link"), 0o755)]},
    "link to copy": lambda node: {"snapshots": [node.path("link")]},
    "control character": lambda node: {"changes": [Change(node.path("a\nb"), b"x", 0o644, *ME)]},
    "program in a folder of all": lambda node: {"forward": [Command((str(node.top / "shared" / "program"),))]},
    "long name": lambda node: {"changes": [Change(node.path("a.conf"), b"x", 0o644, *ME), Change(node.path("n" * 250), b"x", 0o644, *ME)]},
}


@pytest.mark.parametrize("case", REFUSALS)
def test_what_is_refused_leaves_nothing(node: Machine, case: str) -> None:
    (node.etc / "link").symlink_to(node.etc / "a.conf")
    (node.top / "shared").mkdir()
    (node.top / "shared").chmod(0o777)
    before = node.tree()
    with pytest.raises(ApplyRefused):
        node.apply(**REFUSALS[case](node))
    left = node.tree()
    assert {path: left[path] for path in left if path not in ("units", "var", "var/lib")} == before
    assert node.log() == []


def test_a_folder_that_vanished_fails_and_the_rest_is_restored(node: Machine, golden_message: GoldenMessages) -> None:
    store = node.store()
    with store.lock():
        store.prepare()
        transaction = node.transaction(store)
        transaction.stage()
        transaction.commit()
        subprocess.run(["rm", "-r", node.path("new")], check=True)
        with pytest.raises(StepFailed) as failed:
            transaction.forward()
        golden_message(failed.value)
    assert failed.value.command is None
    assert node.files() == old_files(node)


def test_a_folder_in_the_place_of_a_target_fails_and_stays(node: Machine, golden_message: GoldenMessages) -> None:
    store = node.store()
    with store.lock():
        store.prepare()
        transaction = node.transaction(store)
        transaction.stage()
        (node.etc / "new" / "deep" / "b.conf").mkdir()
        transaction.commit()
        with pytest.raises(StepFailed) as caught:
            transaction.forward()
        golden_message(caught.value)
    assert (node.etc / "new" / "deep" / "b.conf").is_dir()
    assert node.files()["etc/a.conf"] == (0o644, "old a")
    assert not [path for path in node.files() if "nodebootstrap" in path]


def test_a_staged_file_that_vanished_fails_and_everything_is_restored(node: Machine, golden_message: GoldenMessages) -> None:
    store = node.store()
    with store.lock():
        store.prepare()
        transaction = node.transaction(store)
        transaction.stage()
        (node.etc / ".a.conf.nodebootstrap-new").unlink()
        transaction.commit()
        with pytest.raises(StepFailed) as caught:
            transaction.forward()
        golden_message(caught.value)
    assert node.files() == old_files(node)


def test_file_systems_without_hard_links_work_both_ways(node: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*unused: Any, **named: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(StepFailed):
        node.apply(forward=[node.command("restart", 1)])
    assert node.files() == old_files(node)
    node.apply()
    assert node.files() == NEW
