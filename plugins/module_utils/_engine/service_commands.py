# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the commands that a transaction runs: for systemd, for snapd, and the health watch. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import sys
from typing import Iterable, Mapping, Sequence

from .._node.health import parse_url
from .._node.systemd import Unit
from .._transaction.recovery import Command

WATCH_SECONDS = 1.0
"""Seconds in which a unit that was started must not fail. A healthy kubelet ends them early."""

# --- systemd ---------------------------------------------------------------------------------------------------------------------


def reload() -> Command:
    """Make systemd read its files again."""
    return Command(("systemctl", "daemon-reload"))


def enable(units: Iterable[str]) -> Command:
    """Enable units. systemctl then reloads systemd by itself."""
    return Command(("systemctl", "--quiet", "enable", *tuple(units)))


_EACH = """
verb=$1
check=$2
shift 2
systemctl --quiet "$verb" "$@" 2>/dev/null && exit 0
status=0
for unit do
  systemctl --quiet "$verb" "$unit" || ! systemctl --quiet "$check" "$unit" || status=1
done
exit $status
"""
"""All units in one call, which an unknown unit fails as a whole; then one unit at a time.

The result counts: whether the check still succeeds for a unit.
"""


def disable(units: Iterable[str]) -> Command:
    """Disable units. Fails when a unit stays enabled, not when a unit does not exist."""
    return _each("disable", "is-enabled", units)


def restart(units: Iterable[str], wait: bool = True) -> Command:
    """Restart units. Units that do not run are started."""
    return Command(("systemctl",) + (() if wait else ("--no-block",)) + ("restart",) + tuple(units), service=True)


def start(units: Iterable[str]) -> Command:
    """Start units that do not run."""
    return Command(("systemctl", "start", *tuple(units)), service=True)


def stop(units: Iterable[str]) -> Command:
    """Stop units."""
    return Command(("systemctl", "stop", *tuple(units)), service=True)


def reset_failed(units: Iterable[str]) -> Command:
    """Clear the failed state of units, and their count of starts. Some units may be unknown to systemd by then.

    systemd refuses to start a unit that was started too often (StartLimitBurst), even if its configuration is right by now.
    """
    return _each("reset-failed", "is-failed", units)


def restart_afresh(units: Sequence[str]) -> list[Command]:
    """Restart units, regardless of how often they were started before."""
    return [reset_failed(units), restart(units)]


_RESTORE = """
while [ $# -gt 0 ]; do
  unit=$1 enabled=$2 active=$3
  shift 3
  case $enabled in
    yes) systemctl --quiet is-enabled "$unit" || systemctl --quiet enable "$unit" ;;
    no) systemctl --quiet is-enabled "$unit" && systemctl --quiet disable "$unit" ;;
  esac
  case $active in
    yes) systemctl --quiet is-active "$unit" || systemctl --no-block start "$unit" ;;
    no) systemctl --quiet is-active "$unit" && systemctl stop "$unit" ;;
  esac
done 2>/dev/null
exit 0
"""


def restore_states(units: Iterable[Unit]) -> Command:
    """Enable, disable, start or stop units whose state is no longer the given one. At boot, systemd starts units by itself."""
    words: list[str] = []
    for unit in units:
        if unit.exists and unit.load != "masked" and not unit.name.startswith("snap."):
            enabled = {"enabled": "yes", "disabled": "no"}.get(unit.file_state, "keep")
            active = "yes" if unit.is_up else "no" if unit.active in ("inactive", "failed") else "keep"
            words += [unit.name, enabled, active]
    return Command(("/bin/sh", "-c", _RESTORE, "restore", *words), optional=True, unless_boot=True)


def _each(verb: str, check: str, units: Iterable[str]) -> Command:
    return Command(("/bin/sh", "-c", _EACH, "each", verb, check, *tuple(units)), optional=True)


