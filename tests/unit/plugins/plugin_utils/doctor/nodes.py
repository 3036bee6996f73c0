# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of doctor_info: a healthy node, and the same with some parts replaced."""

from __future__ import annotations

import calendar
import copy
from typing import Any

from ansible_collections.nodebootstrap.eks.tests.unit.plugins.certificates import VALID

GIB = 1024**3
CONFIG = "/etc/kubernetes/kubelet/config.json"
NOW = float(calendar.timegm((2026, 11, 23, 12, 0, 0)))

HEALTHY: dict[str, Any] = {
    "info": {
        "hostname": "ip-10-0-0-5.eu-central-1.compute.internal",
        "node_name": "ip-10-0-0-5.eu-central-1.compute.internal",
        "os": {"id": "amzn", "version_id": "2023", "name": "Amazon Linux 2023"},
        "versions": {"kubelet": {"version": "1.35.1-eks-1"}, "containerd": {"version": "2.1.4"}},
        "kubelet": {
            "flags": {"node-labels": "team=web"},
            "config": {"path": CONFIG, "effective": {"maxPods": 58}, "files": [{"path": CONFIG, "changed_since_start": False}]},
            "configz": {"config": None, "problem": "kubelet does not accept requests without credentials (401)"},
        },
        "ours": {"files": {"/etc/eks/nodeadm.d/a.yaml": "unchanged"}, "pending": [], "interrupted": False},
    },
    "kubernetes_version": "1.35",
    "join": {
        "node": "ip-10-0-0-5.eu-central-1.compute.internal",
        "registered": True,
        "ready": True,
        "cause": None,
        "message": None,
        "fix": None,
        "evidence": [],
        "final": False,
        "waited": 0.1,
        "kubelet_settings": None,
    },
    "findings": [],
    "family": "al2023",
    "certificates": [{"use": "authority", "path": "/etc/kubernetes/pki/ca.crt", "pem": VALID}],
    "clock": {"skew": 0.2, "synchronized": True},
    "disks": [{"path": "/", "free_bytes": 60 * GIB, "bytes": 80 * GIB, "free_inodes": 900, "inodes": 1000}],
    "memory": {"total": 8 * GIB, "available": 6 * GIB, "swap": 0},
    "pressure": {"cpu": {"some": 3.0, "full": 0.0}, "memory": {"some": 0.0, "full": 0.0}, "io": {"some": 1.0, "full": 0.5}},
    "failures": [],
    "image": {"release": {}, "provenance": None, "ami": "ami-0a", "instance": "i-0123456789abcdef0", "instance_type": "m7i.large"},
    "user_data": {"path": "/var/lib/cloud/instance/user-data.txt", "text": "#!/bin/bash\ntrue\n", "redacted": False},
    "node_configs": [],
    "problems": [],
}


def node(parts: dict[str, Any] | None = None) -> dict[str, Any]:
    """The result of the module on a healthy node. parts: replaced values by their path, for example C(clock.skew)."""
    facts = copy.deepcopy(HEALTHY)
    for path, value in (parts or {}).items():
        *above, last = path.split(".")
        place = facts
        for name in above:
            place = place[name]
        place[last] = value
    return {"changed": False, "node": facts}
