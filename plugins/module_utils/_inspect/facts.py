# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of a node that node_info returns. Reads only, and never fails. Standard library, Python 3.7 and newer."""

from __future__ import annotations

from typing import Any, Callable, Dict

from .._node import journald
from .._node.host import Host, Process, read_process
from .._node.kubelet_config import read_config, registration
from .._node.kubelet_process import KUBECONFIG, Flags, find_kubeconfig, find_unit, node_name, parse
from . import cluster, kubelet, kubelet_endpoints, units, versions


def facts(host: Host, configz: bool = True) -> Dict[str, Any]:
    """The mapping that the module node_info documents."""
    result = versions.system(host)
    found = units.read(host)
    kubelet_unit = find_unit(found)
    unit, containerd_unit = found.get(kubelet_unit or ""), found.get("containerd.service")
    process = read_process(host, unit.pid if unit else 0, units.started(unit))
    containerd = read_process(host, containerd_unit.pid if containerd_unit else 0)
    result["versions"] = versions.versions(host, process.pid)
    result["units"] = units.describe(found)
    result["proxies"] = {"kubelet": kubelet.proxies(process), "containerd": kubelet.proxies(containerd)}
    result.update(_kubelet(host, kubelet_unit, process, result["hostname"], configz))
    result["ours"] = _try(host, cluster.ours)
    result["snap"] = _try(host, cluster.snap)
    result["nodeadm"] = _try(host, cluster.nodeadm)
    result["problems"] = host.problems
    return result


def _try(host: Host, read: Callable[[Host], Any]) -> Any:
    """The result of C(read). An unexpected error must not hide the other facts."""
    try:
        return read(host)
    except Exception as error:  # reported as a problem
        host.report(f"{read.__name__}: {type(error).__name__}: {error}")
        return None


def _kubelet(host: Host, unit: str | None, process: Process, hostname: str, configz: bool) -> Dict[str, Any]:
    """Everything that follows from the command line of the running kubelet."""
    # A program in front of kubelet, such as an interpreter, has words of its own, which are not flags.
    flags = parse(process.argv[1:])
    config = read_config(host, flags, bool(process.argv))
    kubeconfig = cluster.kubeconfig_at(host, find_kubeconfig(host, flags) or KUBECONFIG)
    labels, taints = registration(flags, config.merged)
    return {
        "kubelet": {
            **kubelet.describe(unit, process, flags),
            "config": kubelet.describe_config(config, flags, process.started),
            "healthz": kubelet_endpoints.healthz(flags, config.merged, host.timeout),
            "configz": _configz(host, process, flags, config.merged, kubeconfig.client_certificate, configz),
        },
        "cluster": cluster.cluster(host, kubeconfig),
        "node_name": _node_name(unit, process, flags, hostname),
        "registration": {"labels": labels, "taints": taints},
    }


def _node_name(unit: str | None, process: Process, flags: Flags, hostname: str) -> str | None:
    """The name of the node; None if it is not certain."""
    if not process.pid:
        return None
    found = node_name(flags, hostname, lambda: journald.process_log(unit or "", process.pid))
    return found.name if found.is_certain else None


def _configz(host: Host, process: Process, flags: Flags, config: Dict[str, Any], certificate: Any, is_wanted: bool) -> Dict[str, Any]:
    if not is_wanted:
        return {"config": None, "problem": "it was not asked for"}
    if not process.pid:
        return {"config": None, "problem": "kubelet does not run"}
    return kubelet_endpoints.configz(flags, config, certificate, host.timeout)
