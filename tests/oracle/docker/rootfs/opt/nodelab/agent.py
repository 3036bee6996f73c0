# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the harness talks to inside a container: one JSON request per line on stdin, one JSON answer per line on stdout.

A docker exec per command costs a tenth of a second; this costs a few milliseconds. Bytes travel as base64.
Also the cheap reset between cases: `baseline` remembers the trees that bootstrapping writes to, `restore` puts them back.
"""

import base64
import json
import os
import shutil
import signal
import stat
import subprocess
import sys

#: Where user data and bootstrap scripts write. /run/systemd/system holds run-time units; generators write elsewhere.
TREES = (
    "/etc",
    "/opt",
    "/usr/local",
    "/root",
    "/home",
    "/srv",
    "/mnt",
    "/run/systemd/system",
    "/run/systemd/resolved.conf.d",
    "/var/lib/kubelet",
    "/var/lib/cloud",
    "/var/lib/nodebootstrap",
    "/var/lib/nodelab",
    "/var/lib/containerd",
    "/var/log/pods",
    "/var/snap",
    "/tmp",
)
#: Docker mounts these over the image's: they can be neither replaced nor removed.
KEPT = {"/etc/hostname", "/etc/hosts", "/etc/resolv.conf", "/etc/machine-id", "/etc/mtab"}
GONE = ("/run/recorded", "/run/nodebootstrap", "/run/cloud-init", "/run/nodeadm", "/run/eks")
LOGS = ("/var/log/cloud-init.log", "/var/log/cloud-init-output.log", "/run/nodelab/imds.jsonl")
UNITS = (".service", ".timer", ".path", ".socket", ".mount", ".target")


def entry(path):
    """(kind, mode, uid, gid, size, mtime) of the entry at path: what can change without the content being read."""
    info = os.lstat(path)
    size = info.st_size if stat.S_ISREG(info.st_mode) else 0
    return (
        stat.S_IFMT(info.st_mode),
        stat.S_IMODE(info.st_mode),
        info.st_uid,
        info.st_gid,
        size,
        info.st_mtime_ns if stat.S_ISREG(info.st_mode) else os.readlink(path) if stat.S_ISLNK(info.st_mode) else 0,
    )


def walk():
    """Every path of the trees, parents first."""
    for tree in TREES:
        if not os.path.lexists(tree):
            continue
        yield tree
        for folder, names, files in os.walk(tree):
            for name in names + files:
                path = os.path.join(folder, name)
                if path not in KEPT and not path.startswith("/opt/nodelab"):
                    yield path


class State:
    def __init__(self):
        self.entries = {}
        self.contents = {}

    def remember(self):
        self.entries = {path: entry(path) for path in walk()}
        self.contents = {}
        for path, (kind, *_unused) in self.entries.items():
            if kind == stat.S_IFREG:
                with open(path, "rb") as handle:
                    self.contents[path] = handle.read()

    def restore(self):
        """Put every tree back; return the paths that had changed."""
        now = {path: entry(path) for path in walk()}
        new = [path for path in now if path not in self.entries]
        changed = [path for path, was in self.entries.items() if now.get(path) != was]
        for path in new:
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            elif os.path.lexists(path):
                os.unlink(path)
        for path in changed:
            self.put(path)
        return new + changed

    def put(self, path):
        kind, mode, uid, gid, _size, extra = self.entries[path]
        if kind == stat.S_IFDIR:
            os.makedirs(path, exist_ok=True)
        else:
            if os.path.lexists(path):
                shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
            if kind == stat.S_IFLNK:
                return os.symlink(extra, path)
            if kind != stat.S_IFREG:
                return None
            with open(path, "wb") as handle:
                handle.write(self.contents[path])
        os.chown(path, uid, gid)
        os.chmod(path, mode)
        if kind == stat.S_IFREG:
            os.utime(path, ns=(extra, extra))
        return None


STATE = State()


def op_exec(request):
    argv = [base64.b64decode(word) for word in request["argv"]]
    environment = None
    if request["environment"] is not None:
        environment = {base64.b64decode(key): base64.b64decode(value) for key, value in request["environment"]}
    try:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=request["cwd"],
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        # What a shell says: 126 not executable, 127 not found.
        return {"code": 127 if isinstance(error, FileNotFoundError) else 126, "out": "", "err": encode(str(error).encode())}
    try:
        out, err = child.communicate(base64.b64decode(request["input"]), timeout=request["timeout"])
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
        return {"timeout": True, "out": encode(out), "err": encode(err)}
    return {"code": child.returncode, "out": encode(out), "err": encode(err)}


def op_read(request):
    try:
        with open(request["path"], "rb") as handle:
            content = handle.read()
        return {"content": encode(content)}
    except OSError as error:
        return {"missing": str(error)}


def op_write(request):
    for path, mode, content in request["files"]:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as handle:
            handle.write(base64.b64decode(content))
        os.chmod(path, mode)
    return {}


def op_records(request):
    """The records of a stand-in in the order of its runs."""
    folder, found = "/run/recorded", []
    prefix = request["name"] + "-"
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        number, _unused, suffix = name[len(prefix) :].partition(".")
        if name.startswith(prefix) and number.isdigit() and suffix == "json":
            with open(os.path.join(folder, name), encoding="utf-8") as handle:
                found.append((int(number), json.load(handle)))
    return {"records": [what for _unused, what in sorted(found, key=lambda item: item[0])]}


def op_baseline(_request):
    STATE.remember()
    return {"paths": len(STATE.entries)}


def op_restore(request):
    """Stop what was started, put the files back, let systemd read them again."""
    if not STATE.entries:
        raise RuntimeError("restore without baseline")
    new = [path for path in walk() if path not in STATE.entries]
    folders = ("/etc/systemd/system/", "/run/systemd/system/")
    units = {os.path.basename(path) for path in new if path.startswith(folders) and path.endswith(UNITS)}
    stop = [*request["stop"], *sorted(units)]
    if stop:
        # kill first: a unit of a hostile case may take its time to stop, and nothing of it is wanted.
        subprocess.run(["systemctl", "kill", "-s", "KILL", *stop], capture_output=True, check=False)
        subprocess.run(["systemctl", "stop", *stop], capture_output=True, check=False, timeout=600)
    changed = STATE.restore()
    for folder in GONE:
        if folder == "/run/cloud-init" and not request["cloud_init"]:
            continue
        shutil.rmtree(folder, ignore_errors=True)
    os.makedirs("/run/recorded", exist_ok=True)
    for path in LOGS:
        if os.path.exists(path):
            os.truncate(path, 0)
    if any(path.startswith("/etc/systemd/system.conf.d") for path in changed):
        subprocess.run(["systemctl", "daemon-reexec"], capture_output=True, check=False)
    elif any("/systemd/" in path for path in changed):
        subprocess.run(["systemctl", "daemon-reload"], capture_output=True, check=False)
    subprocess.run(["systemctl", "reset-failed"], capture_output=True, check=False)
    return {"changed": changed}


def encode(content):
    return base64.b64encode(content).decode()


def main():
    out = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = globals()["op_" + request["op"]](request)
        except Exception as error:  # the harness must see it, not a closed pipe
            answer = {"error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(answer) + "\n")
        out.flush()


main()
