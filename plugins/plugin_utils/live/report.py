# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about a run on a live node: one line for each phase with actions, and the reason of a failure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import Problem

_COUNTED = {
    "write": ("file", "written"),
    "remove": ("file", "removed"),
    "restore": ("file", "restored"),
    "make": ("folder", "made"),
}
"""Verbs of actions that the summary counts, each with a noun and a participle."""

_PAST = {
    "disable": "disabled",
    "enable": "enabled",
    "reload": "reloaded",
    "repair": "repaired",
    "restart": "restarted",
    "restore": "restored",
    "run": "ran",
    "set": "set",
    "start": "started",
    "stop": "stopped",
    "unset": "unset",
}

_RECOVERED = {"finished": "finished an interrupted run", "undone": "undid an interrupted run"}

_NO_PYTHON = re.compile(r"requires a minimum of Python|Could not find .*interpreter|No python interpreters found", re.IGNORECASE)
"""Messages of ansible-core about a missing or an unsupported Python."""

_OLD_PYTHON = re.compile(r"^SyntaxError: .*|.*python[0-9.]*'?: (?:(?:command )?not found|No such file or directory).*", re.MULTILINE)
"""Messages of the shell or Python if the module does not start."""

PYTHON_NEEDED = {(2, 16): "3.7", (2, 17): "3.7", (2, 18): "3.8", (2, 19): "3.8", (2, 20): "3.9", (2, 21): "3.9"}
"""ansible-core on the controller → the oldest Python on the node with which the modules of this collection run."""


def warnings(found: Iterable[Problem], unchecked: Iterable[Problem]) -> list[str]:
    """Warnings of a result: what the specification warns of, and the skipped checks.

    Skipped checks do not name the host or the group. Ansible shows equal warnings of several hosts once in a run.
    """
    skipped = list(unchecked)
    return [*(str(problem) for problem in found if problem not in skipped), *(f"not checked: {problem}" for problem in skipped)]


def actions_lines(result: Mapping[str, Any], check_mode: bool) -> list[str]:
    """One line for each phase with actions, also in check mode: C(configure: 7 files written)."""
    lines = []
    recovered = result.get("recovered")
    if recovered:
        lines.append(f"preflight: {_RECOVERED.get(recovered, recovered)}")
    pairs = [(verb, rest) for verb, _unused, rest in (str(action).partition(" ") for action in result.get("actions") or [])]
    laid = [(verb, rest) for verb, rest in pairs if _is_file(verb, rest)]
    written = [_counted(verb, sum(one == verb for one, _path in laid), check_mode) for verb in _COUNTED]
    if any(written):
        lines.append(f"configure: {', '.join(filter(None, written))}")
    rest = [pair for pair in pairs if not _is_file(*pair)]
    # Grouped by verb, in the order of their first action. The result has the exact order.
    done = [_listed(verb, [name for one, name in rest if one == verb], check_mode) for verb in dict.fromkeys(verb for verb, _name in rest)]
    if done:
        lines.append(f"start: {'; '.join(done)}")
    return lines


def _is_file(verb: str, rest: str) -> bool:
    return verb in _COUNTED and (rest.startswith("/") or rest[1:3] == ":\\")


def _counted(verb: str, number: int, check_mode: bool) -> str:
    noun, past = _COUNTED[verb]
    if not number:
        return ""
    count = f"{number} {noun}{'s' if number > 1 else ''}"
    return f"would {verb} {count}" if check_mode else f"{count} {past}"


def _listed(verb: str, names: Sequence[str], check_mode: bool) -> str:
    word = f"would {verb}" if check_mode else _PAST.get(verb, verb)
    return f"{word} {', '.join(_settings(name) if verb == 'set' else name for name in names)}".rstrip()


def _settings(text: str) -> str:
    """The number of settings in C(SNAP: KEY, KEY). The list can be long, and C(--diff) shows it."""
    name, colon, keys = text.partition(": ")
    count = len(keys.split(", "))
    return f"{count} setting{'s' if count > 1 else ''} of {name}" if colon else name


def progress(what: str, passed: float, timeout: float) -> str:
    """The progress line with the reasons why the wait continues."""
    return f"verify: {what} ({passed:.0f} s of {timeout:.0f} s)"


def healthy(passed: float) -> str:
    """The line for a healthy node. passed: the duration in seconds."""
    return f"verify: healthy after {passed:.1f} s"


def joined(healthy_after: float, joined_after: float, join: Mapping[str, Any]) -> str:
    """The line for a node that has joined. join: the result of the check."""
    return f"{healthy(healthy_after)}, {'ready' if join.get('ready') else 'registered'} as {join.get('node')} after {joined_after:.1f} s"


def not_joined(reason: str, timeout: float) -> str:
    """The message if a healthy node does not join. reason: lines with the cause, the fix and the evidence."""
    return "\n".join((reason, *_next_steps(timeout)))


def not_healthy(missing: Sequence[str], timeout: float, units: Sequence[str], reason: str) -> str:
    """The failure message: what is missing, and what to check next. units: of the plan. reason: '', or why the node cannot join."""
    names = " ".join(f"-u {unit.removesuffix('.service')}" for unit in units)
    return unhealthy(missing, timeout, f"journalctl -b --no-pager -n 200 {names}", reason)


def evidence(answer: Mapping[str, Any]) -> str:
    """Why units of an unhealthy node fail, as lines; '' if that is unknown."""
    lines = [f"  - {line}" for line in answer.get("evidence") or ()]
    return "\n".join(["Evidence:", *lines]) if lines else ""


def unhealthy(missing: Sequence[str], timeout: float, log: str, reason: str = "") -> str:
    """The failure message of any family. log: the command or the steps that show the log of kubelet."""
    what = "; ".join(missing) or "no reason given"
    lines = [f"the node is not healthy after {timeout:.0f} s: {what}", *([reason] if reason else []), f"Log: {log}"]
    return "\n".join((*lines, *_next_steps(timeout)))


def _next_steps(timeout: float) -> tuple[str, ...]:
    return (
        f"Next: the configuration is in place, so the next run continues from here. If the node needs more than {timeout:.0f} s, "
        "increase wait_timeout (in roles: eks_node_wait_timeout).",
    )


def explained(result: Mapping[str, Any], core: str) -> str | None:
    """A clearer message if Python on the node could not run the module. None if this was not the reason.

    core: the version of ansible-core on the controller.
    """
    message = str(result.get("msg") or "")
    outputs = [str(result.get(name) or "") for name in ("module_stderr", "module_stdout")]
    if _NO_PYTHON.search(message):
        found = message
    else:
        # Only ansible-core returns these fields if a module did not answer. Scripts that a module runs can print similar words.
        found = next((match[0].strip() for output in outputs if (match := _OLD_PYTHON.search(output))), "")
    if not found:
        return None
    parts = re.findall(r"\d+", core)[:2]
    needed = PYTHON_NEEDED.get((int(parts[0]), int(parts[1]))) if len(parts) > 1 else None
    return (
        f"Python on the node cannot run the module ({' '.join(found.split())[:200]}). "
        f"ansible-core {core} needs Python {needed or '3.9'} or newer there: "
        "install it, and set ansible_python_interpreter when it is not found by itself. Amazon Linux 2 has Python 3.7, for which the "
        "controller must run ansible-core 2.16 or 2.17; 2.18 and 2.19 need python3.8 of amazon-linux-extras. Nothing was changed."
    )
