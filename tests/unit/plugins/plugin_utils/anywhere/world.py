# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A model of an admin machine, a bootstrap cluster and a cluster: every step in moments, between which a process can be killed.

Controllers work between all moments: on a side that runs, they create the machines that they miss. That is what makes a wrong decision
visible: an incomplete side that is unpaused creates machines a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.decide import decide
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.move import MoveStep, Side
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.observed import Action, Container, Observed, Providers, Step
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.world_parts import (
    CLUSTER,
    FIRST,
    PLANE,
    SECRET,
    SHAPES,
    Half,
    Shape,
    Violation,
    group_of,
    objects_of,
    version_of,
)

Decide = Callable[[str, Observed], Action]


@dataclass
class World:
    """Everything that is true, and the counters that show what went wrong.

    machines: their names, such as C(KubeadmControlPlane.c@2#5): group, version and number. applied: the version of each applied group.
    siblings: of each other cluster, whether it is paused, and whether a run did it. last: the command that began the last step.
    """

    shape: Shape = SHAPES["siblings"]
    container: Container = Container.ABSENT
    is_stopped: bool = False
    is_unfinished: bool = False
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
    backup: list[str] = field(default_factory=list)
    siblings: list[str] = field(default_factory=list)
    applied: dict[str, int] = field(default_factory=dict)
    leftovers: bool = False
    outage: int = 0
    """Observations in which the cluster does not answer."""
    lists_machines: bool = True
    command: str = "create"
    last: str = ""
    wanted: int = 1

    @property
    def goal(self) -> Mapping[str, int]:
        """The groups of machines that are wanted."""
        return self.shape.after if self.wanted > 1 else self.shape.before

    @property
    def rendered(self) -> tuple[str, ...]:
        return (CLUSTER, *self.goal)

    # --- what a run sees ---

    def observe(self, tried_start: bool) -> Observed:
        initialized = any(group_of(name) == PLANE for name in self.machines)
        can_reach = self.kubeconfig and initialized and self.outage == 0
        self.outage = max(0, self.outage - 1)
        runs = self.container is Container.RUNNING and not self.is_stopped and not self.is_unfinished
        here = self.bootstrap if CLUSTER in self.bootstrap.objects else self.target
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
            is_available=self.network and self.is_complete(list(self.goal)),
            is_applied=self.is_applied(here, self.rendered),
            was_applied=self.was_applied,
            was_deleted=self.was_deleted,
            has_backup=self.has_backup,
            is_deleting=self.deleting,
            config_written=self.config,
            packages_wanted=True,
            packages_installed=self.packages,
            tried_start=tried_start,
            siblings=frozenset(f"s{number}" for number in range(len(self.siblings))),
            paused_siblings="marked" in self.siblings,
            running_siblings="" in self.siblings,
            is_changed=not self.is_applied(here, self.rendered),
            is_plane_applied=self.is_applied(here, [name for name in self.rendered if name in FIRST]),
            is_plane_ready=self.is_complete([name for name in self.goal if name in FIRST]),
            removed_groups=any(name not in self.goal for name in self.applied),
            has_leftovers=self.leftovers,
            interrupted=self.interrupted(),
            backup="b" if self.machines and {name for name in self.backup if "#" in name} == objects_of(self.machines) else "",
        )

    def interrupted(self) -> str:
        """The command that was interrupted, as the ledgers tell it."""
        is_whole = self.target.works and not self.bootstrap.objects
        if is_whole and (self.has_backup or "marked" in self.siblings):
            return "upgrade"
        return "" if self.last == "upgrade" else self.last

    def is_applied(self, half: Half, names: Iterable[str]) -> bool:
        return all(name in half.objects and self.applied.get(name, self.wanted) == self.wanted for name in names)

    def is_complete(self, groups: list[str]) -> bool:
        """Has every group all its machines with the wanted version, and no others?"""
        others = [name for name in self.machines if group_of(name) in groups and version_of(name) != self.wanted]
        gone = [name for name in self.machines if group_of(name) not in self.goal] if len(groups) == len(self.goal) else []
        return not others and not gone and all(self.count(name) == self.goal[name] for name in groups)

    def count(self, group: str) -> int:
        return len([name for name in self.machines if group_of(name) == group])

    # --- what happens on its own ---

    def tick(self) -> None:
        """One round of the controllers of both sides, and the check that nothing forbidden happened."""
        halves = [self.bootstrap] if self.container is Container.RUNNING and not self.is_stopped else []
        for half in [*halves, self.target]:
            if half.works:
                self._reconcile(half)
        limit = self.shape.needed if self.wanted > 1 else sum(self.shape.before.values())
        if self.created > limit:
            raise Violation(f"{self.created} machines were created: {self.machines}")
        oldest = min((version_of(name) for name in self.machines if group_of(name) in FIRST), default=99)
        if any(version_of(name) > oldest for name in self.machines if group_of(name) not in FIRST):
            raise Violation(f"a worker is newer than the control plane: {self.machines}")

    def _reconcile(self, half: Half) -> None:
        if self.deleting:
            if self.machines:
                gone = self.machines.pop()
                half.objects = [name for name in half.objects if name != f"Machine/n/{gone}"]
            else:
                half.objects, self.deleting, self.applied = [], False, {}
            return
        for group, version in sorted(self.applied.items(), reverse=True):
            if group in half.objects and self._reconcile_group(half, group, version):
                return
        orphans = [name for name in self.machines if f"Machine/n/{name}" in half.objects and group_of(name) not in self.applied]
        if orphans:
            self._drop(half, orphans[0])

    def _reconcile_group(self, half: Half, group: str, version: int) -> bool:
        """Create a machine that is missing, or delete one that is old. Returns whether it did something."""
        wanted = (self.shape.after if version > 1 else self.shape.before).get(group, 0)
        mine = [name[len("Machine/n/") :] for name in half.objects if name.startswith("Machine/n/") and group_of(name[10:]) == group]
        if len([name for name in mine if version_of(name) == version]) < wanted:
            self.created += 1
            name = f"{group.replace('/', '.')}@{version}#{self.created}"
            self.machines.append(name)
            half.objects.append(f"Machine/n/{name}")
            if SECRET not in half.objects:
                half.objects.append(SECRET)
            return True
        old = [name for name in mine if version_of(name) != version] or mine[wanted:]
        if old:
            self._drop(half, old[0])
        return bool(old)

    def _drop(self, half: Half, name: str) -> None:
        self.machines.remove(name)
        half.objects.remove(f"Machine/n/{name}")

    # --- what the steps do ---

    def perform(self, action: Action) -> Iterator[None]:
        """The moments of a step."""
        yield from _STEPS[action.step](self, action)

    def _create_bootstrap(self, _action: Action) -> Iterator[None]:
        if self.container is not Container.ABSENT:
            raise Violation("kind: node(s) already exist for a cluster with the name")
        self.container, self.bootstrap = Container.DEBRIS, Half()
        yield
        # Killed here, the API server answers, and there is no network.
        self.container, self.is_unfinished, self.is_stopped = Container.RUNNING, True, False
        yield
        self.is_unfinished = False
        yield

    def _delete_bootstrap(self, _action: Action) -> Iterator[None]:
        if self.bootstrap.objects and not (self.target.works and set(self.bootstrap.objects) <= set(self.target.objects)):
            raise Violation("a bootstrap cluster with objects was deleted")
        self.container, self.bootstrap, self.is_stopped, self.is_unfinished = Container.ABSENT, Half(), False, False
        yield

    def _replace_bootstrap(self, action: Action) -> Iterator[None]:
        yield from self._delete_bootstrap(action)
        yield from self._create_bootstrap(action)

    def _start_bootstrap(self, _action: Action) -> Iterator[None]:
        if self.container is Container.RUNNING:
            self.is_stopped = False
        yield

    def _install(self, half: Half) -> Iterator[None]:
        if half is self.bootstrap and self.is_unfinished:
            raise Violation("Cluster API was installed in a bootstrap cluster without a network")
        half.providers = Providers.PARTIAL
        yield
        half.providers = Providers.READY
        yield

    def _apply(self, _action: Action) -> Iterator[None]:
        self.was_applied = True
        self.was_deleted = False
        yield
        yield from self._apply_names(self.bootstrap, self.rendered)

    def _apply_names(self, half: Half, names: Iterable[str]) -> Iterator[None]:
        for name in names:
            if name not in half.objects:
                half.objects.append(name)
            if name != CLUSTER:
                self.leftovers |= self.applied.get(name, self.wanted) != self.wanted
                self.applied[name] = self.wanted
            yield

    def _upgrade_step(self, names: Iterable[str]) -> Iterator[None]:
        if not self.has_backup or "" in self.siblings:
            raise Violation("something is changed without a backup, or while other clusters run")
        yield from self._apply_names(self.target, names)

    def _apply_plane(self, _action: Action) -> Iterator[None]:
        yield from self._upgrade_step([name for name in self.rendered if name in FIRST])

    def _apply_workers(self, _action: Action) -> Iterator[None]:
        yield from self._upgrade_step(self.rendered)

    def _remove_groups(self, _action: Action) -> Iterator[None]:
        for group in [name for name in self.applied if name not in self.goal]:
            self.target.objects.remove(group)
            del self.applied[group]
            yield

    def _remove_leftovers(self, _action: Action) -> Iterator[None]:
        if any(version_of(name) != self.wanted for name in self.machines):
            raise Violation("a template was removed that machines use")
        yield
        self.leftovers = False
        yield

    def _save_backup(self, _action: Action) -> Iterator[None]:
        self.backup = list(self.target.objects)
        yield
        self.has_backup = True
        yield

    def _remove_backup(self, _action: Action) -> Iterator[None]:
        self.has_backup = False
        yield
        self.backup = []
        yield

    def _restore(self, action: Action) -> Iterator[None]:
        half = self.target if action.of == "target" else self.bootstrap
        if half.objects or half.providers is not Providers.READY:
            raise Violation("a backup is restored over objects, or without providers")
        half.paused = True
        for name in self.backup:
            half.objects.append(name)
            yield
        half.paused = False
        yield

    def _pause(self, _action: Action) -> Iterator[None]:
        for number, state in enumerate(self.siblings):
            if not state:
                self.siblings[number] = "marked"
                yield

    def _resume(self, _action: Action) -> Iterator[None]:
        for number, state in enumerate(self.siblings):
            if state == "marked":
                self.siblings[number] = ""
                yield
        yield

    def _save_kubeconfig(self, _action: Action) -> Iterator[None]:
        yield
        self.kubeconfig = True
        yield

    def _wait(self, _action: Action) -> Iterator[None]:
        yield

    def _move(self, action: Action) -> Iterator[None]:
        is_deletion = (action.of or self.command) == "delete"
        source, destination = (self.target, self.bootstrap) if is_deletion else (self.bootstrap, self.target)
        if action.move in (MoveStep.START, MoveStep.MOVE_AGAIN):
            yield from self._clusterctl_move(source, destination)
        elif action.move is MoveStep.UNPAUSE_SOURCE:
            source.paused = False
            yield
        elif action.move is MoveStep.FINISH_DELETION:
            yield from _delete_all(source)
        elif action.move is MoveStep.REMOVE_COPIES:
            if destination.works:
                raise Violation("copies that are running were deleted")
            yield from _delete_all(destination)
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
        # A backup is saved before, which is what a recovery can restore.
        self.backup = list(source.objects)
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
            self.bootstrap.objects, self.deleting, self.applied = [], False, {}
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


