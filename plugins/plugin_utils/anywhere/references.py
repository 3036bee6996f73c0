# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""References between the documents of a file: each one must lead to a document, and each document must be used."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import Problems, joined, nearest
from .documents import CLUSTER, Document, Documents
from .model import CLOUDSTACK, DOCKER, TINKERBELL, VSPHERE, Cluster, Reference


def check(documents: Documents, cluster: Cluster, problems: Problems) -> None:
    """Report references without a document, documents without a reference, and those in another namespace."""
    used: set[tuple[str, str]] = set()
    for path, reference in _references(documents, cluster):
        used.add((reference.kind, reference.name))
        if not reference.name or problems.touches(path.removesuffix(".name")):
            continue
        found = documents.find(reference.kind, reference.name)
        if found is None:
            _report_missing(documents, path, reference, problems)
        elif found.namespace != cluster.namespace and cluster.has_known_provider:
            message = f"is in the namespace {found.namespace}, and the cluster in {cluster.namespace}"
            problems.add("anywhere.namespace", f"{found.path}.metadata.namespace", message, fix="use the same namespace in both")
    for document in documents.all if cluster.has_known_provider else ():
        if document.kind != CLUSTER and document.name and (document.kind, document.name) not in used:
            message = "is not used by the cluster or another document"
            problems.add("anywhere.unused_document", document.path, message, fix="refer to it, or remove it")
    _check_failure_domains(documents, cluster, problems)


def _report_missing(documents: Documents, path: str, reference: Reference, problems: Problems) -> None:
    names = sorted(one.name for one in documents.of_kind(reference.kind) if one.name)
    guess = names[0] if len(names) == 1 else nearest(reference.name, names)
    message = f"refers to the {reference.kind} {reference.name}, and the file does not have it"
    fix = f"write {guess}" if guess else f"add the {reference.kind} {reference.name} to the file"
    allowed = ", ".join(names) or None
    problems.add("anywhere.missing_document", path, message, value=reference.name, allowed=allowed, nearest=guess, fix=fix)


def _references(documents: Documents, cluster: Cluster) -> Iterator[tuple[str, Reference]]:
    """Every reference with its path, also those of documents to documents."""
    yield f"{cluster.path}.spec.datacenterRef.name", cluster.datacenter
    machines = [(cluster.control_plane.path, cluster.control_plane.machine)]
    machines += [(group.path, group.machine) for group in cluster.workers]
    if cluster.etcd is not None:
        machines.append((cluster.etcd.path, cluster.etcd.machine))
    for path, reference in machines:
        if reference is not None and reference.kind == cluster.machine_kind:
            yield f"{path}.machineGroupRef.name", reference
    for index, reference in enumerate(cluster.identity_providers):
        yield f"{cluster.path}.spec.identityProviderRefs[{index}].name", reference
    if cluster.git_ops is not None:
        yield f"{cluster.path}.spec.gitOpsRef.name", cluster.git_ops
    for document in documents.all:
        yield from _of_document(document)


def _of_document(document: Document) -> Iterator[tuple[str, Reference]]:
    spec = document.spec
    if document.kind == "TinkerbellMachineConfig" and (template := spec.get("templateRef")):
        yield f"{document.path}.spec.templateRef.name", Reference(template.get("kind") or "", template.get("name") or "")
    if document.kind == "SnowMachineConfig":
        for index, interface in enumerate((spec.get("network") or {}).get("directNetworkInterfaces") or ()):
            pool = interface.get("ipPoolRef") or {}
            path = f"{document.path}.spec.network.directNetworkInterfaces[{index}].ipPoolRef.name"
            yield path, Reference(pool.get("kind") or "", pool.get("name") or "")


def _check_failure_domains(documents: Documents, cluster: Cluster, problems: Problems) -> None:
    """Report failure domains of workers that the datacenter does not have."""
    datacenter = documents.find(cluster.provider, cluster.datacenter.name)
    for group in cluster.workers:
        path = joined(group.path, "failureDomains")
        if not group.failure_domains or problems.touches(path):
            continue
        if cluster.provider in (CLOUDSTACK, DOCKER, TINKERBELL):
            problems.add("anywhere.failure_domain", path, f"is not supported by {cluster.provider_name}", fix="remove it")
        if datacenter is None or cluster.provider != VSPHERE:
            continue
        known = [str(one.get("name")) for one in datacenter.spec.get("failureDomains") or ()]
        for index, name in enumerate(group.failure_domains):
            if name not in known:
                allowed = ", ".join(known) or "none: the datacenter has no failureDomains"
                message = f"is not a failure domain of the {datacenter.kind}"
                place = joined(path, index)
                problems.add("anywhere.failure_domain", place, message, value=name, allowed=allowed, nearest=nearest(name, known))
