# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of a command: observe, decide, act, until the decision is that nothing is left. Pure but for the C(Admin) that acts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import Problems, SpecError
from . import ledger as ledgers
from . import recovery
from .acts import ACTS, Plan, RunFailed, Work
from .acts_upgrade import UPGRADE_ACTS
from .decide import decide
from .forecast import forecast
from .ledger import Ledger
from .lock import Machine, Owner, Process, leftovers, load
from .lock import decide as decide_lock
from .lock import dump as dump_lock
from .move import Side
from .observed import Action, Container, Observed, Providers, Step
from .upgrade_plan import control_plane_part, version_of

STEP = "nodebootstrap.eks.anywhere_step"
_COMMANDS = ledgers.COMMANDS
_ACTS = {**ACTS, **UPGRADE_ACTS}
_MOST_STEPS, _MOST_REPEATS = 80, 6
_SETTLE_SECONDS = 1800


@dataclass(frozen=True)
class Admin:
    """The admin machine, and the process that works on it.

    call: runs a module on the admin machine, by name and options. say: prints a line. clock: the time as text. owner: this process.
    machine: the machine of this process, with the start time of a process that may hold the lock.
    """

    call: Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
    say: Callable[[str], None]
    clock: Callable[[], str]
    owner: Owner
    machine: Callable[[int], Machine]


@dataclass
class Run:
    """One run. ledgers: what earlier runs and this one tried, by command. unwritten: the text of the ledger, by the name of its file."""

    plan: Plan
    admin: Admin
    check_mode: bool = False
    ledgers: dict[str, Ledger] = field(default_factory=dict)
    tried_start: bool = False
    says: Mapping[str, Any] = field(default_factory=dict)
    steps: list[str] = field(default_factory=list)
    unwritten: dict[str, str] = field(default_factory=dict)
    had_lock: bool = False

    def call(self, module: str, /, **options: Any) -> Mapping[str, Any]:
        """Run a module in the work folder. Raises C(RunFailed) with its message."""
        result = self.admin.call(module, {"work_dir": self.plan.work_dir, **options})
        if result.get("failed"):
            raise RunFailed(str(result.get("msg", f"{module} failed")))
        return result

    def step(self, operation: str, /, **values: Any) -> Mapping[str, Any]:
        """Run one operation of the internal module."""
        return self.call(STEP, operation=operation, values=values)

    # --- before and after ---

    def open(self) -> str | None:
        """Read the work folder, and return the text of the lock. Raises C(SpecError) for files that cannot be read."""
        problems = Problems()
        found = self.read_folder(problems)
        owner = None if found["lock"] is None else load(found["lock"], problems)
        problems.raise_any()
        decision = decide_lock(owner, self.admin.machine(owner.process.pid if owner else 0), take_lock=self.plan.take_lock)
        if decision.refusal is not None:
            raise SpecError([decision.refusal])
        self.had_lock = owner is not None
        if not self.check_mode:
            self._settle([Process(row["pid"], row["start_time"], row["command"]) for row in found["running"]])
        return None if found["lock"] is None else str(found["lock"])

    def read_folder(self, problems: Problems) -> Mapping[str, Any]:
        """Read the work folder with its ledgers. A ledger that cannot be read is a problem, and then empty."""
        names = {command: self.plan.ledger_file(command) for command in _COMMANDS}
        found = self.step("open", name=self.plan.name, files=list(names.values()), **self.plan.requirements())
        # From here on, the paths are absolute: ~ is the home of the user on the admin machine.
        self.plan = replace(self.plan, work_dir=found["work_dir"])
        for command, name in names.items():
            text = found["files"].get(name)
            loaded = None if text is None else ledgers.load(text, problems)
            self.ledgers[command] = loaded or Ledger(self.plan.name, command)
        return found

    def _settle(self, running: list[Process]) -> None:
        """Wait for a move that a dead run left, and end its other programs."""
        if not running:
            return
        wait_for, end = (
            [{"pid": one.pid, "start_time": one.start_time, "command": one.command} for one in part] for part in leftovers(running)
        )
        for row in wait_for:
            self.admin.say(f"wait for {row['command']} of an earlier run (pid {row['pid']})")
        self.step("settle", wait_for=wait_for, end=end, timeout=_SETTLE_SECONDS)

    def lock(self, expected: str | None) -> str:
        """Take the lock, and return its text."""
        text = dump_lock(replace(self.admin.owner, since=self.admin.clock()))
        self.step("lock", expected=expected, new=text)
        return text

    # --- the loop ---

    def observe(self) -> Observed:
        """What is true now. The same call writes how the last step ended."""
        plan = self.plan
        files, self.unwritten = self.unwritten, {}
        found = self.step("observe", files=files, **plan.observation(), config_file=plan.config_file, packages=list(plan.packages),
                          config_text=plan.config_text if plan.command in ("create", "upgrade") else None,
                          upgrade=plan.command != "create", plane=list(control_plane_part(plan.objects)),
                          backup=plan.backup, digest=plan.digest, backups=plan.backups)  # fmt: skip
        self.says = found
        created, deleted = self.ledgers["create"], self.ledgers["delete"]
        machines = None if found["machines"] is None else frozenset(found["machines"])
        flags: dict[str, Any] = {name: bool(found[name]) for name in _FLAGS}
        seen = Observed(
            bootstrap=Container(found["bootstrap"]),
            bootstrap_providers=Providers(found["bootstrap_providers"]),
            bootstrap_side=_side(found["bootstrap_side"]),
            target_providers=Providers(found["target_providers"]),
            target_side=_side(found["target_side"]),
            machines=machines,
            was_applied=created.entry(Step.APPLY_CLUSTER.value) is not None,
            was_deleted=deleted.entry(Step.DELETE_CLUSTER.value) is not None,
            tried_start=self.tried_start,
            is_changed=bool(found["differs"]),
            **flags,
        )
        seen = _with_upgrade(seen, found["upgrade"], plan)
        if plan.command != "recover":
            return seen
        backup = recovery.usable_backup(found["backups"], plan.name, machines)
        self.says = {**found, "backup": backup}
        return replace(seen, backup=backup, interrupted=recovery.interrupted(self.ledgers, seen))

    def begin(self, action: Action) -> None:
        """Write into the ledger what is tried now."""
        if action.step is Step.APPLY_CLUSTER and self.ledgers["delete"].entries:
            # What was deleted before does not matter for the cluster that begins to exist now.
            self.ledgers["delete"] = Ledger(self.plan.name, "delete")
            self.step("remove", files=[self.plan.ledger_file("delete")])
        self._note(self.ledgers[self.plan.command].begin(action.step.value, self.plan.digest, self.admin.clock()))
        self.flush()

    def finish(self, action: Action, message: str = "", *, failed: bool = False) -> None:
        """Note in the ledger how it ended. The next observation writes it, or C(flush)."""
        self._note(self.ledgers[self.plan.command].finish(action.step.value, self.admin.clock(), message, failed=failed))

    def _note(self, ledger: Ledger) -> None:
        self.ledgers[self.plan.command] = ledger
        self.unwritten = {self.plan.ledger_file(self.plan.command): ledgers.dump(ledger)}

    def flush(self) -> None:
        """Write the ledger now."""
        files, self.unwritten = self.unwritten, {}
        self.step("write", files=files)

    def to_the_end(self) -> Action:
        """Take steps until there is an end, and return it. Raises C(RunFailed)."""
        while len(self.steps) < _MOST_STEPS:
            action = decide(self.plan.command, self.observe())
            if action.is_end:
                return action
            shown = _words(action)
            if self.steps[-_MOST_REPEATS:].count(shown) == _MOST_REPEATS:
                raise RunFailed(f"{shown}: was done {_MOST_REPEATS} times without an effect")
            self.steps.append(shown)
            self.admin.say(f"{self.plan.name}: {shown}")
            self._act(action)
        raise RunFailed(f"there is no end after {_MOST_STEPS} steps")

    def _act(self, action: Action) -> None:
        self.begin(action)
        self.tried_start |= action.step is Step.START_BOOTSTRAP
        try:
            _ACTS[action.step](Work(self.plan, action, self.says, self.call, self.step, self.admin.say))
        except RunFailed as error:
            self.finish(action, str(error), failed=True)
            self.flush()
            raise RunFailed(f"{_words(action)}: {error}") from None
        self.finish(action)


