# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight checks of leftovers of earlier runs on the admin machine: containers, clusters of the same name, kubeconfigs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from . import names
from .check import EKSCTL, FAILED, OK, WARNING, Check, Facts, Wanted

_OTHER = "choose another name; or, if a run with another work folder made it, set eks_anywhere_work_dir to that folder"

_TOOLS_CONTAINER = re.compile(r"eksa_[0-9]+", re.ASCII)
"""The container in which C(eksctl anywhere) runs its tools. It removes the container when it ends, but not if it is killed."""


def check(facts: Facts, wanted: Wanted) -> Iterator[Check]:
    """The checks of leftovers."""
    clusters: dict[str, list[str]] = {}
    for one in facts["containers"]:
        if one["cluster"]:
            clusters.setdefault(one["cluster"], []).append(f"{one['name']} ({one['state']})")
    yield _same_name(clusters, wanted)
    yield _bootstrap(clusters, wanted)
    yield _other_clusters(clusters, wanted)
    yield _tools_containers(facts)
    yield _kubeconfig(facts, wanted)


def _same_name(clusters: dict[str, list[str]], wanted: Wanted) -> Check:
    name = wanted.cluster.name
    if name not in clusters:
        return Check("cluster_name", OK, f"no container of this machine belongs to a cluster {name}")
    if wanted.is_continued:
        return Check("cluster_name", OK, f"{name} belongs to the run that is continued")
    if wanted.is_continued is False:
        return Check("cluster_name", FAILED, f"{name} has {', '.join(clusters[name])}, which no run of {wanted.work_dir} made", _OTHER)
    # kind lists the machines of the Docker provider, too, so that "kind delete cluster" would destroy a cluster that works.
    cure = "if it is the cluster of an interrupted run, run the creation again: it continues. Otherwise choose another name"
    return Check("cluster_name", FAILED if wanted.engine == EKSCTL else WARNING, f"{name} has {', '.join(clusters[name])}", cure)


def _bootstrap(clusters: dict[str, list[str]], wanted: Wanted) -> Check:
    name = names.bootstrap_cluster(wanted.cluster.name)
    if name not in clusters:
        return Check("bootstrap_cluster", OK, f"there is no {name}")
    found = f"{name} has {', '.join(clusters[name])}"
    if wanted.is_continued:
        return Check("bootstrap_cluster", OK, f"{name} belongs to the run that is continued")
    if wanted.is_continued is False:
        return Check("bootstrap_cluster", FAILED, f"{found}, which no run of {wanted.work_dir} made", _OTHER)
    if wanted.engine == EKSCTL:
        cure = f"if no machine is managed by it (kubectl get clusters.cluster.x-k8s.io -A), kind delete cluster --name {name}"
        return Check("bootstrap_cluster", FAILED, found, cure)
    return Check("bootstrap_cluster", WARNING, found, "run the creation again: it continues where the run before it was interrupted")


def _other_clusters(clusters: dict[str, list[str]], wanted: Wanted) -> Check:
    own = {wanted.cluster.name, names.bootstrap_cluster(wanted.cluster.name)}
    others = sorted(name for name in clusters if name not in own)
    if not others:
        return Check("other_clusters", OK, "no other cluster has containers on this machine")
    return Check("other_clusters", WARNING, f"also on this machine: {', '.join(others)}", "they share its memory and its limits of inotify")


def _tools_containers(facts: Facts) -> Check:
    left = [one["name"] for one in facts["containers"] if _TOOLS_CONTAINER.fullmatch(one["name"])]
    if not left:
        return Check("tools_containers", OK, "no container of eksctl anywhere is left")
    cure = f"if eksctl anywhere does not run: docker rm --force {' '.join(left)}"
    return Check("tools_containers", WARNING, f"left by eksctl anywhere: {', '.join(left)}", cure)


def _kubeconfig(facts: Facts, wanted: Wanted) -> Check:
    path = f"{wanted.work_dir}/{wanted.kubeconfig}"
    if wanted.is_continued and facts["files"].get(wanted.kubeconfig):
        return Check("kubeconfig", OK, f"{path} belongs to the run that is continued")
    if not facts["files"].get(wanted.kubeconfig):
        return Check("kubeconfig", OK, f"there is no {path}")
    if wanted.engine == EKSCTL:
        # Without this file, eksctl anywhere would start. The usual advice, to remove it, loses the only credentials of a cluster.
        cure = "if the cluster still exists, keep a copy: it may be the only kubeconfig of its administrator. Then move it away"
        return Check("kubeconfig", FAILED, f"{path} exists, and eksctl anywhere refuses to start with it", cure)
    return Check("kubeconfig", WARNING, f"{path} exists", "if the cluster was deleted, remove it. A creation that continues needs it")
