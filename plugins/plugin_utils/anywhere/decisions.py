# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the decisions of all commands share: stops with a way out, the step of a move, and words about machines."""

from __future__ import annotations

from .move import MoveDecision, MoveStep, Side
from .observed import Action, Observed, Step

RESTORE = "restore the backup of the objects into a bootstrap cluster (clusterctl move --from-directory), and run again"
REACH = "check the kubeconfig and the endpoint of the cluster, and run again"
REPAIR = "repair its container (docker logs), and run again; never delete it"


def stop(reason: str, way_out: str) -> Action:
    """The end of a run that must not go on."""
    return Action(Step.STOP, reason=reason, way_out=way_out)


def move_action(seen: Observed, decision: MoveDecision, source: Side, destination: Side, of: str = "") -> Action:
    """The step of a move, or its stop. of: the command whose move it is, if it is not that of the run.

    A side is unpaused only if it has all machines that exist: its controllers would make the others a second time.
    """
    side = {MoveStep.UNPAUSE_SOURCE: source, MoveStep.UNPAUSE_DESTINATION: destination}.get(decision.step)
    if side is not None and seen.machines is not None and not has_all_machines(seen, side):
        return stop("the cluster is paused, and objects of machines that exist are on neither side", RESTORE)
    if decision.step is MoveStep.STOP:
        return stop(decision.reason, decision.way_out)
    return Action(Step.MOVE, decision.step, decision.reason, of=of)


def machines_in_words(seen: Observed) -> str:
    """How many machines exist, as the beginning of a sentence."""
    count = len(seen.machines or ())
    return "machines of the cluster may exist" if not count else f"{count} machine{'' if count == 1 else 's'} of the cluster exist"


def has_all_machines(seen: Observed, side: Side) -> bool:
    """Has a side an object for every machine that exists? If the machines are not known, it is not known."""
    # The names of machines are those of the objects of their provider, such as DockerMachine.
    known = {name.rpartition("/")[2] for name in side.objects if name.partition("/")[0].endswith("Machine")}
    return seen.machines is not None and seen.machines <= known
