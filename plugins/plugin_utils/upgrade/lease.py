# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Lease that keeps a second run of an upgrade out.

A lease belongs to another run as long as that renews it. It is taken over when it was not renewed for its whole duration, by the clock of
the process that watches it, or at once when its holder was a process of the same machine that does not exist any more.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

NAMESPACE = "kube-system"
PATH = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"
DURATION = 60
"""Seconds for which a lease is valid after it was renewed."""

RENEW_SECONDS = 10.0
"""Seconds after which it is renewed."""


@dataclass(frozen=True)
class Watched:
    """A lease of another holder, and since when it has been seen with this resource version, by our clock."""

    resource_version: str
    since: float


def name_of(kind: str, group: str) -> str:
    """The name of the Lease of a group: a DNS label that differs for different groups."""
    text = re.sub(r"[^a-z0-9]+", "-", group.lower()).strip("-")[:30].strip("-") or "group"
    return f"nodebootstrap-upgrade-{text}-{hashlib.sha256(f'{kind}/{group}'.encode()).hexdigest()[:8]}"


def holder_of(lease: Mapping[str, Any]) -> str:
    """Its holder, '' if it is free."""
    return str((lease.get("spec") or {}).get("holderIdentity") or "")


def is_expired(lease: Mapping[str, Any], watched: Watched | None, now: float) -> bool:
    """Whether the holder did not renew the lease for its whole duration while it was watched."""
    if watched is None or watched.resource_version != version_of(lease):
        return False
    duration = (lease.get("spec") or {}).get("leaseDurationSeconds")
    return now - watched.since > (duration if isinstance(duration, int) and duration > 0 else DURATION)


def version_of(lease: Mapping[str, Any]) -> str:
    """Its resource version."""
    return str((lease.get("metadata") or {}).get("resourceVersion") or "")


def taken(name: str, holder: str, now: float, before: Mapping[str, Any] | None, duration: int = DURATION) -> dict[str, Any]:
    """The Lease of this holder. before: what there is now; a change of it by others makes the request fail."""
    old = (before or {}).get("spec") or {}
    is_ours = holder_of(before or {}) == holder
    metadata: dict[str, Any] = {"name": name, "namespace": NAMESPACE}
    kept = (before or {}).get("metadata") or {}
    for key in ("resourceVersion", "annotations", "labels"):
        if kept.get(key):
            metadata[key] = kept[key]
    transitions = int(old.get("leaseTransitions") or 0) + (0 if is_ours or before is None else 1)
    spec = {
        "holderIdentity": holder,
        "leaseDurationSeconds": duration,
        "acquireTime": old.get("acquireTime") if is_ours and old.get("acquireTime") else _time(now),
        "renewTime": _time(now),
        "leaseTransitions": transitions,
    }
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}


def _time(now: float) -> str:
    return datetime.fromtimestamp(now, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def held(name: str, lease: Mapping[str, Any]) -> str:
    """The message for a lease of another run."""
    spec = lease.get("spec") or {}
    return (
        f"another run upgrades this group: {holder_of(lease)} has held the Lease {NAMESPACE}/{name} since {spec.get('acquireTime')}, and "
        f"renewed it at {spec.get('renewTime')}; fix: wait until it ends"
    )
