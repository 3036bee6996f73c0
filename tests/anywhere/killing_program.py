# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Has the name of a program and comes before it in PATH, runs it, and kills as a file says. Standard library only: it starts each time.

BED_KILL names the folder of the kill: kill.json (kills.Kill), cluster (its name), log (of the playbook), calls (a byte for each call that
fits), fired (there after the kill). BED_PROGRAMS names the folder of the real programs. BED_ROOT is the process of the playbook.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any


def main() -> int:
    """Run the program that has our name."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import kills  # type: ignore[import-not-found]

    name = Path(sys.argv[0]).name
    argv = [os.path.join(os.environ["BED_PROGRAMS"], name), *sys.argv[1:]]
    folder = Path(os.environ["BED_KILL"])
    kill = kills.load((folder / "kill.json").read_text())
    step = kills.last_step((folder / "log").read_text(), (folder / "cluster").read_text())
    if (folder / "fired").exists() or not kills.fits(kill, name, sys.argv[1:], step):
        os.execv(argv[0], argv)
    with (folder / "calls").open("ab") as stream:
        stream.write(b".")
    if kill.moment != kills.LINES and (folder / "calls").stat().st_size < kill.count:
        os.execv(argv[0], argv)
    if kill.moment == kills.START:
        _fire(folder, None, kill.victim == kills.ALL)
        return 137
    return _run(argv, folder, kill, kills)


def _run(argv: list[str], folder: Path, kill: Any, kills: Any) -> int:
    running = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    seen = [0]

    def relay(source: Any, target: Any) -> None:
        for line in iter(source.readline, b""):
            target.write(line)
            target.flush()
            seen[0] += kill.moment == kills.LINES and kill.text.encode() in line
            if kill.moment == kills.LINES and seen[0] == kill.count:
                _fire(folder, running, kill.victim == kills.ALL)

    relays = [
        threading.Thread(target=relay, args=pair) for pair in ((running.stdout, sys.stdout.buffer), (running.stderr, sys.stderr.buffer))
    ]
    for one in relays:
        one.start()
    if kill.moment not in (kills.LINES, kills.END):
        try:
            running.wait(float(kill.moment))
        except subprocess.TimeoutExpired:
            _fire(folder, running, kill.victim == kills.ALL)
    running.wait()
    for one in relays:
        one.join()
    if kill.moment == kills.END:
        _fire(folder, None, kill.victim == kills.ALL)
    return running.returncode if running.returncode >= 0 else 137


def _fire(folder: Path, running: Any, all_of_them: bool) -> None:
    """Kill once: this program, or the playbook with all its descendants, and this process at last."""
    try:
        (folder / "fired").touch(exist_ok=False)
    except FileExistsError:
        return
    if running is not None:
        running.send_signal(signal.SIGKILL)
    if not all_of_them:
        return
    root = int(os.environ["BED_ROOT"])
    for pid in [root, *_descendants(root)]:
        if pid != os.getpid():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
    time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGKILL)


def _descendants(root: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found, waiting = [], [root]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


if __name__ == "__main__":
    sys.exit(main())
