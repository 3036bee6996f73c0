# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the crash driver works on: one realistic transaction, the node's whole states, and the faults. Runs inside a node.

The code under test is not touched: functions of `os` are wrapped in a forked child, and the programs that `recover` calls are found
through wrappers in /usr/local/sbin, the first folder of its PATH.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import Change
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction import recovery as _recover
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.recovery import Command
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.store import Store
from ansible_collections.nodebootstrap.eks.plugins.module_utils._transaction.transaction import Transaction

STATE = "/var/lib/nodebootstrap"
UNITS = "/etc/systemd/system"
DROP_INS = UNITS + "/kubelet.service.d"
INJECT = "/run/inject"
WRAPPERS = "/usr/local/sbin"

CONFIG = "/etc/kubernetes/kubelet/kubelet-config.json"
KUBECONFIG = "/var/lib/kubelet/kubeconfig"
PROVIDER = "/etc/eks/image-credential-provider/config.json"
EDITED = "/etc/demo/edited.conf"
MADE_BY_IMAGE = "/etc/demo/by-image/made.conf"
SNAP = "/var/lib/demo/snap"
OLD_DROP_IN, NEW_DROP_IN = DROP_INS + "/20-old.conf", DROP_INS + "/30-new.conf"
DEMO_UNIT = UNITS + "/demo.service"
ENABLED = UNITS + "/multi-user.target.wants/demo.service"

#: What a machine holds before and after; None means that there is no file. Every pair differs, so a mixture shows.
OLD = {
    CONFIG: "old config\n", KUBECONFIG: "old kubeconfig\n", PROVIDER: None, EDITED: "old edited\n", MADE_BY_IMAGE: None, SNAP: "old\n",
    OLD_DROP_IN: "[Service]\nEnvironment=NODE_STATE=old\n", NEW_DROP_IN: None, DEMO_UNIT: None, ENABLED: None,
}  # fmt: skip
NEW = {
    CONFIG: "new config\n", KUBECONFIG: "new kubeconfig\n", PROVIDER: "new provider\n", EDITED: "new edited\n", MADE_BY_IMAGE: "new made\n",
    SNAP: "new\n", OLD_DROP_IN: None, NEW_DROP_IN: "[Service]\nEnvironment=NODE_STATE=new\n",
    DEMO_UNIT: "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n",
    ENABLED: "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n",
}  # fmt: skip
MANIFEST = {"state": "new"}
#: What fills a disk.
BALLAST = "ballast"
#: Trees in which nothing but the above may change.
TREES = ("/etc/kubernetes", "/etc/eks", "/etc/demo", UNITS, "/var/lib/kubelet", "/var/lib/demo", STATE)


#: Stands for a program of that name. What it does: with /run/inject/stub, systemctl only notes what a kubelet started now would find;
#: step number N of /run/inject/at strikes as it says there.
WRAPPER = r"""#!/bin/sh
stub() {
  case $* in
    *restart*)
      for file in WATCHED; do
        if [ -e "$file" ]; then read -r line < "$file"; else line=none; fi
        printf '%s|' "$line"
      done >> /run/inject/starts
      echo >> /run/inject/starts ;;
    enable*demo*) ln -sf DEMO_UNIT ENABLED ;;
    disable*demo*) rm -f ENABLED ;;
  esac
  return 0
}
real() {
  case $0 in
    */systemctl) if [ -e /run/inject/stub ]; then stub "$@"; else /usr/bin/systemctl "$@"; fi ;;
    */image-edit) echo 'new edited' > EDITED; mkdir -p MADE_FOLDER; echo 'new made' > MADE_BY_IMAGE ;;
    */snap) echo "${3#*=}" > SNAP ;;
    # A process is killed here, the power is not cut: waiting for the disk would show nothing and take a third of the time.
    */sync) ;;
    *) "/bin/${0##*/}" "$@" ;;
  esac
}
pass() {
  case $0 in */mv | */rm | */rmdir) exec "/bin/${0##*/}" "$@" ;; esac
  real "$@"
  exit
}
[ -e /run/inject/at ] || pass "$@"
read -r n < /run/inject/count
n=$((n + 1))
echo $n > /run/inject/count
echo "$n ${0##*/} $*" >> /run/inject/log
read -r at how < /run/inject/at
[ "$n" = "$at" ] || pass "$@"
case $how in
  fail) echo injected >&2; exit 1 ;;
  kill) kill -9 $PPID ;;
  after) real "$@"; kill -9 $PPID ;;
  half) case $0 in */rm) /bin/rm "$1" "$2" "$3" ;; esac; kill -9 $PPID ;;
  slow) sleep 1; real "$@" ;;
esac
"""
WATCHED = (CONFIG, KUBECONFIG, PROVIDER, EDITED, MADE_BY_IMAGE, SNAP, OLD_DROP_IN, NEW_DROP_IN)


