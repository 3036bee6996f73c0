# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster waits for: the objects that are not as they should be, each with its condition, message and last events."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional

from .._node.redaction import redact_string
from . import evidence
from .cluster_objects import (
    ClusterObjects,
    condition,
    is_available,
    is_control_plane_ready,
    is_deleted,
    is_initialized,
    lag,
    read_objects,
)
from .kubectl import Kubectl
from .programs import AdminPrograms, StepFailed

_SUMMARY = {"Cluster": "Available", "KubeadmControlPlane": "Available", "MachineDeployment": "Available"}
_ORDER = ("Machine", "KubeadmControlPlane", "MachineDeployment", "Cluster")
"""The deepest objects first: what they say is nearer to the cause."""

_EVENTS, _ROWS = 3, 8
_POLL = 3.0


def find(kubectl: Kubectl, objects: ClusterObjects) -> List[Dict[str, Any]]:
    """The objects that are not ready, the nearest to the cause first. Events that cannot be read are left out."""
    rows = [row for one in _sorted(objects) for row in [_row(one)] if row is not None][:_ROWS]
    if not rows:
        return []
    try:
        events = kubectl.get("events", "-n", kubectl.namespace)
    except StepFailed:
        events = []
    for row in rows:
        row["events"] = _last_events(events, row["kind"], row["name"])
    return rows


def _sorted(objects: ClusterObjects) -> List[Dict[str, Any]]:
    """Infrastructure first, then machines, groups and the cluster."""
    owned = [one for one in objects.by_name.values() if condition(one, "Ready") and one["kind"] not in _ORDER]
    owned.sort(key=lambda one: (one["kind"], one["metadata"]["name"]))
    return owned + [one for kind in _ORDER for one in objects.of_kind(kind)]


def _row(one: Mapping[str, Any]) -> Optional[Dict[str, Any]]:
    metadata = one["metadata"]
    kind = _SUMMARY.get(one["kind"], "Ready")
    found = condition(one, kind)
    if metadata.get("deletionTimestamp"):
        names = ", ".join(metadata.get("finalizers") or ()) or "its controller"
        found, kind, message = {"status": "False", "reason": "Deleting"}, "Deleting", "is being deleted, and waits for " + names
    elif found is None:
        message = "is not reported yet"
    elif found.get("status") == "True":
        message = lag(one) if one["kind"] in ("KubeadmControlPlane", "MachineDeployment") else ""
        if not message:
            return None
    else:
        message = found.get("message") or "no message"
    return {
        "kind": one["kind"],
        "name": metadata["name"],
        "condition": kind,
        "status": (found or {}).get("status", "Unknown"),
        "reason": (found or {}).get("reason", ""),
        "message": redact_string(" ".join(message.split())),
    }


def _last_events(events: List[Dict[str, Any]], kind: str, name: str) -> List[str]:
    """The last events of an object, the newest first."""
    mine = [one for one in events if _about(one, kind, name)]
    mine.sort(key=lambda one: str(one.get("lastTimestamp") or one.get("eventTime") or ""), reverse=True)
    return [redact_string("{0}: {1}".format(one.get("reason", ""), one.get("message", ""))) for one in mine[:_EVENTS]]


def _about(event: Mapping[str, Any], kind: str, name: str) -> bool:
    about = event.get("involvedObject") or {}
    return bool(about.get("kind") == kind and about.get("name") == name)


def line(row: Mapping[str, Any]) -> str:
    """One object as a line of a message."""
    text = "{kind} {name}: {condition} is {status}".format(**row)
    text += " ({0})".format(row["reason"]) if row["reason"] else ""
    text += ": " + row["message"] if row["message"] else ""
    return text + "".join("; last event: " + event for event in row.get("events", [])[:1])


def wait(programs: AdminPrograms, options: Mapping[str, Any], check_mode: bool) -> Dict[str, Any]:
    """Wait until a cluster is in a state. Raises C(StepFailed) with what it waits for, after the time limit."""
    kubectl = Kubectl(programs, options["kubeconfig"], options["namespace"])
    is_reached = _STATES[options["wait_for"]]
    limit = programs.now() + (0 if check_mode else options["timeout"])
    while True:
        rows: List[Dict[str, Any]] = []
        objects = ClusterObjects(None, {})
        try:
            objects = read_objects(kubectl, options["name"])
            if is_reached(objects):
                return {"changed": False, "reached": True, "waits_for": []}
            rows = find(kubectl, objects)
            lines = [line(row) for row in rows] or ["no object of the cluster says what is missing"]
        except StepFailed as error:
            # An API server that restarts does not answer for a while.
            lines = [str(error)]
        if programs.now() >= limit:
            if not options["fail"] or check_mode:
                found = evidence.collect(kubectl, objects, options["pods_from"])
                return {"changed": False, "reached": False, "waits_for": rows, "lines": lines, "evidence": found}
            head = "{0} is not reached after {1:g} seconds. It waits for:".format(options["wait_for"], options["timeout"])
            raise StepFailed("\n".join([head, *("  - " + text for text in lines)]))
        programs.sleep(min(_POLL, max(0.1, limit - programs.now())))


_STATES: Dict[str, Callable[[ClusterObjects], bool]] = {
    "control_plane": is_initialized,
    "available": is_available,
    "control_plane_ready": is_control_plane_ready,
    "deleted": is_deleted,
}
WAIT_STATES = tuple(sorted(_STATES))
