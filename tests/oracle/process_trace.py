# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a start costs in processes, as strace tells it: attached to process 1 of a node, it follows all that systemd starts."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from nodelab import Node, engine

_CALLS = "trace=clone,clone3,fork,vfork,execve"
_FORK = re.compile(r"(?:clone|clone3|fork|vfork)\((?P<how>.*)\)\s*= (?P<child>\d+)$")
_EXEC = re.compile(r'execve\("(?P<program>[^"]+)", .*\)\s*= 0$')


@dataclass
class Process:
    """One that was forked. programs: what it became, in order, as (time in s, path)."""

    when: float
    parent: int
    programs: list[tuple[float, str]] = field(default_factory=list)


@dataclass
class Trace:
    """What was seen, complete once the block is left. Threads are no processes."""

    processes: dict[int, Process] = field(default_factory=dict)

    def before(self, program: str, apart: Collection[str] = ()) -> list[str]:
        """What was forked before `program` was first executed, but for its own process: the first program of each, "" for none.

        apart: programs whose children do not count. Nor does what systemd forks of itself, and below that: whenever it reads its units it
        runs the image's generators.
        """
        ended = min(when for one in self.processes.values() for when, name in one.programs if name == program)
        return [
            one.programs[0][1] if one.programs else ""
            for pid, one in sorted(self.processes.items(), key=lambda item: item[1].when)
            if one.when < ended and not self._is(pid, [program]) and not self._of_systemd(pid) and not self._below(pid, apart)
        ]

    def _is(self, pid: int, programs: Collection[str]) -> bool:
        return any(name in programs for _unused, name in self.processes[pid].programs)

    def _below(self, pid: int, programs: Collection[str]) -> bool:
        return any(self._is(above, programs) for above in self._line(pid)[1:])

    def _of_systemd(self, pid: int) -> bool:
        first = self.processes[self._line(pid)[-1]]
        return first.parent == 1 and not first.programs

    def _line(self, pid: int) -> list[int]:
        """A process, and its ancestors, as far as they are known."""
        found = []
        while pid in self.processes:
            found.append(pid)
            pid = self.processes[pid].parent
        return found


@contextmanager
def traced(node: Node) -> Iterator[Trace]:
    """Follow process 1 of a node and everything it starts from now on."""
    folder = node.exec(["mktemp", "-d"], check=True).stdout.decode().strip()
    script = 'echo $$ >"$1/pid" && exec strace -ff -ttt -s 200 -e "$2" -o "$1/of" -p 1'
    words = ["docker", "exec", node.container, "sh", "-c", script, "strace", folder, _CALLS]
    strace = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    trace = Trace()
    try:
        engine.wait_for(f"strace in {node.container}", lambda: strace.poll() is not None or _followed(node), 600, 0.02)
        if strace.poll() is not None:
            raise engine.HarnessError(f"strace ended at once: {strace.communicate()[0].decode(errors='replace')}")
        yield trace
    finally:
        if strace.poll() is None:
            node.exec(["sh", "-c", 'kill "$(cat "$1/pid")"', "sh", folder])
        strace.communicate(timeout=600)
    _read(node, folder, trace)
    node.exec(["rm", "-r", folder], check=True)


def _followed(node: Node) -> bool:
    return node.exec(["grep", "-q", "^TracerPid:[[:space:]]*[1-9]", "/proc/1/status"]).returncode == 0


def _read(node: Node, folder: str, trace: Trace) -> None:
    # One file for each process, so no line is torn.
    printed = node.exec(["grep", "-r", "--include=of.*", ".", folder], check=True).stdout.decode(errors="replace")
    programs = []
    for line in printed.splitlines():
        path, _unused, text = line.partition(":")
        pid, when, call = int(path.rpartition("/of.")[2]), *text.partition(" ")[::2]
        fork, execution = _FORK.match(call), _EXEC.match(call)
        if fork and "CLONE_THREAD" not in fork["how"]:
            trace.processes[int(fork["child"])] = Process(float(when), pid)
        elif execution:
            programs.append((pid, float(when), execution["program"]))
    for pid, moment, program in sorted(programs, key=lambda found: found[1]):
        if pid in trace.processes:
            trace.processes[pid].programs.append((moment, program))