def _sets(name: str) -> Callable[[World, Action], Iterator[None]]:
    """A step that changes one thing."""

    def step(world: World, _action: Action) -> Iterator[None]:
        yield
        setattr(world, name, True)
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
    Step.SAVE_BACKUP: World._save_backup,
    Step.PAUSE_SIBLINGS: World._pause,
    Step.RESUME_SIBLINGS: World._resume,
    Step.APPLY_CONTROL_PLANE: World._apply_plane,
    Step.WAIT_CONTROL_PLANE_READY: World._wait,
    Step.APPLY_WORKERS: World._apply_workers,
    Step.REMOVE_GROUPS: World._remove_groups,
    Step.REMOVE_LEFTOVERS: World._remove_leftovers,
    Step.REMOVE_BACKUP: World._remove_backup,
    Step.RESTORE_BACKUP: World._restore,
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
        action = choose(command, world.observe(tried_start))
        if action.is_end:
            world.last = "" if action.step is Step.DONE and command != "recover" else world.last
            return action, moments
        tried_start |= action.step is Step.START_BOOTSTRAP
        world.last = world.last if command == "recover" else command
        for _moment in world.perform(action):
            world.tick()
            moments += 1
            if kill_after is not None and moments >= kill_after:
                return None, moments
    raise Violation(f"{command} does not end: {action}")
