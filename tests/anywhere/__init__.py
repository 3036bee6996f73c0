# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The bed of the EKS Anywhere playbooks: real kind, kubeadm, Cluster API, cert-manager and clusterctl, offline (python -m ... --help).

Real: kind, kubeadm and kubelet, etcd and the control plane of Kubernetes, containerd, CoreDNS, the managers of Cluster API with the
provider for Docker, clusterctl, cert-manager, and the playbooks of this collection. All are built from Go modules.

Stand-ins (which prove nothing about the real programs): nodes of Debian packages instead of EKS Distro; upstream Cluster API instead of the
fork of EKS Anywhere; a network of the plugin ptp and routes instead of Cilium; a storage class without a provisioner; the manifest of
cert-manager, whose roles may do everything; CoreDNS with the plugins of kubeadm's Corefile only; the image of the load balancer, which has
the name of kind's; images that the nodes have already, so that nothing is pulled; no crictl.

Where the engine starts no privileged containers, a filter on its socket asks for all capabilities instead (engine_filter.py). As in
privileged containers, /proc/sys of such nodes is writable.
"""

from __future__ import annotations
