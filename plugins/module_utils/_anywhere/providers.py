# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The providers of Cluster API in a cluster: which are installed, and C(clusterctl init) for the missing ones."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple

from . import work_folder
from .cluster_objects import CRD_LABEL, is_true
from .kubectl import Kubectl
from .programs import AdminPrograms, StepFailed

MISSING, PARTIAL, OLD, READY = "missing", "partial", "old", "ready"
FLAGS = {
    "CoreProvider": "--core",
    "BootstrapProvider": "--bootstrap",
    "ControlPlaneProvider": "--control-plane",
    "InfrastructureProvider": "--infrastructure",
}
PROVIDER_TYPES = tuple(FLAGS)
_POLL = 5.0


class Inventory(NamedTuple):
    """The providers of a cluster. installed: the version by (type, name). waiting: the Deployments that are not available."""

    installed: Dict[Tuple[str, str], str]
    waiting: List[str]

    def state(self, wanted: Sequence[Mapping[str, str]]) -> str:
        """One word for all providers: C(missing), C(partial), C(old) or C(ready)."""
        found = [self.installed.get((one["type"], one["name"])) for one in wanted]
        if not any(found):
            return MISSING
        if not all(found):
            return PARTIAL
        if any(version != one["version"] for version, one in zip(found, wanted)):
            return OLD
        return PARTIAL if self.waiting else READY


def read_inventory(kubectl: Kubectl) -> Inventory:
    """Read the inventory of clusterctl and the Deployments of the providers. Raises C(StepFailed)."""
    rows = kubectl.get("providers.clusterctl.cluster.x-k8s.io", "-A")
    installed = {(str(row.get("type")), str(row.get("providerName"))): str(row.get("version")) for row in rows}
    if not installed:
        return Inventory({}, [])
    deployments = kubectl.get("deployments", "-A", "-l", CRD_LABEL)
    waiting = [one for one in deployments if not is_true(one, "Available")]
    return Inventory(installed, sorted("{0[namespace]}/{0[name]}".format(one["metadata"]) for one in waiting))


def init(programs: AdminPrograms, options: Mapping[str, Any], check_mode: bool) -> Dict[str, Any]:
    """Install the providers that are missing, and wait until all are available. Raises C(StepFailed)."""
    kubectl = Kubectl(programs, options["kubeconfig"])
    wanted = options["providers"]
    before = read_inventory(kubectl)
    state = before.state(wanted)
    missing = [words(one) for one in wanted if (one["type"], one["name"]) not in before.installed]
    result = {
        "changed": bool(missing),
        "state": state,
        "to_install": missing,
        "diff": {"before": page(before), "after": wanted_page(wanted)},
    }
    if state == OLD:
        other = [words(one) for one in wanted if before.installed[(one["type"], one["name"])] != one["version"]]
        raise StepFailed(
            "other versions are installed than {0}; fix: upgrade them with clusterctl_upgrade, or ask for the installed versions".format(
                ", ".join(other)
            )
        )
    if check_mode or state == READY:
        return result
    if missing:
        config = os.path.join(options["work_dir"] or os.path.dirname(options["kubeconfig"]), "clusterctl.yaml")
        work_folder.write(config, options["config"])
        argv = _argv(wanted, options["kubeconfig"], config)
        programs.with_variables(options["environment"]).run(argv, options["timeout"])
    wait_for_all(programs, kubectl, options["timeout"])
    return dict(result, state=READY)


def _argv(wanted: Sequence[Mapping[str, str]], kubeconfig: str, config: str) -> List[str]:
    """C(clusterctl init) with every provider: it installs only the missing ones."""
    words = [word for one in wanted for word in (FLAGS[one["type"]], "{0}:{1}".format(one["name"], one["version"]))]
    return ["clusterctl", "init", "--kubeconfig", kubeconfig, "--config", config, *words]


def wait_for_all(programs: AdminPrograms, kubectl: Kubectl, timeout: float) -> None:
    """Wait until all Deployments of the providers are available. Raises C(StepFailed)."""
    limit = programs.now() + timeout
    while True:
        waiting = read_inventory(kubectl).waiting
        if not waiting:
            return
        if programs.now() >= limit:
            raise StepFailed(
                "Deployments are not available after {0:g} seconds: {1}; fix: kubectl describe pods in their namespaces shows "
                "images that cannot be pulled".format(timeout, ", ".join(waiting))
            )
        programs.sleep(_POLL)


def words(one: Mapping[str, str]) -> str:
    """A provider for messages."""
    return "{0[type]} {0[name]} {0[version]}".format(one)


def page(inventory: Inventory) -> str:
    """The installed providers for a diff."""
    return "".join("{0} {1} {2}\n".format(*key, version) for key, version in sorted(inventory.installed.items()))


def wanted_page(wanted: Sequence[Mapping[str, str]]) -> str:
    """The wanted providers for a diff."""
    return "".join(sorted(words(one) + "\n" for one in wanted))
