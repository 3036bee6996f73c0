# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on a node of the laboratory: a transaction, interrupted at every step of the operating system.

    python3 transaction_driver.py PASS [ARGUMENT]      the last line of its output is JSON: {"points": N, "problems": [...], ...}

After every interruption the node is recovered and looked at: old or new as a whole, nothing left over, kubelet never started from
anything else, the next play converges and a further one changes nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

import transaction_systemd as real
from transaction_node import (
    BALLAST,
    KUBECONFIG,
    RECOVERIES,
    STATE,
    UNITS,
    VARIANTS,
    Store,
    World,
    attempt,
    choose,
    in_child,
    inject,
    lay_old,
    lay_programs,
    program_steps,
    report,
    settle,
    signature,
    starts,
    stub,
    switch_by_recover,
    transaction,
)

# --- passes ----------------------------------------------------------------------------------------------------------------------


def pass_failures():
    """Every step of the Python half fails once, on a fresh machine: nothing at all is left behind."""
    world, problems, at = World(), [], 0
    while True:
        at += 1
        lay_old()
        stub()
        said, count, _log = in_child(at, "fail")
        if count is not None and count < at:
            break
        state, found = world.which()
        # A failure after the commit may also have been overcome.
        if said == "changed":
            found += [f"said changed, is {state}"] * (state != "new")
        elif signature() != world.pristine:
            found.append(f"{state}, not pristine: {sorted(set(signature()) ^ set(world.pristine))[:3]}")
        problems += [f"failure at {at} ({said}): {problem}" for problem in found + starts()]
    report(at - 1, problems)


def pass_kills(recovery):
    """The Python half is killed before every step (which is after the one before)."""
    world, problems, at, states = World(), [], 0, {}
    while True:
        at += 1
        lay_old()
        stub()
        said, _count, _log = in_child(at, "kill")
        if said != "killed":
            break
        found = settle(world, choose(recovery, at))
        state = world.which()[0]
        states[state] = states.get(state, 0) + 1
        problems += [f"kill at {at}: {problem}" for problem in found]
    report(at - 1, problems, classes=len(world.classes), ends=states)


#: What must reach the disk before what: losing power is not killing a process, so the order itself is looked at.
ORDER = {
    "forward": (
        f"{STATE}/transaction/done",
        f"sync -- {STATE}/transaction",
        "sync -- /etc",
        "manifest.json",
        "rm -f",
        f"{STATE}/transaction.done",
    ),
    "back": (
        f"{STATE}/transaction/back",
        f"sync -- {STATE}/transaction",
        "nodebootstrap-old /",
        "sync -- /etc",
        f"{STATE}/transaction.done",
    ),
}


def order_problems(variant, steps):
    """Where the first of one kind comes after the first of the next."""
    found = [next(index for index, step in enumerate(steps) if kind in step) for kind in ORDER[variant]]
    return [] if found == sorted(found) else [f"{variant}: out of order: {found}"]


