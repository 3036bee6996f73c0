# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The names of clusters, files and objects, as EKS Anywhere chooses them."""

from __future__ import annotations

NAMESPACE = "eksa-system"
"""The namespace of the objects of Cluster API."""

BOOTSTRAP_SUFFIX = "-eks-a-cluster"


def bootstrap_cluster(cluster: str) -> str:
    """The name of the temporary cluster of kind."""
    return f"{cluster}{BOOTSTRAP_SUFFIX}"


def kubeconfig_file(cluster: str) -> str:
    """The name of the kubeconfig of the cluster itself, in the folder of its files."""
    return f"{bootstrap_cluster(cluster)}.kubeconfig"


def control_plane(cluster: str) -> str:
    """The name of the KubeadmControlPlane."""
    return cluster


def machine_deployment(cluster: str, group: str) -> str:
    """The name of the MachineDeployment of a group of workers."""
    return f"{cluster}-{group}"


def external_etcd(cluster: str) -> str:
    """The name of the EtcdadmCluster."""
    return f"{cluster}-etcd"


def haproxy(cluster: str) -> str:
    """The name of the ConfigMap with the configuration of the load balancer of Docker machines."""
    return f"{cluster}-haproxy"
