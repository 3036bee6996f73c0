# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gathers what tells why a node does not join: C(seen), as the docstring of C(diagnosis) has it. Reads only. Python 3.7 and newer.

In this order, and no further than it makes sense: units, kubelet's exit, its process, the API server; the rest when something is wrong.
"""

from __future__ import annotations

import os
import re
import time

from .._node import journald as journal
from .._node import kubelet_config as kubelets
from .._node import kubelet_flags as flags_of
from .model import plain

UNITS = (*kubelets.UNITS, "containerd.service", "nodeadm-config.service", "nodeadm-run.service")
KUBECONFIG = "/var/lib/kubelet/kubeconfig"
_PROPERTIES = (
    "Id", "LoadState", "ActiveState", "SubState", "Result", "MainPID", "NRestarts", "UnitFileState", "ExecMainStatus",
    "ExecMainStartTimestampMonotonic", "InactiveExitTimestampMonotonic",
)  # fmt: skip
_MARGIN, _LONGEST_DOUBT = 2.0, 20.0
_FIRST_WORDS = 10.0
_PATIENCE = 60.0
"""Seconds in which the cluster may approve the request for kubelet's serving certificate."""

_CONTAINERD = "/etc/containerd/config.toml"


class Look:
    """Called again and again, it answers with what is there now. C(machine): a Machine. What cannot change is read once."""

    def __init__(self, machine, clock=time.monotonic):
        self._machine = machine
        self._clock = clock
        self._process = None
        self._api = None
        self._instance = None
        self._driver = {}
        self._hostname = os.uname()[1]

    def __call__(self):
        units = self._units()
        name = next((unit for unit in kubelets.UNITS if unit in (units or ())), None)
        seen = {
            "time": round(time.time(), 3), "name": None, "hostname": self._hostname, "units": units, "kubelet": None, "api": None,
            "node": None, "containerd": None, "nodeadm": None, "instance": None, "serves": None,
        }  # fmt: skip
        if name is None:
            return seen
        unit = units[name]
        entries = journal.entries(name)
        seen["kubelet"] = kubelet = {"unit": name, "running": unit["running"], "exit": self._exit(unit, entries), "lines": []}
        self._look_at_nodeadm(seen)
        if not unit["running"]:
            self._look_at_containerd(seen)
            return seen
        process = self._of_process(unit)
        kubelet.update(process.told)
        said, kubelet["whole"] = process.lines(entries)
        kubelet["lines"] = _shown(said)
        # With the cloud provider that was built in before 1.26 kubelet asks EC2 for its name.
        seen["name"] = process.name or _registered_as(said) or self._hostname.lower()
        if kubelet["exit"] is None:
            self._ask(seen, process)
        self._look_at_containerd(seen, process)
        if seen["node"] is not None and seen["node"]["ready"] == "True" and kubelet["serving_port"]:
            seen["serves"] = self._serves(unit, kubelet["serving_port"])
        return seen

    # --- units and their words -----------------------------------------------------------------------------------------------------

    def _units(self):
        """{name: state} of those units that systemd knows; None when it does not answer."""
        text = self._machine.run("systemctl", "show", "--no-pager", "-p", ",".join(_PROPERTIES), *UNITS)
        found = None if text is None else {}
        for block in (text or "").split("\n\n"):
            values = dict(line.partition("=")[::2] for line in block.splitlines())
            if values.get("LoadState") not in (None, "", "not-found"):
                found[values.get("Id", "")] = _unit(values)
        return found

    def _exit(self, unit, entries):
        """What kubelet said in the start that failed: in the last one, or in the one before when the present one has not lived longer."""
        if not unit["running"]:
            if unit["state"] == "inactive" and unit["result"] in ("success", ""):
                return None
            if unit["state"] in ("activating", "deactivating") and not unit["sub"].startswith("auto-restart"):
                # Somebody starts or stops it; what it said before counts only where that was systemd, after a failure.
                last = journal.failed_before(entries, float("inf"))
                return None if last is None else _said(last.lines, entries)
            return _said(journal.lines_since(entries, unit["since"]), entries)
        before = journal.failed_before(entries, unit["since"])
        if before is None or self._clock() - unit["since"] > min(before.seconds + _MARGIN, _LONGEST_DOUBT):
            return None
        return _said(before.lines, entries)

    def _look_at_nodeadm(self, seen):
        for name in ("nodeadm-config.service", "nodeadm-run.service"):
            if seen["units"].get(name, {}).get("state") == "failed":
                lines = journal.lines_since(journal.entries(name), seen["units"][name]["since"])
                seen["nodeadm"] = {"unit": name, "lines": _shown(lines)[-20:]}
                return

    def _look_at_containerd(self, seen, process=None):
        unit = seen["units"].get("containerd.service")
        if unit is None:
            return
        seen["containerd"] = told = {"lines": [], "systemd_cgroup": None}
        if not unit["running"]:
            told["lines"] = _shown(journal.lines_since(journal.entries("containerd.service"), unit["since"]))[-20:]
        elif process is not None and process.told["cgroup_driver"] is not None:
            if unit["pid"] not in self._driver:
                started = time.time() - time.monotonic() + unit["since"]
                self._driver = {unit["pid"]: systemd_cgroup(self._machine, unit["pid"], started)}
            told["systemd_cgroup"] = self._driver[unit["pid"]]

    def _serves(self, unit, port):
        """Whether kubelet has a certificate to serve with; None while its request is young, or when that cannot be told."""
        if self._clock() - unit["since"] < _PATIENCE:
            return None
        from .._node import http

        return http.has_certificate("127.0.0.1", port, time.monotonic() + 2)

    # --- kubelet and the API server ------------------------------------------------------------------------------------------------

    def _of_process(self, unit):
        before, key = self._process, (unit["pid"], unit["since"])
        # A program in front of kubelet gives way to it, and one that bootstraps gets another kubeconfig, in the same process.
        if before is None or before.key != key or before.kubeconfig is None or before.told["bootstraps"]:
            self._process = _Process(self._machine, unit, self._hostname)
            if before is None or before.key != key or before.kubeconfig != self._process.kubeconfig:
                self._api = None
        return self._process

    def _ask(self, seen, process):
        if process.kubeconfig is None:
            seen["api"] = {"kind": "standalone", "final": process.is_kubelet}
            return
        if self._api is None:
            # Only here, because it brings TLS and HTTP with it.
            from . import api_client

            self._api = api_client.Api(self._machine, process.kubeconfig, process.environment)
        seen["api"] = told = self._api.ask(seen["name"])
        seen["node"] = told.pop("node", None)
        if told.get("status") == 401:
            if self._instance is None:
                from . import instance

                self._instance = instance.facts()
            seen["instance"] = self._instance