_FLAGS = ("has_kubeconfig", "is_initialized", "has_network", "is_available", "is_applied", "is_deleting", "config_written",
          "has_backup", "packages_wanted", "packages_installed")  # fmt: skip


def _side(found: Mapping[str, Any] | None) -> Side | None:
    return None if found is None else Side(frozenset(found["objects"]), found["paused"])


def _with_upgrade(seen: Observed, live: Mapping[str, Any] | None, plan: Plan) -> Observed:
    """What is known of the cluster itself beyond its objects."""
    if live is None:
        return seen
    rows = live["siblings"]
    old_cert_manager = (
        live["cert_manager"] is not None and plan.cert_manager != "" and version_of(live["cert_manager"]) < version_of(plan.cert_manager)
    )
    is_old = seen.target_providers is Providers.READY and old_cert_manager
    return replace(
        seen,
        target_providers=Providers.OLD if is_old else seen.target_providers,
        is_plane_applied=live["is_plane_applied"],
        is_plane_ready=live["is_plane_ready"],
        removed_groups=bool(live["removed_groups"]),
        has_leftovers=bool(live["leftovers"]),
        is_replaced=live["is_replaced"],
        siblings=frozenset(f"{row['namespace']}/{row['name']}" for row in rows),
        paused_siblings=any(row["marked"] for row in rows),
        running_siblings=any(not row["paused"] for row in rows),
    )


def _words(action: Action) -> str:
    return action.step.value if action.move is None else f"{action.step.value}: {action.move.value}"


