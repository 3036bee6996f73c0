# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run observes of the machine and of both clusters before each step, and what it can do next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .move import NOTHING, MoveStep, Side


class Container(Enum):
    """The bootstrap cluster. DEBRIS: its container exists, and its API does not answer."""

    ABSENT = "absent"
    DEBRIS = "debris"
    RUNNING = "running"


class Providers(Enum):
    """The providers of Cluster API in a cluster. OLD: all are there, with older versions."""

    MISSING = "missing"
    PARTIAL = "partial"
    OLD = "old"
    READY = "ready"


@dataclass(frozen=True)
class Observed:
    """What is true. Every field is read from a machine or a cluster, except C(was_applied), C(was_deleted) and C(tried_start).

    bootstrap_side, target_side: the objects of the cluster in the bootstrap cluster and in the cluster itself; None if they cannot be read,
    which is not the same as none. machines: the real machines by name, None if the provider cannot list them. has_kubeconfig: is the
    kubeconfig of the cluster on disk? was_applied, was_deleted: did a run begin to apply or to delete the objects, as the ledger says?
    is_applied: are all rendered objects there, as they are rendered? tried_start: did this run start the container of the bootstrap
    cluster already? is_changed: do objects of the cluster differ from the rendered ones, as its API server says? is_plane_applied,
    is_plane_ready: the same as is_applied and is_available, for the control plane. removed_groups: are there groups of workers that are not
    rendered? has_leftovers: are there templates that nothing uses? is_replaced: does the cluster use templates that are not rendered any
    more? Only the forecast reads it. siblings: the other clusters that the cluster manages. paused_siblings, running_siblings: did a run
    pause one, is one running? interrupted: the command that was interrupted. backup: the name of the one that has exactly the machines
    that exist.
    """

    bootstrap: Container = Container.ABSENT
    bootstrap_providers: Providers = Providers.MISSING
    bootstrap_side: Side | None = NOTHING
    target_providers: Providers = Providers.MISSING
    target_side: Side | None = None
    machines: frozenset[str] | None = frozenset()
    has_kubeconfig: bool = False
    is_initialized: bool = False
    has_network: bool = False
    is_available: bool = False
    is_applied: bool = False
    was_applied: bool = False
    was_deleted: bool = False
    has_backup: bool = False
    is_deleting: bool = False
    config_written: bool = False
    packages_wanted: bool = False
    packages_installed: bool = False
    tried_start: bool = False
    paused_siblings: bool = False
    running_siblings: bool = False
    siblings: frozenset[str] = frozenset()
    is_changed: bool = False
    is_plane_applied: bool = False
    is_plane_ready: bool = False
    removed_groups: bool = False
    has_leftovers: bool = False
    is_replaced: bool = False
    interrupted: str = ""
    backup: str = ""

    @property
    def has_machines(self) -> bool:
        """Are there machines, or could there be some that the provider cannot list?"""
        return bool(self.machines) or (self.machines is None and (self.was_applied or self.has_kubeconfig) and not self.was_deleted)


class Step(Enum):
    """The steps of create, upgrade, delete and recover, by the names that a user sees."""

    CREATE_BOOTSTRAP = "create the bootstrap cluster"
    REPLACE_BOOTSTRAP = "replace what is left of a bootstrap cluster without objects"
    START_BOOTSTRAP = "start the bootstrap cluster, which was stopped"
    INSTALL_ON_BOOTSTRAP = "install Cluster API in the bootstrap cluster"
    APPLY_CLUSTER = "apply the cluster"
    WAIT_CONTROL_PLANE = "wait for the control plane"
    SAVE_KUBECONFIG = "save the kubeconfig"
    APPLY_NETWORK = "apply the network and the storage class"
    WAIT_MACHINES = "wait for the machines"
    INSTALL_ON_CLUSTER = "install Cluster API in the cluster"
    MOVE = "move the management"
    WRITE_CONFIG = "write the configuration of the cluster"
    DELETE_BOOTSTRAP = "delete the bootstrap cluster"
    INSTALL_PACKAGES = "install the packages"
    SAVE_BACKUP = "save a backup of the objects"
    PAUSE_SIBLINGS = "pause the other clusters"
    RESUME_SIBLINGS = "resume the other clusters"
    UPGRADE_PROVIDERS = "upgrade Cluster API"
    APPLY_CONTROL_PLANE = "apply the control plane"
    WAIT_CONTROL_PLANE_READY = "wait for the machines of the control plane"
    APPLY_WORKERS = "apply the workers"
    REMOVE_GROUPS = "remove the worker groups that the file does not have"
    REMOVE_LEFTOVERS = "remove the templates that nothing uses"
    REMOVE_BACKUP = "remove the backup"
    RESTORE_BACKUP = "restore the backup of the objects"
    DELETE_CLUSTER = "delete the cluster"
    WAIT_DELETED = "wait until the machines are deleted"
    REMOVE_FILES = "remove the files of the cluster"
    DONE = "done"
    STOP = "stop"


@dataclass(frozen=True)
class Action:
    """The next step. move: what to do in the step MOVE. reason, way_out: of a stop.

    of: the command whose move it is, in a recovery; or the cluster into which a backup is restored, C(target) or C(bootstrap).
    """

    step: Step
    move: MoveStep | None = None
    reason: str = ""
    way_out: str = ""
    of: str = ""

    @property
    def is_end(self) -> bool:
        """Is there nothing more to do, or nothing that may be done?"""
        return self.step in (Step.DONE, Step.STOP)
