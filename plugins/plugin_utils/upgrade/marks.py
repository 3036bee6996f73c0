# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The annotations of nodes and the tags of Auto Scaling groups that hold the state of an upgrade: one value each, so that each is whole.

The values consist of C(name=value) with characters that are allowed in tags of Auto Scaling groups.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast, get_args

from .model import Capacity, Mark, NodeStep, Operation, OperationKind, Run

NODE = "nodebootstrap.eks/upgrade"
"""The annotation of a node, and the tag of a group, that an upgrade is working on."""

CAPACITY = "nodebootstrap.eks/upgrade-capacity"
"""The tag of a group whose capacity an upgrade changes."""

PROTECTED = "nodebootstrap.eks/upgrade-protected"
"""The annotation of a node that the cluster autoscaler leaves because of an upgrade."""

SCALE_DOWN_DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
EXCLUDE = "node.kubernetes.io/exclude-from-external-load-balancers"

LONGEST_TAG = 256
"""Characters of the value of a tag."""

_VERSIONS = {"$Latest": "latest", "$Default": "default"}
_NAMES = {word: version for version, word in _VERSIONS.items()}
_STEPS = get_args(NodeStep)
_KINDS = get_args(OperationKind)


def write_mark(mark: Mark) -> str:
    """The annotation of a node."""
    words = {"run": mark.run, "step": mark.step, "since": f"{mark.since:.0f}"}
    flags = {"cordoned": mark.was_cordoned, "excluded": mark.was_excluded, "surplus": mark.is_surplus}
    return _join({**words, **{name: "before" for name, value in flags.items() if value}})


def read_mark(text: str | None) -> Mark | None:
    """The mark in an annotation, None if there is none. A damaged one counts as a node that is being drained: it is cordoned."""
    if text is None:
        return None
    words = _split(text)
    step = words.get("step", "drain")
    return Mark(
        run=words.get("run", ""),
        step=cast(NodeStep, step) if step in _STEPS else "drain",
        since=_number(words.get("since")),
        was_cordoned="cordoned" in words,
        was_excluded="excluded" in words,
        is_surplus="surplus" in words,
    )


def write_run(run: Run) -> str:
    """The tag of a group."""
    words = {"run": run.id, "version": run.version, "before": _VERSIONS.get(run.before, run.before), "max": str(run.max_size)}
    words["suspended"] = ":".join(run.suspended)
    rest = LONGEST_TAG - len(_join(words)) - len(" stopped=")
    if run.stopped:
        words["stopped"] = re.sub(r"[^A-Za-z0-9:.+/@_-]+", "_", run.stopped)[:rest]
    return _join({name: value for name, value in words.items() if value})


def read_run(text: str | None) -> Run | None:
    """The run in a tag, None if there is none."""
    if text is None:
        return None
    words = _split(text)
    before = words.get("before", "default")
    return Run(
        id=words.get("run", ""),
        version=words.get("version", ""),
        before=_NAMES.get(before, before),
        max_size=int(_number(words.get("max"))),
        suspended=tuple(filter(None, words.get("suspended", "").split(":"))),
        stopped=words.get("stopped", ""),
    )


def write_capacity(run: str, capacity: Capacity) -> str:
    """The tag of a group. run: the ID of the run."""
    words = {"run": run, "surge": str(capacity.surge), "max": str(capacity.max_size)}
    operation = capacity.operation
    if operation is not None:
        words |= {"do": operation.kind, "before": str(operation.before), "after": str(operation.after)}
        words |= {"instance": operation.instance} if operation.instance else {}
    return _join(words)


def read_capacity(text: str | None, run: str) -> Capacity:
    """The capacity in a tag, if it is that of the run."""
    words = _split(text or "")
    if words.get("run") != run:
        return Capacity()
    kind, operation = words.get("do", ""), None
    if kind in _KINDS:
        before, after = int(_number(words.get("before"))), int(_number(words.get("after")))
        operation = Operation(cast(OperationKind, kind), before, after, words.get("instance", ""))
    return Capacity(int(_number(words.get("surge"))), int(_number(words.get("max"))), operation)


def _join(words: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in words.items())


def _split(text: str) -> dict[str, str]:
    return {name: value for name, _equals, value in (word.partition("=") for word in text.split())}


def _number(text: str | None) -> float:
    return float(text) if text is not None and re.fullmatch(r"[0-9]{1,12}", text) else 0.0
