# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of the playbook eks_anywhere_status: a table of steps, and what an unfinished one waits for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_STATES = {"begun": "interrupted", "done": "done", "failed": "failed"}


def page(name: str, result: Mapping[str, Any]) -> str:
    """The result of C(run.status) as lines."""
    return "\n".join(_lines(name, result))


def _lines(name: str, result: Mapping[str, Any]) -> Iterator[str]:
    seen = result["observed"]
    yield f"cluster {name}"
    yield f"  bootstrap cluster: {seen['bootstrap']}, {_side(seen['bootstrap_side'])}, Cluster API {seen['bootstrap_providers']}"
    yield f"  cluster itself:    {_side(seen['target_side'])}, Cluster API {seen['target_providers']}"
    yield f"  machines:          {_machines(seen['machines'])}"
    yield f"  kubeconfig:        {'saved' if seen['has_kubeconfig'] else 'none'}"
    rows = [(row["step"], _STATES[row["state"]], row["ended"] or row["began"], row["message"]) for row in result["tried"]]
    rows += [(step, "next" if index == 0 else "later", "", "") for index, step in enumerate(result["steps"])]
    if rows:
        width = max(len(row[0]) for row in rows)
        yield "steps"
        for step, state, when, message in rows:
            yield f"  {step:{width}}  {state:11}  {when}".rstrip() + (f"  {message.splitlines()[0]}" if message else "")
    lock = result.get("lock")
    if lock is not None:
        yield f"lock: process {lock['pid']} on {lock['host']}" + (f", since {lock['since']}" if lock["since"] else "")
    if result["running"]:
        yield "running: " + ", ".join(f"{row['command']} (pid {row['pid']})" for row in result["running"])
    for row in seen["waits_for"]:
        yield f"waits for {row['kind']} {row['name']}: {row['condition']} is {row['status']}: {row['message']}"
        yield from (f"  event: {event}" for event in row["events"])
    for cluster, cause in (result.get("causes") or {}).items():
        if cause is not None:
            yield f"first problem in {cluster}"
            yield from (f"  {line}" for line in cause["lines"])
    yield from (f"cannot be read: {text}" for text in seen["problems"])
    if result.get("lacking"):
        yield f"the next steps are not known without {', '.join(f'eks_anywhere_{name}' for name in result['lacking'])}"
    elif result["stop"]:
        yield f"stop: {result['stop']}"
    elif not result["steps"]:
        yield "the cluster is complete"


def _side(side: Mapping[str, Any] | None) -> str:
    if side is None:
        return "objects not readable"
    count = len(side["objects"])
    return f"{count} object{'' if count == 1 else 's'}" + (", paused" if side["paused"] else "")


def _machines(machines: list[str] | None) -> str:
    if machines is None:
        return "not known"
    return f"{len(machines)}" + (f" ({', '.join(sorted(machines))})" if machines else "")
