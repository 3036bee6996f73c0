# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cause is found from: objects of a cluster, pods and Deployments of controllers, and their events, without what may be secret."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Sequence

from .._node.redaction import redact_string
from . import work_folder
from .cluster_objects import ClusterObjects
from .kubectl import Kubectl
from .programs import StepFailed

_FACTS = ("apiVersion", "kind", "type", "reason", "message", "note", "lastTimestamp", "eventTime", "series", "involvedObject", "regarding")
_META = ("name", "namespace", "creationTimestamp", "deletionTimestamp", "finalizers", "labels")
_STATUS = ("conditions", "v1beta2", "deprecated", "failureMessage", "failureReason", "containerStatuses", "initContainerStatuses")
_MOST = 400
"""Objects that are returned of one cluster. Events are the most of them, and the newest are kept."""


def collect(kubectl: Kubectl, objects: ClusterObjects, pods_from: Sequence[str]) -> List[Dict[str, Any]]:
    """The objects of the cluster and their events. pods_from: kubeconfigs of clusters whose pods are looked at."""
    found = [one for one in objects.by_name.values() if one["kind"] != "Secret"]
    found += _read(kubectl, "events", "-n", kubectl.namespace)[-_MOST:]
    for path in pods_from:
        if not work_folder.read(path):
            continue
        other = Kubectl(kubectl.programs, path)
        if path != kubectl.kubeconfig and not other.answers():
            # kubectl would look for a cluster that is gone several times, for each kind.
            continue
        bad = [one for one in _read(other, "pods,deployments", "-A") if not _is_good(one)]
        names = {(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]) for one in bad}
        found += bad[:_MOST]
        found += [one for one in _read(other, "events", "-A") if _about(one) in names][-_MOST:] if bad else []
    return [facts(one) for one in found]


def _read(kubectl: Kubectl, *words: str) -> List[Dict[str, Any]]:
    try:
        return [one for one in kubectl.get(*words) if isinstance(one.get("metadata"), dict)]
    except StepFailed:
        # It says less of the cause then, and the wait goes on.
        return []


def _is_good(one: Mapping[str, Any]) -> bool:
    rows = (one.get("status") or {}).get("conditions") or ()
    wanted = "Ready" if one.get("kind") == "Pod" else "Available"
    return any(row.get("type") == wanted and row.get("status") == "True" for row in rows)


def _about(event: Mapping[str, Any]) -> Any:
    about = event.get("involvedObject") or event.get("regarding") or {}
    return about.get("kind"), about.get("namespace"), about.get("name")


def facts(one: Mapping[str, Any]) -> Dict[str, Any]:
    """The parts of an object that say what is wrong. Nothing of its specification but whether it is paused."""
    meta = {name: one["metadata"][name] for name in _META if name in one["metadata"]}
    spec, status = one.get("spec"), one.get("status")
    kept = {name: status[name] for name in _STATUS if name in status} if isinstance(status, dict) else {}
    paused = {"spec": {"paused": True}} if isinstance(spec, dict) and spec.get("paused") else {}
    return dict(_redacted({**{name: one[name] for name in _FACTS if name in one}, "metadata": meta, "status": kept, **paused}))


def _redacted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _redacted(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_redacted(item) for item in value]
    return redact_string(value) if isinstance(value, str) else value
