# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installs the tools of an admin machine as files with known checksums. Standard library, Python 3.7 and newer.

Every file is fetched, checked and run beside its place before any of them is replaced. A run that is killed leaves only files whose
names begin with a dot and end with C(.nodebootstrap-new), which the next run removes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tarfile
import tempfile
import zlib
from contextlib import suppress
from typing import IO, Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence

from .._node.errors import ApplyRefused
from .tools import said_version

MODE = 0o755
_ARCHIVES = (".tar.gz", ".tgz", ".tar.xz", ".tar")
_NEW = ".nodebootstrap-new"
_RECORD = ".{0}.nodebootstrap-archive"
"""Beside a tool from an archive: the checksums of the archive and of the program."""

_CHUNK = 1 << 20

Open = Callable[[str], IO[bytes]]
"""Opens a URL. Raises C(OSError)."""


class ToolFile(NamedTuple):
    """A tool that is wanted. C(url), or C(path) on the controller, is its place. C(staged): where the action copied the file to."""

    name: str
    version: str
    sha256: str
    url: Optional[str]
    path: Optional[str]
    member: Optional[str]
    staged: Optional[str]

    @property
    def is_archive(self) -> bool:
        """Whether the checksum is that of an archive."""
        return str(self.url or self.path).lower().endswith(_ARCHIVES)


class Present(NamedTuple):
    """What is installed. C(sha256): of the program, None if there is no file. C(is_right): whether nothing has to be done."""

    sha256: Optional[str]
    is_right: bool


def look(folder: str, tool: ToolFile) -> Present:
    """What a folder has of a tool. Raises C(ApplyRefused) if a directory is in its place."""
    path = os.path.join(folder, tool.name)
    if os.path.isdir(path):
        raise ApplyRefused(f"{path} is a directory", "remove it, or use another folder")
    digest = _digest_of(path)
    if digest is None:
        return Present(None, False)
    wanted = tool.sha256
    if tool.is_archive:
        archive, _blank, program = (_read(os.path.join(folder, _RECORD.format(tool.name))) or "").strip().partition(" ")
        wanted = program if archive == tool.sha256 else ""
    about = os.lstat(path)
    mode_is_right = stat.S_ISREG(about.st_mode) and stat.S_IMODE(about.st_mode) == MODE and about.st_uid == os.geteuid()
    return Present(digest, digest == wanted and mode_is_right)


def install(folder: str, tools: Sequence[ToolFile], open_url: Open, timeout: float) -> Dict[str, str]:
    """Install tools, all or none of them. Returns the checksum of each program. Raises C(ApplyRefused) with the problems of all tools."""
    os.makedirs(folder, MODE, exist_ok=True)
    _remove_unfinished(folder)
    staged: Dict[str, str] = {}
    problems: List[str] = []
    try:
        for tool in tools:
            try:
                staged[tool.name] = _stage(folder, tool, open_url, timeout)
            except ApplyRefused as error:
                problems.append(f"{tool.name}: {error}")
        if problems:
            raise ApplyRefused("\n".join(problems))
        return {tool.name: _switch(folder, tool, staged[tool.name]) for tool in tools}
    finally:
        _remove_unfinished(folder)


def check_version(folder: str, tool: ToolFile, timeout: float) -> None:
    """Raise C(ApplyRefused) if an installed tool says another version."""
    _compare(tool, os.path.join(folder, tool.name), timeout)


def _stage(folder: str, tool: ToolFile, open_url: Open, timeout: float) -> str:
    """Fetch, check and run a program under another name. Returns its path."""
    path = _new(folder, tool.name)
    try:
        if tool.is_archive:
            archive = _new(folder, tool.name)
            _fetch(tool, archive, open_url)
            _unpack(tool, archive, path)
            os.unlink(archive)
        else:
            _fetch(tool, path, open_url)
        os.chmod(path, MODE)
    except OSError as error:
        raise ApplyRefused(f"cannot be written below {folder}: {error.strerror or error}", "free space, or use another folder") from None
    _compare(tool, path, timeout)
    return path


def _new(folder: str, name: str) -> str:
    handle, path = tempfile.mkstemp(prefix=f".{name}.", suffix=_NEW, dir=folder)
    os.close(handle)
    return path


