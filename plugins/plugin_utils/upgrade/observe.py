# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads objects of the Kubernetes API and of Auto Scaling into the model of an upgrade."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import marks
from .model import Capacity, Group, Instance, Node

_UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
_STARTUP = ("node.cloudprovider.kubernetes.io/uninitialized", "node.cloudprovider.kubernetes.io/shutdown")
_KARPENTER = ("karpenter.sh/nodepool", "karpenter.sh/provisioner-name")
_ZONE = "topology.kubernetes.io/zone"


def read_group(raw: Mapping[str, Any], template: Mapping[str, Any], names: Mapping[str, str]) -> Group:
    """An Auto Scaling group. template: its launch template. names: the numbers that C($Latest) and C($Default) stand for."""
    tags = {tag["Key"]: tag.get("Value") or "" for tag in raw.get("Tags", [])}
    run = marks.read_run(tags.get(marks.NODE))
    return Group(
        name=raw["AutoScalingGroupName"],
        desired=raw["DesiredCapacity"],
        min_size=raw["MinSize"],
        max_size=raw["MaxSize"],
        version=template.get("Version") or "$Default",
        names=tuple(sorted(names.items())),
        instances=tuple(_instance(one, template) for one in raw.get("Instances", [])),
        suspended=frozenset(process["ProcessName"] for process in raw.get("SuspendedProcesses", [])),
        run=run,
        capacity=Capacity() if run is None else marks.read_capacity(tags.get(marks.CAPACITY), run.id),
    )


def _instance(raw: Mapping[str, Any], template: Mapping[str, Any]) -> Instance:
    """An instance. One of another launch template, or of a launch configuration, has no version of this one."""
    own = raw.get("LaunchTemplate") or {}
    is_same = own.get("LaunchTemplateId") == template.get("LaunchTemplateId")
    version = str(own.get("Version", "")) if is_same else ""
    return Instance(raw["InstanceId"], raw.get("AvailabilityZone", ""), raw.get("LifecycleState", ""), version)


def read_node(raw: Mapping[str, Any]) -> Node:
    """A Node object."""
    metadata, spec, status = raw["metadata"], raw.get("spec") or {}, raw.get("status") or {}
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    return Node(
        name=metadata["name"],
        instance=instance_of(str(spec.get("providerID") or "")),
        zone=labels.get(_ZONE, ""),
        kubelet=str((status.get("nodeInfo") or {}).get("kubeletVersion") or ""),
        is_ready=_is_ready(status),
        is_cordoned=bool(spec.get("unschedulable")),
        is_tainted=any(_keeps_pods_out(taint) for taint in spec.get("taints") or ()),
        is_excluded=marks.EXCLUDE in labels,
        is_protected=annotations.get(marks.SCALE_DOWN_DISABLED) == "true",
        protected_by=annotations.get(marks.PROTECTED, ""),
        mark=marks.read_mark(annotations.get(marks.NODE)),
        created=str(metadata.get("creationTimestamp") or ""),
    )


def is_of_karpenter(raw: Mapping[str, Any]) -> bool:
    """Whether Karpenter launched a node."""
    labels = raw["metadata"].get("labels") or {}
    return any(name in labels for name in _KARPENTER)


def instance_of(provider_id: str) -> str:
    """The instance in C(aws:///ZONE/INSTANCE), '' if it is not from EC2."""
    return provider_id.rpartition("/")[2] if provider_id.startswith("aws:") else ""


def _is_ready(status: Mapping[str, Any]) -> bool:
    return any(one.get("type") == "Ready" and one.get("status") == "True" for one in status.get("conditions") or ())


def _keeps_pods_out(taint: Mapping[str, Any]) -> bool:
    """Whether a taint says that the node cannot take pods now. Other taints choose which pods it takes."""
    key = str(taint.get("key") or "")
    if taint.get("effect") not in ("NoSchedule", "NoExecute") or key == _UNSCHEDULABLE:
        return False
    return key in _STARTUP or key.startswith("node.kubernetes.io/") or key.endswith("/agent-not-ready")
