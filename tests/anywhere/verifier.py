# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts the machines of the bed by name, by container and by the UID of their nodes: none twice, none lost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Side:
    """The Machines of Cluster API in one cluster: name → UID. paused: of the Cluster, None if there is none."""

    machines: Mapping[str, str]
    paused: bool | None = None


@dataclass(frozen=True)
class Seen:
    """What is there. containers: of machines, name → ID. nodes: of the cluster, name → UID; None if it does not answer."""

    containers: Mapping[str, str] = field(default_factory=dict)
    nodes: Mapping[str, str] | None = None
    bootstrap: Side | None = None
    target: Side | None = None
    kubeconfig: bool = False


@dataclass(frozen=True)
class Event:
    """One event of the engine: create or destroy of a container."""

    action: str
    name: str
    container: str


def read_events(text: str) -> list[Event]:
    """The events that `docker events --format '{{json .}}'` printed."""
    rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    return [Event(row["Action"], row["Actor"]["Attributes"]["name"], row["Actor"]["ID"]) for row in rows]


def machine_events(events: Sequence[Event], cluster: str, bootstrap: str) -> list[Event]:
    """Those of machines, without the load balancer and the bootstrap cluster."""
    return [
        one for one in events if one.name.startswith(f"{cluster}-") and not one.name.startswith(bootstrap) and one.name != f"{cluster}-lb"
    ]


def while_creating(events: Sequence[Event], seen: Seen, expected: int) -> list[str]:
    """What is wrong at any moment of a creation that is killed: a machine too many, or one that is gone."""
    created = [one.name for one in events if one.action == "create"]
    gone = [one.name for one in events if one.action == "destroy"]
    found = [f"{name} was created {created.count(name)} times" for name in sorted(set(created)) if created.count(name) > 1]
    found += [f"{name} is gone" for name in sorted(set(gone))]
    if len(created) > expected:
        found.append(f"{len(created)} machines were created, not {expected}: {', '.join(created)}")
    return found + both_sides(seen)


def both_sides(seen: Seen) -> list[str]:
    """Two sides that both run would each make machines."""
    sides = [side for side in (seen.bootstrap, seen.target) if side is not None and side.paused is False]
    return ["both clusters have the running Cluster"] if len(sides) > 1 else []


def after_creation(events: Sequence[Event], seen: Seen, expected: int) -> list[str]:
    """What is wrong with a cluster that should manage itself."""
    found = while_creating(events, seen, expected)
    machines = {} if seen.target is None else seen.target.machines
    for words, names in (("Machines", machines), ("containers", seen.containers), ("nodes", seen.nodes or {})):
        if len(names) != expected:
            found.append(f"{len(names)} {words}, not {expected}: {', '.join(sorted(names))}")
    if not set(machines) == set(seen.containers) == set(seen.nodes or {}):
        found.append(f"names differ: Machines {sorted(machines)}, containers {sorted(seen.containers)}, nodes {sorted(seen.nodes or {})}")
    if seen.target is None or seen.target.paused is not False:
        found.append("the Cluster is not there, or paused")
    if seen.bootstrap is not None:
        found.append("the bootstrap cluster is still there")
    return found + ([] if seen.kubeconfig else ["the kubeconfig is gone"])


def while_deleting(before: Seen, seen: Seen, *, started: bool) -> list[str]:
    """What is wrong at any moment of a deletion. started: were the machines told to go?"""
    found = [f"{name} is new" for name in sorted(set(seen.containers) - set(before.containers))]
    found += [f"{name} has another container" for name, one in sorted(seen.containers.items()) if before.containers.get(name, one) != one]
    if not started:
        found += [f"{name} is gone" for name in sorted(set(before.containers) - set(seen.containers))]
        found += [] if seen.kubeconfig else ["the kubeconfig is gone"]
        if seen.nodes is not None and dict(seen.nodes) != dict(before.nodes or {}):
            found.append("the nodes are not those from before")
    return found + both_sides(seen)


def after_deletion(seen: Seen, others: Sequence[str], files: Sequence[str]) -> list[str]:
    """What a deletion left. others: all containers of both clusters. files: in the work folder."""
    found = [f"the container {name} is still there" for name in sorted({*seen.containers, *others})]
    # Backups are kept on purpose: they are the last copy of the private keys of the cluster. The guard of the lock is an empty file.
    return found + [f"the file {name} is still there" for name in sorted(files) if not name.startswith(("backup-", ".guard"))]
