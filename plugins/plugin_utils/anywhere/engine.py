# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the engine C(capi) cannot do with a cluster that EKS Anywhere accepts. It refuses fields that would have no effect."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import Problems, joined
from .capi_machines import CapiOptions
from .clusterctl_config import ETCDADM, Release
from .model import CILIUM, DOCKER, Cluster
from .user_manifests import INFRASTRUCTURE

_EKSCTL = "use the engine eksctl"
_NEEDS_CONTROLLER = {
    "gitOpsRef": "the controller of EKS Anywhere syncs the cluster with Git",
    "identityProviderRefs": "the controller of EKS Anywhere installs identity providers",
    "etcdEncryption": "the controller of EKS Anywhere installs the KMS provider",
}


def check(cluster: Cluster, options: CapiOptions, problems: Problems, *, has_manifests: bool = False) -> None:
    """Report what the manifests could not express. The cluster is valid. has_manifests: does the user give the manifests?"""
    if cluster.provider != DOCKER and not has_manifests:
        path = f"{cluster.path}.spec.datacenterRef.kind"
        message = f"the engine capi renders Docker only, and the provider is {cluster.provider_name}"
        fix = f"{_EKSCTL}, or give the manifests of Cluster API as eks_anywhere_manifests"
        problems.add("anywhere.engine", path, message, fix=fix)
        return
    if cluster.provider == DOCKER and has_manifests:
        fix = "remove them; for what they add, use another provider or kubectl"
        problems.add("anywhere.engine", "manifests", "are for other providers: the engine capi renders Docker itself", fix=fix)
    _check_etcd(cluster, options, problems, is_rendered=not has_manifests)
    _check_fields(cluster, problems)
    _check_cni(cluster, problems)
    if not has_manifests:
        _check_images(cluster, options, problems)
    mirror = cluster.mirror
    if mirror is not None and mirror.authenticate and options.registry is None:
        fix = "set eks_anywhere_registry_username and eks_anywhere_registry_password, or remove authenticate"
        problems.add("anywhere.engine", joined(mirror.path, "authenticate"), "is true, and there are no credentials", fix=fix)


def check_infrastructure(cluster: Cluster, providers: Sequence[Release], problems: Problems) -> None:
    """Report a provider of the manifests that the user does not name. Its version cannot be guessed."""
    if cluster.provider not in INFRASTRUCTURE:
        return
    _kind, name = INFRASTRUCTURE[cluster.provider]
    found = [one.provider.name for one in providers if one.provider.kind == "InfrastructureProvider"]
    if name not in found:
        message = f"have no infrastructure provider {name}, which the manifests need"
        fix = f"add name: {name}, type: InfrastructureProvider, and the version that the repository has"
        problems.add("anywhere.engine", "providers", message, value=", ".join(found) or None, fix=fix)


def _check_etcd(cluster: Cluster, options: CapiOptions, problems: Problems, *, is_rendered: bool) -> None:
    if cluster.etcd is None:
        return
    if not options.has_etcdadm:
        message = f"needs the providers {' and '.join(ETCDADM)}, which upstream Cluster API does not have"
        fix = f"name them in eks_anywhere_providers; or remove it: etcd then runs on the control plane; or {_EKSCTL}"
        problems.add("anywhere.engine", cluster.etcd.path, message, fix=fix)
    elif is_rendered and options.etcd_version is None:
        fix = "set eks_anywhere_etcd_version, such as 3.5.21"
        problems.add("anywhere.engine", cluster.etcd.path, "needs the version of etcd, and it is not set", fix=fix)


def _check_fields(cluster: Cluster, problems: Problems) -> None:
    path = f"{cluster.path}.spec"
    is_set = {
        "gitOpsRef": cluster.git_ops is not None,
        "identityProviderRefs": bool(cluster.identity_providers),
        "etcdEncryption": "etcdEncryption" in cluster.extra,
    }
    for name, reason in _NEEDS_CONTROLLER.items():
        if is_set[name]:
            problems.add("anywhere.engine", joined(path, name), reason, fix=f"remove it, or {_EKSCTL}")
    if cluster.control_plane.skip_admission:
        place = joined(cluster.control_plane.path, "skipAdmissionForSystemResources")
        problems.add("anywhere.engine", place, "is a feature of the API server of EKS Distro", fix=f"remove it, or {_EKSCTL}")
    if not cluster.is_self_managed:
        place = f"{path}.managementCluster.name"
        message = f"the engine capi makes clusters that manage themselves, and {cluster.management} would manage this one"
        problems.add("anywhere.engine", place, message, fix=f"remove it, or {_EKSCTL}")


def _check_cni(cluster: Cluster, problems: Problems) -> None:
    settings = (cluster.network.cni or {}).get(CILIUM) or {}
    given = sorted(name for name in settings if name != "skipUpgrade")
    if given:
        place = f"{cluster.network.path}.cniConfig.{CILIUM}"
        message = f"has {', '.join(given)}, and the engine capi applies the manifest of the CNI as it is"
        problems.add("anywhere.engine", place, message, fix=f"set them in the manifest and remove them here, or {_EKSCTL}")


def _check_images(cluster: Cluster, options: CapiOptions, problems: Problems) -> None:
    wanted = [(f"{cluster.path}.spec.kubernetesVersion", cluster.version)]
    wanted += [(joined(group.path, "kubernetesVersion"), group.version) for group in cluster.workers if group.version]
    for path, version in wanted:
        image = options.node_images.get(str(version))
        known = ", ".join(sorted(options.node_images)) or "none"
        if image is None:
            problems.add("anywhere.node_image", path, "has no node image", value=version, allowed=known, fix="add an image for the version")
        elif not image.version.startswith(f"v{version}."):
            message = f"has a node image of {image.version}"
            problems.add("anywhere.node_image", path, message, value=version, allowed=f"v{version} with a patch version")
