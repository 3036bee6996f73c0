# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Observes a node before anything is decided: its operating system, its units, its kubelet, its cluster. Only reads.

Readers that only some nodes need are imported when they are needed: Python compiles what is imported at every call.
"""

from __future__ import annotations

from typing import Iterable, Mapping, NamedTuple, Sequence

from .._node import kubelet_process, systemd
from .._node.host import Host, command_line, read_boot_id, read_os_release
from .._node.systemd import Unit
from .manifest import Manifest, Moment
from .plan import Registration


class Membership(NamedTuple):
    """The cluster of a node. C(source): the file that names it, for messages. C(name) is None if only the endpoint is known.

    C(problem): why the cluster is not known, although the node may have one; then C(endpoint) is empty.
    """

    name: str | None
    endpoint: str
    source: str
    problem: str = ""


class NodeState(NamedTuple):
    """What was observed of a node.

    C(os_release): fields of os-release. C(units): every unit that the plan or the manifest mentions. C(kubelet): the unit of kubelet.
    C(kubelet_argv): the command line of the running kubelet, program first. C(kubelet_registration): the labels and taints on that
    command line or in its configuration files; None if kubelet does not run. C(membership): None for a node that has no cluster yet.
    C(has_served): whether the node has something that only a cluster gives. C(kubelet_due): when kubelet last had to restart in this boot,
    in seconds of the monotonic clock; 0 if it did not have to.
    """

    os_release: Mapping[str, str]
    manifest: Manifest
    units: Mapping[str, Unit]
    kubelet: Unit | None
    kubelet_argv: Sequence[str]
    kubelet_registration: Registration | None
    membership: Membership | None
    has_served: bool
    kubelet_due: float = 0.0

    @property
    def is_kubelet_outdated(self) -> bool:
        """Whether kubelet runs, is older than the last change that it had to restart for, and systemd is not about to restart it."""
        kubelet = self.kubelet
        if kubelet is None or not kubelet.is_up or kubelet.main_started is None or kubelet.main_started >= self.kubelet_due:
            return False
        return not any(unit.has_job for unit in self.units.values())


def observe(manifest: Manifest, units: Iterable[str], kubelet_unit: str | None, host: Host | None = None) -> NodeState:
    """Observe the node. C(units): the units to ask systemd about, C(kubelet_unit) among them."""
    host = host or Host()
    states = systemd.read_units(units)
    kubelet = states.get(kubelet_unit) if kubelet_unit else None
    argv = command_line(host, kubelet.pid) if kubelet else []
    flags = kubelet_process.parse(argv[1:])
    return NodeState(
        os_release=read_os_release(host),
        manifest=manifest,
        units=states,
        kubelet=kubelet,
        kubelet_argv=argv,
        kubelet_registration=kubelet_registration(host, argv) if argv else None,
        membership=membership(host, manifest, argv),
        has_served=kubelet_process.has_served(host, flags),
        kubelet_due=kubelet_due(host, manifest.restarted),
    )


def kubelet_due(host: Host, restarted: Moment | None) -> float:
    """When kubelet last had to restart in this boot; 0 if it did not have to. After a boot, every kubelet is new."""
    if restarted is None or restarted.boot != read_boot_id(host):
        return 0.0
    return restarted.seconds


def membership(host: Host, manifest: Manifest, kubelet_argv: Sequence[str]) -> Membership | None:
    """The cluster of the node according to the manifest, else according to a kubeconfig: that of the running kubelet comes first.

    A kubeconfig that cannot be read is not the same as none: the node may belong to any cluster.
    """
    if manifest.cluster is not None:
        return Membership(manifest.cluster.name, manifest.cluster.endpoint, "the manifest of nodebootstrap.eks")
    from .._node import kubeconfig

    flags = kubelet_process.parse(kubelet_argv[1:])
    used = kubelet_process.find_kubeconfig(host, flags)
    for path in dict.fromkeys([used or "", kubelet_process.KUBECONFIG, kubelet_process.BOOTSTRAP_KUBECONFIG]):
        server = kubeconfig.read_server(host, path) if path.startswith("/") else None
        if server is not None and (server.url or server.problem):
            return Membership(None, server.url or "", path, server.problem or "")
    return None


def kubelet_registration(host: Host, argv: Sequence[str]) -> Registration:
    """The labels and taints that the running kubelet was started with."""
    from .._node import kubelet_config

    flags = kubelet_process.parse(argv[1:])
    labels, taints = kubelet_config.registration(flags, kubelet_config.read_config(host, flags).merged)
    return Registration(labels, tuple(taints))
