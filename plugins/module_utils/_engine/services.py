# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""systemd, snapd and kubelet's health, seen from a node: standard library, Python 3.7 and newer, no shell, locale C."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from typing import NamedTuple

from .._node.files import Refused
from .._transaction.operation_log import Command

ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin",
    "LC_ALL": "C",
    "HOME": "/root",
}
"""What programs get that we start: nothing of the caller's, and only folders that root alone can write to."""

_SHOWN = ("Id", "LoadState", "ActiveState", "SubState", "UnitFileState", "MainPID")
_NO_ENABLE = ("enabled", "enabled-runtime", "static", "indirect", "generated", "alias", "transient", "linked", "linked-runtime")

FIRST_MOMENTS = 1.0
"""Seconds in which a unit that was started may not fail. A healthy kubelet ends them."""


class Unit(NamedTuple):
    """What systemd says of a unit. C(load) is loaded, not-found, masked…; C(pid) is 0 when nothing runs."""

    name: str
    load: str
    active: str
    sub: str
    file_state: str
    pid: int

    @property
    def up(self):
        """Active, or on its way there by itself; not while systemd starts it again after a failure."""
        return self.active in ("active", "reloading") or (self.active == "activating" and not self.sub.startswith("auto-restart"))

    @property
    def running(self):
        """Something is done for it now: stopping it would end that."""
        return self.active in ("active", "reloading", "activating", "deactivating")

    @property
    def needs_enable(self):
        """Whether it would not be started at the next boot."""
        return self.file_state not in _NO_ENABLE


def run(argv, seconds=60):
    """Run a program to its end: (exit status, output, what it said to stderr), text. Raises Refused when it takes too long.

    A program that is not there has the status 127.
    """
    try:
        # pylint: disable-next=ansible-bad-function # there is no module object here
        done = subprocess.run(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            cwd="/",
            timeout=seconds,
            check=False,
        )
    except FileNotFoundError:
        return 127, "", f"{argv[0]} is not installed"
    except subprocess.TimeoutExpired:
        raise Refused(f"{' '.join(argv[:3])} did not end within {seconds} seconds: look at the node's load, then run again") from None
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def states(names):
    """What systemd says of the units C(names), one call for all: {name: Unit}."""
    names = list(dict.fromkeys(names))
    if not names:
        return {}
    status, output, said = run(["systemctl", "show", "-p", ",".join(_SHOWN), "--", *names])
    blocks = [block for block in output.split("\n\n") if block.strip()]
    if status != 0 or len(blocks) != len(names):
        raise Refused(f"systemctl show failed: {said.strip() or 'it said nothing'}. Check that systemd runs on the node")
    found = {}
    # In the order of the question: where a name is an alias, Id is another one.
    for name, block in zip(names, blocks):
        values = dict(line.partition("=")[::2] for line in block.splitlines())
        pid = values.get("MainPID", "0")
        shown = [values.get(key, "") for key in ("LoadState", "ActiveState", "SubState", "UnitFileState")]
        found[name] = Unit(name, *shown, pid=int(pid) if pid.isdigit() else 0)
    return found


def words_of(pid):
    """The words of a process, program first; empty where there is none."""
    if not pid:
        return []
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as handle:
            return [os.fsdecode(word) for word in handle.read().split(b"\0")[:-1]]
    except OSError:
        return []


def journal(unit, since, until=None, lines=12):
    """The last lines of a unit's journal between two moments (C(time.time)), oldest first."""
    status, output, _unused = run(["journalctl", "-q", "-b", "--no-pager", "-n", "80", "-o", "json", "-u", unit])
    if status != 0:
        return []
    found = []
    for line in output.splitlines():
        try:
            entry = json.loads(line)
            moment = int(entry["__REALTIME_TIMESTAMP"]) / 1e6
        except (ValueError, KeyError, TypeError):
            continue
        if since <= moment and (until is None or moment <= until) and isinstance(entry.get("MESSAGE"), str):
            found.append(entry["MESSAGE"])
    return found[-lines:]


# --- health ----------------------------------------------------------------------------------------------------------------------


