# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A model of an admin machine, a bootstrap cluster and a cluster: every step in moments, between which a process can be killed.

Controllers work between all moments: on a side that runs, they create the machines that they miss. That is what makes a wrong decision
visible: an incomplete side that is unpaused creates machines a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.decide import decide
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.move import MoveStep, Side
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.observed import Action, Container, Observed, Providers, Step

CLUSTER, PLANE, WORKERS, SECRET = "Cluster/c", "KubeadmControlPlane/c", "MachineDeployment/c-md-0", "Secret/c-kubeconfig"
RENDERED = (CLUSTER, PLANE, WORKERS)
WANTED = 3
Decide = Callable[[str, Observed], Action]


class Violation(AssertionError):
    """A machine was created twice or lost, a kubeconfig was lost, or objects were thrown away."""


@dataclass
class Half:
    """One cluster with its objects of Cluster API, in the order in which they were made. paused: of the object Cluster."""

    providers: Providers = Providers.MISSING
    objects: list[str] = field(default_factory=list)
    paused: bool = False

    @property
    def side(self) -> Side:
        return Side(frozenset(self.objects), self.paused if CLUSTER in self.objects else None)

    @property
    def works(self) -> bool:
        """Do controllers reconcile the cluster?"""
        return self.providers in (Providers.READY, Providers.OLD) and CLUSTER in self.objects and not self.paused


@dataclass
class World:
    """Everything that is true, and the counters that show what went wrong."""

    container: Container = Container.ABSENT
    is_stopped: bool = False
    bootstrap: Half = field(default_factory=Half)
    target: Half = field(default_factory=Half)
    machines: list[str] = field(default_factory=list)
    created: int = 0
    deleting: bool = False
    kubeconfig: bool = False
    network: bool = False
    config: bool = False
    packages: bool = False
    was_applied: bool = False
    was_deleted: bool = False
    has_backup: bool = False
    siblings_paused: bool = False
    version: int = 1
    rolled: int = 1
    outage: int = 0
    """Observations in which the cluster does not answer."""
    lists_machines: bool = True
    command: str = "create"
    wanted: int = 1

    # --- what a run sees ---

    def observe(self, wanted_version: int, tried_start: bool) -> Observed:
        initialized = bool(self.machines)
        can_reach = self.kubeconfig and initialized and self.outage == 0
        self.outage = max(0, self.outage - 1)
        runs = self.container is Container.RUNNING and not self.is_stopped
        here = self.bootstrap if CLUSTER in self.bootstrap.objects else self.target
        is_applied = set(RENDERED) <= set(here.objects) and self.version == wanted_version
        side: Side | None = self.bootstrap.side if runs else None
        if self.container is Container.ABSENT:
            side = Side()
        return Observed(
            bootstrap=Container.DEBRIS if self.container is not Container.ABSENT and not runs else self.container,
            bootstrap_providers=self.bootstrap.providers,
            bootstrap_side=side,
            target_providers=self.target.providers,
            target_side=self.target.side if can_reach else None,
            machines=frozenset(self.machines) if self.lists_machines else None,
            has_kubeconfig=self.kubeconfig,
            is_initialized=initialized,
            has_network=self.network,
            is_available=self.network and len(self.machines) == WANTED and self.rolled == self.version,
            is_applied=is_applied,
            was_applied=self.was_applied,
            was_deleted=self.was_deleted,
            has_backup=self.has_backup,
            is_deleting=self.deleting,
            config_written=self.config,
            packages_wanted=True,
            packages_installed=self.packages,
            tried_start=tried_start,
            paused_siblings=self.siblings_paused,
        )

    # --- what happens on its own ---

    def tick(self) -> None:
        """One round of the controllers of both sides, and the check that nothing forbidden happened."""
        halves = [self.bootstrap] if self.container is Container.RUNNING and not self.is_stopped else []
        for half in [*halves, self.target]:
            if half.works:
                self._reconcile(half)
        if self.created > WANTED + (self.rolled - 1) * WANTED:
            raise Violation(f"{self.created} machines were created: {self.machines}")

    def _reconcile(self, half: Half) -> None:
        known = [name for name in half.objects if name.startswith("Machine/")]
        if self.deleting:
            if self.machines:
                gone = self.machines.pop()
                half.objects = [name for name in half.objects if name != f"Machine/{gone}"]
            else:
                half.objects, self.deleting = [], False
            return
        if self.rolled < self.version and set(RENDERED) <= set(half.objects):
            half.objects = [name for name in half.objects if name not in known]
            self.machines, self.rolled, known = [], self.version, []
        if {PLANE, WORKERS} <= set(half.objects) and len(known) < WANTED:
            self.created += 1
            name = f"m{self.created}"
            self.machines.append(name)
            half.objects.append(f"Machine/{name}")
            if SECRET not in half.objects:
                half.objects.append(SECRET)

    # --- what the steps do ---

    def perform(self, action: Action) -> Iterator[None]:
        """The moments of a step."""
        yield from _STEPS[action.step](self, action)

    def _create_bootstrap(self, _action: Action) -> Iterator[None]:
        if self.container is not Container.ABSENT:
            raise Violation("kind: node(s) already exist for a cluster with the name")
        self.container = Container.DEBRIS
        yield
        self.container, self.bootstrap, self.is_stopped = Container.RUNNING, Half(), False
        yield

    def _delete_bootstrap(self, _action: Action) -> Iterator[None]:
        if self.bootstrap.objects and not (self.target.works and set(self.bootstrap.objects) <= set(self.target.objects)):
            raise Violation("a bootstrap cluster with objects was deleted")
        self.container, self.bootstrap, self.is_stopped = Container.ABSENT, Half(), False
        yield

    def _replace_bootstrap(self, action: Action) -> Iterator[None]:
        yield from self._delete_bootstrap(action)
        yield from self._create_bootstrap(action)

    def _start_bootstrap(self, _action: Action) -> Iterator[None]:
        if self.container is Container.RUNNING:
            self.is_stopped = False
        yield

    def _install(self, half: Half) -> Iterator[None]:
        half.providers = Providers.PARTIAL
        yield
        half.providers = Providers.READY
        yield

    def _apply(self, _action: Action) -> Iterator[None]:
        self.was_applied = True
        self.was_deleted = False
        yield
        half = self.bootstrap if self.command == "create" else self.target
        for name in RENDERED:
            if name not in half.objects:
                half.objects.append(name)
                yield
        self.version = self.wanted
        yield

    def _save_kubeconfig(self, _action: Action) -> Iterator[None]:
        yield
        self.kubeconfig = True
        yield

    def _wait(self, _action: Action) -> Iterator[None]:
        yield

    def _move(self, action: Action) -> Iterator[None]:
        source, destination = (self.target, self.bootstrap) if self.command == "delete" else (self.bootstrap, self.target)
        if action.move in (MoveStep.START, MoveStep.MOVE_AGAIN):
            yield from self._clusterctl_move(source, destination)
        elif action.move is MoveStep.UNPAUSE_SOURCE:
            source.paused = False
            yield
        elif action.move is MoveStep.FINISH_DELETION:
            yield from _delete_all(source)
        elif action.move is MoveStep.UNPAUSE_DESTINATION:
            destination.paused = False
            yield
        else:
            raise Violation(f"{action.move} is not a step of a move")

    def _clusterctl_move(self, source: Half, destination: Half) -> Iterator[None]:
        if source.paused:
            raise Violation("clusterctl: cannot start operation while the following Clusters are paused")
        if destination.providers is not Providers.READY:
            raise Violation("clusterctl: the destination has no providers")
        source.paused = True
        yield
        for name in list(source.objects):
            if name not in destination.objects:
                destination.objects.append(name)
            if name == CLUSTER:
                destination.paused = True
            yield
        yield from _delete_all(source)
        destination.paused = False
        yield

    def _delete_cluster(self, _action: Action) -> Iterator[None]:
        self.was_deleted = True
        yield
        self.deleting = True
        if CLUSTER not in self.bootstrap.objects:
            self.bootstrap.objects, self.deleting = [], False
        yield

    def _remove_files(self, _action: Action) -> Iterator[None]:
        if self.machines:
            raise Violation("the kubeconfig of existing machines was removed")
        self.config = False
        yield
        self.kubeconfig = self.network = self.packages = False
        yield

    def _upgrade_providers(self, _action: Action) -> Iterator[None]:
        yield from self._install(self.target)


