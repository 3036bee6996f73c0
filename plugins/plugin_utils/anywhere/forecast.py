# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run would do, from what is observed now: each step is taken as done, and the next one decided again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from .decide import decide
from .move import NOTHING, MoveStep, Side
from .observed import Action, Container, Observed, Providers, Step

_MOST = 40
_CLUSTER = Side(frozenset({"Cluster"}), False)
"""A side with the objects of a cluster. Their names do not matter for a forecast."""


def forecast(command: str, seen: Observed) -> tuple[Action, ...]:
    """The actions in their order, the last of which is the end."""
    actions: list[Action] = []
    while len(actions) < _MOST:
        action = decide(command, seen)
        actions.append(action)
        if action.is_end:
            break
        seen = _moved(command, action, seen) if action.step is Step.MOVE else _EFFECTS[action.step](seen)
    return tuple(actions)


def _moved(command: str, action: Action, seen: Observed) -> Observed:
    source, destination = seen.bootstrap_side or NOTHING, seen.target_side or NOTHING
    is_deletion = (action.of or command) == "delete"
    if is_deletion:
        source, destination = destination, source
    if action.move in (MoveStep.START, MoveStep.MOVE_AGAIN):
        source, destination = NOTHING, replace(source, paused=False)
    elif action.move is MoveStep.UNPAUSE_SOURCE:
        source = replace(source, paused=False)
    elif action.move is MoveStep.FINISH_DELETION:
        source = NOTHING
    elif action.move is MoveStep.REMOVE_COPIES:
        destination = NOTHING
    else:
        destination = replace(destination, paused=False)
    if is_deletion:
        return replace(seen, target_side=source, bootstrap_side=destination)
    return replace(seen, bootstrap_side=source, target_side=destination)


def _sets(**changes: object) -> Callable[[Observed], Observed]:
    return lambda seen: replace(seen, **changes)  # type: ignore[arg-type]


def _replaces(**changes: object) -> Callable[[Observed], Observed]:
    """A step that replaces machines. Their old templates are left."""

    def effect(seen: Observed) -> Observed:
        return replace(_sets(**changes)(seen), is_available=False, has_leftovers=seen.has_leftovers or seen.is_replaced)

    return effect


def _restored(seen: Observed) -> Observed:
    # It restores into the cluster itself whenever that can be reached.
    return replace(seen, bootstrap_side=_CLUSTER) if seen.target_side is None else replace(seen, target_side=_CLUSTER)


def _target_answers(seen: Observed) -> Observed:
    return replace(seen, has_kubeconfig=True, target_side=seen.target_side or NOTHING)


_NEW = _sets(bootstrap=Container.RUNNING, bootstrap_side=NOTHING, bootstrap_providers=Providers.MISSING)
_EFFECTS: Mapping[Step, Callable[[Observed], Observed]] = {
    Step.CREATE_BOOTSTRAP: _NEW,
    Step.REPLACE_BOOTSTRAP: _NEW,
    Step.START_BOOTSTRAP: lambda seen: replace(
        seen, bootstrap=Container.RUNNING, tried_start=True, bootstrap_side=seen.bootstrap_side or _CLUSTER
    ),
    Step.INSTALL_ON_BOOTSTRAP: _sets(bootstrap_providers=Providers.READY),
    Step.APPLY_CLUSTER: _sets(bootstrap_side=_CLUSTER, is_applied=True, was_applied=True),
    Step.WAIT_CONTROL_PLANE: _sets(is_initialized=True),
    Step.SAVE_KUBECONFIG: _target_answers,
    Step.APPLY_NETWORK: _sets(has_network=True),
    Step.WAIT_MACHINES: _sets(is_available=True),
    Step.INSTALL_ON_CLUSTER: _sets(target_providers=Providers.READY),
    Step.WRITE_CONFIG: _sets(config_written=True),
    Step.DELETE_BOOTSTRAP: _sets(bootstrap=Container.ABSENT, bootstrap_side=NOTHING),
    Step.INSTALL_PACKAGES: _sets(packages_installed=True),
    Step.SAVE_BACKUP: _sets(has_backup=True),
    Step.PAUSE_SIBLINGS: _sets(paused_siblings=True, running_siblings=False),
    Step.RESUME_SIBLINGS: _sets(paused_siblings=False, running_siblings=True),
    # What is applied replaces machines, so the run waits for them.
    Step.APPLY_CONTROL_PLANE: _replaces(is_plane_applied=True, is_plane_ready=False),
    Step.WAIT_CONTROL_PLANE_READY: _sets(is_plane_ready=True),
    Step.APPLY_WORKERS: _replaces(is_applied=True),
    Step.REMOVE_GROUPS: _replaces(removed_groups=False),
    Step.REMOVE_LEFTOVERS: _sets(has_leftovers=False),
    Step.REMOVE_BACKUP: _sets(has_backup=False),
    Step.RESTORE_BACKUP: _restored,
    Step.UPGRADE_PROVIDERS: _sets(target_providers=Providers.READY),
    Step.DELETE_CLUSTER: _sets(is_deleting=True, was_deleted=True),
    Step.WAIT_DELETED: _sets(bootstrap_side=NOTHING, target_side=None, is_deleting=False, machines=frozenset(), was_deleted=True),
    Step.REMOVE_FILES: _sets(has_kubeconfig=False, config_written=False),
}
