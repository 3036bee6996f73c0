# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules on the cluster as a whole: its name, its versions, its manager, and what it is given beside its nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .. import data
from ..errors import Problems, joined, nearest
from ..kubernetes import parse_version
from .model import DOCKER, SNOW, TINKERBELL, Cluster

_NAME = re.compile(r"[a-z][a-z0-9-]*[a-z0-9]", re.ASCII)
LONGEST_NAME = 35
"""The node of the bootstrap cluster has the name of the cluster with C(-eks-a-cluster-control-plane), and a host name has 64 characters."""

_VERSION = re.compile(r"1\.(0|[1-9][0-9]{0,2})", re.ASCII)
_RELEASE = re.compile(r"v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?", re.ASCII)
_WORKER_SKEW = 3
"""kubelet may be this many minor versions older than the API server (Kubernetes version skew policy, since 1.28)."""

_WITHOUT_ETCD_ENCRYPTION = (DOCKER, TINKERBELL, SNOW)
_ALLOWED_NAME = "lower case letters, digits and -; the first character is a letter, and the last one is not -"


def check(cluster: Cluster, problems: Problems) -> None:
    """Report what is wrong with the cluster as a whole."""
    _check_name(cluster, problems)
    _check_provider(cluster, problems)
    _check_versions(cluster, problems)
    _check_release(cluster, problems)
    _check_management(cluster, problems)
    _check_pod_iam(cluster, problems)
    _check_etcd_encryption(cluster, problems)


def _check_name(cluster: Cluster, problems: Problems) -> None:
    path = f"{cluster.path}.metadata.name"
    name = cluster.name
    if problems.touches(path):
        return
    if not name:
        problems.add("anywhere.name", path, "is missing", allowed=_ALLOWED_NAME, fix="add the name of the cluster")
        return
    if len(name) < 2 or not _NAME.fullmatch(name):
        message = "has only one character" if len(name) == 1 else "is not a valid name of a cluster"
        lower = name.lower()
        fix = f"write {lower}" if lower != name and _NAME.fullmatch(lower) else None
        problems.add("anywhere.name", path, message, value=name, allowed=f"at least two characters: {_ALLOWED_NAME}", fix=fix)
    if len(name) > LONGEST_NAME:
        message = f"has {len(name)} characters"
        problems.add("anywhere.name_too_long", path, message, value=name, allowed=f"at most {LONGEST_NAME} characters", fix="shorten it")


def _check_provider(cluster: Cluster, problems: Problems) -> None:
    path = f"{cluster.path}.spec.datacenterRef"
    providers = data.eks_anywhere()["providers"]
    if cluster.provider not in providers:
        if problems.touches(path):
            return
        guess = nearest(cluster.provider, providers) if cluster.provider else None
        message = "is not a kind of datacenter" if cluster.provider else "is missing"
        value = {"value": cluster.provider} if cluster.provider else {}
        problems.add("anywhere.unknown_provider", f"{path}.kind", message, allowed=", ".join(sorted(providers)), nearest=guess, **value)
        return
    if not cluster.datacenter.name and not problems.touches(f"{path}.name"):
        problems.add("input.missing_field", f"{path}.name", "is required", fix=f"add the name of the {cluster.provider}")


def check_support(cluster: Cluster, problems: Problems) -> None:
    """Report a provider that new releases do not have. Called last, because other rules skip what has a problem."""
    removed = data.eks_anywhere()["providers"].get(cluster.provider, {}).get("removed")
    if removed:
        path = f"{cluster.path}.spec.datacenterRef.kind"
        message = f"{cluster.provider_name} is not part of EKS Anywhere since {removed}"
        problems.add("anywhere.removed_provider", path, message, fix="use a release before it, or another provider")


def _check_versions(cluster: Cluster, problems: Problems) -> None:
    path = f"{cluster.path}.spec.kubernetesVersion"
    control_plane = _version(cluster.version, path, problems, is_required=True)
    for group in cluster.workers:
        below = joined(group.path, "kubernetesVersion")
        version = _version(group.version, below, problems, is_required=False)
        if version is None or control_plane is None:
            continue
        if version > control_plane:
            message = f"is newer than the version of the control plane, {cluster.version}"
            fix = f"use {cluster.version} or older, or upgrade the control plane first"
            problems.add("anywhere.version_skew", below, message, value=group.version, fix=fix)
        elif control_plane[1] - version[1] > _WORKER_SKEW:
            message = f"is {control_plane[1] - version[1]} minor versions older than the control plane, {cluster.version}"
            allowed = f"1.{control_plane[1] - _WORKER_SKEW} to {cluster.version}"
            problems.add("anywhere.version_skew", below, message, value=group.version, allowed=allowed)


