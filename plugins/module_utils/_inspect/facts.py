# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is on the disk of a node, and what runs on it: read only, never an error. Standard library, Python 3.7 and newer."""

from __future__ import annotations

from .._node import host as of_machine
from .._node import kubelet_config as of_kubelet
from .._node import kubelet_flags as of_flags
from . import cluster as of_cluster
from . import kubelet_endpoints as of_http

UNITS = (
    "containerd.service",
    "kubelet.service",
    "snap.kubelet-eks.daemon.service",
    "sandbox-image.service",
    "nodeadm-config.service",
    "nodeadm-run.service",
    "nodebootstrap-post.service",
    "nodebootstrap-recover.service",
)


def facts(machine, configz=True):
    """The mapping that the module node_info documents."""
    found = of_machine.system(machine)
    units = of_machine.units(machine, UNITS)
    kubelet_unit = of_kubelet.unit_of(units)
    process = _process(machine, units.get(kubelet_unit))
    containerd = _process(machine, units.get("containerd.service"))
    found["versions"] = of_machine.versions(machine, process.pid)
    found["units"] = {name: {key: value for key, value in unit.items() if key != "started"} for name, unit in units.items()}
    found["proxies"] = {"kubelet": process.proxies(), "containerd": containerd.proxies()}
    found.update(_kubelet(machine, kubelet_unit, process, found["hostname"], configz))
    found["ours"] = _tried(machine, of_cluster.ours)
    found["snap"] = _tried(machine, of_cluster.snap)
    found["nodeadm"] = _tried(machine, of_cluster.nodeadm)
    found["problems"] = machine.problems
    return found


def _tried(machine, look):
    """What C(look) finds. One surprise must not hide everything else that is known."""
    try:
        return look(machine)
    except Exception as error:  # whatever it is, it is told
        machine.problems.append(f"{look.__name__}: {type(error).__name__}: {error}")
        return None


def _process(machine, unit):
    return of_kubelet.Process(machine, unit and unit["pid"], unit and unit["started"])


def _kubelet(machine, unit, process, hostname, configz):
    """Everything that follows from the words of the running kubelet."""
    # A program in front, such as an interpreter, has words of its own; they are no flags of kubelet's.
    flags = of_flags.parse(process.words[1:])
    shown, merged = of_kubelet.configuration(machine, process, flags)
    path = of_flags.last(flags, "kubeconfig") or of_cluster.KUBECONFIG
    kubeconfig = of_cluster.kubeconfig_at(machine, path)
    kubelet = of_kubelet.describe(unit, process, flags)
    kubelet["config"] = shown
    not_running = {"config": None, "problem": "no kubelet runs"}
    kubelet["healthz"] = of_http.healthz(flags, merged, machine.timeout)
    if not configz:
        kubelet["configz"] = {"config": None, "problem": "it was not asked for"}
    elif process.pid is None:
        kubelet["configz"] = not_running
    else:
        kubelet["configz"] = of_http.configz(flags, merged, kubeconfig.client_certificate, machine.timeout)
    return {
        "kubelet": kubelet,
        "cluster": of_cluster.cluster(machine, kubeconfig),
        "node_name": of_kubelet.node_name(flags, process.pid is not None, hostname),
        "registration": of_kubelet.registration(flags, merged),
    }