def lay_programs():
    """Install the wrappers."""
    text = WRAPPER.replace("MADE_FOLDER", os.path.dirname(MADE_BY_IMAGE)).replace("WATCHED", " ".join(WATCHED))
    for name in ("DEMO_UNIT", "ENABLED", "EDITED", "MADE_BY_IMAGE", "SNAP"):
        text = text.replace(name, globals()[name])
    for name in ("mv", "rm", "rmdir", "sync", "systemctl", "image-edit", "snap"):
        with open(f"{WRAPPERS}/{name}", "w") as handle:
            handle.write(text)
        os.chmod(f"{WRAPPERS}/{name}", 0o755)


def lay_old():
    """The machine before: our files gone, the old ones there."""
    for path in (STATE, "/etc/eks/image-credential-provider", "/etc/demo", "/var/lib/demo", DROP_INS, f"{UNITS}/{_recover.UNIT_NAME}"):
        shutil.rmtree(path) if os.path.isdir(path) and not os.path.ismount(path) else _gone(path)
    for unit in _recover.BEFORE:
        shutil.rmtree(f"{UNITS}/{unit}.requires", ignore_errors=True)
    for tree in TREES:
        for folder, _unused, names in os.walk(tree):
            for name in names:
                if ".nodebootstrap-" in name:
                    os.unlink(os.path.join(folder, name))
    for path, text in OLD.items():
        if text is None:
            _gone(path)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        _gone(path)
        with open(path, "w") as handle:
            handle.write(text)
        os.chmod(path, 0o640 if path == KUBECONFIG else 0o644)
    shutil.rmtree(INJECT, ignore_errors=True)
    os.makedirs(INJECT)


def _gone(path):
    if os.path.lexists(path) and not os.path.isdir(path):
        os.unlink(path)
    elif os.path.ismount(path):
        for name in os.listdir(path):
            below = os.path.join(path, name)
            shutil.rmtree(below) if os.path.isdir(below) else os.unlink(below)


def transaction(store, **changes):
    """The one under test."""
    forward = [
        Command(("systemctl", "daemon-reload")),
        Command(("systemctl", "enable", "demo.service")),
        Command(("image-edit",)),
        Command(("snap", "set", "kubelet-eks", "state=new")),
        Command(("systemctl", "restart", "kubelet.service"), service=True),
    ]
    back = [
        Command(("systemctl", "daemon-reload")),
        Command(("systemctl", "disable", "demo.service"), optional=True),
        Command(("snap", "set", "kubelet-eks", "state=old")),
        Command(("systemctl", "restart", "kubelet.service"), service=True),
    ]
    written = (CONFIG, KUBECONFIG, PROVIDER, NEW_DROP_IN, DEMO_UNIT)
    files = [Change(path, NEW[path].encode(), 0o600 if path == KUBECONFIG else 0o644) for path in written]
    parts = {
        "changes": [*files, Change(OLD_DROP_IN, None)],
        "folders": [("/etc/demo/empty", 0o755)],
        "forward": forward,
        "back": back,
        "snapshots": [EDITED, MADE_BY_IMAGE],
        "manifest": MANIFEST,
    }
    return Transaction(store, **{**parts, **changes})