@dataclass(frozen=True)
class Extras:
    """What a command adds to a run. before: is called before the lock is taken; its result is a part of that of the task.

    failed: is called if the run did not come to its end, and returns the rest of the message. after: the same as before, at the end.
    """

    before: Callable[[Run, Observed], Mapping[str, Any]] = lambda _run, _seen: {}
    failed: Callable[[Run], str] = lambda _run: ""
    after: Callable[[Run, Observed], Mapping[str, Any]] = lambda _run, _seen: {}


_NO_EXTRAS = Extras()
Around = Callable[[Extras], Extras]
"""Adds to the extras of a command what happens around every run."""


def run(plan: Plan, admin: Admin, *, check_mode: bool, extras: Extras = _NO_EXTRAS) -> dict[str, Any]:
    """Carry out the command of the plan, and return the result of the task. In check mode, returns what would be done."""
    this = Run(plan, admin, check_mode)
    more: dict[str, Any] = {}
    try:
        text = this.open()
        if check_mode:
            seen = this.observe()
            more = {**extras.before(this, seen)}
            return _forecast(this, seen) | more
        if extras is not _NO_EXTRAS:
            more = {**extras.before(this, this.observe())}
        text = this.lock(text)
    except RunFailed as error:
        return _failed(plan, str(error), []) | more
    problem: str | None = "the run was ended"
    try:
        problem = _work(this)
        if problem is None and this.steps:
            more |= extras.after(this, this.observe())
    except RunFailed as error:
        problem = str(error)
    finally:
        if problem is not None:
            problem += extras.failed(this)
        this.step("lock", expected=text, new=None)
    return (_done(this.plan, this.steps) if problem is None else _failed(plan, problem, this.steps)) | more


def _work(this: Run) -> str | None:
    """Take all steps. Returns why they stopped, None if all is done. Raises C(RunFailed)."""
    end = this.to_the_end()
    if end.step is Step.STOP:
        return f"{end.reason}; fix: {end.way_out}"
    files = [this.plan.ledger_file(command) for command in _finished(this)]
    if files:
        this.unwritten = {}
        this.step("remove", files=files)
    return None


def _finished(this: Run) -> list[str]:
    """The commands whose ledgers have nothing more to say after the run: what they would tell is not true any more."""
    command = this.plan.command
    over = {"create": ("delete",), "delete": _COMMANDS, "recover": ("recover",)}.get(command, ())
    if command == "upgrade" and this.ledgers["upgrade"].is_open:
        # A step that failed was done by a later run, or is not needed any more.
        over = ("upgrade",)
    return [one for one in over if this.ledgers[one].entries]


def _forecast(this: Run, seen: Observed) -> dict[str, Any]:
    actions = forecast(this.plan.command, seen)
    steps = [_words(action) for action in actions if not action.is_end]
    if actions[-1].step is Step.STOP:
        return _failed(this.plan, f"{actions[-1].reason}; fix: {actions[-1].way_out}", steps)
    for shown in steps:
        this.admin.say(f"{this.plan.name}: would {shown}")
    return _done(this.plan, steps)


def _done(plan: Plan, steps: list[str]) -> dict[str, Any]:
    has_kubeconfig = plan.command in ("create", "upgrade")
    return {"changed": bool(steps), "steps": steps, "kubeconfig": plan.kubeconfig if has_kubeconfig else None}


def _failed(plan: Plan, message: str, steps: list[str]) -> dict[str, Any]:
    return {"failed": True, "changed": bool(steps), "steps": steps, "msg": f"{plan.command} {plan.name}: {message}"}


def _holder(text: str | None) -> dict[str, Any] | None:
    """Who holds the lock, for people. None without a lock, or if it cannot be read."""
    owner = None if text is None else load(text, Problems())
    return None if owner is None else {"host": owner.host, "pid": owner.process.pid, "since": owner.since}


def status(plan: Plan, admin: Admin) -> dict[str, Any]:
    """Where the cluster stands, without a lock: what is there, what is next, and what it waits for."""
    this = Run(plan, admin, check_mode=True)
    try:
        found = this.read_folder(Problems())
        seen = this.observe()
    except RunFailed as error:
        return {"failed": True, "changed": False, "steps": [], "msg": f"status {plan.name}: {error}"}
    actions = forecast(plan.command, seen)
    rows = [entry for command in _COMMANDS for entry in this.ledgers[command].entries]
    return {
        "changed": False,
        "steps": [_words(action) for action in actions if not action.is_end],
        "stop": f"{actions[-1].reason}; fix: {actions[-1].way_out}" if actions[-1].step is Step.STOP else None,
        "tried": [{"step": one.step, "state": one.state, "began": one.began, "ended": one.ended, "message": one.message} for one in rows],
        "observed": {key: value for key, value in this.says.items() if key not in ("invocation", "changed", "failed")},
        "running": list(found["running"]),
        "is_locked": found["lock"] is not None,
        "lock": _holder(found["lock"]),
        "work_dir": this.plan.work_dir,
    }
