# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs C(eksctl anywhere) in the background, and reads its log.

EKS Anywhere cannot resume a creation or a deletion. So the program has a session of its own and outlives the playbook, and a later run
finds it by its process and start time. Its log, its result and a record are files in the work folder.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from typing import Any, Dict, List, Mapping, Optional

from .._node.redaction import HIDDEN, redact_string
from . import bootstrap_cluster, work_folder
from .programs import AdminPrograms, StepFailed

_RECORD = work_folder.EKSCTL_RECORD
_LOG, _STATUS, _FOLDER, _GUARD = "eksctl.log", "eksctl.status", "eksctl", ".guard"
RUNNING, DONE, FAILED, LOST = "running", "done", "failed", "lost"
_POLL = 0.5
_WIDTH = 400
_SHORTEST, _HARMLESS = 4, ("true", "false")
"""Shorter values would remove parts of other words."""

# It leaves the session of the caller, so that nothing of the playbook ends it, and writes how it ended.
_SCRIPT = """\
cd "$1" || exit 1
log=$2 status=$3
shift 3
umask 077
setsid sh -c 'log=$1 status=$2; shift 2; "$@" >"$log" 2>&1 </dev/null; echo "$?" >"$status.new"; mv "$status.new" "$status"' \
  sh "$log" "$status" "$@" >/dev/null 2>&1 </dev/null &
echo "$!"
"""

_TIME = re.compile(r"^\d{4}-\d\d-\d\dT[\d:.]+\S*\s+")
_LEVEL = re.compile(r"^V(\d+)\s+")
_TASK = re.compile(r"^Task start\s+\{.*\"task_name\":\s*\"([^\"]+)\"")
_PROBLEM = re.compile(r"^(?:Error:|error:|\u274c|Failed |.*Validation failed)|\"error\":")


def eksctl(programs: AdminPrograms, options: Mapping[str, Any], check_mode: bool) -> Dict[str, Any]:
    """One operation. Raises C(StepFailed)."""
    if check_mode and options["operation"] != "observe":
        return {"changed": True}
    return _OPERATIONS[options["operation"]](programs, options)


def _observe(programs: AdminPrograms, options: Mapping[str, Any]) -> Dict[str, Any]:
    """What the last command was, and what it left."""
    absent = programs.missing(["docker", "eksctl", "eksctl-anywhere"])
    if absent:
        raise StepFailed("{0} not installed on the admin machine; fix: install it into a folder of PATH".format(" and ".join(absent)))
    name, folder = options["name"], options["work_dir"]
    if os.path.isdir(folder) and any(one.startswith(work_folder.LEDGERS) for one in os.listdir(folder)):
        raise StepFailed(
            "the engine capi made the cluster of {0}; fix: set eks_anywhere_engine to capi, or use another work folder".format(folder)
        )
    bootstrap = name + "-eks-a-cluster"
    record = _record(folder)
    if record is not None:
        record["task"] = _last_task(folder)
    containers = programs.run(["docker", "ps", "-a", "--format", "{{.Names}}"]).split()
    return {
        "changed": False,
        "work_dir": folder,
        "record": record,
        "kubeconfig": any(work_folder.read(path) for path in _kubeconfigs(folder, name)),
        "bootstrap": [node.name for node in bootstrap_cluster.nodes(programs, bootstrap)],
        "tools": sorted(one for one in containers if re.fullmatch(r"eksa_[0-9]+", one)),
        "bundles": _bundles(folder),
    }


def _kubeconfigs(folder: str, name: str) -> List[str]:
    """The copy for the user, and the file of EKS Anywhere."""
    file = name + "-eks-a-cluster.kubeconfig"
    return [os.path.join(folder, file), os.path.join(folder, _FOLDER, name, file)]


def _bundles(folder: str) -> List[str]:
    path = os.path.join(folder, _FOLDER)
    names = sorted(os.listdir(path)) if os.path.isdir(path) else []
    return [os.path.join(path, one) for one in names if one.startswith("support-bundle") and one.endswith(".tar.gz")]


def _record(folder: str) -> Optional[Dict[str, Any]]:
    """The record of the last command with its state, None without one. One that cannot be read is an error: its command may be running."""
    text = work_folder.read(os.path.join(folder, _RECORD))
    if text is None:
        return None
    try:
        row = json.loads(text)
        found = {name: row[name] for name in ("operation", "digest", "pid", "start_time", "boot_id")}
    except (ValueError, KeyError, TypeError):
        raise StepFailed("{0} cannot be read; fix: move it away if eksctl anywhere is not running".format(_RECORD)) from None
    same_boot = found["boot_id"] == work_folder.boot_id()
    found["is_alive"] = same_boot and found["pid"] > 0 and work_folder.start_time(found["pid"]) == found["start_time"]
    status = work_folder.read(os.path.join(folder, _STATUS))
    found["status"] = int(status) if status and status.strip().isdigit() else None
    if found["is_alive"]:
        found["state"] = RUNNING
    else:
        found["state"] = LOST if found["status"] is None else FAILED if found["status"] else DONE
    return found


def _last_task(folder: str) -> str:
    text = work_folder.read(os.path.join(folder, _LOG)) or ""
    return next((row["text"] for row in reversed(rows_of(text.splitlines())) if row["kind"] == "task"), "")


