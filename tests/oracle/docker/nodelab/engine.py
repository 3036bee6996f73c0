# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The docker command line, and a running engine behind it.

Nothing here skips tests: without an engine, `HarnessError` says what to do, and the tests fail.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

#: Debian packages that the harness needs on the machine (the keyring matters on Ubuntu, where Debian's is not installed).
PACKAGES = ("docker.io", "iptables", "mmdebstrap", "debian-archive-keyring")

#: The label of images that the harness built. A container inherits the labels of its image, so no container may be removed because of it.
IMAGE = "nodebootstrap.eks.nodelab"

#: The label of containers that the harness started. Its value is the ID of the run: the `owner` that removes the container.
RUN = "nodebootstrap.eks.nodelab.run"

#: The label of nodes that outlive the program that started them; they belong to process 1. Its value is the checkout: only `nodelab stop`,
#: and `nodelab clean` of the same checkout, remove them.
PERSISTENT = "nodebootstrap.eks.nodelab.persistent"
CHECKOUT = str(Path(__file__).resolve().parents[4])

STARTED_BY_US = Path("/var/log/nodelab-dockerd.log")


class HarnessError(RuntimeError):
    """The harness itself failed: no engine, no image, no boot. This says nothing about the code under test."""


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


#: Prints progress lines. pytest captures the standard streams, so the fixtures add a function that bypasses the capture.
speaker: list[Callable[[str], None]] = [_print]


def say(message: str) -> None:
    """One progress line: a minute of silence looks like a hang."""
    speaker[-1](f"[nodelab] {message}")


def docker(*arguments: str, input: bytes | None = None, check: bool = True, timeout: float = 900) -> subprocess.CompletedProcess[bytes]:
    """Run the docker CLI; a failing call is a `HarnessError` that shows what docker said."""
    # The classic builder: BuildKit needs a plugin that Debian's package does not bring.
    environment = {**os.environ, "DOCKER_BUILDKIT": "0"}
    try:
        done = subprocess.run(["docker", *arguments], input=input, capture_output=True, timeout=timeout, env=environment, check=False)
    except FileNotFoundError:
        raise HarnessError("the docker command is not installed: apt-get install docker.io") from None
    except subprocess.TimeoutExpired:
        raise HarnessError(f"docker {' '.join(arguments[:3])} took longer than {timeout:.0f} s") from None
    if check and done.returncode != 0:
        raise HarnessError(f"docker {' '.join(arguments)} exited {done.returncode}:\n{done.stderr.decode(errors='replace').strip()}")
    return done


def answers() -> bool:
    """Does a Docker engine answer this user?"""
    if shutil.which("docker") is None:
        return False
    return docker("version", "--format", "{{.Server.Version}}", check=False).returncode == 0


def wait_for(what: str, condition: Callable[[], bool], seconds: float, interval: float = 0.1) -> None:
    """Poll until `condition()` holds; `HarnessError` after `seconds`."""
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            raise HarnessError(f"{what}: not within {seconds:.0f} s")
        time.sleep(interval)


@contextmanager
def machine_lock(name: str) -> Iterator[None]:
    """One process of this user at a time (several test runs may share a machine)."""
    path = Path(tempfile.gettempdir(), f"nodelab-{os.getuid()}-{name}.lock")
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def install(packages: Sequence[str]) -> None:
    """apt-get install, root only."""
    say(f"installing {' '.join(packages)}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]):
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
        if done.returncode != 0:
            raise HarnessError(f"{' '.join(command)} exited {done.returncode}:\n{done.stderr.decode(errors='replace').strip()}")


def ensure() -> None:
    """Make sure that an engine answers: root installs and starts Debian's; other users get an error with instructions.

    The dockerd that is started here keeps running after the tests.
    """
    if answers():
        return
    if os.getuid() != 0:
        raise HarnessError(
            "no Docker engine answers this user, and only root can start one: run `sudo python3 tests/oracle/docker/nodelab up` "
            "once, or join the group docker where an engine runs"
        )
    with machine_lock("engine"):
        if answers():
            return
        if shutil.which("dockerd") is None or shutil.which("docker") is None:
            install(PACKAGES)
        say(f"starting dockerd, log in {STARTED_BY_US}")
        with STARTED_BY_US.open("ab") as log:
            daemon = subprocess.Popen(["dockerd"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/")

        def up() -> bool:
            if daemon.poll() is not None:
                tail = STARTED_BY_US.read_text(errors="replace").splitlines()[-5:]
                raise HarnessError("dockerd ended at once:\n" + "\n".join(tail))
            return answers()

        wait_for("dockerd", up, 600, 0.3)


def owner(process: int = 0) -> str:
    """The ID of a run: its process (this one), named so that another run can tell whether it still lives.

    It consists of the boot ID, the PID namespace, the PID and the start time.
    """
    process = process or os.getpid()
    return f"{_here()}/{process}/{_started(process)}"


def remove_stale() -> list[str]:
    """Remove containers of test runs whose process is gone (killed, or the machine restarted).

    Containers of live runs stay, and so does every container without the ID of a run: the harness did not start it.
    """
    listed = docker("ps", "-a", "--filter", f"label={RUN}", "--format", '{{.ID}} {{.Label "' + RUN + '"}}').stdout.decode()
    containers = [line.partition(" ")[::2] for line in listed.splitlines()]
    stale = [container for container, run in containers if _is_run_id(run) and not _alive(run)]
    if stale:
        say(f"removing {len(stale)} container(s) of test runs that ended without a cleanup")
        docker("rm", "-f", "-v", *stale, check=False)
    return stale


def _here() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/{os.stat('/proc/self/ns/pid').st_ino}"


def _started(pid: int) -> str:
    # Field 22; the command name before it may contain spaces and brackets.
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def _is_run_id(label: str) -> bool:
    return re.fullmatch(r"[0-9a-f-]{36}/\d+/\d+/\d+", label) is not None


def _alive(label: str) -> bool:
    here, _unused, rest = label.rpartition("/")
    here, _unused, pid = here.rpartition("/")
    if here != _here():
        # A run of another boot has ended; another PID namespace of this boot cannot be checked from here.
        return here.split("/")[0] == _here().split("/")[0]
    try:
        return _started(int(pid)) == rest
    except (OSError, ValueError, IndexError):
        return False
