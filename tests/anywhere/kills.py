# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where and when a run is killed. Pure but for the stand-in of a program's name in PATH, which kills (killing_program.py)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

#: What is killed: the program alone, so that the playbook sees it fail, or the playbook with everything that it started.
PROGRAM, ALL = "program", "all"

#: When, beside a number of seconds after the start: before the program does anything, when it has printed lines, or when it has ended.
START, LINES, END = "start", "lines", "end"


@dataclass(frozen=True)
class Kill:
    """One kill.

    step      the last step that the playbook has printed begins so
    program   kind, clusterctl, kubectl or docker
    words     words of its command line, in this order
    moment    START, LINES, END, or seconds as text
    victim    PROGRAM or ALL
    count     with LINES: the number of lines with the text; otherwise the number of matching calls in this run
    text      with LINES: what these lines contain
    """

    step: str
    program: str
    words: tuple[str, ...]
    moment: str
    victim: str = ALL
    count: int = 1
    text: str = ""

    @property
    def name(self) -> str:
        """For logs and tables."""
        when = {START: "before", END: "after", LINES: f"{self.text} {self.count} of"}.get(self.moment, f"{self.moment} s into")
        which = f" (call {self.count})" if self.moment != LINES and self.count > 1 else ""
        return f"{self.victim}, {when} {' '.join((self.program, *self.words))}{which}, in: {self.step}"

    def dump(self) -> str:
        """For the program that kills."""
        return json.dumps(asdict(self))


def load(text: str) -> Kill:
    """The kill of a dump."""
    found: dict[str, Any] = json.loads(text)
    return Kill(**{**found, "words": tuple(found["words"])})


def fits(kill: Kill, program: str, argv: Sequence[str], last_step: str) -> bool:
    """Is this call the one at which the kill happens, apart from the count?"""
    words = iter(argv)
    return program == kill.program and last_step.startswith(kill.step) and all(word in words for word in kill.words)


def last_step(log: str, cluster: str) -> str:
    """The last step that a playbook has printed, '' if none."""
    prefix = f"{cluster}: "
    # A line of Ansible's output may begin with the name of the host or a colour.
    found = [line.partition(prefix)[2].strip() for line in log.splitlines() if prefix in line]
    return found[-1] if found else ""


_KIND_CREATE = ("create", "cluster")
_INIT = ("init",)
_MOVE = ("move", "-v")
_APPLY = ("apply", "--field-manager=nodebootstrap-eks", "-f")
_CREATING, _DELETING = "Creating", "Deleting"

_BOOTSTRAP = "create the bootstrap cluster"
_REPLACE = "replace what is left"
_INSTALL = "install Cluster API in the bootstrap"
_MOVING = "move the management"

#: In the order of the steps of a creation: each run goes on from where the one before it was killed, and is killed later.
CREATE = (
    Kill(_BOOTSTRAP, "kind", _KIND_CREATE, START),
    Kill(_BOOTSTRAP, "kind", _KIND_CREATE, "2", PROGRAM),
    Kill(_REPLACE, "kind", _KIND_CREATE, "8"),
    Kill(_REPLACE, "kind", _KIND_CREATE, END),
    Kill(_INSTALL, "clusterctl", _INIT, START),
    Kill(_INSTALL, "clusterctl", _INIT, LINES, PROGRAM, 2, "Installing provider"),
    Kill(_INSTALL, "clusterctl", _INIT, END),
    Kill("apply the cluster", "kubectl", _APPLY, START),
    Kill("apply the cluster", "kubectl", _APPLY, END),
    Kill("wait for the control plane", "kubectl", ("get",), START, ALL, 12),
    Kill("save the kubeconfig", "kubectl", ("get", "secret"), END),
    Kill("apply the network", "kubectl", _APPLY, END),
    Kill("install Cluster API in the cluster", "clusterctl", _INIT, LINES, ALL, 3, "Installing provider"),
    Kill(_MOVING, "clusterctl", ("move", "--to-directory"), END),
    Kill(_MOVING, "clusterctl", _MOVE, LINES, ALL, 1, _CREATING),
    Kill(_MOVING, "clusterctl", _MOVE, LINES, PROGRAM, 8, _CREATING),
    Kill(_MOVING, "clusterctl", _MOVE, LINES, ALL, 20, _CREATING),
    Kill(_MOVING, "clusterctl", _MOVE, LINES, ALL, 3, _DELETING),
    Kill(_MOVING, "kubectl", ("annotate",), START, ALL, 4),
    Kill(_MOVING, "kubectl", ("patch", "clusters.cluster.x-k8s.io"), END),
    Kill("delete the bootstrap cluster", "kind", ("delete", "cluster"), START),
    Kill("delete the bootstrap cluster", "kind", ("delete", "cluster"), END),
)

#: In the order of the steps of a deletion.
DELETE = (
    Kill(_BOOTSTRAP, "kind", _KIND_CREATE, "6", PROGRAM),
    Kill(_INSTALL, "clusterctl", _INIT, LINES, ALL, 1, "Installing provider"),
    Kill(_MOVING, "clusterctl", _MOVE, LINES, PROGRAM, 2, _CREATING),
    Kill(_MOVING, "clusterctl", _MOVE, LINES, ALL, 8, _CREATING),
    Kill(_MOVING, "clusterctl", _MOVE, LINES, PROGRAM, 2, _DELETING),
    Kill(_MOVING, "kubectl", ("delete",), END, ALL, 9),
    Kill("delete the cluster", "kubectl", ("delete",), START),
    Kill("delete the cluster", "kubectl", ("delete",), END),
    Kill("wait until the machines", "kubectl", ("get",), START, ALL, 3),
    Kill("delete the bootstrap cluster", "kind", ("delete", "cluster"), START),
)

ALL_KILLS: Mapping[str, tuple[Kill, ...]] = {"create": CREATE, "delete": DELETE}


def in_move(kills: Sequence[Kill]) -> int:
    """How many of the kills are inside the move."""
    return sum(one.step == _MOVING for one in kills)
