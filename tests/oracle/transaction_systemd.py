# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the crash driver that needs the node's own systemd: commands that really restart kubelet, and reboots."""

from __future__ import annotations

import json
import os
import subprocess
import time

from transaction_node import (
    CONFIG,
    FAILING,
    INJECT,
    KUBECONFIG,
    PROVIDER,
    RECOVERIES,
    STATE,
    UNITS,
    VARIANTS,
    Command,
    Store,
    World,
    attempt,
    content,
    in_child,
    inject,
    lay_old,
    program_steps,
    report,
    signature,
)

# --- real systemd ----------------------------------------------------------------------------------------------------------------


def systemctl(*words):
    return subprocess.run(
        ["/usr/bin/systemctl", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    ).stdout.strip()


def lay_running():
    """The machine before, with systemd and kubelet as they were."""
    lay_old()
    systemctl("daemon-reload")
    systemctl("reset-failed")
    systemctl("restart", "kubelet.service")
    main_record()
    for name in os.listdir("/run/recorded"):
        os.unlink(f"/run/recorded/{name}")


def records():
    folder = "/run/recorded"
    names = [name for name in os.listdir(folder) if name.startswith("kubelet-") and name.endswith(".json")]
    return [json.loads(content(f"{folder}/{name}")) for name in sorted(names, key=lambda name: int(name[8:-5]))]


def main_record(seconds=120):
    """The record of the kubelet that runs now; None when none does."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        pid = int(systemctl("show", "-p", "MainPID", "--value", "kubelet.service") or 0)
        active = systemctl("is-active", "kubelet.service")
        found = [record for record in records() if record["pid"] == pid]
        if found and active == "active":
            return found[-1]
        if active in ("inactive", "failed"):
            return None
        time.sleep(0.02)
    raise RuntimeError(f"kubelet.service is {active}, its record does not come")


def state_of(record):
    """The state a kubelet was started in, by what it read: files and environment."""
    words = {(text or "none").split()[0] for path, text in record["files"].items() if path in (CONFIG, KUBECONFIG)}
    words.add((record["files"].get(PROVIDER) or "old").split()[0])
    words.add(record["environment"].get("NODE_STATE", "none"))
    return words.pop() if len(words) == 1 else f"a mixture: {sorted(words)}"


def real_problems(world, running=True):
    """The node at rest, and every kubelet that was started."""
    state, problems = world.which()
    problems += [f"kubelet started from {state_of(record)}" for record in records() if state_of(record) not in ("old", "new")]
    now = main_record()
    if (now is not None) != running:
        problems.append(f"kubelet {'runs' if now else 'does not run'}")
    if now is not None and state_of(now) != state and records() and now in records():
        problems.append(f"kubelet runs with {state_of(now)}, the files are {state}")
    return state, problems


def real_world():
    world = World()
    lay_running()
    attempt()
    return world


def pass_real(recovery):
    """The commands with the real systemctl: each fails, or recover is killed before or after it; kubelet's own record is judged."""
    world, problems, points, ends = real_world(), [], 0, {}
    for variant, changes in VARIANTS.items():
        steps, _said = program_steps(**changes)
        for at, step in enumerate(steps, 1):
            if not step.startswith(("systemctl", "image-edit", "snap")) and at != 2:
                continue
            for how in ("fail", "kill", "after"):
                # Killed after a step is killed before the next; what a failure leads to does not depend on the way of recovery.
                last = "restart" in step
                wanted = {"fail": (recovery, variant) == ("play", "forward"), "kill": recovery == "boot", "after": last}
                if not wanted[how]:
                    continue
                lay_running()
                inject(at, how)
                said = attempt(**changes)
                os.unlink(f"{INJECT}/at")
                where = f"{variant} {how} at {at} ({step}; {said[:60]}), recovered by {recovery}"
                if recovery == "boot":
                    # As after a boot: nothing runs, systemd has read every unit anew.
                    systemctl("stop", "kubelet.service")
                    systemctl("daemon-reload")
                    systemctl("start", "kubelet.service")
                else:
                    RECOVERIES["play"]()
                state, found = real_problems(world)
                ends[state] = ends.get(state, 0) + 1
                points += 1
                problems += [f"{where}: {problem}" for problem in found]
    # What all of these ends have in common with those of the other passes is the files; one of each converges here too.
    problems += [f"the next play: {attempt()}"] * (world.which()[0] == "old" and attempt() not in ("changed", "unchanged"))
    report(points, problems, ends=ends)


def pass_guard():
    """kubelet starts by itself, or another program starts it, while a transaction is between two files."""
    world, problems = real_world(), []
    os.makedirs("/run/systemd/system/kubelet.service.d", exist_ok=True)
    with open("/run/systemd/system/kubelet.service.d/90-fast.conf", "w") as handle:
        handle.write("[Service]\nRestartSec=100ms\n")
    # Many starts in one apply: systemd counts the starts of required units, too, and gives up after five in ten seconds.
    lay_running()
    prepared()
    restarts = [Command(("systemctl", "restart", "kubelet.service")), Command(("systemctl", "reset-failed", "kubelet.service"))] * 8
    said = attempt(forward=restarts, snapshots=[])
    problems += [f"many starts: {said}"] * (said != "changed")
    # A restart by an administrator while the third file waits for a slow disk.
    lay_running()
    prepared()
    inject(2, "slow")
    apply = os.fork()
    if apply == 0:
        os._exit(0 if attempt() == "changed" else 1)
    wait_until(lambda: len((content(f"{INJECT}/log") or "").splitlines()) >= 2)
    systemctl("restart", "kubelet.service")
    problems += ["the apply failed"] * (os.waitpid(apply, 0)[1] != 0)
    state, found = real_problems(world)
    problems += [f"a restart meanwhile ({state}): {problem}" for problem in found]
    # The recover program dies between two files, then kubelet does; systemd starts it again.
    lay_running()
    prepared()
    inject(2, "kill")
    said = attempt()
    os.unlink(f"{INJECT}/at")
    problems += [f"killed: {said}"] * (not said.startswith("RecoveryFailed"))
    problems += ["not between two states"] * (world.which()[0] != "mixed")
    before = main_pid()
    systemctl("kill", "-s", "KILL", "kubelet.service")
    wait_until(lambda: main_pid() not in (0, before))
    state, found = real_problems(world)
    problems += [f"after kubelet's own restart ({state}): {problem}" for problem in found]
    # A journal of a newer version: nothing is guessed, kubelet stays down.
    lay_running()
    prepared()
    inject(2, "kill")
    attempt()
    os.unlink(f"{INJECT}/at")
    rewrite("nodebootstrap\x1f1", "nodebootstrap\x1f2")
    mixed = signature()
    systemctl("restart", "kubelet.service")
    problems += ["kubelet started with a journal that no program can read"] * (systemctl("is-active", "kubelet.service") == "active")
    said = attempt()
    problems += [f"newer journal: {said}"] * ("another version" not in said)
    problems += ["a newer journal was touched"] * (signature() != mixed)
    rewrite("nodebootstrap\x1f2", "nodebootstrap\x1f1")
    systemctl("start", "kubelet.service")
    state, found = real_problems(world)
    problems += [f"readable again ({state}): {problem}" for problem in found]
    report(4, problems)


def prepared():
    """systemd knows the unit, as it does from the first daemon-reload or boot on."""
    store = Store(STATE, UNITS)
    with store.lock():
        store.prepare()
        systemctl("daemon-reload")
        # Or the end of the lock would tidy up.
        os.mkdir(f"{STATE}/transaction")
    os.rmdir(f"{STATE}/transaction")


def main_pid():
    return int(systemctl("show", "-p", "MainPID", "--value", "kubelet.service") or 0)


def wait_until(condition, seconds=120):
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            raise RuntimeError("not in time")
        time.sleep(0.01)


def rewrite(old, new):
    """Another format in every list of the transaction."""
    for name in os.listdir(f"{STATE}/transaction"):
        path = f"{STATE}/transaction/{name}"
        text = content(path)
        with open(path, "w") as handle:
            handle.write(text.replace(old, new))


# --- a reboot --------------------------------------------------------------------------------------------------------------------


def leave_abort():
    in_child(110, "kill")


def leave_switch():
    inject(1, "after")
    attempt()


def leave_commands():
    steps, _said = program_steps()
    lay_running()
    inject(1 + next(index for index, step in enumerate(steps) if "restart" in step), "kill")
    attempt()


def leave_finish():
    steps, _said = program_steps()
    lay_running()
    inject(1 + next(index for index, step in enumerate(steps) if step.startswith("rm -f")), "half")
    attempt()


def leave_back():
    steps, _said = program_steps(**FAILING)
    lay_running()
    inject(3 + next(index for index, step in enumerate(steps) if "back.ready" in step), "after")
    attempt(**FAILING)


def leave_undo():
    waits = [Command(("systemctl", "daemon-reload")), Command(("image-edit",), undo_at_boot=True)]
    steps, _said = program_steps(forward=waits)
    lay_running()
    inject(1 + steps.index("image-edit "), "after")
    attempt(forward=waits)


def leave_newer():
    leave_switch()
    rewrite("nodebootstrap\x1f1", "nodebootstrap\x1f2")


def pass_leave(case):
    """Leave the node in the middle of something; the test then restarts it."""
    systemctl("enable", "kubelet.service")
    lay_running()
    globals()[f"leave_{case}"]()
    os.sync()
    report(1, ["nothing was left"] * (not os.path.isdir(f"{STATE}/transaction")))


def pass_look(expected):
    """After the restart: which state, what kubelet read, and that a play converges."""
    found = []
    if expected == "down":
        found += ["kubelet runs"] * (systemctl("is-active", "kubelet.service") == "active")
        found += ["the unit did not fail"] * (systemctl("is-failed", "nodebootstrap-recover.service") != "failed")
        rewrite("nodebootstrap\x1f2", "nodebootstrap\x1f1")
        systemctl("start", "kubelet.service")
    now = main_record()
    state = "nothing" if now is None else state_of(now)
    found += [f"kubelet started from {state_of(record)}" for record in records() if state_of(record) not in ("old", "new")]
    found += [f"kubelet runs with {state}"] * (state != (expected if expected != "down" else "new"))
    found += [f"left over: {path}" for path in signature() if ".nodebootstrap-" in path or "/transaction" in path]
    said = attempt()
    found += [f"the next play: {said}"] * (said != ("changed" if expected == "old" else "unchanged"))
    found += ["the play did not end new"] * (state_of(main_record()) != "new")
    report(1, found, state=state)
