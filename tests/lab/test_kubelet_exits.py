# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real kubelet exits with what the table of rules refuses, and comes further with the neighbour that the table accepts.

It starts with the file of the image and a drop-in. Without a kubeconfig it ends where the configuration is valid. What its managers
refuse comes later: there it runs alone, with containerd 2, and its allowed sysctls end it after all managers are made, and before
it changes anything on the machine.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import kubelet_rules
from ansible_collections.nodebootstrap.eks.tests.lab import binaries
from ansible_collections.nodebootstrap.eks.tests.oracle import containerd_daemon
from ansible_collections.nodebootstrap.eks.tests.oracle.kubelet_groups import HEAD, base_config
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.kubelet_rows import ROWS, Row

#: kubelet's last words about a configuration that it validated: there is no API server to ask.
VALID = "no client provided, cannot use webhook authentication"

#: The first input of each kind that a review found: rendered, and refused by kubelet.
PATHS = (
    "reservedSystemCPUs",
    "imageGCHighThresholdPercent",
    "shutdownGracePeriod",
    "shutdownGracePeriodCriticalPods",
    "maxParallelImagePulls",
    "enforceNodeAllocatable",
    "featureGates.MemoryQos",
    "featureGates.DynamicResourceAllocation",
    "crashLoopBackOff.maxContainerRestartPeriod",
    "logging.flushFrequency",
    "memoryReservationPolicy",
    "tlsCipherSuites[0]",
    "tlsCurvePreferences[1]",
    "runOnce",
)
CHOSEN = [row for row in ROWS if row.minor == 36 and row.path in PATHS and row.rule != "kubelet.reserved_cpus_range"]


#: What refuses a row that the managers, and what they are made from, read: rules, and fields of other rules.
MANAGERS = ("kubelet.cpu_manager", "kubelet.memory_manager", "kubelet.topology_manager")
LATER = ("evictionHard", "evictionSoft", "evictionMinimumReclaim", "qosReserved", "containerLogMaxSize", "allowedUnsafeSysctls")

#: A sysctl in kubelet's last words about what all managers take: no namespace has it.
MANAGED = "vm.last"

_MEMORY = [{"numaNode": 0, "limits": {"memory": "674Mi"}}]
_CGROUPS = {"systemReservedCgroup": "", "kubeReservedCgroup": ""}


def of_this_machine(row: Row) -> Row:
    """A row with the CPUs and the NUMA node that every machine has."""
    if row.rule == "kubelet.memory_manager":
        return replace(row, minor=36, accepted={"memoryManagerPolicy": "Static", "reservedMemory": _MEMORY})
    if row.rule == "kubelet.reserved_cpus_range":
        refused = {"reservedSystemCPUs": f"0,{os.cpu_count()}", **_CGROUPS}
        return replace(row, refused=refused, accepted={"reservedSystemCPUs": "0", **_CGROUPS})
    if row.path == "cgroupRoot":
        return replace(row, accepted={"cgroupRoot": "/"})
    return row


MANAGER_ROWS = [
    of_this_machine(row)
    for row in ROWS
    if (row.rule in (*MANAGERS, "kubelet.reserved_cpus_range") and (row.minor == 36 or row.rule == "kubelet.memory_manager"))
    or (row.minor == 36 and row.path == "cgroupRoot")
    or (row.minor == 36 and row.path.startswith(LATER) and row.rule in ("kubelet.invalid_value", "kubelet.inconsistent_fields"))
]


def last_words(folder: Path, minor: int, config: Mapping[str, Any], more: Mapping[str, Any] | None = None) -> str:
    """What kubelet says at the end. more: changes of the image's file."""
    base = base_config("al2023", minor)
    # This machine may have cgroup v1, and has no certificates of a cluster.
    base |= {"failCgroupV1": False, "authentication": base["authentication"] | {"x509": {}}} | (more or {})
    drop_ins = folder / "config.json.d"
    drop_ins.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({**HEAD, **base}), encoding="utf-8")
    (drop_ins / "40-nodeadm.conf").write_text(json.dumps({**HEAD, **config}), encoding="utf-8")
    kubelet = binaries.path_of(binaries.KUBELETS[f"1.{minor}"])
    places = [f"--config={folder}/config.json", f"--config-dir={drop_ins}", f"--root-dir={folder}/root", f"--cert-dir={folder}/pki"]
    done = subprocess.run([kubelet, *places], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode != 0
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("row", CHOSEN, ids=lambda row: row.id)
def test_kubelet_exits(row: Row, tmp_path: Path) -> None:
    assert VALID not in last_words(tmp_path / "refused", row.minor, row.refused)
    assert VALID in last_words(tmp_path / "accepted", row.minor, row.accepted)


@pytest.fixture(scope="module")
def alone() -> Iterator[dict[str, Any]]:
    """Changes of the image's file for a kubelet without an API server, with containerd 2."""
    programs = containerd_daemon.Programs(
        *(str(binaries.path_of(binary)) for binary in (binaries.CONTAINERD, binaries.CTR)), binaries.CONTAINERD.version[1:]
    )
    with containerd_daemon.running(programs) as daemon:
        yield {
            "containerRuntimeEndpoint": f"unix://{daemon.folder}/socket",
            "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}, "x509": {}},
            "authorization": {"mode": "AlwaysAllow"},
            "serverTLSBootstrap": False,
            "failSwapOn": False,
            "allowedUnsafeSysctls": [MANAGED],
        }


@pytest.mark.parametrize("row", MANAGER_ROWS, ids=lambda row: row.id)
def test_managers_refuse_it(alone: dict[str, Any], row: Row, tmp_path: Path) -> None:
    assert MANAGED not in last_words(tmp_path / "refused", row.minor, row.refused, alone)
    accepted = row.accepted if row.path != "allowedUnsafeSysctls[0]" else {}
    assert MANAGED in last_words(tmp_path / "accepted", row.minor, accepted, alone)


def test_every_rule_about_managers_is_shown() -> None:
    rules = {rule.rule for rule in kubelet_rules.RULES if rule.check.__module__.endswith("kubelet_managers")}
    # Warnings, feature gates, and what only a machine with cgroup v1 says.
    rules -= {"kubelet.cgroup_driver", "kubelet.many_pods", "kubelet.unknown_cgroup_root", "kubelet.cgroup_version"}
    assert rules - {"kubelet.invalid_value"} <= {row.rule for row in MANAGER_ROWS}
