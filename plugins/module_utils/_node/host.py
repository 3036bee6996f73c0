# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine that is looked at: files, processes and programs, each read within bounds and never changed. Python 3.7 and newer."""

from __future__ import annotations

import datetime
import os
import platform
import re
import stat
import subprocess
import time

LARGEST_FILE = 1024 * 1024
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin:/snap/bin"
_UNIT_PROPERTIES = (
    "Id", "LoadState", "ActiveState", "SubState", "UnitFileState", "MainPID", "NRestarts", "Result", "ActiveEnterTimestampMonotonic",
    "InactiveEnterTimestampMonotonic", "ExecMainStartTimestampMonotonic",
)  # fmt: skip


class Machine:
    """Answers questions about this machine. What cannot be found out is None, and a sentence in C(problems) says why.

    C(timeout): seconds that one program or request may take. C(root): folder below which all files lie, for tests.
    """

    def __init__(self, timeout, root=""):
        self.timeout = timeout
        self.problems = []
        self._root = root

    def path(self, path):
        """Where a path of the machine is found."""
        return self._root + path

    def exists(self, path):
        return os.path.exists(self.path(path))

    def read(self, path):
        """The first C(LARGEST_FILE) bytes of a regular file; None when there is none or it cannot be read."""
        try:
            # Not blocking: a pipe under the name of a file must not hold the module up.
            handle = os.open(self.path(path), os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            self.problem(f"{path} cannot be read", error)
            return None
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            os.close(handle)
            self.problems.append(f"{path} cannot be read: it is {'a folder' if stat.S_ISDIR(mode) else 'not a regular file'}")
            return None
        try:
            with os.fdopen(handle, "rb") as stream:
                content = stream.read(LARGEST_FILE + 1)
        except OSError as error:
            self.problem(f"{path} cannot be read", error)
            return None
        if len(content) > LARGEST_FILE:
            self.problems.append(f"{path} is longer than {LARGEST_FILE} bytes: the rest is left out")
        return content[:LARGEST_FILE]

    def text(self, path):
        """The same as text; bytes that are no UTF-8 become question marks."""
        content = self.read(path)
        return None if content is None else content.decode("utf-8", "replace")

    def names(self, folder):
        """Sorted names in a folder; none when it does not exist."""
        try:
            return sorted(os.listdir(self.path(folder)), key=os.fsencode)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self.problem(f"{folder} cannot be listed", error)
            return []

    def changed_at(self, path):
        """When a file, its content or its place, was changed last, in seconds since 1970; None when that is unknown."""
        try:
            return os.stat(self.path(path)).st_ctime
        except (OSError, ValueError):
            return None

    def run(self, *argv):
        """What a program prints; None when it is not there, fails or takes too long."""
        environment = {"PATH": _PATH, "LC_ALL": "C", "HOME": "/root"}
        program = self.path(argv[0]) if argv[0].startswith("/") else argv[0]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        try:
            # There is no module object here, and its run_command has no limit of time.
            # pylint: disable-next=ansible-bad-function
            done = subprocess.run([program, *argv[1:]], env=environment, timeout=self.timeout, check=False, **pipes)
        except FileNotFoundError:
            return None
        except subprocess.TimeoutExpired:
            self.problems.append(f"{' '.join(argv[:3])} took longer than {self.timeout:g} s")
            return None
        except OSError as error:
            self.problem(f"{argv[0]} cannot be run", error)
            return None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            self.problems.append(f"{' '.join(argv[:3])} failed ({done.returncode}): {said[-1][:200] if said else 'it says nothing'}")
            return None
        return done.stdout.decode("utf-8", "replace")

    def problem(self, what, error):
        self.problems.append(f"{what}: {getattr(error, 'strerror', None) or error}")


def system(machine):
    """What operating system runs here."""
    fields = {}
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        text = machine.text(path)
        if text is not None:
            for line in text.splitlines():
                name, equals, value = line.strip().partition("=")
                if equals and not name.startswith("#"):
                    fields[name] = value.strip("\"'")
            break
    uname = platform.uname()
    return {
        "os": {"id": fields.get("ID"), "version_id": fields.get("VERSION_ID"), "name": fields.get("PRETTY_NAME")},
        "kernel": uname.release,
        "architecture": uname.machine,
        "hostname": uname.node,
    }


def units(machine, names):
    """{name: facts} of those units of C(names) that systemd knows, beside them C(pid) and C(started), seconds since 1970."""
    text = machine.run("systemctl", "show", "--no-pager", "-p", ",".join(_UNIT_PROPERTIES), *names)
    found = {}
    for block in (text or "").split("\n\n"):
        values = dict(line.partition("=")[::2] for line in block.splitlines())
        if values.get("LoadState") not in (None, "", "not-found"):
            found[values.get("Id", "")] = _unit(values)
    return found


def _unit(values):
    active = values.get("ActiveState") in ("active", "reloading")
    since = _moment(values.get("ActiveEnterTimestampMonotonic" if active else "InactiveEnterTimestampMonotonic"))
    restarts = values.get("NRestarts", "")
    return {
        "state": values.get("ActiveState"),
        "sub_state": values.get("SubState"),
        "enabled": values.get("UnitFileState") or None,
        "result": values.get("Result") or None,
        "since": shown_moment(since),
        # systemd counts them from version 235 on; Amazon Linux 2 has 219.
        "restarts": int(restarts) if restarts.isdigit() else None,
        "pid": int(values.get("MainPID") or 0) or None,
        "started": _moment(values.get("ExecMainStartTimestampMonotonic")),
    }


def _moment(microseconds):
    """Seconds since 1970 of microseconds since boot, as systemd writes them; zero stands for never."""
    if not (microseconds or "").isdigit() or microseconds == "0":
        return None
    return time.time() - time.monotonic() + int(microseconds) / 1e6


def shown_moment(moment):
    """C(2026-01-01T00:00:00Z) of seconds since 1970."""
    if moment is None:
        return None
    return datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


_VERSION = re.compile(r"(?<![\w.])v?([0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+~-]*)")
_SNAP = "/snap/kubelet-eks/current"
_SNAP_VERSION = re.compile(r"^version:[ \t]*[\"']?v?([0-9]+\.[0-9]+[0-9A-Za-z.+~-]*)", re.MULTILINE)


def versions(machine, kubelet_pid):
    """The versions of kubelet and containerd, each with where it was read; files of the image first, the programs themselves last."""
    kubelet = _version_file(machine, "/etc/eks/kubelet-version.txt") or _version_file(machine, f"{_SNAP}/meta/snap.yaml", _SNAP_VERSION)
    programs = ["/usr/bin/kubelet", f"{_SNAP}/kubelet", "/usr/local/bin/kubelet"] + ([f"/proc/{kubelet_pid}/exe"] if kubelet_pid else [])
    containerd = _version_file(machine, "/etc/eks/containerd-version.txt")
    return {
        "kubelet": kubelet or _version_of(machine, programs, "Kubernetes"),
        "containerd": containerd or _version_of(machine, ["/usr/bin/containerd", "/usr/local/bin/containerd"], "containerd"),
    }


def _version_file(machine, path, pattern=_VERSION):
    found = pattern.search(machine.text(path) or "")
    return {"version": found.group(1), "source": path} if found else None


def _version_of(machine, programs, word):
    for program in programs:
        if machine.exists(program):
            text = machine.run(program, "--version") or ""
            found = _VERSION.search(text) if word in text else None
            if found:
                return {"version": found.group(1), "source": f"{program} --version"}
    return None
