# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes in Docker that Ansible reaches over ssh, and the runs of playbooks over them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from .inputs import COLLECTIONS, REPOSITORY, cluster

sys.path.insert(0, str(REPOSITORY / "tests" / "oracle" / "docker"))

from nodelab import Al2Node, Al2023Node, Node, UbuntuNode

PLAYBOOKS = REPOSITORY / "benchmarks" / "live"
GROUP: dict[str, Any] = {
    "name": "workers",
    "family": "al2",
    "strategy": "static",
    "instance": {"type": "m5.large"},
    "max_pods": {"mode": "eni"},
    "labels": {"role": "batch"},
    "kubelet": {"config": {"serializeImagePulls": False}},
}
#: The same group, set up by the script of the image: apply looks for drift in what the script wrote.
SCRIPT_GROUP = {**GROUP, "strategy": "bootstrap_script"}
FAMILIES: dict[str, tuple[type[Node], dict[str, Any]]] = {
    "al2": (Al2Node, SCRIPT_GROUP),
    "al2023": (Al2023Node, {"name": "workers", "family": "al2023", "labels": {"role": "batch"}, "max_pods": 58}),
    "ubuntu": (UbuntuNode, {"name": "workers", "family": "ubuntu", "labels": {"role": "batch"}, "max_pods": 58}),
}


@dataclass(frozen=True)
class Run:
    """One run of a playbook: seconds on the clock and of processor time (controller only), and the changed count of all hosts."""

    seconds: float
    processor: float
    changed: int


class Fleet:
    """Booted nodes and an inventory for them: each node with the group of the same position."""

    def __init__(self, nodes: list[Node], groups: list[dict[str, Any]], folder: Path) -> None:
        self.nodes = nodes
        self._groups = groups
        self._folder = folder
        self._inventory = folder / "inventory.json"
        self._variables = folder / "variables.json"

    def reset(self) -> None:
        """Every node as its image left it."""
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda node: node.reset(), self.nodes))

    def prepare(self) -> None:
        """sshd with a key of ours, kubelet that is healthy; this is what C(reset) comes back to."""
        key = self._folder / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
        public = key.with_suffix(".pub").read_text(encoding="utf-8")
        hosts = {}
        for number, (node, group) in enumerate(zip(self.nodes, self._groups, strict=True)):
            node.write({"/root/.ssh/authorized_keys": (public, 0o600), "/etc/nodelab/kubelet-healthy": ""})
            node.exec(["chmod", "0700", "/root/.ssh"], check=True)
            node.exec(["systemctl", "start", "ssh.service"], check=True)
            node.baseline()
            address = node.exec(["hostname", "-I"], check=True).stdout.decode().split()[0]
            hosts[f"node-{number:02}"] = {"ansible_host": address, "eks_node_group": group}
        options = "-o ControlMaster=auto -o ControlPersist=600s -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
        common = {
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(key),
            "ansible_ssh_common_args": options,
            "ansible_python_interpreter": "/usr/bin/python3",
        }
        self._inventory.write_text(json.dumps({"nodes": {"hosts": hosts, "vars": common}}), encoding="utf-8")
        # The stand-in for kubelet joins nothing.
        facts = {"eks_node_cluster": cluster(), "eks_node_wait_for": "healthy", "usual_source": str(self._folder / "usual")}
        self._variables.write_text(json.dumps(facts), encoding="utf-8")

    def write_templates(self) -> None:
        """Write what the usual way needs: the files of C(GROUP) as templates."""
        from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files

        folder = self._folder / "usual"
        folder.mkdir()
        for file in node_files(cluster(), GROUP):
            body = "{% raw %}" + file["content"].rstrip("\n") + "{% endraw %}" + ("\n" if file["content"].endswith("\n") else "")
            (folder / file["path"].rpartition("/")[2]).write_text(body, encoding="utf-8")

    def play(self, name: str, *arguments: str, forks: int = 10) -> Run:
        """Run one of our playbooks over all nodes; a failed run ends the benchmark with its output."""
        command = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", str(self._inventory), "-f", str(forks)]
        command += ["-e", f"@{self._variables}", *arguments, str(PLAYBOOKS / f"{name}.yml")]
        environment = os.environ | {
            "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
            "ANSIBLE_PIPELINING": "True",
            "ANSIBLE_HOST_KEY_CHECKING": "False",
            "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.json",
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_JINJA2_NATIVE_WARNING": "False",
        }
        before, begin = os.times(), perf_counter()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        seconds, after = perf_counter() - begin, os.times()
        if done.returncode:
            raise SystemExit(done.stdout[-6000:] + done.stderr[-3000:])
        report = json.loads(done.stdout[done.stdout.index("{\n") :])
        changed = sum(host["changed"] for host in report["stats"].values())
        spent = after.children_user - before.children_user + after.children_system - before.children_system
        return Run(seconds, spent, changed)

    def content(self) -> list[dict[str, bytes]]:
        """What lies on each node of the files that both ways write."""
        from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.node_files import node_files

        paths = [file["path"] for file in node_files(cluster(), GROUP) if not file["path"].endswith("bootstrap.sh")]
        return [{path: node.read(path) for path in paths} for node in self.nodes]


@contextmanager
def fleet(kinds: list[tuple[type[Node], dict[str, Any]]], folder: Path) -> Iterator[Fleet]:
    """Booted nodes of these kinds with these groups, removed at the end."""
    with ExitStack() as stack:
        with ThreadPoolExecutor(2) as pool:
            nodes = list(pool.map(lambda kind: kind[0].start(), kinds))
        for node in nodes:
            stack.enter_context(node)
        found = Fleet(nodes, [group for _kind, group in kinds], folder)
        found.prepare()
        yield found
