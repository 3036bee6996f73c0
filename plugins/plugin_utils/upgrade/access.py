# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The permissions in the cluster that an upgrade needs, checked before anything is changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .lease import NAMESPACE

PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


class Permission(NamedTuple):
    """A verb on a resource. group: '' for the core group. namespace: '' for all."""

    verb: str
    resource: str
    group: str = ""
    namespace: str = ""

    @property
    def shown(self) -> str:
        """The permission as messages name it."""
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        return f"{self.verb} {resource}" + (f" in namespace {self.namespace}" if self.namespace else "")


def needed(deletes_pods: bool) -> Iterator[Permission]:
    """The permissions for draining and cordoning nodes, and for the lease."""
    for verb in ("get", "list", "patch"):
        yield Permission(verb, "nodes")
    yield Permission("list", "pods")
    yield Permission("create", "pods/eviction")
    if deletes_pods:
        yield Permission("delete", "pods")
    yield Permission("list", "poddisruptionbudgets", "policy")
    yield Permission("list", "daemonsets", "apps")
    for verb in ("get", "create", "update", "delete"):
        yield Permission(verb, "leases", "coordination.k8s.io", NAMESPACE)


def review(permission: Permission) -> dict[str, Any]:
    """The request that asks the API server for a permission."""
    resource, _slash, subresource = permission.resource.partition("/")
    attributes = {"verb": permission.verb, "resource": resource, "group": permission.group, "namespace": permission.namespace}
    if subresource:
        attributes["subresource"] = subresource
    return {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {"resourceAttributes": attributes}}


def is_allowed(answer: dict[str, Any]) -> bool:
    """Whether the API server allows it."""
    return bool((answer.get("status") or {}).get("allowed"))


def message(missing: list[Permission]) -> str:
    """What is missing, for messages."""
    return (
        f"the Kubernetes identity does not have the permission to {', '.join(one.shown for one in missing)}; nothing was changed; "
        "fix: allow it by a role of Kubernetes RBAC, or by an access policy of EKS"
    )