def _sets(name: str, value: bool = True) -> Callable[[World, Action], Iterator[None]]:
    """A step that changes one thing."""

    def step(world: World, _action: Action) -> Iterator[None]:
        yield
        setattr(world, name, value)
        yield

    return step


def _delete_all(half: Half) -> Iterator[None]:
    while half.objects:
        half.objects.pop()
        yield
    half.paused = False


_STEPS: dict[Step, Callable[[World, Action], Iterator[None]]] = {
    Step.CREATE_BOOTSTRAP: World._create_bootstrap,
    Step.REPLACE_BOOTSTRAP: World._replace_bootstrap,
    Step.START_BOOTSTRAP: World._start_bootstrap,
    Step.INSTALL_ON_BOOTSTRAP: lambda world, _action: world._install(world.bootstrap),
    Step.APPLY_CLUSTER: World._apply,
    Step.WAIT_CONTROL_PLANE: World._wait,
    Step.SAVE_KUBECONFIG: World._save_kubeconfig,
    Step.APPLY_NETWORK: _sets("network"),
    Step.WAIT_MACHINES: World._wait,
    Step.INSTALL_ON_CLUSTER: lambda world, _action: world._install(world.target),
    Step.MOVE: World._move,
    Step.WRITE_CONFIG: _sets("config"),
    Step.DELETE_BOOTSTRAP: World._delete_bootstrap,
    Step.INSTALL_PACKAGES: _sets("packages"),
    Step.SAVE_BACKUP: _sets("has_backup"),
    Step.PAUSE_SIBLINGS: _sets("siblings_paused"),
    Step.RESUME_SIBLINGS: _sets("siblings_paused", False),
    Step.UPGRADE_PROVIDERS: World._upgrade_providers,
    Step.DELETE_CLUSTER: World._delete_cluster,
    Step.WAIT_DELETED: World._wait,
    Step.REMOVE_FILES: World._remove_files,
}


def run(
    world: World, command: str, *, kill_after: int | None = None, choose: Decide = decide, most: int = 400
) -> tuple[Action | None, int]:
    """Run a command until it ends, or kill it after some moments: (the last action, None if it was killed; the number of moments)."""
    world.command = command
    moments, tried_start = 0, False
    for _unused in range(most):
        action = choose(command, world.observe(world.wanted, tried_start))
        if action.is_end:
            return action, moments
        tried_start |= action.step is Step.START_BOOTSTRAP
        for _moment in world.perform(action):
            world.tick()
            moments += 1
            if kill_after is not None and moments >= kill_after:
                return None, moments
    raise Violation(f"{command} does not end: {action}")