_WATCH = r"""
import _socket, os, sys, time
host, port, path, seconds = sys.argv[1:5]
units = sys.argv[5:]
def healthy():
    try:
        link = _socket.socket(_socket.AF_INET6 if ":" in host else _socket.AF_INET)
        link.settimeout(0.5)
        link.connect((host, int(port)))
        link.sendall(("GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n" % path).encode())
        return link.recv(64).split(b" ")[1:2] == [b"200"]
    except (OSError, ValueError):
        return False
def show():
    output, write = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(write, 1)
        os.execvp("systemctl", ["systemctl", "show", "-p", "ActiveState,SubState", "--"] + units)
    os.close(write)
    with open(output) as lines:
        shown = lines.read()
    if os.waitpid(child, 0)[1]:
        sys.exit("systemctl show failed")
    return shown
def failed():
    shown = show()
    for unit, block in zip(units, shown.strip().split("\n\n")):
        state = dict(line.partition("=")[::2] for line in block.splitlines())
        if state["ActiveState"] not in ("active", "activating", "reloading") or state["SubState"].startswith("auto-restart"):
            return "%s is %s (%s)" % (unit, state["ActiveState"], state["SubState"])
end = time.monotonic() + float(seconds)
while True:
    look = min(end, time.monotonic() + 0.2)
    well = healthy()
    while not well and time.monotonic() < look:
        time.sleep(0.03)
        well = healthy()
    bad = failed()
    if bad:
        sys.exit(bad)
    if well or time.monotonic() >= end:
        break
"""
"""It loads neither socket nor subprocess: loading them takes longer than everything else that it does. For the same reason it asks kubelet
more often than systemd.
"""


def watch(units: Iterable[str], healthz: str | None, seconds: float = WATCH_SECONDS) -> Command:
    """Fail when a unit is not up, or starts again after a failure, within the first seconds. A healthy kubelet ends the watch.

    The watch is skipped at boot, where nothing waits for it. It is a separate program because a failure must undo the transaction, and
    the recover program of the transaction is a shell script.
    """
    host, port, path = parse_url(healthz) if healthz else ("-", "-", "-")
    words = (sys.executable or "/usr/bin/python3", "-I", "-S", "-c", _WATCH, host, str(port), path, str(seconds))
    return Command(words + tuple(units), unless_boot=True)


# --- snapd -----------------------------------------------------------------------------------------------------------------------

_RETRY_WHILE_BUSY = r"""
attempts=8
while :; do
  output=$("$@" 2>&1) && exit 0
  attempts=$((attempts - 1))
  case $output in
    *"in progress"* | *"cannot communicate with server"* | *"too many requests"*) [ "$attempts" -gt 0 ] || break ;;
    *) break ;;
  esac
  sleep 2
done
printf '%s\n' "$output" >&2
exit 1
"""
"""A refresh in the background keeps snapd busy. Canonical's own script also tries eight times."""


def snap_set(snap: str, values: Mapping[str, str | None]) -> Command:
    """Set and unset settings in one call. C(values): {name: text as snap set takes it, or None to unset}."""
    words = tuple(f"{name}!" if value is None else f"{name}={value}" for name, value in sorted(values.items()))
    return _with_retries(("snap", "set", snap, *words))


def snap_start(snap: str) -> Command:
    """Start and enable the services of a snap."""
    return _with_retries(("snap", "start", "--enable", snap))


def snap_stop(snap: str, disable_too: bool) -> Command:
    """Stop the services of a snap, and disable them with C(disable_too)."""
    return _with_retries(("snap", "stop") + (("--disable",) if disable_too else ()) + (snap,))


def snap_disable(snap: str, keeps_running: bool) -> Command:
    """Disable the services of a snap again. snapd can only stop them with that, so C(keeps_running) starts them afterwards."""
    return snap_stop(snap, True) if not keeps_running else _with_retries(("/bin/sh", "-c", _DISABLE, "disable", snap))


_DISABLE = 'snap stop --disable "$1" && snap start "$1"'


def _with_retries(words: Sequence[str]) -> Command:
    # snapd starts units that wait for the recovery at boot, so none of this can run there.
    return Command(("/bin/sh", "-c", _RETRY_WHILE_BUSY, "snap", *words), undo_at_boot=True)


# --- messages --------------------------------------------------------------------------------------------------------------------


def describe(command: Command) -> str:
    """A command as messages show it: without the text of the program that it carries."""
    words = list(command.argv)
    if _DISABLE in words:
        return f"snap stop --disable {words[-1]}"
    if len(words) > 4 and words[2] == _RETRY_WHILE_BUSY:
        return " ".join(words[4:7])
    if len(words) > 4 and words[2] == _EACH:
        return " ".join(["systemctl", words[4], *words[6:]])
    if _RESTORE in words:
        return "the restore of " + ", ".join(words[4::3])
    if _WATCH in words:
        return "the watch over " + ", ".join(words[9:])
    return " ".join(words)
