# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""make lab-up | lab-down | lab-status

up: a control plane that stays, and where its kubeconfig is. down: everything of it is gone. status: what runs. build: the programs.
"""

from __future__ import annotations

import json
import sys

from . import binaries, control_plane
from .lab import Lab
from .progress import LabError, say


def up() -> None:
    lab = Lab.up_and_stay()
    path = lab.folder / "kubeconfig"
    path.touch(mode=0o600)
    path.write_text(json.dumps(control_plane.admin_kubeconfig(lab.state.endpoint, lab.state.authority, lab.state.token)))
    print(f"API server  {lab.state.endpoint}\nkubeconfig  {path}\nAWS         {lab.state.aws}\nlogs        {lab.folder / 'logs'}")


def down() -> None:
    try:
        Lab.running().down()
        say("nothing of the lab is left")
    except LabError as error:
        say(str(error))


def status() -> None:
    lab = Lab.running()
    print(f"API server  {lab.state.endpoint} ({'ready' if lab.api.ready() else 'NOT ready'}), up in {lab.state.seconds} s")
    for name, pid in lab.state.pids.items():
        print(f"  {name:<24} {pid}")
    for node in lab.api.get("/api/v1/nodes")["items"]:
        conditions = {condition["type"]: condition["status"] for condition in node["status"].get("conditions", [])}
        version = node["status"]["nodeInfo"]["kubeletVersion"]
        print(f"node        {node['metadata']['name']} {version} {'Ready' if conditions.get('Ready') == 'True' else 'NotReady'}")


VERBS = {"up": up, "down": down, "status": status, "build": binaries.build}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in VERBS:
        sys.exit(__doc__)
    try:
        VERBS[sys.argv[1]]()
    except LabError as error:
        sys.exit(f"lab: {error}")
