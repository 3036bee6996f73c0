# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `make anywhere` does, one step after the other, each with its verifier."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..lab import binaries
from ..lab.progress import LabError, say
from . import images, kills, programs, verifier
from .bed import Bed, Events, Played, require
from .kills import Kill
from .verifier import Seen


def build(pairs: bool) -> None:
    """Build the programs and images of the first versions, or of both."""
    apis = [programs.cluster_api(one) for one in (programs.CLUSTER_API if pairs else programs.CLUSTER_API[:1])]
    versions = [programs.kubernetes(one) for one in (programs.KUBERNETES if pairs else programs.KUBERNETES[1:])]
    for one in versions:
        binaries.build([programs.KIND, programs.KUSTOMIZE, *images.all_programs(one, apis)])
    for one in versions:
        images.node_image(one, apis)


def first_bed() -> Bed:
    """The first version of Cluster API, and the newer Kubernetes."""
    return Bed(programs.cluster_api(programs.CLUSTER_API[0]), [programs.kubernetes(programs.KUBERNETES[1])])


def played(run: Played, what: str) -> Played:
    """Raise LabError unless the playbook succeeded."""
    require([] if run.code == 0 else [f"{what} ended with {run.code}"], run)
    say(f"{what}: {run.seconds:.0f} s")
    return run


def create_and_delete(bed: Bed) -> None:
    """Create, show, create again without a change, delete; the verifier after each."""
    with Events() as events:
        played(bed.play("create", "--check"), "create --check")
        require([f"--check made {name}" for name in bed.seen().containers])
        played(bed.play("create"), "create")
        made = bed.seen()
        require(verifier.after_creation(events.machines, made, bed.machines))
        played(bed.play("status"), "status")
        again = played(bed.play("create"), "create again")
        require(["the second run changed something"] if again.changed else [], again)
        require(verifier.after_creation(events.machines, bed.seen(), bed.machines))
        require([] if bed.seen() == made else ["the second run changed machines, nodes or containers"])
        played(bed.play("delete"), "delete")
    require(bed.left())
    again = played(bed.play("delete"), "delete again")
    require(["the second deletion changed something"] if again.changed else [], again)


def killed(bed: Bed) -> None:
    """Create and delete a cluster in runs that are killed, each later than the one before; the same command goes on."""
    with Events() as events:
        rows = _killed_runs(bed, "create", kills.CREATE, lambda: verifier.while_creating(events.machines, bed.seen(), bed.machines))
        played(bed.play("create"), "create, after all kills")
        before = bed.seen()
        require(verifier.after_creation(events.machines, before, bed.machines))
    rows += _killed_runs(bed, "delete", kills.DELETE, lambda: _deleting(bed, before))
    played(bed.play("delete"), "delete, after all kills")
    require(bed.left())
    _print_kills(rows)


def _deleting(bed: Bed, before: Seen) -> list[str]:
    ledger = bed.work / "ledger-delete.json"
    started = ledger.exists() and "delete the cluster" in ledger.read_text()
    return verifier.while_deleting(before, bed.seen(), started=started)


Row = tuple[Kill, bool, float]


def _killed_runs(bed: Bed, operation: str, planned: tuple[Kill, ...], verify: Callable[[], list[str]]) -> list[Row]:
    rows: list[Row] = []
    for number, kill in enumerate(planned, 1):
        run = bed.play(operation, kill=kill)
        fired = bed.fired
        say(f"kill {number}/{len(planned)} of {operation}: {'done' if fired else 'NOT REACHED'}, {kill.name}: {run.seconds:.0f} s")
        rows.append((kill, fired, run.seconds))
        require(verify(), run)
        if not fired:
            # The run went to its end: what was planned for later moments cannot be reached any more.
            require([f"{operation} ended with {run.code} before: {kill.name}"], run)
    return rows


def _print_kills(rows: list[Row]) -> None:
    done = [kill for kill, fired, _ in rows if fired]
    print(f"\n{len(done)} kills, {kills.in_move(done)} of them in the move; no machine twice, none lost, the kubeconfig always there")
    for kill, _, seconds in rows:
        print(f"  {seconds:5.0f} s  {kill.name}")


def timed(title: str, work: Callable[[], None]) -> None:
    """Run a step, and print how long it took."""
    began = time.monotonic()
    say(f"== {title}")
    try:
        work()
    except LabError:
        say(f"== {title}: FAILED after {time.monotonic() - began:.0f} s")
        raise
    say(f"== {title}: {time.monotonic() - began:.0f} s")
