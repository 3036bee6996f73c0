# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths that others could redirect are refused, and what is staged is private, whole and out of sight."""

from __future__ import annotations

import errno
import fnmatch
import os
import socket
import stat
import struct
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import files
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import ApplyRefused, Change
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

ME = (os.geteuid(), os.getegid())


def change(path: Path, content: bytes = b"new", mode: int = 0o640, label: str | None = None) -> Change:
    return Change(str(path), content, mode, *ME, label)


def test_read(tmp_path: Path) -> None:
    path = tmp_path / "a.conf"
    assert files.read(str(path)) is None
    assert files.read(str(tmp_path / "no" / "such" / "folder")) is None
    path.write_bytes(b"x" * (3 << 20))
    path.chmod(0o604)
    assert files.read(str(path)) == (b"x" * (3 << 20), 0o604, *ME)


@pytest.mark.parametrize(
    "path", ["a", "a/b", "", "/", "//etc/x", "/etc//x", "/etc/../x", "/etc/./x", "/etc/x/", "/etc/x\n", "/etc/\x1fx", "/etc/\x00", "/\x7f"]
)
def test_odd_spellings_are_refused(path: str) -> None:
    with pytest.raises(ApplyRefused) as refused:
        files.read(path)
    assert not any(ord(character) < 32 or ord(character) == 127 for character in str(refused.value))


def test_a_name_that_is_no_text_is_refused(golden_message: GoldenMessages) -> None:
    with pytest.raises(ApplyRefused) as caught:
        files.read("/etc/\ud800")
    golden_message(caught.value)


def refusals(tmp_path: Path) -> dict[str, tuple[Path, str]]:
    """Hostile paths: (path, words of the reason)."""
    victim = tmp_path / "victim"
    victim.write_text("keep")
    real = tmp_path / "real"
    real.mkdir()
    (real / "inside").write_text("inside")
    (tmp_path / "link").symlink_to(victim)
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "linked").symlink_to(real)
    os.mkfifo(tmp_path / "pipe")
    server = socket.socket(socket.AF_UNIX)
    folder = os.open(tmp_path, os.O_RDONLY)
    server.bind(f"/proc/self/fd/{folder}/socket")
    os.close(folder)
    server.close()
    for name, mode in (("shared", 0o777), ("sticky", 0o1777), ("anyone", 0o702)):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
        (tmp_path / name / "below").mkdir()
    found = {
        "link": (tmp_path / "link", "symbolic link"),
        "dangling link": (tmp_path / "dangling", "symbolic link"),
        "loop": (tmp_path / "loop", "symbolic link"),
        "link on the way": (tmp_path / "linked" / "inside", "symbolic link"),
        "new name behind a link": (tmp_path / "linked" / "new", "symbolic link"),
        "file on the way": (victim / "below", "not a directory"),
        "folder": (real, "a directory"),
        "pipe": (tmp_path / "pipe", "not a regular file"),
        "socket": (tmp_path / "socket", "not a regular file"),
        "device": (Path("/dev/null"), "not a regular file"),
        "folder of all": (tmp_path / "shared" / "x", "writable by users other"),
        "folder of all on the way": (tmp_path / "shared" / "below" / "x", "writable by users other"),
        "sticky folder": (tmp_path / "sticky" / "x", "writable by users other"),
        "writable by others only": (tmp_path / "anyone" / "x", "writable by users other"),
    }
    if os.geteuid() == 0:
        for name, owner, mode in (("foreign", (12345, 0), 0o755), ("group", (0, 12345), 0o775)):
            (tmp_path / name).mkdir()
            os.chown(tmp_path / name, *owner)
            (tmp_path / name).chmod(mode)
        found["folder of another user"] = (tmp_path / "foreign" / "x", "belongs to user 12345")
        found["folder of a group"] = (tmp_path / "group" / "x", "writable by users other")
    return found


