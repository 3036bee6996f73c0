# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is really on a node, and what systemd really gave to kubelet. Runs on the node; knows nothing of the collection.

verifier.py snapshot             one JSON list: every file with its mode and digest, every unit with its state and number of starts
verifier.py verify EXPECTATIONS  exit status 1 and a line for each difference; EXPECTATIONS is a JSON mapping, see C(CHECKS)
"""

from __future__ import annotations

import glob
import hashlib
import json
import os
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request

import yaml

TREES = (
    "/etc",
    "/usr/local",
    "/opt",
    "/srv",
    "/root",
    "/var/lib/kubelet",
    "/var/lib/nodebootstrap",
    "/var/lib/nodelab",
    "/var/snap",
    "/run/eks",
)
#: Where the way in leaves traces, or the container runtime.
NOT_OURS = ("/root/.ansible", "/root/.bash", "/etc/resolv.conf", "/etc/hosts", "/etc/hostname", "/etc/mtab", "/opt/nodelab")
UNITS = ("kubelet", "containerd", "sandbox-image", "nodeadm-config", "nodeadm-run", "snap.kubelet-eks.daemon")
STARTED = "MESSAGE_ID=39f53479d3a045ac8e11786248231fbf"


def run(*words: str) -> str:
    """What a program prints."""
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.decode(errors="replace").strip()


def starts(unit: str) -> int:
    """How often systemd started a unit since the boot."""
    run("journalctl", "--sync")
    return len(run("journalctl", "-q", "-b", "-o", "cat", "--no-pager", STARTED, "UNIT=" + unit).splitlines())


def shown(unit: str, name: str) -> str:
    return run("systemctl", "show", "-p", name, "--value", unit)


# --- snapshot -----------------------------------------------------------------------------------------------------------------------


def entry(path: str) -> str:
    info = os.lstat(path)
    if stat.S_ISLNK(info.st_mode):
        content = os.readlink(path)
    elif stat.S_ISREG(info.st_mode):
        with open(path, "rb") as handle:
            content = hashlib.sha256(handle.read()).hexdigest()
    else:
        content = ""
    return f"{path} {oct(info.st_mode)} {info.st_uid}:{info.st_gid} {content}"


def snapshot() -> list[str]:
    """Files and units as lines; two of them are equal when nothing has happened in between."""
    found = []
    for tree in TREES:
        for folder, _folders, files in os.walk(tree):
            found += [entry(path) for path in (folder, *(os.path.join(folder, name) for name in files)) if not path.startswith(NOT_OURS)]
    for name in UNITS:
        unit = name + ".service"
        states = [shown(unit, what) for what in ("ActiveState", "UnitFileState", "InvocationID", "NeedDaemonReload")]
        found.append(f"{unit} {' '.join(states)} {starts(unit)}")
    # What the converge playbooks leave to say that they have been here.
    return sorted([*found, *(["converged"] if os.path.exists("/run/molecule-converged") else [])])


# --- verify -------------------------------------------------------------------------------------------------------------------------


class Kubelet:
    """The running kubelet of a unit, seen through /proc, and the files that its own words name."""

    def __init__(self, unit: str) -> None:
        process = shown(unit, "MainPID")
        self.words: list[str] = []
        self.environment: dict[str, str] = {}
        if process not in ("", "0"):
            words = self._lines(f"/proc/{process}/cmdline")
            # The stand-in is a program of Python's, so its name is not the first word.
            first = next((number for number, word in enumerate(words) if os.path.basename(word) in ("kubelet", "kubelet.py")), -1)
            self.words = words[first + 1 :] if first >= 0 else []
            self.environment = dict(line.partition("=")[::2] for line in self._lines(f"/proc/{process}/environ"))

    @staticmethod
    def _lines(path: str) -> list[str]:
        with open(path, "rb") as handle:
            return [line.decode("utf-8", "surrogateescape") for line in handle.read().split(b"\0")[:-1]]

    def flag(self, name: str) -> str | None:
        """The value of a flag, the last one where there are several; lists that are repeated become one."""
        values = [word[len(name) + 3 :] for word in self.words if word.startswith(f"--{name}=")]
        values += [after for word, after in zip(self.words, self.words[1:], strict=False) if word == f"--{name}"]
        lists = ("node-labels", "register-with-taints")
        return ",".join(sorted(set(",".join(values).split(",")))) if values and name in lists else values[-1] if values else None

    def config(self) -> dict[str, object]:
        """The configuration as kubelet merges it: the file, then the drop-ins in lexical order, maps key by key."""
        result: dict[str, object] = {}
        folder = self.flag("config-dir")
        for path in (self.flag("config"), *sorted(glob.glob(f"{folder}/*.conf") if folder else ())):
            if path:
                with open(path, encoding="utf-8") as handle:
                    result = merged(result, yaml.safe_load(handle))
        return result


def merged(old: dict, new: dict) -> dict:
    both = dict(old)
    for key, value in new.items():
        both[key] = merged(both[key], value) if isinstance(value, dict) and isinstance(both.get(key), dict) else value
    return both


def at(tree: object, path: str) -> object:
    """What stands at C(a.b.c); keys that have dots themselves are found, too."""
    if not path or not isinstance(tree, dict):
        return tree if not path else None
    for key in sorted(tree, key=len, reverse=True):
        if path == key or path.startswith(key + "."):
            return at(tree[key], path[len(key) + 1 :])
    return None


def kubeconfig(kubelet: Kubelet) -> dict:
    path = kubelet.flag("kubeconfig")
    if not path:
        return {}
    with open(path, encoding="utf-8") as handle:
        return yaml.safe_load(handle)


def login(kubelet: Kubelet) -> list[str]:
    exec_ = kubeconfig(kubelet)["users"][0]["user"]["exec"]
    return [exec_["command"], *exec_["args"]]


def authority(kubelet: Kubelet) -> str:
    """First line of the authority's file that kubeconfig names, which kubelet's own configuration has to name, too."""
    path = kubeconfig(kubelet)["clusters"][0]["cluster"]["certificate-authority"]
    clients = at(kubelet.config(), "authentication.x509.clientCAFile") or path
    if clients != path:
        return f"kubelet trusts {clients}, kubeconfig {path}"
    with open(path, encoding="utf-8") as handle:
        return handle.readline().strip()


def healthz(_kubelet: Kubelet) -> str:
    try:
        with urllib.request.urlopen("http://127.0.0.1:10248/healthz", timeout=5) as answer:
            return answer.read().decode()
    except (urllib.error.URLError, OSError) as error:
        return str(error)


def text(path: str) -> str:
    with open(path, encoding="utf-8") as handle:
        return handle.read()


def called(program: str) -> int:
    """How many calls a stand-in has recorded."""
    return len(glob.glob(f"/run/recorded/{program}-*.json") + glob.glob(f"/run/recorded/{program}-*.argv"))


#: Expectation → what is compared with it. Those with an argument are mappings from argument to value.
CHECKS = {
    # A flag wins over the configuration.
    "max_pods": lambda kubelet: int(kubelet.flag("max-pods") or at(kubelet.config(), "maxPods")),
    "server": lambda kubelet: kubeconfig(kubelet)["clusters"][0]["cluster"]["server"],
    "login": login,
    "authority": authority,
    "healthz": healthz,
}
KEYED = {
    "flags": lambda kubelet, name: kubelet.flag(name),
    "environment": lambda kubelet, name: kubelet.environment.get(name),
    "config": lambda kubelet, path: at(kubelet.config(), path),
    "containerd": lambda _kubelet, path: at(containerd(), path),
    "starts": lambda _kubelet, unit: starts(unit),
    "active": lambda _kubelet, unit: shown(unit, "ActiveState"),
    "enabled": lambda _kubelet, unit: run("systemctl", "is-enabled", unit),
    "modes": lambda _kubelet, path: oct(stat.S_IMODE(os.lstat(path).st_mode)) if os.path.lexists(path) else "absent",
    "texts": lambda _kubelet, path: text(path),
    "calls": lambda _kubelet, program: called(program),
}


def containerd() -> dict:
    """The effective configuration in containerd's own words."""
    import tomllib

    return tomllib.loads(run("containerd", "--config", "/etc/containerd/config.toml", "config", "dump"))


