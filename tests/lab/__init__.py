# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab: real kubelets join a real API server from what we rendered, on one machine and without AWS.

    with Lab.up() as lab:                                       # control plane, about 5 s once its programs are built
        text = render(lab.cluster("1.30"), {"family": "al2023", …}).document.text
        with lab.node("al2023", user_data=text) as node:        # a container: real systemd, cloud-init, nodeadm, containerd, kubelet
            found = node.wait_ready(20)                         # the Node object
            assert found["metadata"]["labels"]["a"] == "b"
            lab.node_object(node.name); node.exec([…]); node.journal("kubelet.service")     # everything that nodelab's nodes can

Real: etcd, kube-apiserver (Node and RBAC authorization, NodeRestriction), kube-controller-manager (signing, node conditions), kubelet of
two minor versions, nodeadm of February 2024 (the only one to be had as a Go module), containerd, systemd and cloud-init of Debian.

Stand-ins, which no result here is evidence for: bootstrap.sh of Amazon Linux 2 and Ubuntu, snap, and today's nodeadm (all of them
nodelab's); the metadata service (nodelab's, with faults); AWS's APIs (moto); `aws eks get-token` and `aws-iam-authenticator token` (they
print a fixed token, which the API server knows from a file, not through IAM); the approval of serving certificates and the cloud provider
(controller.py); the pull of the pause image (none: no pod runs here); the CNI plugin (a configuration alone); Debian in place of the
images. kubelet 1.30 against an API server 1.36 is more skew than Kubernetes supports.

Nothing looks outside: nodes are on an internal network, and AWS_ENDPOINT_URL leads everything to moto.

Where the machine has IPv6, nodes have addresses of both families, and `lab.node(ipv6=True)` is one whose kubelet is found at the newer one.
The API server listens on IPv4 alone, and its services are IPv4: a kubelet takes nothing but a name server's address from their range.

registry.py: a mirror and a proxy that remember what they were asked. joining.py: ways of joining, and playbook runs. named.py: labs and
nodes that outlive the program, for Molecule. failing.py, fail_doors.py, fail_play.py, fail_table.py: joins that fail, by doors between a
node and the API server that break one connection's way, name, clock or certificate, so that the control plane is shared all the same.

As root the lab raises fs.inotify.max_user_instances to 1024 and leaves it so: with the usual 128 the tenth node's containerd has no CRI.

The programs are built from Go modules at the first use (binaries.py). A lab ends with the program that made it, even when that one is
killed; `lab up` makes one that stays.
"""

from __future__ import annotations

from .lab import Lab
from .node import LabNode
from .progress import LabError

__all__ = ["Lab", "LabError", "LabNode"]