@pytest.mark.parametrize("use", ["read", "exists", "write_beside", "keep_beside", "copy_beside", "remove_beside"])
def test_hostile_paths_are_refused_whatever_is_done(tmp_path: Path, use: str) -> None:
    cases = refusals(tmp_path)
    before = sorted((path, path.lstat().st_mode) for path in tmp_path.rglob("*"))
    for name, (path, reason) in cases.items():
        # What goes beside a link or a pipe does not follow it; the way there is what counts.
        if use in ("write_beside", "keep_beside", "remove_beside") and path.parent in (tmp_path, Path("/dev")):
            continue
        with pytest.raises(ApplyRefused) as refused:
            getattr(files, use)(change(path) if use == "write_beside" else str(path))
        assert reason in str(refused.value), (name, str(refused.value))
    assert sorted((path, path.lstat().st_mode) for path in tmp_path.rglob("*")) == before
    assert (tmp_path / "victim").read_text() == "keep"


def test_a_sticky_folder_may_be_passed_through(tmp_path: Path) -> None:
    (tmp_path / "sticky" / "below").mkdir(parents=True)
    (tmp_path / "sticky").chmod(0o1777)
    (tmp_path / "sticky" / "below" / "x").write_text("x")
    found = files.read(str(tmp_path / "sticky" / "below" / "x"))
    assert found is not None and found.content == b"x"


def test_what_is_staged_has_its_final_owner_and_mode_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o777)
    try:
        files.write_beside(change(tmp_path / "a.conf", b"content", 0o644))
        files.make_folder(str(tmp_path / "made"), 0o755)
    finally:
        os.umask(before)
    info = (tmp_path / ".a.conf.nodebootstrap-new").stat()
    assert (stat.S_IMODE(info.st_mode), info.st_uid, info.st_gid, info.st_size) == (0o644, *ME, 7)
    assert stat.S_IMODE((tmp_path / "made").stat().st_mode) == 0o755
    assert not (tmp_path / "a.conf").exists()


def test_a_file_cannot_be_read_while_it_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[int] = []
    write = os.write

    def watched(handle: int, content: Any) -> int:
        modes.append(stat.S_IMODE(os.fstat(handle).st_mode))
        # A write may always be short.
        return write(handle, content[:3])

    monkeypatch.setattr(os, "write", watched)
    before = os.umask(0)
    try:
        files.write_beside(change(tmp_path / "a.conf", b"0123456789", 0o666))
    finally:
        os.umask(before)
    assert modes == [0o600] * 4
    assert (tmp_path / ".a.conf.nodebootstrap-new").read_bytes() == b"0123456789"


def test_a_link_at_the_staged_name_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("keep")
    for name in (".a.conf.nodebootstrap-new", ".a.conf.nodebootstrap-old"):
        (tmp_path / name).symlink_to(victim)
    (tmp_path / "a.conf").write_text("old")
    files.write_beside(change(tmp_path / "a.conf"))
    files.keep_beside(str(tmp_path / "a.conf"))
    assert victim.read_text() == "keep"
    assert (tmp_path / ".a.conf.nodebootstrap-new").read_text() == "new"
    assert (tmp_path / ".a.conf.nodebootstrap-old").samefile(tmp_path / "a.conf")


@pytest.mark.parametrize("refusal", [None, errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK])
def test_the_old_file_is_kept_by_a_link_or_else_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: int | None) -> None:
    path = tmp_path / "a.conf"
    path.write_text("old")
    path.chmod(0o604)
    os.utime(path, ns=(10**18, 10**18 + 1))

    def no_link(*unused: Any, **named: Any) -> None:
        raise OSError(refusal, "refused")

    if refusal is not None:
        monkeypatch.setattr(os, "link", no_link)
    files.keep_beside(str(path))
    kept = tmp_path / ".a.conf.nodebootstrap-old"
    assert kept.samefile(path) is (refusal is None)
    assert kept.read_text() == "old"
    assert (stat.S_IMODE(kept.stat().st_mode), kept.stat().st_mtime_ns) == (0o604, 10**18 + 1)