def _unit(values):
    state, sub, pid = values.get("ActiveState"), values.get("SubState", ""), values.get("MainPID", "0")
    since = values.get("ExecMainStartTimestampMonotonic", "")
    if since in ("", "0"):
        since = values.get("InactiveExitTimestampMonotonic", "")
    pid = int(pid) if pid.isdigit() else 0
    again = sub.startswith("auto-restart")
    return {
        "load": values.get("LoadState"),
        "state": state,
        "sub": sub,
        "result": values.get("Result", ""),
        "enabled": values.get("UnitFileState", ""),
        # systemd counts them from version 235 on; Amazon Linux 2 has 219.
        "restarts": int(values["NRestarts"]) if values.get("NRestarts", "").isdigit() else None,
        "status": values.get("ExecMainStatus", ""),
        "pid": pid,
        "running": pid > 0 and (state in ("active", "reloading") or (state == "activating" and not again)),
        "since": int(since) / 1e6 if since.isdigit() else 0.0,
    }


def _said(lines, entries):
    """What tells of a kubelet that ended; systemd's own last lines tell of one that was never run."""
    systemd = _shown([entry.text for entry in entries if entry.systemd][-8:])
    # Where nothing stands before its first line, earlier ones may have been left out. Another start may have begun with an equal one.
    whole = not lines or entries[0].text is not lines[0]
    return {"lines": _shown(lines), "systemd": systemd, "whole": whole}


_REGISTERED = re.compile(r"register(?:ed)? node\b.* node=\"?(?P<name>[0-9A-Za-z.-]+)")


def _registered_as(lines):
    """The name by which kubelet itself calls its node."""
    found = [match.group("name") for match in map(_REGISTERED.search, lines) if match]
    return found[-1] if found else None


def _shown(lines):
    """Lines as they may be shown: printable, without secrets and not longer than they have to be."""
    found = []
    for line in "\n".join(lines).split("\n"):
        # kubelet repeats all its flags, and a label may hold any text.
        if line.strip() and " FLAG: --" not in line:
            found.append(plain(line))
    return found


class _Process:
    """A kubelet that runs: what of it stays as it is."""

    def __init__(self, machine, unit, hostname):
        self.key = (unit["pid"], unit["since"])
        self._pid, self._since = self.key
        self._head = None
        process = kubelets.Process(machine, unit["pid"], time.time() - time.monotonic() + unit["since"])
        environ = machine.read(f"/proc/{unit['pid']}/environ") or b""
        pairs = (os.fsdecode(item).partition("=") for item in environ.split(b"\0") if b"=" in item)
        self.environment = {name: value for name, _unused, value in pairs}
        flags = flags_of.parse(process.words[1:])
        shown, merged = kubelets.configuration(machine, process, flags)
        self.name = kubelets.node_name(flags, True, hostname)
        self.kubeconfig = self._kubeconfig(machine, flags)
        # It may stand behind a loader or an interpreter.
        self.is_kubelet = any(word.rpartition("/")[2] == "kubelet" for word in process.words[:3])
        registers = flags_of.last(flags, "register-node")
        self.told = {
            "started": round(time.time() - time.monotonic() + unit["since"], 3),
            "registers": str(merged.get("registerNode", True) if registers is None else registers).lower() != "false",
            "bootstraps": self.kubeconfig is not None and self.kubeconfig == flags_of.last(flags, "bootstrap-kubeconfig"),
            # A program in front of kubelet has no flags that tell of it.
            "cgroup_driver": _cgroup_driver(flags, shown, merged) if self.kubeconfig or self.is_kubelet else None,
            "config": [file["path"] for file in shown["files"]],
            "serving_port": _serving_port(flags, merged),
        }

    @staticmethod
    def _kubeconfig(machine, flags):
        """The file by which kubelet finds the API server now; None for a kubelet that has none."""
        path, first = flags_of.last(flags, "kubeconfig"), flags_of.last(flags, "bootstrap-kubeconfig")
        if path and first and not machine.exists(path) and machine.exists(first):
            return first
        return path or first

    def lines(self, entries):
        """(what this process said at its start, and lately; whether that is there from the start on)."""
        late = journal.lines_since(entries, self._since)
        if len(entries) < journal.LINES or entries[0].moment < self._since:
            return late, self._has_start(entries)
        if self._head is None:
            self._head = journal.entries(None, self._pid)
        return [entry.text for entry in self._head] + late, self._has_start(self._head)

    def _has_start(self, entries):
        """Journals are thrown away from their old end, and a kubelet says something at once."""
        return any(not entry.systemd and 0 <= entry.moment - self._since + 0.001 < _FIRST_WORDS for entry in entries)


