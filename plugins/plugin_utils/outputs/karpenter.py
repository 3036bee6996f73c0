# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The resources of Karpenter for a node group: the parts of an EC2NodeClass and a NodePool that the node group determines."""

from __future__ import annotations

import re
from typing import Any

from ..artifacts import karpenter
from ..errors import Problem, SpecError
from .user_data import render

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def karpenter_manifests(cluster: Any, node_group: Any) -> dict[str, Any]:
    """C({ec2_node_class, node_pool}), to be combined with what the node group does not know, such as subnets. Raises C(SpecError)."""
    rendered = render(cluster, node_group)
    spec = rendered.spec
    if spec.mode != "karpenter":
        raise SpecError(
            [
                Problem(
                    "output.no_karpenter_manifests",
                    "node_group.mode",
                    "has no resources of Karpenter",
                    value=spec.mode,
                    allowed="karpenter",
                    fix="set mode: karpenter",
                )
            ]
        )
    if spec.name is not None and not _NAME.fullmatch(spec.name):
        fix = "use lower-case letters, digits and -"
        raise SpecError(
            [Problem("karpenter.invalid_name", "node_group.name", "is not a name of a Kubernetes resource", value=spec.name, fix=fix)]
        )
    metadata: dict[str, Any] = {"metadata": {"name": spec.name}} if spec.name else {}
    labels = {"metadata": {"labels": dict(spec.labels)}} if spec.labels else {}
    taints = [{key: value for key, value in (("key", t.key), ("value", t.value), ("effect", t.effect)) if value} for t in spec.taints]
    reference = {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": spec.name}} if spec.name else {}
    template = {**labels, "spec": {**({"taints": taints} if taints else {}), **reference}}
    class_spec = {
        "amiFamily": karpenter.ami_family(spec),
        "instanceStorePolicy": karpenter.instance_store_policy(spec),
        "kubelet": karpenter.kubelet(spec),
        "userData": rendered.document.text,
    }
    return {
        "ec2_node_class": {
            "apiVersion": "karpenter.k8s.aws/v1",
            "kind": "EC2NodeClass",
            **metadata,
            "spec": {key: value for key, value in class_spec.items() if value},
        },
        "node_pool": {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", **metadata, "spec": {"template": template}},
    }
