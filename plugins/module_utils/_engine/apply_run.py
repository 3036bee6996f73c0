# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run of C(apply_plan) is asked to do, what its parts share, and what it returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Collection, Iterable, Mapping, NamedTuple

from .._node.diff import Diff
from .._node.host import read_hostname
from .._node.placeholders import Identity
from .._transaction.store import Store
from .drift import Drift
from .plan import Plan
from .registration import NodePatch
from .validation import ValidationSandbox

if TYPE_CHECKING:
    from .._join.model import JoinResult

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


class RunResult(NamedTuple):
    """What the module returns. The documentation of the module describes the fields. C(warnings) are returned in another way."""

    changed: bool = False
    actions: tuple[str, ...] = ()
    restarted: tuple[str, ...] = ()
    diff: tuple[Diff, ...] = ()
    warnings: tuple[str, ...] = ()
    healthy: bool | None = None
    missing: tuple[str, ...] = ()
    waited: float = 0.0
    join: JoinResult | None = None
    recovered: str | None = None
    registration: NodePatch | None = None
    evidence: tuple[str, ...] = ()
    foreign: Mapping[str, str] = {}
    drift: tuple[Drift, ...] = ()

    def warn(self, warnings: Iterable[str]) -> RunResult:
        """The result with more warnings."""
        return self._replace(warnings=(*self.warnings, *warnings))

    def act(self, actions: Iterable[str]) -> RunResult:
        """The result with more actions."""
        return self._replace(actions=(*self.actions, *actions))

    def plain(self) -> dict[str, Any]:
        """The result as the module returns it."""
        return {
            "changed": self.changed,
            "actions": list(self.actions),
            "restarted": list(self.restarted),
            "diff": [dict(item._asdict()) for item in self.diff],
            "healthy": self.healthy,
            "missing": list(self.missing),
            "waited": self.waited,
            "join": self.join and self.join.plain(),
            "recovered": self.recovered,
            "registration": self.registration and self.registration.plain(),
            "facts": {"hostname": read_hostname()},
            "evidence": list(self.evidence),
            "foreign": dict(self.foreign),
            "drift": [dict(item._asdict()) for item in self.drift],
        }


class ApplyRun(NamedTuple):
    """What every part of a run needs: what to do, where the state of the node is stored, and how to ask the node."""

    options: Options
    store: Store
    sandbox: ValidationSandbox
    identity: Identity

    @property
    def plan(self) -> Plan:
        return self.options.plan

    def has_phase(self, *phases: str) -> bool:
        """Whether one of these phases was requested."""
        return bool(set(phases) & set(self.options.phases))
