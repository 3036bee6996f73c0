# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line of the lab; `make lab-up`, `make lab-node` and so on call it.

up                      start a persistent control plane and print where its kubeconfig is
node --user-data FILE   boot a node of your user data, print its Node object, and run join_check on it
node --spec FILE        the same with user data that is rendered from your cluster and node group
join-check NODE         run join_check on a node that was added
remove NODE             remove a node that was added
status                  show what is running
down                    stop everything and remove all nodes
build                   build the programs
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import binaries, user_nodes
from .lab import Lab
from .progress import LabError, say


def up() -> None:
    lab = Lab.up_and_stay()
    print(
        f"API server  {lab.state.endpoint}\nkubeconfig  {lab.kubeconfig()}\nAWS         {lab.state.aws}\nlogs        {lab.folder / 'logs'}"
    )


def down() -> None:
    try:
        Lab.running().down()
        say("the lab is stopped, and nothing of it is left")
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
    registered = {node["metadata"]["name"] for node in lab.api.get("/api/v1/nodes")["items"]}
    for name in user_nodes.names(lab):
        if name not in registered:
            print(f"node        {name} is not registered: join-check {name} says why")


def node(options: argparse.Namespace) -> int:
    """Add a node. The exit code says whether it joined."""
    lab = Lab.running()
    if options.user_data:
        wanted = user_nodes.read_user_data(options.user_data, options.family, options.kubelet)
    else:
        wanted = user_nodes.read_spec(options.spec, lab, options.kubelet, as_written=options.as_written)
    return _show(user_nodes.add(lab, wanted, options.wait))


def join_check(options: argparse.Namespace) -> int:
    return _show(user_nodes.report(Lab.running(), options.node, options.wait))


def remove(options: argparse.Namespace) -> int:
    user_nodes.remove(Lab.running(), options.node)
    return 0


def _show(report: user_nodes.Report) -> int:
    print(user_nodes.describe(report))
    return 0 if report.joined else 1


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="lab", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = result.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    for name, act in (("up", up), ("down", down), ("status", status), ("build", binaries.build)):
        verbs.add_parser(name).set_defaults(act=lambda _options, act=act: act())
    one = verbs.add_parser("node")
    source = one.add_mutually_exclusive_group(required=True)
    source.add_argument("--user-data", type=Path, metavar="FILE", help="plain, base64 or gzip")
    source.add_argument(
        "--spec", type=Path, metavar="FILE", help="YAML with node_group, and cluster if needed; the lab supplies the identity"
    )
    one.add_argument("--as-written", action="store_true", help="with --spec: cluster fields of the file replace those of the lab")
    one.add_argument("--family", default="", help="with --user-data: al2, al2023 (the default for a NodeConfig) or ubuntu")
    one.add_argument("--kubelet", default="", metavar="MINOR", help=f"one of {', '.join(binaries.KUBELETS)}")
    one.add_argument("--wait", type=float, default=180, metavar="SECONDS", help="how long to wait for Ready (default: %(default)s)")
    one.set_defaults(act=node)
    one = verbs.add_parser("join-check")
    one.add_argument("node")
    one.add_argument("--wait", type=float, default=0, metavar="SECONDS", help="how long to wait for Ready (default: %(default)s)")
    one.set_defaults(act=join_check)
    one = verbs.add_parser("remove")
    one.add_argument("node")
    one.set_defaults(act=remove)
    return result


if __name__ == "__main__":
    options = parser().parse_args()
    try:
        sys.exit(options.act(options))
    except LabError as error:
        sys.exit(f"lab: {error}")
