# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The network of a lab: an internal Docker bridge, so that nodes reach only the host's side of it.

A lab has one of the subnets 10.0.K.0/20 of its VPC 10.0.0.0/16; K is the first that neither Docker nor the machine uses. The host's
side, 10.0.K.1, is where the control plane listens; 127.7.K.1 is for what nodes must not see (etcd). The node 10.0.K.H gives its pods the
addresses 10.0.(K+1).H to 10.0.(K+15).H: as with the VPC CNI, they belong to the subnet, and everything on it reaches them directly.
Where the machine has IPv6, nodes have an address of that family as well, as in a subnet of EC2 with both.
"""

from __future__ import annotations

import ipaddress
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .progress import LabError, docker, engine, lives, machine_lock, say

#: The label of the lab's networks. Its value is the run ID of the owner.
LABEL = "nodebootstrap.eks.lab"

VPC = "10.0.0.0/16"

#: Last parts of the addresses that nodes may have, one after the other. EC2's stand-in starts with 4.
HOSTS = range(4, 250)

#: Third parts of addresses that a lab has: the first for its nodes, the others for pods (rootfs/cni).
STEP = 16

#: Unique local addresses (RFC 4193); the network's number and the host's follow.
PREFIX6 = "fd0e:6b73:0"


@dataclass(frozen=True)
class Network:
    number: int

    @property
    def name(self) -> str:
        return f"nodebootstrap-lab-{self.number}"

    @property
    def subnet(self) -> str:
        return f"10.0.{self.number}.0/20"

    @property
    def gateway(self) -> str:
        return f"10.0.{self.number}.1"

    @property
    def loopback(self) -> str:
        return f"127.7.{self.number}.1"

    @property
    def subnet6(self) -> str:
        return f"{PREFIX6}:{self.number:x}::/64"

    @property
    def gateway6(self) -> str:
        return self._address6(1)

    def address(self, host: int) -> str:
        return f"10.0.{self.number}.{host}"

    def address6(self, host: int) -> str:
        """As EC2 and Kubernetes write it; '' if the machine has no IPv6."""
        return self._address6(host) if has_ipv6() else ""

    def _address6(self, host: int) -> str:
        return str(ipaddress.ip_network(self.subnet6)[host])

    def remove(self) -> None:
        """Remove the network and the nodes on it, if they exist. Containers that the lab did not start are only disconnected."""
        on_it = ("ps", "-aq", "--filter", f"network={self.name}")
        nodes = docker(*on_it, "--filter", f"label={engine.RUN}").stdout.decode().split()
        if nodes:
            docker("rm", "-f", "-v", *nodes, check=False)
        for container in docker(*on_it).stdout.decode().split():
            docker("network", "disconnect", "-f", self.name, container, check=False)
        docker("network", "rm", self.name, check=False)


def has_ipv6() -> bool:
    """Does the kernel support IPv6?"""
    return Path("/proc/net/if_inet6").exists()


def create(owner: str) -> Network:
    """Make a network that belongs to `owner` (a run ID), after removing those whose owners are gone."""
    with machine_lock("lab-network"):
        remove_stale()
        taken = _routed()
        for number in range(0, 256, STEP):
            network = Network(number)
            if any(ipaddress.ip_network(network.subnet).overlaps(route) for route in taken):
                continue
            both = ["--ipv6", "--subnet", network.subnet6, "--gateway", network.gateway6] if has_ipv6() else []
            made = docker(
                "network", "create", "--internal", "--subnet", network.subnet, "--gateway", network.gateway, *both,
                "--label", f"{LABEL}={owner}", network.name, check=False,
            )  # fmt: skip
            if made.returncode == 0:
                return network
            problem = made.stderr.decode(errors="replace")
            if "overlap" not in problem and "already exists" not in problem:
                raise LabError(f"docker network create: {problem.strip()}")
    raise LabError(f"no free subnet of 20 bits in {VPC}: docker network ls lists the networks that use them")


def remove_stale() -> None:
    """Remove the networks and nodes of labs that were killed."""
    form = '{{.Name}} {{.Label "' + LABEL + '"}}'
    for line in docker("network", "ls", "--filter", f"label={LABEL}", "--format", form).stdout.decode().splitlines():
        name, _unused, owner = line.partition(" ")
        if not lives(owner):
            say(f"removing the network {name} of a lab that has ended")
            Network(int(name.rpartition("-")[2])).remove()


def _routed() -> list[ipaddress.IPv4Network]:
    """The destinations of this machine's routes, without the default route."""
    shown = subprocess.run(["ip", "-4", "-o", "route", "show"], capture_output=True, text=True, check=False).stdout
    found = []
    for line in shown.splitlines():
        words = line.split()
        try:
            found.append(ipaddress.ip_network(words[0] if words[0] != "unreachable" else words[1]))
        except (ValueError, IndexError):
            continue
    return [network for network in found if isinstance(network, ipaddress.IPv4Network)]
