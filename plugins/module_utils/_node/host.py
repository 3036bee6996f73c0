# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""This machine: its files and programs, read within limits and never changed, its processes, operating system and clock.

Standard library, Python 3.7 and newer.
"""

from __future__ import annotations

import datetime
import os
import shlex
import stat
import time
from typing import Dict, List, NamedTuple, Sequence

from . import programs
from .errors import ApplyRefused

MAX_FILE_BYTES = 1024 * 1024


class FreeSpace(NamedTuple):
    """Bytes and inodes of a file system. A file system without a fixed number of inodes has 0 C(inodes)."""

    free_bytes: int
    bytes: int
    free_inodes: int
    inodes: int


class Host:
    """Reads files of this machine and runs its programs. What cannot be read is None, and C(problems) says why.

    C(timeout): seconds that one program or request may take. C(root): directory below which all files are found, for tests.
    """

    def __init__(self, timeout: float = 5.0, root: str = "") -> None:
        self.timeout = timeout
        self.problems: list[str] = []
        self._root = root

    def path(self, path: str) -> str:
        """The real path of a path of the machine."""
        return self._root + path

    def exists(self, path: str) -> bool:
        """Whether there is anything at a path."""
        return os.path.exists(self.path(path))

    def read(self, path: str) -> bytes | None:
        """The first C(MAX_FILE_BYTES) bytes of a regular file. Links are followed, as kubelet does. None without a readable file."""
        try:
            # A named pipe instead of a file must not block the module.
            handle = os.open(self.path(path), os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            self.add_problem(f"{path} cannot be read", error)
            return None
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            os.close(handle)
            self.problems.append(f"{path} cannot be read: it is {'a directory' if stat.S_ISDIR(mode) else 'not a regular file'}")
            return None
        try:
            with os.fdopen(handle, "rb") as stream:
                content = stream.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            self.add_problem(f"{path} cannot be read", error)
            return None
        if len(content) > MAX_FILE_BYTES:
            self.problems.append(f"{path} is longer than {MAX_FILE_BYTES} bytes: the rest is left out")
        return content[:MAX_FILE_BYTES]

    def text(self, path: str) -> str | None:
        """The same as text. Bytes that are not UTF-8 become replacement characters."""
        content = self.read(path)
        return None if content is None else content.decode("utf-8", "replace")

    def head(self, path: str, count: int) -> bytes:
        """The first bytes of a regular file of any size. Links are followed. Empty without a readable file."""
        try:
            return self.part(path, count)
        except (OSError, ValueError):
            return b""

    def part(self, path: str, count: int, from_end: bool = False) -> bytes:
        """The first or last bytes of a regular file of any size. Links are followed. Raises OSError, and ValueError for other files."""
        handle = os.open(self.path(path), os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as stream:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise ValueError("is not a regular file")
            if from_end and status.st_size > count:
                stream.seek(-count, os.SEEK_END)
            return stream.read(count)

    def names(self, directory: str) -> list[str]:
        """The sorted names in a directory, [] when it does not exist."""
        try:
            return sorted(os.listdir(self.path(directory)), key=os.fsencode)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self.add_problem(f"{directory} cannot be listed", error)
            return []

    def changed_at(self, path: str) -> float | None:
        """When the content or the path of a file changed last, in seconds since 1970. None when that is unknown."""
        try:
            return os.stat(self.path(path)).st_ctime
        except (OSError, ValueError):
            return None

    def free_space(self, path: str) -> FreeSpace | None:
        """The free space of the file system of a path. None when that is unknown."""
        try:
            answer = os.statvfs(self.path(path))
        except (OSError, ValueError):
            return None
        # What is reserved for root does not count: root is who fills a disk, and then nothing is left.
        return FreeSpace(answer.f_bavail * answer.f_frsize, answer.f_blocks * answer.f_frsize, answer.f_favail, answer.f_files)

    def run_program(self, argv: Sequence[str]) -> programs.Result:
        """How a program of the machine ended. Raises ProgramTimedOut."""
        program = self.path(argv[0]) if argv[0].startswith("/") else argv[0]
        return programs.run([program, *argv[1:]], self.timeout)

    def run(self, *argv: str) -> str | None:
        """What a program prints. None when it is not installed, fails or takes too long."""
        try:
            result = self.run_program(argv)
        except ApplyRefused as error:
            self.problems.append(str(error))
            return None
        if result.status == programs.NOT_INSTALLED:
            return None
        if result.status:
            lines = result.errors.strip().splitlines()
            self.problems.append(f"{' '.join(argv[:3])} failed ({result.status}): {lines[-1][:200] if lines else 'no error message'}")
            return None
        return result.output

    def report(self, problem: str) -> None:
        """Record a problem."""
        self.problems.append(problem)

    def add_problem(self, what: str, error: Exception) -> None:
        """Record an error."""
        self.problems.append(f"{what}: {getattr(error, 'strerror', None) or error}")


# --- operating system --------------------------------------------------------------------------------------------------------------------


_OS_RELEASE = ("/etc/os-release", "/usr/lib/os-release")


def read_os_release(host: Host) -> Dict[str, str]:
    """The fields of os-release, {} when there is no such file."""
    return parse_release(next((text for text in map(host.text, _OS_RELEASE) if text is not None), ""))


def parse_release(text: str) -> Dict[str, str]:
    """The fields of a file in the form of os-release."""
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line and not line.lstrip().startswith("#"))
    return {name.strip(): _unquote(value) for name, _equals, value in pairs}


def read_release_time(host: Host) -> int | None:
    """When the operating system was released, in seconds since 1970: the same on all machines of one image. None when that is unknown."""
    try:
        return int(os.stat(host.path(_OS_RELEASE[0])).st_mtime)
    except OSError:
        return None


def read_system(host: Host) -> Dict[str, str]:
    """C(id) and C(version_id) of the operating system, and C(architecture) of the machine."""
    fields = read_os_release(host)
    return {"id": fields.get("ID", ""), "version_id": fields.get("VERSION_ID", ""), "architecture": os.uname()[4]}


def _unquote(value: str) -> str:
    try:
        return "".join(shlex.split(value))
    except ValueError:
        return value.strip()


def read_hostname() -> str:
    """The host name, as kubelet reads it."""
    return os.uname()[1]


# --- processes ---------------------------------------------------------------------------------------------------------------------------


class Process(NamedTuple):
    """A running process. Without one, C(pid) is 0 and the rest is empty. C(argv): the command line, program first.

    C(environment): may contain secrets. C(started): seconds since 1970, None when that is unknown.
    """

    pid: int
    argv: List[str]
    environment: Dict[str, str]
    started: float | None = None


def read_process(host: Host, pid: int, started: float | None = None) -> Process:
    """The process with a pid. C(pid) 0 means that there is none."""
    if not pid:
        return Process(0, [], {}, started)
    pairs = (os.fsdecode(item).partition("=") for item in _items(host, pid, "environ") if b"=" in item)
    return Process(pid, command_line(host, pid), {name: value for name, _equals, value in pairs}, started)


def command_line(host: Host, pid: int) -> List[str]:
    """The command line of a process, program first, [] when there is no such process."""
    return [word.decode("utf-8", "replace") for word in _items(host, pid, "cmdline")]


def _items(host: Host, pid: int, name: str) -> List[bytes]:
    content = host.read(f"/proc/{pid}/{name}") if pid else None
    return (content or b"").split(b"\0")[:-1]


# --- clock -------------------------------------------------------------------------------------------------------------------------------


def read_boot_id(host: Host) -> str:
    """Identifies the current boot of the machine, '' if it is unknown."""
    return (host.text("/proc/sys/kernel/random/boot_id") or "").strip()


def to_wall_time(moment: float) -> float:
    """Seconds since 1970 of seconds of the monotonic clock."""
    return time.time() - time.monotonic() + moment


def format_time(seconds: float) -> str:
    """C(2026-01-01T00:00:00Z) of seconds since 1970."""
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