def _serving_port(flags, merged):
    """Where kubelet serves with a certificate that the cluster has to sign; None when it makes its own."""
    asks = flags_of.last(flags, "rotate-server-certificates", kubelets.at(merged, "serverTLSBootstrap"))
    port = str(flags_of.last(flags, "port", kubelets.at(merged, "port") or 10250))
    return int(port) if str(asks).lower() == "true" and port.isdigit() and 0 < int(port) < 65536 else None


def _cgroup_driver(flags, shown, merged):
    """The driver that kubelet's own configuration asks for; None when it cannot be told what the process runs with."""
    driver = flags_of.last(flags, "cgroup-driver")
    if driver:
        return driver
    if shown["effective"] is None:
        return None if shown["files"] else "cgroupfs"
    if any(file["changed_since_start"] for file in shown["files"]):
        return None
    return str(merged.get("cgroupDriver") or "cgroupfs")


# --- containerd --------------------------------------------------------------------------------------------------------------------

_SECTION = re.compile(r"\s*\[+(?P<name>[^\]]+)\]+\s*(?:#.*)?\Z")
_CRI = re.compile(r"plugins\.[\"']?io\.containerd\.(?:grpc\.v1\.cri|cri\.v1\.runtime)[\"']?\.containerd")
_ASSIGNED = re.compile(r"\s*(?P<name>default_runtime_name|SystemdCgroup)\s*=\s*(?P<value>\"[^\"]*\"|'[^']*'|true|false)\s*(?:#.*)?\Z")


_IMPORTS = re.compile(r"^\s*imports\s*=(?:\s*\[(?P<list>[^\]]*))?", re.MULTILINE)


def systemd_cgroup(machine, pid, started=float("inf")):
    """Whether containerd's default runtime lets systemd make the cgroups; None when that cannot be told.

    C(started): when it was started, in seconds since 1970. What was written after that it has not read.
    """
    words = kubelets.Process(machine, pid).words
    flags = flags_of.parse(words[1:])
    path = flags_of.last(flags, "config") or flags_of.last(flags, "c") or _CONTAINERD
    text = machine.text(path)
    imports = _IMPORTS.search(text or "")
    if any((machine.changed_at(one) or 0) > started for one in _files(machine, path, text, imports)):
        return None
    found = None if text is None or imports else of_toml(text)
    if found is None and words:
        found = of_toml(machine.run("containerd", "--config", path, "config", "dump") or "")
    return found


def _files(machine, path, text, imports):
    """What tells by its time whether containerd's configuration is still the one that it read."""
    folder = path.rpartition("/")[0]
    # Of a file that is gone, the folder tells since when.
    found = [path] if text is not None else [folder]
    for pattern in re.findall(r"[\"']([^\"']+)[\"']", (imports and imports.group("list")) or ""):
        where = os.path.join(folder, pattern).rpartition("/")[0]
        found += [where, *(f"{where}/{name}" for name in machine.names(where))]
    return found


def of_toml(text):
    """The setting of the default runtime in containerd's configuration; None when it does not stand there plainly."""
    section, runtime, found = "", "runc", {}
    for line in text.splitlines():
        header = _SECTION.match(line)
        if header:
            section = re.sub(r"\s*\.\s*", ".", header.group("name").strip())
            continue
        given = _ASSIGNED.match(line)
        cri = _CRI.match(section) if given else None
        if cri is None:
            continue
        below = [part.strip("\"'") for part in section[cri.end() :].strip(".").split(".") if part]
        if given.group("name") == "default_runtime_name" and not below:
            runtime = given.group("value").strip("\"'")
        elif given.group("name") == "SystemdCgroup" and len(below) == 3 and below[::2] == ["runtimes", "options"]:
            found[below[1]] = given.group("value") == "true"
    return found.get(runtime)
