# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs of the bed and their versions. They are built and kept with those of the lab (tests/lab/binaries.py)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..lab import binaries
from ..lab.binaries import Binary

MODULES = Path(__file__).resolve().parent / "modules"

#: The last version whose commands are in the module itself: later ones are modules that the proxy does not have.
CERT_MANAGER = "v1.11.5"

#: Cluster API before and after the upgrade: the two versions whose provider for Docker the module proxy has.
CLUSTER_API = ("v1.13.4", "v1.14.0")

#: The minor versions of Kubernetes before and after the upgrade.
KUBERNETES = ("1.35", "1.36")

_KUBERNETES = "k8s.io/kubernetes/cmd/"
_CONTAINERD = "github.com/containerd/containerd/v2/cmd/"
_CERT_MANAGER = "github.com/cert-manager/cert-manager/cmd/"
_CLUSTER_API = "sigs.k8s.io/cluster-api"
_CNI = "github.com/containernetworking/plugins/plugins/"


def _own(name: str, module: str, package: str, minutes: float) -> Binary:
    return Binary(name, module, package, minutes, folder=MODULES)


KIND = _own("kind", "kind", "sigs.k8s.io/kind", 1)
KUSTOMIZE = _own("kustomize", "kustomize", "sigs.k8s.io/kustomize/kustomize/v5", 0.5)
COREDNS = _own("coredns", "coredns", ".", 1.5)
SHIM = Binary("containerd-shim-runc-v2", "containerd", _CONTAINERD + "containerd-shim-runc-v2", 0.2, tags=binaries.CONTAINERD.tags)
CERT_MANAGERS = tuple(
    _own(name, "cert-manager", _CERT_MANAGER + name, minutes)
    for name, minutes in {"cainjector": 2, "webhook": 0.5, "controller": 3}.items()
)
CNI_PLUGINS = tuple(
    _own(package.rpartition("/")[2], "cni", _CNI + package, 0.1)
    for package in ("main/ptp", "main/bridge", "main/loopback", "ipam/host-local", "meta/portmap")
)


@dataclass(frozen=True)
class ClusterApi:
    """The programs of one version of Cluster API."""

    version: str
    clusterctl: Binary
    core: Binary
    bootstrap: Binary
    control_plane: Binary
    docker: Binary

    @property
    def all(self) -> tuple[Binary, ...]:
        return (self.core, self.bootstrap, self.control_plane, self.docker, self.clusterctl)


@dataclass(frozen=True)
class Kubernetes:
    """The programs of one version of Kubernetes. pods: the programs of static pods and DaemonSets; the others are on the nodes."""

    minor: str
    kubelet: Binary
    kubeadm: Binary
    kubectl: Binary
    pods: tuple[Binary, ...]

    @property
    def version(self) -> str:
        return self.kubelet.version

    @property
    def all(self) -> tuple[Binary, ...]:
        return (self.kubelet, self.kubeadm, self.kubectl, *self.pods)


def cluster_api(version: str) -> ClusterApi:
    """The programs of a version in CLUSTER_API."""
    module = "capi-" + ".".join(version[1:].split(".")[:2])
    return ClusterApi(
        version=version,
        core=_own("cluster-api-manager", module, _CLUSTER_API, 4),
        bootstrap=_own("kubeadm-bootstrap-manager", module, _CLUSTER_API + "/bootstrap/kubeadm", 0.3),
        control_plane=_own("kubeadm-control-plane-manager", module, _CLUSTER_API + "/controlplane/kubeadm", 0.3),
        docker=_own("capd-manager", module, _CLUSTER_API + "/test/infrastructure/docker", 1.5),
        clusterctl=_own("clusterctl", module, _CLUSTER_API + "/cmd/clusterctl", 0.5),
    )


def kubernetes(minor: str) -> Kubernetes:
    """The programs of a version in KUBERNETES."""
    module = f"kubernetes-{minor}"
    same = {
        "1.36": (binaries.KUBE_APISERVER, binaries.KUBE_CONTROLLER_MANAGER, binaries.KUBE_SCHEDULER),
        # The control plane of the lab has one version only.
        "1.35": tuple(
            _own(name, module, _KUBERNETES + name, minutes)
            for name, minutes in {"kube-apiserver": 4, "kube-controller-manager": 1, "kube-scheduler": 0.5}.items()
        ),
    }
    return Kubernetes(
        minor=minor,
        kubelet=binaries.KUBELETS[minor],
        kubeadm=_own("kubeadm", module, _KUBERNETES + "kubeadm", 0.7),
        kubectl=_own("kubectl", module, _KUBERNETES + "kubectl", 0.7),
        pods=(*same[minor], _own("kube-proxy", module, _KUBERNETES + "kube-proxy", 0.3)),
    )
