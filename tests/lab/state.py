# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a lab: a file that its supervisor writes and its users read."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

#: The cluster's name, region and service range, which every lab has.
CLUSTER = "demo"
REGION = "eu-central-1"
SERVICE_CIDR = "10.100.0.0/16"
KUBERNETES = "1.36"


@dataclass(frozen=True)
class State:
    """A lab that is up.

    supervisor process ID of its supervisor
    network    number of its network
    endpoint   of the API server
    authority  the cluster's CA certificate, PEM
    token      of a cluster administrator
    aws        URL of the stand-in for AWS
    subnet     ID of the subnet of its nodes
    region     of cluster and nodes
    seconds    that the control plane took
    pids       process ID of each program
    """

    supervisor: int
    network: int
    endpoint: str
    authority: str
    token: str
    aws: str
    subnet: str
    region: str
    seconds: float
    pids: dict[str, int]

    def write(self, path: Path) -> None:
        """Write the file in one step, readable by its owner only."""
        fresh = path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as handle:
            json.dump(asdict(self), handle, indent=1)
        fresh.replace(path)

    @classmethod
    def read(cls, path: Path) -> State:
        return cls(**json.loads(path.read_text()))