def play(**changes):
    """What an apply does: "unchanged" or "changed"; raises what it raises."""
    store = Store(STATE, UNITS)
    with store.lock():
        recovered = store.recover()
        if store.manifest() == MANIFEST:
            return recovered or "unchanged"
        store.prepare()
        transaction(store, **changes).run()
        return "changed"


# --- looking at the node ---------------------------------------------------------------------------------------------------------


def content(path):
    try:
        with open(path) as handle:
            return handle.read()
    except FileNotFoundError:
        return None


def signature():
    """Every path of the trees with type, mode and content."""
    found = {}
    for tree in TREES:
        for folder, names, files in os.walk(tree):
            for name in [*names, *files]:
                path = os.path.join(folder, name)
                if name == BALLAST:
                    continue
                info = os.lstat(path)
                text = os.readlink(path) if os.path.islink(path) else content(path) if name in files else None
                found[path] = (info.st_mode, info.st_uid, info.st_gid, text, info.st_nlink if name in files else None)
    return found


def engine_path(path):
    return path.startswith(STATE) or path.endswith(".requires") or os.path.basename(path) in (_recover.UNIT_NAME, *PREPARING)


class World:
    """The signatures of the whole states, learnt once, and what is wrong with one that is found."""

    def __init__(self):
        lay_old()
        stub()
        self.pristine = signature()
        play()
        self.converged = signature()
        self.old = {path: entry for path, entry in self.pristine.items() if not engine_path(path)}
        self.new = {path: entry for path, entry in self.converged.items() if not engine_path(path)}
        self.classes = set()
        assert self.old != self.new

    def which(self):
        """("old" or "new", problems)."""
        now = signature()
        files = {path: entry for path, entry in now.items() if not engine_path(path)}
        left = [path for path in now if ".nodebootstrap-" in path and os.path.basename(path) not in PREPARING]
        left += [path for path in now if path.startswith(STATE + "/transaction")]
        if files == self.old:
            return "old", [f"left over: {path}" for path in left]
        if files == self.new:
            problems = [f"left over: {path}" for path in left]
            if now != self.converged:
                problems.append(f"the engine's own files differ: {sorted(set(now.items()) ^ set(self.converged.items()))[:3]}")
            return "new", problems
        return "mixed", [f"mixed: {path}" for path in sorted(set(files) | set(self.old)) if files.get(path) != self.old.get(path)]


#: A killed preparation leaves these, no transaction is involved; the next apply takes them away.
PREPARING = {".recover.nodebootstrap-new", f".{_recover.UNIT_NAME}.nodebootstrap-new"}


def stub():
    with open(f"{INJECT}/stub", "w"):
        pass


def starts():
    """Problems with the states in which the stub of systemctl started kubelet."""
    whole = set()
    for state in (OLD, NEW):
        whole.add("".join(("none" if state[path] is None else state[path].split("\n")[0]) + "|" for path in WATCHED))
    return [f"kubelet started from {line}" for line in (content(f"{INJECT}/starts") or "").splitlines() if line not in whole]


# --- faults ----------------------------------------------------------------------------------------------------------------------

CHANGING = ("write", "fsync", "rename", "link", "unlink", "mkdir", "rmdir", "fchmod", "fchown", "symlink", "utime")


# As for sync in WRAPPER.
os.fsync = lambda descriptor: None