def _version(text: str | None, path: str, problems: Problems, *, is_required: bool) -> tuple[int, int] | None:
    table = data.eks_anywhere()["kubernetes"]
    supported = f"{table['first']} to {table['last']}"
    if text is None:
        if is_required and not problems.touches(path):
            problems.add("anywhere.version", path, "is missing", allowed=f'a version in quotes, such as "{table["last"]}"')
        return None
    if not _VERSION.fullmatch(text):
        version = parse_version(text)
        fix = f'write "{version[0]}.{version[1]}"' if version else None
        allowed = f'major and minor version only, such as "{table["last"]}"'
        problems.add("anywhere.version", path, "is not a version of Kubernetes", value=text, allowed=allowed, fix=fix)
        return None
    version = parse_version(text)
    first, last = parse_version(table["first"]), parse_version(table["last"])
    if version and first and last and not first <= version <= last:
        message = f"is not a version of EKS Anywhere {data.eks_anywhere()['release']}, which has {supported}"
        problems.add("anywhere.unknown_version", path, message, value=text)
    return version


def _check_release(cluster: Cluster, problems: Problems) -> None:
    path = f"{cluster.path}.spec.eksaVersion"
    release = cluster.eksa_version
    if release is not None and not _RELEASE.fullmatch(release):
        allowed = f"a release with three numbers, such as {data.eks_anywhere()['release']}"
        problems.add("anywhere.release", path, "is not a release of EKS Anywhere", value=release, allowed=allowed)
    if "bundlesRef" in cluster.extra:
        below = f"{cluster.path}.spec.bundlesRef"
        if release is not None:
            problems.add("input.conflict", below, "is set, and eksaVersion is set, too", fix="remove bundlesRef")
        else:
            problems.add("anywhere.deprecated_field", below, "is deprecated", fix="use eksaVersion")


def _check_management(cluster: Cluster, problems: Problems) -> None:
    packages = cluster.extra.get("packages") or {}
    if cluster.is_self_managed:
        return
    for name in ("controller", "cronjob"):
        if packages.get(name) is not None:
            path = f"{cluster.path}.spec.packages.{name}"
            message = f"is set, and {cluster.management} manages this cluster"
            problems.add("anywhere.packages_of_workload", path, message, fix=f"remove it, and set it in the file of {cluster.management}")


def _check_pod_iam(cluster: Cluster, problems: Problems) -> None:
    issuer = cluster.extra.get("podIamConfig")
    path = f"{cluster.path}.spec.podIamConfig.serviceAccountIssuer"
    if issuer is not None and not issuer.get("serviceAccountIssuer") and not problems.touches(path):
        fix = "add the URL of the issuer, or remove podIamConfig"
        problems.add("input.missing_field", path, "is required", fix=fix)


def _check_etcd_encryption(cluster: Cluster, problems: Problems) -> None:
    path = f"{cluster.path}.spec.etcdEncryption"
    rows = cluster.extra.get("etcdEncryption")
    if rows is None:
        return
    if cluster.provider in _WITHOUT_ETCD_ENCRYPTION:
        message = f"is not supported by {cluster.provider_name}"
        problems.add("anywhere.etcd_encryption", path, message, fix="remove it")
        return
    problems.add("anywhere.etcd_encryption_later", path, "is refused when the cluster is created", fix="add it in an upgrade")
    if len(rows) != 1:
        problems.add("anywhere.etcd_encryption", path, f"has {len(rows)} entries", allowed="one entry")
    for index, row in enumerate(rows):
        below = joined(path, index)
        providers = row.get("providers") or []
        if len(providers) != 1:
            problems.add("anywhere.etcd_encryption", joined(below, "providers"), f"has {len(providers)} entries", allowed="one provider")
        for number, provider in enumerate(providers):
            _check_kms(provider.get("kms") or {}, joined(joined(joined(below, "providers"), number), "kms"), problems)
        if not row.get("resources"):
            allowed = "at least one resource, such as secrets"
            problems.add("anywhere.etcd_encryption", joined(below, "resources"), "is empty", allowed=allowed)


def _check_kms(kms: Mapping[str, Any], path: str, problems: Problems) -> None:
    if not kms.get("name"):
        problems.add("input.missing_field", joined(path, "name"), "is required", fix="add the name of the provider")
    address = kms.get("socketListenAddress") or ""
    if not address.startswith("unix://"):
        allowed = "the path of a socket, such as unix:///var/run/kmsplugin/socket.sock"
        message = "is not the address of a Unix socket" if address else "is missing"
        problems.add("anywhere.etcd_encryption", joined(path, "socketListenAddress"), message, allowed=allowed)
