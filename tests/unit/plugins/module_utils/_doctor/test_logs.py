# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The log archive of a node: what it contains, its limits, and no secrets."""

from __future__ import annotations

import io
import itertools
import json
import tarfile
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.module_utils._doctor import log_sources, logs
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import programs
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.host import Host
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.host_files import machine

CANARY = "cAnArY-7391-cAnArY"
KEY = "\n".join(["-----BEGIN EC PRIVATE KEY-----", *[CANARY + str(number) for number in range(20)], "-----END EC PRIVATE KEY-----"])
SECRETS = [
    KEY,
    f"password: {CANARY}",
    f"secret: |\n  {CANARY}\n  {CANARY}",
    f"export DB_PASSWORD={CANARY}",
    f"Authorization: Bearer {CANARY}",
    f'curl -H "X: Bearer {CANARY}"',
    f"https://user:{CANARY}@host/",
    f"net.ipv4.tcp_fastopen_key = {CANARY}",
    json.dumps({"auths": {"host": {"auth": CANARY}}}),
]
Answer = Callable[[Sequence[str]], programs.Result]


def not_installed(argv: Sequence[str]) -> programs.Result:
    return programs.Result(programs.NOT_INSTALLED, "", argv[0])


def node(folder: Path, files: Mapping[str, str | bytes], answer: Answer = not_installed) -> Host:
    """A node whose files lie below a folder, and whose programs are a function."""
    host = machine(folder, dict(files))
    host.run_program = answer  # type: ignore[method-assign]
    return host


