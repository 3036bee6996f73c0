# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real kubelet exits with what the table of rules refuses, and comes further with the neighbour that the table accepts.

It starts with the file of the image and a drop-in, without a kubeconfig: that is where it ends with a valid configuration.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.lab import binaries
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


def last_words(folder: Path, minor: int, config: Mapping[str, Any]) -> str:
    """What kubelet says at the end."""
    base = base_config("al2023", minor)
    # This machine may have cgroup v1, and has no certificates of a cluster.
    base |= {"failCgroupV1": False, "authentication": base["authentication"] | {"x509": {}}}
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
