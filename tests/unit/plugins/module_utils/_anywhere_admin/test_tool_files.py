# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tools are installed whole or not at all: checksums, versions, archives, and what a killed run leaves."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from pathlib import Path
from typing import IO, Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere_admin import tool_files
from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere_admin.tool_files import ToolFile
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions


def program(version: str) -> bytes:
    """A program that says its version."""
    return f"#!/bin/sh\necho tool v{version}\n".encode()


def archive(*files: tuple[str, bytes], kind: bytes = tarfile.REGTYPE) -> bytes:
    """An archive as releases have it."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as content:
        for name, data in files:
            member = tarfile.TarInfo(name)
            member.size, member.type = (len(data), kind) if kind == tarfile.REGTYPE else (0, kind)
            member.linkname = "/etc/passwd" if kind == tarfile.SYMTYPE else ""
            content.addfile(member, io.BytesIO(data))
    return target.getvalue()


def tool(content: bytes, name: str = "kind", version: str = "1.2.3", url: str | None = None, **changes: Any) -> ToolFile:
    """A tool with the checksum of C(content)."""
    found = ToolFile(name, version, hashlib.sha256(content).hexdigest(), url or f"https://example.com/{name}", None, None, None)
    return found._replace(**changes)


def opener(content: bytes) -> Any:
    """Opens every URL."""

    def read(_url: str) -> IO[bytes]:
        return io.BytesIO(content)

    return read


def no_network(url: str) -> IO[bytes]:
    """Fails like a machine without a network."""
    raise OSError(f"no route to {url}")


def test_a_program_is_installed_once(tmp_path: Path) -> None:
    content = program("1.2.3")
    folder, wanted = str(tmp_path / "bin"), tool(content)
    assert not tool_files.look(folder, wanted).is_right
    assert tool_files.install(folder, [wanted], opener(content), 10) == {"kind": wanted.sha256}
    assert tool_files.look(folder, wanted).is_right
    assert (tmp_path / "bin/kind").read_bytes() == content
    assert (tmp_path / "bin/kind").stat().st_mode & 0o7777 == 0o755
    assert os.listdir(folder) == ["kind"]


@pytest.mark.parametrize("name", ["helm-v1.tar.gz", "helm.TGZ"])
@pytest.mark.parametrize("member", ["helm", "./helm", "linux-amd64/helm"])
def test_a_program_from_an_archive(tmp_path: Path, name: str, member: str) -> None:
    content = archive(("README", b"x"), (member, program("1.2.3")), ("linux-amd64/helm.md", b"x"))
    wanted = tool(content, "helm", url=f"https://example.com/{name}")
    tool_files.install(str(tmp_path), [wanted], opener(content), 10)
    assert tool_files.look(str(tmp_path), wanted).is_right
    assert (tmp_path / "helm").read_bytes() == program("1.2.3")
    # A newer archive, an edited program and a lost record are installed again.
    assert not tool_files.look(str(tmp_path), wanted._replace(sha256="0" * 64)).is_right
    (tmp_path / "helm").write_bytes(program("1.2.4"))
    assert not tool_files.look(str(tmp_path), wanted).is_right


def test_one_of_several_files_with_the_name(tmp_path: Path) -> None:
    content = archive(("a/helm", program("1.0.0")), ("b/helm", program("1.2.3")))
    wanted = tool(content, "helm", url="https://example.com/helm.tar.gz")
    with pytest.raises(ApplyRefused) as caught:
        tool_files.install(str(tmp_path), [wanted], opener(content), 10)
    assert mentions(str(caught.value), "member")
    tool_files.install(str(tmp_path), [wanted._replace(member="b/helm")], opener(content), 10)
    assert (tmp_path / "helm").read_bytes() == program("1.2.3")


@pytest.mark.parametrize(
    "content",
    [
        archive(("helm", b""), kind=tarfile.SYMTYPE),
        archive(("helm", b""), kind=tarfile.DIRTYPE),
        archive(("other", program("1.2.3"))),
        archive(("helm", program("1.2.3") * 1000))[:-30],
        b"no archive",
        b"",
    ],
    ids=["link", "directory", "absent", "cut", "text", "empty"],
)
def test_an_archive_without_the_program_is_refused(tmp_path: Path, content: bytes) -> None:
    wanted = tool(content, "helm", url="https://example.com/helm.tar.gz")
    with pytest.raises(ApplyRefused):
        tool_files.install(str(tmp_path), [wanted], opener(content), 10)
    assert os.listdir(tmp_path) == []


def test_one_problem_keeps_all_tools_as_they_are(tmp_path: Path) -> None:
    for name in ("kind", "helm", "kubectl"):
        (tmp_path / name).write_text("old", encoding="utf-8")
    content = program("1.2.3")
    wanted = [tool(content), tool(content, "helm", sha256="0" * 64), tool(content, "kubectl", version="9.9.9")]
    with pytest.raises(ApplyRefused) as caught:
        tool_files.install(str(tmp_path), wanted, opener(content), 10)
    assert mentions(str(caught.value), "helm", "0" * 64, wanted[0].sha256, "kubectl", "1.2.3", "9.9.9")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"kind": "old", "helm": "old", "kubectl": "old"}


@pytest.mark.parametrize(
    "content", [b"#!/bin/sh\nexit 3\n", b"#!/bin/sh\necho 1.2\n", b"\x7fELF of another processor", b"", b"#!/no/such/program\n"]
)
def test_a_program_that_does_not_say_its_version_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ApplyRefused):
        tool_files.install(str(tmp_path), [tool(content)], opener(content), 10)
    assert os.listdir(tmp_path) == []


def test_a_program_that_hangs_is_refused(tmp_path: Path) -> None:
    content = b"#!/bin/sh\nsleep 600\n"
    with pytest.raises(ApplyRefused):
        tool_files.install(str(tmp_path), [tool(content)], opener(content), 0.3)


def test_a_place_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ApplyRefused) as caught:
        tool_files.install(str(tmp_path), [tool(b"")], no_network, 10)
    assert mentions(str(caught.value), "https://example.com/kind", "no route")


def test_the_rest_of_a_killed_run_is_removed(tmp_path: Path) -> None:
    content = program("1.2.3")
    (tmp_path / ".kind.abc.nodebootstrap-new").write_bytes(b"half")
    (tmp_path / ".profile").write_bytes(b"of the user")
    tool_files.install(str(tmp_path), [tool(content)], opener(content), 10)
    assert sorted(os.listdir(tmp_path)) == [".profile", "kind"]


def test_other_modes_links_and_directories(tmp_path: Path) -> None:
    content = program("1.2.3")
    place = tmp_path / "kind"
    place.write_bytes(content)
    place.chmod(0o4777)
    assert not tool_files.look(str(tmp_path), tool(content)).is_right
    place.rename(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").chmod(0o755)
    place.symlink_to("elsewhere")
    assert not tool_files.look(str(tmp_path), tool(content)).is_right
    tool_files.install(str(tmp_path), [tool(content)], opener(content), 10)
    assert not place.is_symlink() and (tmp_path / "elsewhere").exists()
    place.unlink()
    place.mkdir()
    with pytest.raises(ApplyRefused):
        tool_files.look(str(tmp_path), tool(content))


def test_a_version_that_is_wrong_is_seen_in_the_second_run(tmp_path: Path) -> None:
    content = program("1.2.3")
    tool_files.install(str(tmp_path), [tool(content)], opener(content), 10)
    tool_files.check_version(str(tmp_path), tool(content), 10)
    with pytest.raises(ApplyRefused):
        tool_files.check_version(str(tmp_path), tool(content, version="1.2.4"), 10)
