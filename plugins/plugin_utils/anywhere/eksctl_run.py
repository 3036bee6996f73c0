# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of the engine eksctl: decide, start C(eksctl anywhere) in the background, and show its steps until it ends.

The program does not end with the playbook. A run that is killed is continued by the same command, which finds the program and its log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import eksctl_decide, names
from .eksctl_decide import ATTACH, NOTHING, STOP, Decision, after_failure, step_of
from .eksctl_plan import EksctlPlan

MODULE = "nodebootstrap.eks.anywhere_eksctl"
_POLL_SECONDS = 15.0

Call = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
Say = Callable[[str], None]


def run(plan: EksctlPlan, call: Call, say: Say, *, check_mode: bool) -> dict[str, Any]:
    """Run the command, and return the result of the task. In check mode, tells the command that would be run."""
    seen = _call(plan, call, operation="observe")
    if seen.get("failed"):
        return _failed(plan, str(seen["msg"]), [])
    if plan.operation == "status":
        return _status(plan, seen, say)
    decision = eksctl_decide.decide(plan.operation, plan.name, plan.digest, seen, rerun=plan.rerun)
    if decision.what == STOP:
        return _stopped(plan, decision)
    if decision.what == NOTHING:
        return _result(plan, seen, [], changed=False)
    if check_mode:
        shown = "watch eksctl anywhere, which is running" if decision.what == ATTACH else " ".join(plan.command)
        say(f"{plan.name}: would run {shown}")
        return _result(plan, seen, [shown], changed=True)
    if decision.what != ATTACH:
        started = _call(plan, call, operation="start", command=list(plan.command), command_name=plan.operation, digest=plan.digest,
                        files=dict(plan.files), environment=dict(plan.environment))  # fmt: skip
        if started.get("failed"):
            return _failed(plan, str(started["msg"]), [])
    return _watch(plan, call, say)


def _watch(plan: EksctlPlan, call: Call, say: Say) -> dict[str, Any]:
    """Show the steps and messages of the log until the program has ended."""
    steps: list[str] = []
    offset, passed = 0, 0.0
    causes: list[str] = []
    while True:
        answer = _call(plan, call, operation="watch", offset=offset, wait=_POLL_SECONDS, environment=dict(plan.environment))
        if answer.get("failed"):
            return _failed(plan, str(answer["msg"]), steps)
        offset = answer["offset"]
        for row in answer["rows"]:
            if row["kind"] == "task":
                step = step_of(row["text"])
                steps += [step] if steps[-1:] != [step] else []
                say(f"{plan.name}: {step}")
            else:
                say(f"  {row['text']}")
                causes += [row["text"]] if row["kind"] == "problem" else []
        if answer["has_ended"]:
            break
        passed += _POLL_SECONDS
        if passed >= plan.timeout:
            message = f"eksctl anywhere has not ended after {plan.timeout:g} seconds, and runs on; fix: run the same command to watch it"
            return _failed(plan, message, steps)
    seen = _call(plan, call, operation="observe")
    if answer["status"] == 0 and not seen.get("failed"):
        return _result(plan, seen, steps, changed=True)
    return _failed(plan, _cause(plan, answer["status"], steps, causes, seen), steps)


def _cause(plan: EksctlPlan, status: int | None, steps: list[str], causes: list[str], seen: Mapping[str, Any]) -> str:
    how = "was ended from outside" if status is None else f"failed with status {status}"
    where = f' in the step "{steps[-1]}"' if steps else ""
    lines = [f"eksctl anywhere {how}{where}: {'; '.join(causes[-4:]) or 'its log has no error'}"]
    lines += [after_failure(plan.name, seen)] if not seen.get("failed") else []
    return "\n".join(line for line in [*lines, f"log: {plan.work_dir}/eksctl.log"] if line)


def _call(plan: EksctlPlan, call: Call, **options: Any) -> Mapping[str, Any]:
    return call(MODULE, {"work_dir": plan.work_dir, "name": plan.name, **options})


def _result(plan: EksctlPlan, seen: Mapping[str, Any], steps: list[str], *, changed: bool) -> dict[str, Any]:
    kubeconfig = None if plan.operation == "delete" else f"{seen['work_dir']}/{names.kubeconfig_file(plan.name)}"
    return {"changed": changed, "steps": steps, "kubeconfig": kubeconfig}


def _stopped(plan: EksctlPlan, decision: Decision) -> dict[str, Any]:
    return _failed(plan, f"{decision.reason}; fix: {decision.way_out}", [])


def _failed(plan: EksctlPlan, message: str, steps: list[str]) -> dict[str, Any]:
    return {"failed": True, "changed": bool(steps), "steps": steps, "msg": f"{plan.operation} {plan.name}: {message}"}


def _status(plan: EksctlPlan, seen: Mapping[str, Any], say: Say) -> dict[str, Any]:
    """Where the last command stands, and what the next one would do."""
    record = seen["record"]
    decision = eksctl_decide.decide("create", plan.name, plan.digest, seen, rerun=plan.rerun)
    say(f"cluster {plan.name} (engine eksctl)")
    if record:
        step = f", step: {step_of(record['task'])}" if record["task"] else ""
        say(f"  eksctl anywhere {record['operation']}: {'running' if record['is_alive'] else record['state']}{step}")
    say(f"  kubeconfig: {'saved' if seen['kubeconfig'] else 'none'}")
    say(f"  bootstrap cluster: {', '.join(seen['bootstrap']) or 'none'}")
    stop = f"{decision.reason}; fix: {decision.way_out}" if decision.what == STOP else None
    if stop:
        say(f"stop: {stop}")
    steps = [" ".join(("eksctl", "anywhere", "create", "cluster"))] if decision.what == eksctl_decide.START else []
    observed = {key: value for key, value in seen.items() if key not in ("invocation", "changed", "failed")}
    tried = [] if not record else [{"step": step_of(record["task"]), "state": record["state"], "began": "", "ended": None, "message": ""}]
    return {"changed": False, "steps": steps, "stop": stop, "tried": tried, "observed": observed, "running": [], "is_locked": False}
