# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why kubelet exits, from the log of its last start. Pure. Standard library, Python 3.7 and newer.

Which lines count, and how the process ended; `exit_causes` explains the last error.
"""

from __future__ import annotations

import re
from typing import Sequence

from .._node.systemd import Unit
from .exit_causes import CAUSES, Context
from .model import Finding, KubeletExit, cut_middle, quote_log

LOG_HEADER = re.compile(r"[IWEF][0-9]{4} [0-9:.]+ +[0-9]+ \S+\] ")
"""What klog writes before each message. A line without it continues another one, or was logged before klog was set up."""

_ENTRY_START = re.compile(LOG_HEADER.pattern + r"|\{\"ts\":")
_FATAL = re.compile(
    r"F[0-9]{4} |(?:" + LOG_HEADER.pattern + r"|\{\"ts\":[^{]*\"msg\":)"
    r"\"?(?:command failed\"|Failed to start (?:ContainerManager|cAdvisor)\"|Failed to listen and serve\""
    r"|Failed to initialize internal modules\"|Kubelet failed to get node info\"|[Ff]ailed to (?:run Kubelet|register CRI auth))"
)
_ERROR = re.compile(r"(?:[EF][0-9]{4} [0-9:.]+ +[0-9]+ \S+\] |panic: |fatal error: |Error: )")
_COMMAND_FAILED = re.compile(r"\"command failed\"")
# What kubelet says about other programs, the network and the load of the machine: it may work at the next start.
_MAY_PASS = re.compile(
    r"connect|dial |time ?out|timed out|deadline|\bEOF\b|no route|unreachable|temporar|unavailable|rpc error|too many|cannot allocate"
    r"|resource busy|read-only|input/output|\block|certificate|bootstrap|not ready|cancel",
    re.IGNORECASE,
)
_MAX_ERROR = 1000
_KILLED = re.compile(r"main process exited, code=(?:killed|dumped), status=[0-9]+/(?P<signal>\w+)", re.IGNORECASE)
_OUT_OF_MEMORY = re.compile(r"oom-kill|killed by the OOM killer")
_KERNEL_KILLED = re.compile(r"Killed process [0-9]+ \(kubelet\)")
_START = re.compile(r"Start(?:ing|ed) |.*Scheduled restart job|.*scheduling restart")


def diagnose(unit: str, state: Unit | None, failed: KubeletExit) -> Finding:
    """The Finding for a kubelet that exited. `unit`: its name; `state`: what systemd says about it, if that is known."""
    exits = [line for line in failed.systemd_lines if " process exited" in line]
    if exits and "control process exited" in exits[-1].lower():
        return _explain_start_pre(unit, state, failed.lines, exits[-1])
    killed = _explain_killed(unit, state, failed)
    if killed is not None:
        return killed
    for line in reversed(_relevant_lines(failed)):
        for cause, pattern, explain in CAUSES:
            match = pattern.search(line)
            if match:
                message, fix, final, evidence = explain(match, Context(unit, failed))
                return Finding(cause, message, fix, (*quote_log(unit, line), *evidence, _describe_state(unit, state)), final)
    return _explain_unknown(unit, state, failed)


def _explain_killed(unit: str, state: Unit | None, failed: KubeletExit) -> Finding | None:
    """A kubelet that was killed. Whatever it logged before is not the reason."""
    lines = _last_end(failed.systemd_lines)
    signals = [match.group("signal") for match in map(_KILLED.search, lines) if match]
    kernel = [line for line in failed.kernel_lines if _KERNEL_KILLED.search(line)]
    is_out_of_memory = any(map(_OUT_OF_MEMORY.search, lines)) or (state is not None and state.result == "oom-kill")
    shown = (*(f"journal of the kernel: {line}" for line in kernel[-1:]), *quote_log(unit, *lines[-3:]), _describe_state(unit, state))
    limit = failed.memory_limit
    if is_out_of_memory or (("KILL" in signals) and (kernel or limit is not None)):
        # Without a word of systemd or the kernel, the limit is the best explanation.
        is_known = is_out_of_memory or bool(kernel)
        why = "the kernel killed kubelet, because" if is_known else "kubelet was killed with the signal KILL, probably because"
        return Finding(
            "kubelet_killed", f"{why} {_used_up(unit, kernel, limit)} is used up",
            f"find what uses the memory (systemd-cgtop -m; journalctl -k), check the limit (systemctl show -p MemoryMax {unit}), "
            "and reserve memory that pods cannot use (kubeReserved and systemReserved in the kubelet configuration), or use a larger "
            "instance type", shown,
        )  # fmt: skip
    if not signals:
        return None
    return Finding(
        "kubelet_killed", f"kubelet did not exit by itself: it was killed with the signal {signals[-1]}",
        f"find what sent the signal. A watchdog or a timeout of the unit does that, too (systemctl show -p WatchdogUSec,TimeoutStartUSec "
        f"{unit}); messages of the kernel: journalctl -k", shown,
    )  # fmt: skip


def _last_end(systemd_lines: Sequence[str]) -> list[str]:
    """What systemd logged about the end of the last process that ended."""
    ends = [index for index, line in enumerate(systemd_lines) if " process exited" in line]
    if not ends:
        return []
    first = next((index for index in range(ends[-1], -1, -1) if _START.match(systemd_lines[index])), -1) + 1
    last = next((index for index in range(ends[-1], len(systemd_lines)) if _START.match(systemd_lines[index])), len(systemd_lines))
    return list(systemd_lines[first:last])


def _used_up(unit: str, kernel_lines: Sequence[str], limit: int | None) -> str:
    """Which memory is used up, if that is known."""
    if kernel_lines and "Memory cgroup" not in kernel_lines[-1]:
        return "the memory of this machine"
    if limit is not None:
        return f"the memory that {unit} may use, {limit >> 20} MiB (MemoryMax),"
    return f"the memory limit of {unit}" if kernel_lines else f"the memory of this machine, or that of {unit},"


def _relevant_lines(failed: KubeletExit) -> list[str]:
    """Fatal lines and panics with their continuation lines, and everything that was logged before klog was set up.

    Other lines do not count: klog writes the output of a pod line by line, and a pod may print anything.
    """
    counts = failed.is_complete
    lines, is_continuation = [], not counts
    for line in failed.lines:
        if _ENTRY_START.match(line):
            counts, is_continuation = _FATAL.match(line) is not None, line.endswith("=<")
        elif line.startswith("panic: ") and not is_continuation:
            counts = True
        if counts:
            lines.append(line)
    return lines


def _explain_start_pre(unit: str, state: Unit | None, lines: Sequence[str], exit_line: str) -> Finding:
    """A command of ExecStartPre failed, so kubelet itself never started."""
    message = lines[-1] if lines else exit_line
    return Finding(
        "kubelet_not_started", f"a command that {unit} runs before kubelet failed: {message}",
        f"check ExecStartPre in the output of: systemctl cat {unit}. On EC2 such a command often needs the instance metadata service",
        (*quote_log(unit, *lines[-1:], exit_line), _describe_state(unit, state)),
    )  # fmt: skip


def _explain_unknown(unit: str, state: Unit | None, failed: KubeletExit) -> Finding:
    shown = quote_log(unit, *failed.systemd_lines[-2:])
    if (state is not None and state.exit_status == "203") or any("Failed to locate executable" in line for line in failed.systemd_lines):
        return Finding(
            "no_kubelet", "systemd cannot run the kubelet program", f"install kubelet, or correct ExecStart: systemctl edit --full {unit}",
            (*shown, _describe_state(unit, state)), True,
        )  # fmt: skip
    # systemd also reports the result "resources" for a fork that failed, which may work the next time.
    if (
        state is not None
        and state.result == "resources"
        and any("Failed to load environment files: No such file" in line for line in failed.systemd_lines)
    ):
        return Finding(
            "no_kubelet", "systemd cannot start the kubelet unit, because a file that the unit names is missing",
            f"create the file, or remove it from the unit: systemctl edit --full {unit}", (*shown, _describe_state(unit, state)), True,
        )  # fmt: skip
    relevant = _relevant_lines(failed)
    own = [line for line in failed.lines if _ENTRY_START.match(line) or line in relevant]
    errors = [line for line in own if _ERROR.match(line)] or [line for line in own if not line.startswith("Flag --")]
    reason = (
        f"its last error is: {cut_middle(LOG_HEADER.sub('', errors[-1], count=1), _MAX_ERROR)}" if errors else "its log does not say why"
    )
    # Its command failed, and not because of something outside: it fails in the same way at the next start.
    is_final = any(map(_COMMAND_FAILED.search, relevant)) and not any(map(_MAY_PASS.search, relevant))
    return Finding(
        "kubelet_exits", f"kubelet exits, and {reason}", f"check the kubelet log: journalctl -u {unit}",
        (*quote_log(unit, *errors[-2:]), *shown, _describe_state(unit, state)), is_final,
    )  # fmt: skip


def _describe_state(unit: str, state: Unit | None) -> str:
    if state is None:
        return f"{unit} failed"
    restarts = f", restarted {state.restarts} time{'' if state.restarts == 1 else 's'}" if state.restarts else ""
    status = f", exit status {state.exit_status}" if state.exit_status not in ("", "0") else ""
    return f"{unit} is {state.active} ({state.sub}){status}{restarts}"