class Faults:
    """Wraps os.* and subprocess.Popen of this process; the fault strikes at step C(at) (1, 2, …)."""

    def __init__(self, at, how):
        self.at, self.how, self.count, self.log = at, how, 0, []
        self.off = False
        for name in CHANGING:
            setattr(os, name, self.wrapped(name, getattr(os, name)))
        os.open = self.wrapped("open", os.open)
        subprocess.Popen = self.wrapped("Popen", subprocess.Popen)

    def wrapped(self, name, function):
        def step(*arguments, **named):
            if name == "open" and not arguments[1] & os.O_CREAT:
                # Looking changes nothing, so only its failure is a case of its own; every seventh, for there are many.
                self.looks = getattr(self, "looks", 0) + 1
                if self.how != "fail" or self.looks % 7:
                    return function(*arguments, **named)
            if self.off:
                return function(*arguments, **named)
            self.count += 1
            self.log.append(name)
            if self.count == self.at:
                if self.how == "kill":
                    os.kill(os.getpid(), signal.SIGKILL)
                raise OSError(errno.ENOSPC if self.count % 2 else errno.EIO, "injected")
            return function(*arguments, **named)

        return step


def switch_by_recover():
    """From now on the Python half cannot switch files, so recover does, as after a kill right after the commit."""
    rename = os.rename

    def step(source, target, **named):
        if os.path.isabs(source) and source.endswith(".nodebootstrap-new"):
            raise OSError(errno.EIO, "left to recover")
        rename(source, target, **named)

    os.rename = step


def inject(at, how):
    with open(f"{INJECT}/count", "w") as handle:
        handle.write("0\n")
    with open(f"{INJECT}/at", "w") as handle:
        handle.write(f"{at} {how}\n")


def program_steps(**changes):
    """The programs that a whole run of recover starts."""
    lay_old()
    stub()
    inject(0, "never")
    said = attempt(**changes)
    steps = [line.split(" ", 1)[1] for line in (content(f"{INJECT}/log") or "").splitlines()]
    return steps, said


def attempt(**changes):
    try:
        return play(**changes)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


#: A transaction that has to go back by itself: its last command fails.
FAILING = {"forward": [Command(("systemctl", "daemon-reload")), Command(("image-edit",)), Command(("false",))]}
VARIANTS = {"forward": {}, "back": FAILING}


def in_child(at, how, **changes):
    """A play in a child with a fault: (how it ended, number of steps, what it said)."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        faults = Faults(at, how)
        try:
            said = play(**changes)
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        faults.off = True
        os.write(writing, json.dumps([faults.count, faults.log, said]).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    _unused, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return "killed", None, []
    count, log, said = json.loads(told)
    return said, count, log


def by_play():
    """The next play's own recovery, not yet its transaction."""
    store = Store(STATE, UNITS)
    with store.lock():
        return store.recover()


def by_boot():
    """What the unit does at boot."""
    if os.path.isdir(STATE) and any(name.startswith("transaction") for name in os.listdir(STATE)):
        done = subprocess.run(["/bin/sh", f"{STATE}/recover", "boot"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(f"recover boot exited {done.returncode}: {done.stdout.decode()} {done.stderr.decode()}")


RECOVERIES = {"play": by_play, "boot": by_boot}


def choose(recovery, number):
    """The recovery for a step: C(each) alternates between the two."""
    return ("play", "boot")[number % 2] if recovery == "each" else recovery


def settle(world, recovery):
    """Recover, look, and converge; problems."""
    for name in ("at", "count"):
        _gone(f"{INJECT}/{name}")
    try:
        RECOVERIES[recovery]()
    except Exception as error:
        return [f"recovery by {recovery}: {type(error).__name__}: {error}"]
    state, problems = world.which()
    # From the same files the same follows: every class of recovered states converges once.
    seen = json.dumps(sorted(signature().items()))
    if seen not in world.classes:
        world.classes.add(seen)
        first = play()
        again, more = world.which()
        problems += (
            more
            + [f"the next play ended {again}"] * (again != "new")
            + [f"a play of new files: {first}"] * (state == "new" and recovery == "boot" and first != "unchanged")
        )
        before = signature()
        said = play()
        problems += [f"a further run: {said}"] * (said != "unchanged") + ["a further run changes files"] * (signature() != before)
    return problems + starts()


def report(points, problems, **more):
    print(json.dumps({"points": points, "problems": problems[:20], "all_problems": len(problems), **more}), flush=True)
