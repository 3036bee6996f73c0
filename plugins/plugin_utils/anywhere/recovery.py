# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was interrupted: the command, from the ledgers and from what is observed, and the state in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .ledger import Ledger
from .observed import Container, Observed

IN_CLUSTER, CREATING, UPGRADING, DELETING, ABSENT = "in_cluster", "creating", "upgrading", "deleting", "absent"
_STATES = {"create": CREATING, "upgrade": UPGRADING, "delete": DELETING}
_WORDS = {
    IN_CLUSTER: "the cluster manages itself",
    CREATING: "a creation was interrupted",
    UPGRADING: "an upgrade was interrupted",
    DELETING: "a deletion was interrupted",
    ABSENT: "nothing of the cluster exists",
}


def interrupted(ledgers: Mapping[str, Ledger], seen: Observed) -> str:
    """The command that was interrupted: C(create), C(upgrade), C(delete), or C('') for none. The ledgers may be lost."""
    target = seen.target_side
    is_whole = target is not None and target.is_running and (seen.bootstrap_side is None or seen.bootstrap_side.is_empty)
    if is_whole and (seen.paused_siblings or seen.has_backup or ledgers["upgrade"].is_open):
        return "upgrade"
    if is_whole and seen.bootstrap is Container.ABSENT and seen.config_written and not ledgers["delete"].entries:
        return ""
    times = {command: max((one.began for one in ledgers[command].entries), default="") for command in ("create", "delete")}
    if any(times.values()):
        return "delete" if times["delete"] >= times["create"] else "create"
    if seen.bootstrap is Container.ABSENT and not seen.has_machines and (target is None or target.is_empty):
        return ""
    # A creation writes the configuration after its move, so a bootstrap cluster with objects beside it belongs to a deletion.
    return "delete" if seen.config_written else "create"


def state_of(seen: Observed) -> str:
    """One word for the state."""
    nothing = seen.target_side is None or seen.target_side.is_empty
    if seen.bootstrap is Container.ABSENT and nothing and not seen.has_machines and not seen.has_kubeconfig:
        return ABSENT
    return _STATES.get(seen.interrupted, IN_CLUSTER)


def next_command(state: str) -> str:
    """The playbook that goes on, C('') for none."""
    return {CREATING: "eks_anywhere_create", UPGRADING: "eks_anywhere_upgrade", DELETING: "eks_anywhere_delete"}.get(state, "")


def in_words(state: str, seen: Observed, *, owner_ended: bool) -> str:
    """The state as a line: what was interrupted, where the objects are, and what to do next."""
    parts = [f"{state}: {_WORDS[state]}"]
    if owner_ended:
        parts.append("the owner of the lock has ended")
    if state != ABSENT:
        parts.append(f"{_side('the bootstrap cluster', seen.bootstrap_side)}, {_side('the cluster itself', seen.target_side)}")
    if seen.paused_siblings:
        parts.append("other clusters are paused")
    command = next_command(state)
    if command:
        parts.append(f"next: run {command} again")
        if state == DELETING:
            parts.append("or eks_anywhere_create to keep the cluster")
    return "; ".join(parts)


def _side(name: str, side: Any) -> str:
    if side is None:
        return f"{name} cannot be read"
    count = len(side.objects)
    text = f"{name} has {count if count else 'no'} object{'' if count == 1 else 's'}"
    return text + (" and is paused" if side.paused else "")


def usable_backup(backups: Mapping[str, Mapping[str, Any]], name: str, machines: frozenset[str] | None) -> str:
    """The backup that has the Cluster and exactly the machines that exist, C('') if there is none."""
    if not machines:
        return ""
    for folder in sorted(backups):
        row = backups[folder]
        if name in row["clusters"] and frozenset(row["machines"]) == machines:
            return folder
    return ""