def _start(programs: AdminPrograms, options: Mapping[str, Any]) -> Dict[str, Any]:
    """Start the command, unless one is running."""
    folder, name = options["work_dir"], options["name"]
    work_folder.make(folder)
    inner = os.path.join(folder, _FOLDER)
    work_folder.make(inner)
    guard = os.open(os.path.join(folder, _GUARD), os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.flock(guard, fcntl.LOCK_EX)
        record = _record(folder)
        if record is not None and record["is_alive"]:
            raise StepFailed(
                "eksctl anywhere {0} is running (pid {1}); fix: run again to watch it".format(record["operation"], record["pid"])
            )
        for file, text in options["files"].items():
            work_folder.write(os.path.join(inner, os.path.basename(file)), text)
        _give_kubeconfig(folder, name)
        work_folder.remove(os.path.join(folder, _STATUS))
        work_folder.write(os.path.join(folder, _LOG), "")
        # Before the start: killed between the two, the record tells that nothing is known about the command.
        row = {
            "operation": options["command_name"],
            "digest": options["digest"],
            "pid": 0,
            "start_time": 0,
            "boot_id": work_folder.boot_id(),
        }
        work_folder.write(os.path.join(folder, _RECORD), json.dumps(row))
        words = [inner, os.path.join(folder, _LOG), os.path.join(folder, _STATUS), *options["command"]]
        row["pid"] = int(programs.with_variables(options["environment"]).run(["sh", "-c", _SCRIPT, "sh", *words]).strip())
        row["start_time"] = work_folder.start_time(row["pid"]) or 0
        work_folder.write(os.path.join(folder, _RECORD), json.dumps(row))
        return {"changed": True, "pid": row["pid"]}
    finally:
        os.close(guard)


def _give_kubeconfig(folder: str, name: str) -> None:
    """EKS Anywhere finds the kubeconfig in its own folder only. It may have been removed there, or come from another machine."""
    copy, own = _kubeconfigs(folder, name)
    text = work_folder.read(copy)
    if text and not work_folder.read(own):
        os.makedirs(os.path.dirname(own), mode=0o700, exist_ok=True)
        work_folder.write(own, text)


def _watch(programs: AdminPrograms, options: Mapping[str, Any]) -> Dict[str, Any]:
    """The new lines of the log. Returns when there are some, when the command has ended, or after C(wait) seconds."""
    folder, name = options["work_dir"], options["name"]
    limit = programs.now() + options["wait"]
    while True:
        # Before the log is read, so that the last lines are not missed.
        record = _record(folder)
        has_ended = record is None or not record["is_alive"]
        text, offset = _read_from(os.path.join(folder, _LOG), options["offset"], has_ended)
        _save_kubeconfig(folder, name, record, has_ended)
        rows = rows_of(text.splitlines(), options["environment"])
        if rows or has_ended or programs.now() >= limit:
            status = None if record is None else record["status"]
            return {"changed": False, "rows": rows, "offset": offset, "has_ended": has_ended, "status": status}
        programs.sleep(_POLL)


def _read_from(path: str, offset: int, has_ended: bool) -> Any:
    """The whole lines behind an offset in bytes, and the new offset."""
    try:
        with open(path, "rb") as stream:
            stream.seek(offset)
            content = stream.read()
    except OSError:
        return "", offset
    if not has_ended:
        content = content[: content.rfind(b"\n") + 1]
    return content.decode("utf-8", "replace"), offset + len(content)


def _save_kubeconfig(folder: str, name: str, record: Optional[Mapping[str, Any]], has_ended: bool) -> None:
    """Copy the kubeconfig as soon as it is whole, so that no later failure loses it. A deletion that succeeded removes the copy."""
    copy, own = _kubeconfigs(folder, name)
    if record is not None and record["operation"] == "delete":
        if has_ended and record["state"] == DONE:
            work_folder.remove(own)
            work_folder.remove(copy)
        return
    text = work_folder.read(own) or ""
    # EKS Anywhere writes the file in place. A part of it has no user yet, whose part is last.
    if "clusters:" in text and "users:" in text:
        work_folder.write(copy, text)


def rows_of(lines: List[str], environment: Optional[Mapping[str, str]] = None) -> List[Dict[str, str]]:
    """What the user sees of the log: tasks, problems, and messages of the lowest level. Secrets and values of the environment are removed.

    A password in a sentence has no form by which it could be known, so the values that the command got are removed.
    """
    given = (environment or {}).values()
    known = sorted((text for text in given if len(text) >= _SHORTEST and text not in _HARMLESS), key=len, reverse=True)
    found = []
    for line in lines:
        text = _TIME.sub("", line.strip())
        level = _LEVEL.match(text)
        text = text[level.end() :] if level else text
        task = _TASK.match(text)
        if task:
            found.append({"kind": "task", "text": task.group(1)})
        elif _PROBLEM.search(text):
            found.append({"kind": "problem", "text": _shown(text, known)})
        elif text and (level is None or level.group(1) == "0"):
            found.append({"kind": "message", "text": _shown(text, known)})
    return found


def _shown(text: str, known: List[str]) -> str:
    for secret in known:
        text = text.replace(secret, HIDDEN)
    return redact_string(text)[:_WIDTH]


_OPERATIONS = {"observe": _observe, "start": _start, "watch": _watch}
OPERATIONS = tuple(sorted(_OPERATIONS))
