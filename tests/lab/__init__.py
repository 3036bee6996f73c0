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

Real: etcd, kube-apiserver (Node and RBAC authorization, NodeRestriction), kube-scheduler, kube-controller-manager (the controllers that
control_plane.CONTROLLERS lists), kubelet of three minor versions, nodeadm of February 2024 (the only one to be had as a Go module),
containerd, systemd and cloud-init of Debian.

Stand-ins (which prove nothing about the real programs): bootstrap.sh of Amazon Linux 2 and Ubuntu, snap, and today's nodeadm (all from
nodelab); the metadata service (nodelab's, with faults); the APIs of AWS (moto); `aws eks get-token` and `aws-iam-authenticator token`
(they print a fixed token, which the API server reads from a file, not from IAM); the approval of serving certificates and the cloud
provider (controller.py); the pull of the pause image (not done: no pod runs on such a node); the CNI plugin (only its configuration);
Debian instead of the real images. kubelet 1.30 is built without the cloud providers inside Kubernetes (tag providerless; nodes of EKS do
not use them). kubelet 1.30 with an API server 1.36 is more version skew than Kubernetes supports.

Pods really run on nodes with `pods=True`: containerd 1 and runc of Debian, real probes, preStop commands and grace periods. workloads.py
has such nodes, workloads as plain objects, and namespaces; availability.py a client that counts failed requests; auto_scaling.py an Auto
Scaling group whose instances are nodes. Stand-ins for these: the container image, one static program that is also the pause image
(pod_image.py; nodes import it at boot, no image is pulled); a CNI plugin that gives pods addresses of the subnet (rootfs/cni, for the VPC
CNI); the client, which follows the EndpointSlices itself (for kube-proxy; there is no cluster DNS either); moto's Auto Scaling and EC2,
with the corrections of moto_repairs.py; the end of an instance, which kills its container and deletes its Node (for the node lifecycle
controller of the cloud provider). Pods have neither the oom_score_adj nor the limit of open files of a real node. Their volumes are those
that kubelet itself provides: no CSI driver runs.

Nothing connects to the internet: nodes are on an internal network, and AWS_ENDPOINT_URL points to moto.

If the machine has IPv6, nodes have addresses of both families, and `lab.node(ipv6=True)` registers with its IPv6 address. The API server
and its services use IPv4 only: kubelet takes only the address of the name server from their range.

baking.py: images that Packer bakes with the role eks_node_image, and `lab.node(image=…)` boots; its docstring lists the stand-ins.
test_containerd.py: containerd 2 without a cluster. test_image_gc.py: containerd 2 and kubelet. registry.py: a mirror and a proxy that
record their requests. joining.py: ways of joining, and playbook runs. persistent_labs.py: labs and
nodes that outlive the program, for Molecule. user_nodes.py: nodes of your own spec or user data (`make lab-node`). failing.py,
faulty_proxies.py, fail_play.py, fail_table.py: joins that fail. Faulty proxies between a node and the API server break the route, the name,
the clock or the certificate of one connection, so that all tests share one control plane.

As root, the lab raises fs.inotify.max_user_instances to 1024 permanently: with the default of 128, containerd of the tenth node has no CRI.

The programs are built from Go modules on first use (binaries.py). A lab ends with the program that started it, even if that program is
killed; `lab up` starts a persistent one.
"""

from __future__ import annotations

from .lab import Lab
from .node import LabNode
from .progress import LabError

__all__ = ["Lab", "LabError", "LabNode"]