def answers(url, seconds=0.5):
    """Whether C(http://HOST:PORT/PATH) answers with status 200."""
    host, port, path = _address(url)
    try:
        with socket.create_connection((host, port), seconds) as link:
            link.sendall(f"GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode())
            return link.recv(64).split(b" ")[1:2] == [b"200"]
    except OSError:
        return False


def _address(url):
    match = re.match(r"http://(?:\[([0-9A-Fa-f:.]+)\]|([0-9A-Za-z.-]+)):([0-9]{1,5})(/[!-~]*)\Z", url)
    if not match or int(match.group(3)) > 65535:
        raise Refused(f"the plan is damaged: {url!r} is not of the form http://HOST:PORT/PATH")
    return match.group(1) or match.group(2), int(match.group(3)), match.group(4)


def missing(verify, seconds, known=None):
    """What the node still lacks to be healthy, as sentences; empty means healthy. Looks again until C(seconds) have passed.

    C(known): units as they are now, where that is known already.
    """
    limit = time.monotonic() + seconds
    pause = 0.05
    while True:
        found = known if known is not None else states(verify["units"])
        lacking = [f"{name} is {_state(unit)}" for name, unit in found.items() if unit.active != "active"]
        if not lacking and verify["healthz"] and not answers(verify["healthz"]):
            lacking = [f"no answer from {verify['healthz']}"]
        left = limit - time.monotonic()
        if not lacking or left <= 0:
            return lacking
        time.sleep(min(pause, left))
        pause = min(pause * 1.5, 0.5)
        known = None


def _state(unit):
    if unit.load in ("not-found", "masked"):
        return {"not-found": "not there", "masked": "masked"}[unit.load]
    return unit.active if unit.sub in ("", unit.active) else f"{unit.active} ({unit.sub})"


# --- commands of a transaction ---------------------------------------------------------------------------------------------------


def reload():
    """systemd reads its files again."""
    return Command(("systemctl", "daemon-reload"))


def enable(units):
    """Enable units. systemctl reloads systemd by itself then."""
    return Command(("systemctl", "--quiet", "enable", *tuple(units)))


_EACH = """
verb=$1
left=$2
shift 2
status=0
for unit do
  systemctl --quiet "$verb" "$unit" || ! systemctl --quiet "$left" "$unit" || status=1
done
exit $status
"""
"""One by one: a unit that systemd does not know (any more) is an error of a whole call. What counts is whether something is left to do."""


def disable(units):
    """Disable units; it fails when one of them stays enabled, not when one is gone."""
    return _each("disable", "is-enabled", units)


def restart(units, wait=True):
    """Restart units, or start them where they do not run."""
    return Command(("systemctl",) + (() if wait else ("--no-block",)) + ("restart",) + tuple(units), service=True)


def start(units):
    """Start units that do not run."""
    return Command(("systemctl", "start", *tuple(units)), service=True)


def stop(units):
    """Stop units."""
    return Command(("systemctl", "stop", *tuple(units)), service=True)


def forget_failure(units):
    """Units that failed count as never started; systemd has forgotten some of them by itself."""
    return _each("reset-failed", "is-failed", units)


def _each(verb, left, units):
    return Command(("/bin/sh", "-c", _EACH, "each", verb, left, *tuple(units)), optional=True)


_WATCH = r"""
import socket, subprocess, sys, time
host, port, path, seconds = sys.argv[1:5]
units = sys.argv[5:]
def healthy():
    try:
        with socket.create_connection((host, int(port)), 0.5) as link:
            link.sendall(("GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n" % path).encode())
            return link.recv(64).split(b" ")[1:2] == [b"200"]
    except (OSError, ValueError):
        return False
def failed():
    argv = ["systemctl", "show", "-p", "ActiveState,SubState", "--"] + units
    shown = subprocess.run(argv, stdout=subprocess.PIPE, check=True).stdout.decode()
    for unit, block in zip(units, shown.strip().split("\n\n")):
        state = dict(line.partition("=")[::2] for line in block.splitlines())
        if state["ActiveState"] not in ("active", "activating", "reloading") or state["SubState"].startswith("auto-restart"):
            return "%s is %s (%s)" % (unit, state["ActiveState"], state["SubState"])
end = time.monotonic() + float(seconds)
pause = 0.03
while True:
    bad = failed()
    if bad:
        sys.exit(bad)
    if healthy() or time.monotonic() >= end:
        break
    time.sleep(pause)
    pause = min(pause * 1.5, 0.2)
"""


def watch(verify, seconds=FIRST_MOMENTS):
    """Fail when one of the units is not up, or starts again after a failure, within the first moments; a healthy kubelet ends them.

    At boot nobody waits for it. It is a program of its own because the transaction has to be undone when it fails, whoever runs it.
    """
    host, port, path = _address(verify["healthz"]) if verify["healthz"] else ("-", "-", "-")
    words = (sys.executable or "/usr/bin/python3", "-I", "-S", "-c", _WATCH, host, str(port), path, str(seconds))
    return Command(words + tuple(verify["units"]), unless_boot=True)


# --- snaps -----------------------------------------------------------------------------------------------------------------------

_WHILE_BUSY = r"""
left=8
while :; do
  said=$("$@" 2>&1) && exit 0
  left=$((left - 1))
  case $said in
    *"in progress"* | *"cannot communicate with server"* | *"too many requests"*) [ "$left" -gt 0 ] || break ;;
    *) break ;;
  esac
  sleep 2
done
printf '%s\n' "$said" >&2
exit 1
"""
"""Canonical's own script tries eight times, too: a refresh in the background keeps snapd busy."""


def snap_settings(snap):
    """All settings of a snap: a mapping. Raises Refused when the snap is not there."""
    status, output, said = run(["snap", "get", "-d", snap])
    if status != 0 and "has no configuration" in said:
        return {}
    if status != 0:
        raise Refused(f"snap get {snap} failed: {said.strip()}. Is this one of Canonical's EKS images?")
    try:
        settings = json.loads(output or "{}")
    except ValueError:
        settings = None
    if not isinstance(settings, dict):
        raise Refused(f"snap get -d {snap} printed something that is no mapping")
    return settings


def settings_diff(snap, before, after, secret):
    """The before and after of settings, as C(--diff) shows them; of C(secret) ones the names only."""
    header = f"snap settings of {snap}"
    shown = {
        "before": _settings_lines(before, "(not shown)", secret),
        "after": _settings_lines(after, "(another value, not shown)", secret),
    }
    return {"before_header": header, "after_header": header, **shown}


def _settings_lines(settings, instead, secret):
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in sorted(settings.items())}
    return "".join(f"{key}: {instead if secret else text}\n" for key, text in texts.items())