def unpacked(archive: bytes) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    """The entries of an archive, and its index by name."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as opened:
        members = opened.getmembers()
        assert [member.name for member in members] == sorted(member.name for member in members)
        assert {(member.mtime, member.mode, member.uid) for member in members} == {(0, 0o600, 0)}
        contents = {member.name.removeprefix("logs/"): opened.extractfile(member) for member in members}
        entries = {name: content.read().decode() for name, content in contents.items() if content is not None}
    index = {row["name"]: row for row in json.loads(entries.pop("index.json"))}
    assert entries.keys() == {name for name, row in index.items() if name in entries}
    assert all(len(content.encode()) == index[name]["bytes"] <= logs.MAX_ENTRY_BYTES for name, content in entries.items())
    return entries, index


def collected(host: Host) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
    return unpacked(logs.LogCollector(host).collect()[0])


def test_files_programs_and_processes(tmp_path: Path) -> None:
    files = {
        "/etc/eks/nodeadm/config.json": '{"a": 1}',
        "/etc/eks/binary": b"\x7fELF\0",
        "/var/log/cloud-init-output.log": "hello\n",
        "/var/log/unrelated.log": "no\n",
        "/proc/7/cmdline": f"/usr/bin/kubelet\0--v=2\0PASSWORD={CANARY}\0",
        "/proc/7/environ": f"A={CANARY}\0",
        "/var/lib/cloud/instance/user-data.txt": CANARY,
    }

    def answer(argv: Sequence[str]) -> programs.Result:
        if argv[0] == "ip":
            raise programs.ProgramTimedOut("ip takes too long")
        known = {"journalctl": programs.Result(0, f"{argv[-1]} logs\n", ""), "df": programs.Result(1, "disks\n", "denied\n")}
        return known.get(argv[0]) or not_installed(argv)

    host = node(tmp_path, files, answer)
    entries, index = collected(host)
    assert entries["journal/kubelet.log"] == "kubelet logs\n"
    assert json.loads(entries["files/etc/eks/nodeadm/config.json"]) == {"a": 1}
    assert entries["files/var/log/cloud-init-output.log"] == "hello\n"
    assert entries["programs/df_hl.txt"] == "disks\ndenied\n" and mentions(index["programs/df_hl.txt"]["reason"], "status", "1")
    assert entries["processes.txt"] == "7 /usr/bin/kubelet --v=2 PASSWORD=********\n"
    assert mentions(index["files/etc/eks/binary"]["reason"], "NUL")
    assert mentions(index["programs/ctr_version.txt"]["reason"], "ctr", "installed")
    assert mentions(index["programs/ip_addr.txt"]["reason"], "ip", "too long")
    assert index["/var/log/messages"]["reason"]
    assert not any("unrelated" in name or "user-data" in name for name in index)
    assert CANARY not in json.dumps([entries, index])
    assert logs.LogCollector(host).collect() == logs.LogCollector(host).collect()


def test_an_empty_node(tmp_path: Path) -> None:
    entries, index = collected(node(tmp_path, {}))
    assert entries == {"processes.txt": ""} and len(index) == len(log_sources.SOURCES) + 1


def test_links_and_pipes_are_no_trap(tmp_path: Path) -> None:
    host = node(tmp_path, {"/etc/eks/a": "a\n"})
    (tmp_path / "etc/eks/loop").symlink_to(tmp_path / "etc/eks")
    (tmp_path / "etc/eks/gone").symlink_to(tmp_path / "nowhere")
    (tmp_path / "etc/eks/device").symlink_to("/dev/zero")
    entries, index = collected(host)
    assert entries["files/etc/eks/a"] == "a\n"
    assert mentions(index["files/etc/eks/device"]["reason"], "regular file") and index["files/etc/eks/gone"]["reason"]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"MAX_ENTRY_BYTES": 1000, "MAX_BYTES": 2500, "MARGIN_BYTES": 600, "MAX_FILES": 5}.items():
        monkeypatch.setattr(logs, name, value)


@pytest.mark.usefixtures("small")
def test_limits(tmp_path: Path) -> None:
    lines = [f"line {number}\n" for number in range(1000)]
    long = "".join(lines)
    entries, index = collected(node(tmp_path, {"/etc/eks/long": long, "/var/log/messages": long, "/var/log/syslog": long}))
    first, last = entries["files/etc/eks/long"], entries["files/var/log/messages"]
    assert first == "".join(lines[: len(first.splitlines())]) and 900 < len(first) <= 1000
    assert last == "".join(lines[-len(last.splitlines()) :]) and 900 < len(last) <= 1000
    assert 400 < len(entries["files/var/log/syslog"]) <= 600
    assert all(index[f"files{path}"]["cut"] for path in ("/etc/eks/long", "/var/log/messages", "/var/log/syslog"))
    assert sum(map(len, entries.values())) <= logs.MAX_BYTES


@pytest.mark.usefixtures("small")
def test_too_many_files_and_one_line(tmp_path: Path) -> None:
    files = {f"/etc/eks/{number}": "a\n" for number in range(9)} | {"/var/log/messages": "a" * 5000}
    entries, index = collected(node(tmp_path, files))
    assert len([name for name in entries if name.startswith("files/etc/eks/")]) == 5
    assert mentions(index["files/etc/eks/5"]["reason"], "5 files", "4 files")
    assert mentions(index["files/var/log/messages"]["reason"], "line", "too long")


def test_the_time_is_limited(tmp_path: Path) -> None:
    seconds = itertools.count(0.0, 50.0)
    entries, index = unpacked(logs.LogCollector(node(tmp_path, {"/etc/eks/a": "a\n"}), lambda: next(seconds)).collect()[0])
    assert not entries and index["processes.txt"]["reason"] == index["/etc/eks/**"]["reason"] == logs.NO_TIME


@pytest.mark.usefixtures("small")
def test_an_end_that_begins_inside_a_secret(tmp_path: Path) -> None:
    # Every position of the cut, also when the text becomes shorter because other secrets in it are hidden.
    more = "".join(f"password={'x' * 80}\n" for _number in range(8))
    for size in range(0, 1700, 13):
        content = "line\n" * 400 + KEY + "\n" + "l" * (size % 7) + "\n" + "line\n" * (size // 5) + more
        entries, _index = collected(node(tmp_path, {"/var/log/messages": content}))
        assert CANARY not in entries["files/var/log/messages"]


# Only letters: what stands around a secret must not make it a part of something else.
TEXTS = st.lists(st.text(st.sampled_from("ab \n"), max_size=40) | st.sampled_from(SECRETS), min_size=1, max_size=12)


@given(TEXTS, st.sampled_from(["/etc/eks/a", "/var/log/messages", "journalctl"]), st.integers(0, 3000))
def test_planted_secrets_are_never_in_the_archive(texts: list[str], place: str, filler: int) -> None:
    content = "\n".join(["line", *texts, "x" * (filler % 97), "line\n" * (filler // 5)])

    def answer(argv: Sequence[str]) -> programs.Result:
        return programs.Result(0, content, "") if argv[0] == place else not_installed(argv)

    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(logs, "MAX_ENTRY_BYTES", 1500)
        patch.setattr(logs, "MARGIN_BYTES", 700)
        entries, index = collected(node(Path(folder), {place: content} if place.startswith("/") else {}, answer))
    assert CANARY not in json.dumps([entries, index])