def pass_programs(recovery):
    """Every program that recover starts fails, is killed with recover before or after it, or comes half way."""
    world, problems, points = World(), [], 0
    for variant, changes in VARIANTS.items():
        steps, _said = program_steps(**changes)
        problems += order_problems(variant, steps)
        for at, step in enumerate(steps, 1):
            for number, how in enumerate(("fail", "kill", "after", "half")):
                # Before a step is after the one before: recover itself writes nothing, so between two programs the disk stays as it is.
                same = how == "kill" and at > 1
                # An empty folder that cannot be removed is left where it is: nothing reads it.
                if same or (how == "half" and not step.startswith("rm -f")) or (how == "fail" and step.startswith("rmdir")):
                    continue
                lay_old()
                stub()
                inject(at, how)
                said = attempt(**changes)
                points += 1
                where = f"{variant} {how} at {at} ({step[:60]}; {said[:80]})"
                if how == "fail" and not said.startswith("RecoveryFailed"):
                    state = world.which()[0]
                    problems += [f"{where}: is {state}"] * ((said == "changed") != (state == "new"))
                problems += [f"{where}: {problem}" for problem in settle(world, choose(recovery, at + number // 2))]
    report(points, problems, classes=len(world.classes))


def pass_twice():
    """Killed in the run, killed again in the recovery, then recovered: every ninth pair."""
    world, problems, points = World(), [], 0
    for variant, changes in VARIANTS.items():
        steps, _said = program_steps(**changes)
        for at in range(1, len(steps) + 1):
            for again in range(1 + at % 9, len(steps) + 1, 9):
                lay_old()
                stub()
                inject(at, "kill")
                attempt(**changes)
                inject(again, "after")
                recovery = "play" if points % 2 else "boot"
                try:
                    RECOVERIES[recovery]()
                except Exception as error:
                    interrupted = f"{type(error).__name__}: {error}"
                else:
                    interrupted = "recovered"
                points += 1
                where = f"{variant} killed at {at} and {again} ({interrupted[:60]})"
                problems += [f"{where}: {problem}" for problem in settle(world, "boot" if points % 2 else "play")]
                if interrupted == "recovered":
                    break
    report(points, problems, classes=len(world.classes))


# --- a full disk -----------------------------------------------------------------------------------------------------------------

DISKS = (STATE, "/etc/kubernetes/kubelet")


def fill(folder, blocks, inodes):
    """Leave that many blocks and names in a file system; None: plenty."""
    subprocess.run(["mount", "-o", "remount,nr_inodes=64", folder], check=True)
    with open(f"{folder}/{BALLAST}", "wb") as handle:
        room = os.statvfs(folder)
        handle.write(b"x" * (0 if blocks is None else (room.f_bavail - blocks) * room.f_bsize))
    room = os.statvfs(folder)
    if inodes is not None:
        subprocess.run(["mount", "-o", f"remount,nr_inodes={room.f_files - room.f_ffree + inodes}", folder], check=True)


def pass_disk():
    """A disk with room for N more blocks or names: the state folder's, and that of a target."""
    os.makedirs(STATE, exist_ok=True)
    for folder in DISKS:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0755,size=256k,nr_inodes=64", "none", folder], check=True)
    world, problems, points, full = World(), [], 0, 0
    for folder in DISKS:
        for unit in ("blocks", "inodes"):
            for left in range(14):
                lay_old()
                stub()
                fill(folder, *((left, None) if unit == "blocks" else (None, left)))
                said = attempt()
                state, found = world.which()
                points += 1
                if said == "changed":
                    found += [f"said changed, is {state}"] * (state != "new")
                else:
                    full += 1
                    found += [f"is {state}"] * (signature() != world.pristine) + [f"said {said}"] * ("o space left" not in said)
                fill(folder, None, None)
                problems += [f"{left} {unit} left in {folder} ({said[:90]}): {problem}" for problem in found + settle(world, "play")]
                if said == "changed":
                    break
    # It fills up after everything was prepared: neither way needs room.
    for variant, changes in VARIANTS.items():
        lay_old()
        stub()
        store = Store(STATE, UNITS)
        with store.lock():
            store.prepare()
            whole = transaction(store, **changes)
            whole.stage()
            for folder in DISKS:
                fill(folder, 0, 0)
            whole.commit()
            try:
                whole.forward()
                said = "new"
            except Exception as error:
                said = type(error).__name__
        state, found = world.which()
        points += 1
        found += [f"{said}, {state}"] * ((said, state) != {"forward": ("new", "new"), "back": ("StepFailed", "old")}[variant])
        for folder in DISKS:
            fill(folder, None, None)
        problems += [f"full after staging, {variant}: {problem}" for problem in found + settle(world, "play")]
    # A target that cannot be renamed over.
    lay_old()
    stub()
    subprocess.run(["mount", "--bind", KUBECONFIG, KUBECONFIG], check=True)
    said = attempt()
    subprocess.run(["umount", KUBECONFIG], check=True)
    problems += [f"a busy target: {said}"] * (not said.startswith("StepFailed: a file could not be replaced: " + KUBECONFIG))
    problems += [f"a busy target: {problem}" for problem in settle(world, "play")]
    for folder in DISKS:
        subprocess.run(["umount", folder], check=True)
    report(points + 1, problems, full=full)


PASSES = {
    "failures": pass_failures,
    "kills": pass_kills,
    "programs": pass_programs,
    "twice": pass_twice,
    "disk": pass_disk,
    "real": real.pass_real,
    "guard": real.pass_guard,
    "leave": real.pass_leave,
    "look": real.pass_look,
}

#: The passes in which the Python half switches the files. In the others, recover does, and each file is a step of its own.
SWITCHED_BY_PYTHON = ("failures", "kills", "disk")


def main():
    os.umask(0o077)
    began = time.monotonic()
    lay_programs()
    if sys.argv[1] not in SWITCHED_BY_PYTHON:
        switch_by_recover()
    PASSES[sys.argv[1]](*sys.argv[2:])
    # The second figure does not depend on what else the machine does.
    print(f"{time.monotonic() - began:.0f} s, {sum(os.times()[:4]):.0f} s of a CPU", file=sys.stderr)


if __name__ == "__main__":
    main()
