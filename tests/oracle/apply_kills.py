# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on a node of the laboratory: applies two plans in turns, each one killed somewhere, and then asks the running kubelet.

    python3 apply_kills.py FILE COUNT      FILE: [[plan, expected], [plan, expected]]

The last line of the output is JSON: {"kills": N, "steps": N, "problems": […]}. A kill strikes at step N of the run, or of the recover
program that works for it: before that step, or in the middle of it. A step is a program that starts, or a file that the run renames. Then
the node is recovered by the next run, or first by the unit as at boot. When the run says healthy, /configz must say what the plan says.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import urllib.request

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.apply import apply
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.apply_run import PHASES, Options
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.plan import parse

FOLDER = "/run/kills"
STATE = "/var/lib/nodebootstrap"
WRAPPED = ("mv", "rm", "systemctl", "snap")
WRAPPER = r"""#!/bin/sh
name=${0##*/}
# A program of a unit is not part of the run, and systemd gives each unit an INVOCATION_ID.
[ -e /run/kills/at ] && [ -z "${INVOCATION_ID:-}" ] || exec "/usr/bin/$name" "$@"
exec 7> /run/kills/lock
flock 7
read -r number < /run/kills/count
number=$((number + 1))
echo "$number" > /run/kills/count
exec 7>&-
read -r at how run < /run/kills/at
[ "$number" = "$at" ] || exec "/usr/bin/$name" "$@"
rm -f /run/kills/at
[ "$how" != during ] || { "/usr/bin/$name" "$@" > /dev/null 2>&1 & sleep 0.03; }
touch /run/kills/struck
kill -9 "$run" "$PPID"
"""
WAIT_SECONDS = 300.0


def prepare():
    os.makedirs(FOLDER, exist_ok=True)
    for name in WRAPPED:
        path = f"/usr/local/sbin/{name}"
        with open(path, "w") as handle:
            handle.write(WRAPPER)
        os.chmod(path, 0o755)


def write(name, text):
    with open(f"{FOLDER}/{name}", "w") as handle:
        handle.write(text + "\n")


def run(plan):
    options = Options(plan, PHASES, wait_timeout=WAIT_SECONDS, lock_timeout=WAIT_SECONDS)
    return apply(options)


def is_struck():
    """Count one more step. Returns how a kill strikes at it ("before" or "during"), or None."""
    with open(f"{FOLDER}/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with open(f"{FOLDER}/count") as handle:
            number = int(handle.read()) + 1
        write("count", str(number))
    try:
        with open(f"{FOLDER}/at") as handle:
            at, how, _run = handle.read().split()
    except FileNotFoundError:
        return None
    if number != int(at):
        return None
    os.unlink(f"{FOLDER}/at")
    write("struck", "")
    return how


def make_renames_steps():
    rename = os.rename

    def step(source, target, **named):
        how = is_struck()
        if how != "before":
            rename(source, target, **named)
        if how:
            os.kill(os.getpid(), signal.SIGKILL)

    os.rename = step


def in_child(plan, at, how):
    """A run in a process of its own that is killed at step C(at). Returns the number of its steps."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)
        os.read(reading, 1)
        make_renames_steps()
        try:
            run(plan)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        os._exit(0)
    os.close(reading)
    write("count", "0")
    write("at", f"{at} {how} {child}")
    os.write(writing, b"x")
    os.waitpid(child, 0)
    for name in ("at", "struck"):
        if os.path.exists(f"{FOLDER}/{name}"):
            os.unlink(f"{FOLDER}/{name}")
    with open(f"{FOLDER}/count") as handle:
        return int(handle.read())


def recover_as_at_boot():
    if os.path.isdir(f"{STATE}/transaction"):
        subprocess.run(["/bin/sh", f"{STATE}/recover", "boot"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)


def configz():
    with urllib.request.urlopen("http://127.0.0.1:10248/configz", timeout=60) as answer:
        return json.load(answer)["kubeletconfig"]


def check(plan, expected):
    """What is wrong after the next run."""
    try:
        result = run(plan)
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    if not result.healthy:
        return [f"not healthy: {result.missing} {result.evidence}"]
    found = configz()
    return [f"healthy, and {key} is {found.get(key)!r}, not {value!r}" for key, value in expected.items() if found.get(key) != value]


def main():
    with open(sys.argv[1]) as handle:
        turns = [(parse(plan), expected) for plan, expected in json.load(handle)]
    count = int(sys.argv[2])
    prepare()
    run(turns[0][0])
    # The first one counts: it is never struck.
    total = in_child(turns[1][0], 10**6, "before")
    problems = check(*turns[1])
    for number in range(count):
        # Turns are so fast that systemd would refuse one more start of kubelet.
        subprocess.run(["/usr/bin/systemctl", "reset-failed"], check=False)
        plan, expected = turns[number % 2]
        at, how = 1 + number * total // count, ("before", "during")[number // 2 % 2]
        in_child(plan, at, how)
        if number % 3 == 2:
            recover_as_at_boot()
        problems += [f"kill {how} step {at} of {total}, run {number}: {problem}" for problem in check(plan, expected)]
    print(json.dumps({"kills": count, "steps": total, "problems": problems}))


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    main()