def differences(expected: dict) -> list[str]:
    kubelet = Kubelet(expected["unit"])
    found = []
    for what, wanted in expected.items():
        cases = [(f"{what} {key}", KEYED[what], (kubelet, key), value) for key, value in wanted.items()] if what in KEYED else []
        cases += [(what, CHECKS[what], (kubelet,), wanted)] if what in CHECKS else []
        if not cases and what != "unit":
            found.append(f"{what}: there is no check for it")
        for name, look, arguments, value in cases:
            try:
                real = look(*arguments)
            except (OSError, LookupError, TypeError, ValueError) as error:
                real = f"{type(error).__name__}: {error}"
            if real != value:
                found.append(f"{name}: {real!r}, expected {value!r}")
    return found


def main() -> None:
    if sys.argv[1:] == ["snapshot"]:
        print(json.dumps(snapshot()))
        return
    expected = json.loads(sys.argv[2])
    # systemd says that a unit is active before its program has read its files.
    limit = time.monotonic() + 5
    found = differences(expected)
    while found and time.monotonic() < limit:
        time.sleep(0.2)
        found = differences(expected)
    count = sum(len(value) if isinstance(value, dict) else 1 for key, value in expected.items() if key != "unit")
    print("\n".join(found) or f"{count} values are as expected")
    sys.exit(1 if found else 0)


main()