def snap_value(text):
    """What snapd stores for a text given to C(snap set): JSON where it is JSON, else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def snap_set(snap, values):
    """Set and unset settings in one call: C(values) is {name: text as snap set takes it, or None to unset}."""
    words = tuple(f"{name}!" if value is None else f"{name}={value}" for name, value in sorted(values.items()))
    return _patiently(("snap", "set", snap, *words))


def snap_start(snap):
    """Start and enable the services of a snap."""
    return _patiently(("snap", "start", "--enable", snap))


def snap_stop(snap, disable_too):
    """Stop the services of a snap."""
    return _patiently(("snap", "stop") + (("--disable",) if disable_too else ()) + (snap,))


def _patiently(words):
    # snapd starts units that wait for the recovery at boot, so nothing of this can run there.
    return Command(("/bin/sh", "-c", _WHILE_BUSY, "snap", *words), undo_at_boot=True)


def shown(command):
    """A command in a message for the user."""
    words = list(command.argv)
    if len(words) > 4 and words[2] == _WHILE_BUSY:
        return " ".join(words[4:7])
    if len(words) > 4 and words[2] == _EACH:
        return " ".join(["systemctl", words[4], *words[6:]])
    if _WATCH in words:
        return "the watch over " + ", ".join(words[9:])
    return " ".join(words)
