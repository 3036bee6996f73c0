# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run of C(apply_plan) is asked to do, what its parts share, and what it returns."""

from __future__ import annotations

import os
from typing import Any, Callable, Collection, Mapping, NamedTuple

from .._node.placeholders import Identity
from .._transaction.store import Store
from .plan import Plan
from .validation import ValidationSandbox

PHASES = ("preflight", "configure", "validate", "start", "verify")


class Options(NamedTuple):
    """What the caller wants. C(wait_timeout): seconds for C(wait_for), which is healthy, registered or ready.

    C(label): the SELinux context of a new file at a path, or None. C(drift): repair, report or ignore. C(lock_timeout): seconds.
    """

    plan: Plan
    phases: Collection[str]
    state: str = "present"
    restart: str = "when_changed"
    take_over: bool = False
    reconcile: bool = False
    wait_timeout: float = 5.0
    wait_for: str = "healthy"
    check_mode: bool = False
    diff: bool = False
    label: Callable[[str], str | None] = lambda path: None
    drift: str = "repair"
    lock_timeout: float = 0.0


class RunResult:
    """What the module returns; filled in while the run goes on. The documentation of the module describes the fields."""

    def __init__(self) -> None:
        self.changed = False
        self.actions: list[str] = []
        self.restarted: list[str] = []
        self.diff: list[Mapping[str, str]] = []
        self.warnings: list[str] = []
        self.healthy: bool | None = None
        self.missing: list[str] = []
        self.waited = 0.0
        self.join: dict[str, Any] | None = None
        self.recovered: str | None = None
        self.registration: dict[str, Any] | None = None
        self.facts = {"hostname": os.uname()[1]}
        self.evidence: list[str] = []
        self.foreign: dict[str, str] = {}
        self.drift: list[dict[str, Any]] = []

    def plain(self) -> dict[str, Any]:
        """The result as the module returns it. Warnings are returned in another way."""
        return {name: value for name, value in vars(self).items() if name != "warnings"}


class ApplyRun(NamedTuple):
    """What every part of a run needs: what to do, where the state of the node is stored, how to ask the node, and the result."""

    options: Options
    store: Store
    sandbox: ValidationSandbox
    identity: Identity
    result: RunResult

    @property
    def plan(self) -> Plan:
        return self.options.plan

    def has_phase(self, *phases: str) -> bool:
        """Whether one of these phases was requested."""
        return bool(set(phases) & set(self.options.phases))