def _fetch(tool: ToolFile, path: str, open_url: Open) -> None:
    digest = hashlib.sha256()
    with _source(tool, open_url) as source, open(path, "wb") as target:
        while True:
            try:
                chunk = source.read(_CHUNK)
            except Exception as error:  # a server can end a transfer in many ways
                raise ApplyRefused(f"the transfer from {_place(tool)} ended early: {error}", "run again") from None
            if not chunk:
                break
            digest.update(chunk)
            target.write(chunk)
        target.flush()
        os.fsync(target.fileno())
    if digest.hexdigest() != tool.sha256:
        cause = f"{_place(tool)} has the SHA-256 checksum {digest.hexdigest()}, and not {tool.sha256}"
        raise ApplyRefused(cause, "compare both with the checksum of the release; correct sha256, or do not use the file")


def _source(tool: ToolFile, open_url: Open) -> IO[bytes]:
    if tool.url is None:
        if tool.staged is None:
            raise ApplyRefused(f"{tool.path} was not copied to this machine", "run the task with the action of this module")
        return open(tool.staged, "rb")
    try:
        return open_url(tool.url)
    except Exception as error:  # open_url of Ansible has errors of its own
        raise ApplyRefused(f"{tool.url} cannot be read: {error}", "correct url, the proxy or the network; or use path") from None


def _place(tool: ToolFile) -> str:
    return str(tool.url or tool.path)


def _unpack(tool: ToolFile, archive: str, path: str) -> None:
    """Write one file of an archive, which is chosen by its path or its name. Nothing else of the archive is used."""
    try:
        with tarfile.open(archive) as content:
            members = [one for one in content.getmembers() if one.isreg() and _is_wanted(tool, one.name)]
            if len(members) != 1:
                what = tool.member or f"a file {tool.name}"
                found = f"has {len(members)} files {tool.name}" if members else f"does not contain {what}"
                raise ApplyRefused(f"{_place(tool)} {found}", "set member to the path of the program in the archive")
            source = content.extractfile(members[0])
            with open(path, "wb") as target:
                if source is not None:
                    shutil.copyfileobj(source, target, _CHUNK)
                target.flush()
                os.fsync(target.fileno())
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise ApplyRefused(f"{_place(tool)} is not an archive that can be read: {error}", "use the file of the release") from None


def _is_wanted(tool: ToolFile, name: str) -> bool:
    plain = name[2:] if name.startswith("./") else name
    return plain == tool.member if tool.member else plain.rpartition("/")[2] == tool.name


def _compare(tool: ToolFile, path: str, timeout: float) -> None:
    said = said_version(tool.name, path, timeout)
    if said.version is None:
        fix = "use the file for this system and processor; the folder must not be on a file system that is mounted with noexec"
        raise ApplyRefused(f"the program does not say its version: {said.problem}", fix)
    if said.version != tool.version:
        raise ApplyRefused(
            f"the program says that it is version {said.version}, and not {tool.version}", "correct version, or url and sha256"
        )


def _switch(folder: str, tool: ToolFile, staged: str) -> str:
    digest = _digest_of(staged) or ""
    record = os.path.join(folder, _RECORD.format(tool.name))
    # Without its record, a program from an archive is installed again, so the record is never that of another program.
    with suppress(FileNotFoundError):
        os.unlink(record)
    os.rename(staged, os.path.join(folder, tool.name))
    if tool.is_archive:
        new = _new(folder, tool.name)
        with open(new, "w", encoding="ascii") as target:
            target.write(f"{tool.sha256} {digest}\n")
        os.chmod(new, 0o644)
        os.rename(new, record)
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    return digest


def _remove_unfinished(folder: str) -> None:
    for name in os.listdir(folder):
        if name.startswith(".") and name.endswith(_NEW):
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))


def _digest_of(path: str) -> Optional[str]:
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as source:
            for chunk in iter(lambda: source.read(_CHUNK), b""):
                digest.update(chunk)
    except OSError:
        return None
    return digest.hexdigest()


def _read(path: str) -> Optional[str]:
    try:
        with open(path, encoding="ascii", errors="replace") as source:
            return source.read()
    except OSError:
        return None


def tool_files(rows: Sequence[Mapping[str, Any]], staged: Mapping[str, str]) -> List[ToolFile]:
    """The tools of the options of the module."""
    return [
        ToolFile(
            one["name"],
            one["version"][1:] if one["version"].startswith("v") else one["version"],
            one["sha256"].lower(),
            one.get("url"),
            one.get("path"),
            one.get("member"),
            staged.get(one["name"]),
        )
        for one in rows
    ]