def test_a_broken_disk_is_no_reason_to_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden_message: GoldenMessages) -> None:
    (tmp_path / "a.conf").write_text("old")

    def broken(*unused: Any, **named: Any) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "link", broken)
    with pytest.raises(ApplyRefused) as caught:
        files.keep_beside(str(tmp_path / "a.conf"))
    golden_message(caught.value)


def test_the_label_of_a_replaced_file_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = {"old": b"system_u:object_r:kubernetes_file_t:s0\0"}
    given: list[bytes] = []
    (tmp_path / "a.conf").write_text("old")
    monkeypatch.setattr(os, "getxattr", lambda handle, name: labels["old"])
    monkeypatch.setattr(os, "setxattr", lambda handle, name, value: given.append(value))
    files.write_beside(change(tmp_path / "a.conf"))
    files.write_beside(change(tmp_path / "new.conf"))
    files.write_beside(change(tmp_path / "a.conf", label="system_u:object_r:etc_t:s0"))
    assert given == [labels["old"], b"system_u:object_r:etc_t:s0"]


@pytest.mark.parametrize(
    ("number", "label", "fails"), [(errno.EOPNOTSUPP, "x", False), (errno.EPERM, "x", True), (errno.EPERM, None, False)]
)
def test_a_label_that_cannot_be_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, label: str | None, fails: bool, golden_message: GoldenMessages
) -> None:
    def refuse(*unused: Any) -> None:
        raise OSError(number, "no label")

    (tmp_path / "a.conf").write_text("old")
    monkeypatch.setattr(os, "getxattr", lambda handle, name: b"old")
    monkeypatch.setattr(os, "setxattr", refuse)
    if fails:
        with pytest.raises(ApplyRefused) as caught:
            files.write_beside(change(tmp_path / "a.conf", label=label))
        golden_message(caught.value)
    else:
        files.write_beside(change(tmp_path / "a.conf", label=label))


@pytest.mark.parametrize(("flags", "cure"), [(0x10, "chattr -i"), (0x20, "chattr -a"), (0x80000, None)])
def test_a_protected_file_is_refused_with_the_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: int, cure: str | None, golden_message: GoldenMessages
) -> None:
    (tmp_path / "a.conf").write_text("old")
    monkeypatch.setattr(files.fcntl, "ioctl", lambda *unused: struct.pack("l", flags))
    if cure is None:
        assert files.exists(str(tmp_path / "a.conf"))
    else:
        with pytest.raises(ApplyRefused) as caught:
            files.exists(str(tmp_path / "a.conf"))
        golden_message(caught.value)


@pytest.mark.parametrize("name", ["a.conf", "a.toml", "a.yaml", "a.json", "a.service", "noextension"])
def test_staged_names_are_out_of_sight(name: str) -> None:
    for path in (files.staged(f"/etc/{name}"), files.kept(f"/etc/{name}")):
        folder, hidden = os.path.split(path)
        assert folder == "/etc" and hidden.startswith(f".{name}.nodebootstrap-")
        assert not any(fnmatch.fnmatch(hidden, pattern) for pattern in ("*.conf", "*.toml", "*.y*ml", "*.json", "*.service", "*~", "*.d"))


def test_missing_folders(tmp_path: Path, golden_message: GoldenMessages) -> None:
    assert files.missing_folders(str(tmp_path)) == []
    assert files.missing_folders(str(tmp_path / "a" / "b")) == [str(tmp_path / "a"), str(tmp_path / "a" / "b")]
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(ApplyRefused) as caught:
        files.missing_folders(str(tmp_path / "link" / "a"))
    golden_message(caught.value)


def test_a_program_in_a_folder_of_all_is_refused(tmp_path: Path, golden_message: GoldenMessages) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o1777)
    (tmp_path / "link").symlink_to(tmp_path / "shared")
    for folder in ("shared", "link"):
        with pytest.raises(ApplyRefused) as caught:
            files.check_program(str(tmp_path / folder / "program"))
        golden_message(caught.value)
    files.check_program("/bin/sh")
