# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Persistent labs with persistent nodes, for Molecule.

    python -m ….lab.persistent_labs up NAME < NODES.json    start a lab with this name, and nodes: [{"container", "family", "kubelet"}]
    python -m ….lab.persistent_labs down NAME               remove all of it, if it exists

`up` prints JSON: `cluster` (input of the library, without a version), `nodes` ({container: name of the Node}), `api` (`url`, `authority`
(a file), `token`). The nodes are as their images leave them; on al2023, nodeadm is nodelab's stand-in for the current version.
"""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from typing import Any

from .lab import Lab
from .progress import LabError, docker, engine, say


def up(name: str, wanted: list[dict[str, str]]) -> dict[str, Any]:
    lab = Lab.up_and_stay(name)
    found = {one["container"]: _found(lab, one["container"]) for one in wanted}
    nodes = found | _make(lab, [one for one in wanted if not found[one["container"]]])
    authority = lab.folder / "authority.pem"
    authority.write_text(lab.state.authority)
    cluster = lab.cluster("")
    del cluster["kubernetes_version"]
    return {
        "cluster": cluster,
        "nodes": nodes,
        "api": {"url": lab.state.endpoint, "authority": str(authority), "token": lab.state.token},
    }


def down(name: str) -> None:
    try:
        Lab.running(name).down()
    except LabError as error:
        say(str(error))


def _found(lab: Lab, container: str) -> str:
    """The name of the Node of an existing container; '' if there is none, or if it is left over from a lab that has ended."""
    shown = docker("inspect", "--format", "{{json .}}", container, check=False)
    if shown.returncode != 0:
        return ""
    found = json.loads(shown.stdout)
    run = (found["Config"]["Labels"] or {}).get(engine.RUN)
    if run is None:
        raise LabError(f"the container {container} was not started by a lab: remove or rename it")
    if run == lab.owner and found["State"]["Running"]:
        return str(found["Config"]["Hostname"])
    docker("rm", "-f", "-v", container, check=False)
    return ""


def _make(lab: Lab, wanted: list[dict[str, str]]) -> dict[str, str]:
    """Boot machines at the same time. Returns {container: name of the Node}."""
    with ExitStack() as stack:
        made = {}
        for one in wanted:
            made[one["container"]] = stack.enter_context(lab.node(one["family"], kubelet=one["kubelet"], real_nodeadm=False))
        for container, node in made.items():
            node.wait_boot()
            docker("rename", node.container, container)
        stack.pop_all()
    for node in made.values():
        node.leave()
    return {container: node.name for container, node in made.items()}


def main(verb: str, name: str) -> None:
    if verb == "up":
        print(json.dumps(up(name, json.load(sys.stdin))))
    elif verb == "down":
        down(name)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except LabError as error:
        sys.exit(f"lab: {error}")
