# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manifests of the bed: providers of Cluster API as a folder for clusterctl, cert-manager, and the network of the clusters."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from ..lab import binaries
from ..lab.binaries import Binary
from ..lab.progress import LabError, machine_lock
from . import programs
from .programs import CERT_MANAGER, ClusterApi

HERE = Path(__file__).resolve().parent
MANIFESTS = HERE / "manifests"

_NAMES = {
    "cluster-api": "registry.k8s.io/cluster-api/cluster-api-controller",
    "bootstrap-kubeadm": "registry.k8s.io/cluster-api/kubeadm-bootstrap-controller",
    "control-plane-kubeadm": "registry.k8s.io/cluster-api/kubeadm-control-plane-controller",
    "infrastructure-docker": "gcr.io/k8s-staging-cluster-api/capd-manager",
}
_COMPONENTS = {
    "cluster-api": ("", "core-components.yaml"),
    "bootstrap-kubeadm": ("bootstrap/kubeadm", "bootstrap-components.yaml"),
    "control-plane-kubeadm": ("controlplane/kubeadm", "control-plane-components.yaml"),
    "infrastructure-docker": ("infrastructure/docker", "infrastructure-components-development.yaml"),
}
_IMAGE = re.compile(r"image: gcr\.io/k8s-staging-cluster-api/\S+")


def manager_image(label: str, version: str) -> str:
    """The name of the image of a provider."""
    return f"{_NAMES[label]}:{version}"


def cert_manager_image(name: str) -> str:
    """The name of an image of cert-manager."""
    return f"quay.io/jetstack/cert-manager-{name}:{CERT_MANAGER}"


def digest() -> str:
    """Of everything that the manifests are made of, beside the modules."""
    parts = [path.read_text() for path in sorted(MANIFESTS.iterdir())] + [Path(__file__).read_text()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def module_folder(binary: Binary, module: str = "") -> Path:
    """The folder with the source of a program's module, or of another one that it requires, downloaded if it is not there."""
    if not module:
        required = re.search(r"^require (\S+) v\S+$", (binary.source / "go.mod").read_text(), re.MULTILINE)
        if required is None:
            raise LabError(f"modules/{binary.module}/go.mod has no line 'require MODULE VERSION'")
        module = required[1]
    command = [binaries.find_go(), "mod", "download", "-json", module]
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly"}
    done = subprocess.run(command, cwd=binary.source, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        raise LabError(f"{module} cannot be downloaded:\n{done.stdout}{done.stderr}")
    return Path(json.loads(done.stdout)["Dir"])


def repository(apis: tuple[ClusterApi, ...]) -> Path:
    """The folder of the providers for clusterctl, written now if it does not exist."""
    parts = [digest(), programs.KUSTOMIZE.digest, *(api.core.digest for api in apis)]
    folder = binaries.cache() / f"anywhere-repository-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:12]}"
    with machine_lock("anywhere-repository"):
        if not folder.exists():
            with tempfile.TemporaryDirectory(prefix="building-", dir=binaries.cache()) as name:
                fresh = Path(name, "repository")
                for api in apis:
                    _write_providers(fresh, api, Path(name))
                path = fresh / "cert-manager" / CERT_MANAGER / "cert-manager.yaml"
                path.parent.mkdir(parents=True)
                path.write_text(cert_manager_manifest())
                fresh.replace(folder)
    return folder


def _write_providers(repository: Path, api: ClusterApi, scratch: Path) -> None:
    core = module_folder(api.core)
    docker = module_folder(api.docker, "sigs.k8s.io/cluster-api/test")
    for label, (below, components) in _COMPONENTS.items():
        source = (docker if label == "infrastructure-docker" else core) / below / "config"
        # kustomize writes nothing, but refuses files that it may not write.
        copied = scratch / f"{label}-{api.version}"
        shutil.copytree(source, copied, copy_function=shutil.copyfile)
        folder = repository / label / api.version
        folder.mkdir(parents=True)
        (folder / components).write_text(_with_image(_kustomized(copied / "default"), manager_image(label, api.version)))
        shutil.copyfile(core / "metadata.yaml", folder / "metadata.yaml")


def _with_image(components: str, image: str) -> str:
    """Components with the image of a release, as the release process of Cluster API makes them."""
    return _IMAGE.sub(f"image: {image}", components).replace("imagePullPolicy: Always", "imagePullPolicy: IfNotPresent")


def _kustomized(folder: Path) -> str:
    done = subprocess.run([str(programs.KUSTOMIZE.path), "build", str(folder)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError(f"kustomize build {folder}:\n{done.stderr[-3000:]}")
    return done.stdout


def cert_manager_manifest() -> str:
    """cert-manager: the definitions of its module, and Deployments with fewer settings than those of the chart, which needs helm."""
    folder = module_folder(programs.CERT_MANAGERS[0]) / "deploy/crds"
    definitions = [_definition(path) for path in sorted(folder.glob("crd-*.yaml"))]
    own = list(yaml.safe_load_all((MANIFESTS / "cert-manager.yaml").read_text().replace("VERSION", CERT_MANAGER)))
    return yaml.safe_dump_all([*definitions, *own], sort_keys=False)


def _definition(path: Path) -> Any:
    """A definition without the labels that are templates of helm."""
    found = yaml.safe_load("".join(line for line in path.read_text().splitlines(keepends=True) if "{{" not in line))
    found["metadata"]["labels"] = {"app": "cert-manager", "app.kubernetes.io/instance": "cert-manager"}
    return found


def network_manifest(pods: str) -> str:
    """The stand-in of a CNI: a bridge of points and routes between the nodes. pods: the network of all pods."""
    return "# would you kindly template this file\n" + (MANIFESTS / "network.yaml").read_text().replace("PODS", pods)


def storage_manifest() -> str:
    """A storage class without a provisioner."""
    return (MANIFESTS / "storage.yaml").read_text()


def target_manifest(pods: str) -> str:
    """What the user applies to the cluster: the network and the storage class."""
    return network_manifest(pods) + "---\n" + storage_manifest()


def documents(text: str) -> Iterator[Any]:
    """The objects of a manifest."""
    return (one for one in yaml.safe_load_all(text) if one is not None)
