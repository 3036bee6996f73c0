# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads pods: each one only once, and only what the rules need. Reports on large clusters spend most of their time here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import ROUND_CEILING
from functools import lru_cache
from typing import Any, TypeVar

from ..quantities import parse_quantity
from .model import Amounts, Owner, Placement, Pod, PodTerm, Spread, Toleration
from .selectors import label_selector, node_terms

_MIRROR = "kubernetes.io/config.mirror"
_SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
_DO_NOT_DISRUPT = ("karpenter.sh/do-not-disrupt", "karpenter.sh/do-not-evict")
_DEFAULT_GRACE = 30
_NOTHING: Mapping[str, Any] = {}
_NO_PLACEMENT = Placement()

Value = TypeVar("Value")


@lru_cache(maxsize=65536, typed=True)
def _shared(value: Value) -> Value:
    """The first of all equal values, so that the pods of one controller share them."""
    return value


@lru_cache(maxsize=16384)
def amount(text: str) -> int:
    """Thousandths of a quantity, rounded up. 0 for what is not a quantity."""
    found = parse_quantity(text)
    return 0 if found is None else int((found * 1000).to_integral_value(ROUND_CEILING))


@lru_cache(maxsize=65536)
def _labels(items: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    return dict(items)


def _copied(text: str) -> str:
    """A copy in new memory. A text of a decoded page would keep the memory around it, and decoding the next pages would be slower."""
    return f"{text} "[:-1]


def read_pod(raw: Mapping[str, Any]) -> Pod:
    """A pod of the API."""
    metadata, spec, status = raw["metadata"], raw.get("spec") or _NOTHING, raw.get("status") or _NOTHING
    annotations = metadata.get("annotations") or _NOTHING
    owner = _owner(metadata.get("ownerReferences"))
    empty_dirs, host_paths, claims = _volumes(spec.get("volumes"), metadata["name"])
    is_placed = owner is not None and owner.kind == "DaemonSet"
    return Pod(
        _shared(metadata.get("namespace") or ""),
        _copied(metadata["name"]),
        _copied(metadata.get("uid") or ""),
        _shared(spec.get("nodeName") or ""),
        _shared(status.get("phase") or ""),
        _is_ready(status.get("conditions")),
        metadata.get("deletionTimestamp") or "",
        _int(spec.get("terminationGracePeriodSeconds"), _DEFAULT_GRACE),
        _shared(tuple(metadata["finalizers"])) if metadata.get("finalizers") else (),
        _labels(tuple(metadata["labels"].items())) if metadata.get("labels") else _NOTHING,
        owner,
        _MIRROR in annotations,
        annotations.get(_SAFE_TO_EVICT) == "false",
        any(annotations.get(name) == "true" for name in _DO_NOT_DISRUPT) if annotations else False,
        _tolerations(spec.get("tolerations")),
        # The placement of a pod of a DaemonSet is its node.
        _NO_PLACEMENT if is_placed else _placement(spec),
        _requests(spec),
        _host_ports(spec),
        empty_dirs,
        host_paths,
        claims,
    )


def _int(value: Any, default: int) -> int:
    return value if isinstance(value, int) else default


def _is_ready(conditions: Any) -> bool:
    for one in conditions or ():
        if one.get("type") == "Ready":
            return bool(one.get("status") == "True")
    return False


def _owner(references: Any) -> Owner | None:
    for one in references or ():
        if one.get("controller"):
            found: Owner = _shared(Owner(one.get("kind") or "", one.get("name") or "", one.get("uid") or ""))
            return found
    return None


def _tolerations(raw: Any) -> tuple[Toleration, ...]:
    if not raw:
        return ()
    found: tuple[Toleration, ...] = _shared(
        tuple(
            Toleration(
                one.get("key") or "",
                one.get("operator") or "Equal",
                one.get("value") or "",
                one.get("effect") or "",
                one.get("tolerationSeconds"),
            )
            for one in raw
        )
    )
    return found


def _volumes(raw: Any, pod: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The names of emptyDirs, the paths of hostPaths, and the names of claims."""
    empty_dirs, host_paths, claims = [], [], []
    for one in raw or ():
        if "projected" in one or "configMap" in one or "secret" in one:
            continue
        if "emptyDir" in one:
            empty_dirs.append(one["name"])
        elif "hostPath" in one:
            host_paths.append((one["hostPath"] or _NOTHING).get("path") or "")
        elif "persistentVolumeClaim" in one:
            claims.append((one["persistentVolumeClaim"] or _NOTHING).get("claimName") or "")
        elif "ephemeral" in one:
            claims.append(f"{pod}-{one['name']}")
    return _shared(tuple(empty_dirs)), _shared(tuple(host_paths)), tuple(map(_copied, claims))


def _host_ports(spec: Mapping[str, Any]) -> tuple[tuple[int, str], ...]:
    found: tuple[tuple[int, str], ...] = ()
    for container in spec.get("containers") or ():
        for port in container.get("ports") or ():
            if "hostPort" in port:
                found += ((port["hostPort"], port.get("protocol") or "TCP"),)
    return found


# --- requests ------------------------------------------------------------------------------------------------------------------------


def _requests(spec: Mapping[str, Any]) -> Amounts:
    """What the scheduler reserves: the sum of the containers, or the largest init container, and the overhead."""
    parts = [_container_requests(container) for container in spec.get("containers") or ()]
    init, overhead = spec.get("initContainers"), spec.get("overhead")
    if init:
        return _cached_sum(
            tuple(parts), tuple((one.get("restartPolicy") == "Always", _container_requests(one)) for one in init), _items(overhead)
        )
    return _cached_sum(tuple(parts), (), _items(overhead))


def _container_requests(container: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    resources = container.get("resources")
    return _items(resources.get("requests")) if resources else ()


def _items(raw: Any) -> tuple[tuple[str, str], ...]:
    return tuple(raw.items()) if raw else ()


Requests = tuple[tuple[str, str], ...]


@lru_cache(maxsize=16384)
def _cached_sum(containers: tuple[Requests, ...], init: tuple[tuple[bool, Requests], ...], overhead: Requests) -> Amounts:
    running = _sum(*containers, *(one for is_sidecar, one in init if is_sidecar))
    largest: dict[str, int] = {}
    sidecars: dict[str, int] = {}
    for is_sidecar, one in init:
        if is_sidecar:
            sidecars = _added(sidecars, _sum(one))
            continue
        for name, value in _added(sidecars, _sum(one)).items():
            largest[name] = max(largest.get(name, 0), value)
    both = {name: max(running.get(name, 0), largest.get(name, 0)) for name in {**running, **largest}}
    return _added(both, _sum(overhead))


def _sum(*parts: Requests) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in parts:
        for name, value in part:
            found[name] = found.get(name, 0) + amount(str(value))
    return found


def _added(left: Mapping[str, int], right: Mapping[str, int]) -> dict[str, int]:
    return {name: left.get(name, 0) + right.get(name, 0) for name in {**left, **right}}


# --- placement -----------------------------------------------------------------------------------------------------------------------


def _placement(spec: Mapping[str, Any]) -> Placement:
    selector, affinity, spread = spec.get("nodeSelector"), spec.get("affinity"), spec.get("topologySpreadConstraints")
    if not selector and not affinity and not spread:
        return _NO_PLACEMENT
    return _parsed_placement(json.dumps([selector, affinity, spread]))


@lru_cache(maxsize=16384)
def _parsed_placement(text: str) -> Placement:
    selector, affinity, spread = json.loads(text)
    affinity = affinity or {}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return Placement(
        tuple(sorted((str(key), str(value)) for key, value in (selector or {}).items())),
        node_terms((affinity.get("nodeAffinity") or {}).get(required)),
        tuple(_pod_term(one) for one in (affinity.get("podAffinity") or {}).get(required) or ()),
        tuple(_pod_term(one) for one in (affinity.get("podAntiAffinity") or {}).get(required) or ()),
        tuple(_spread(one) for one in spread or () if one.get("whenUnsatisfiable") == "DoNotSchedule"),
    )


def _pod_term(raw: Mapping[str, Any]) -> PodTerm:
    return PodTerm(
        str(raw.get("topologyKey")),
        label_selector(raw.get("labelSelector")),
        frozenset(map(str, raw.get("namespaces") or ())),
        label_selector(raw.get("namespaceSelector")),
    )


def _spread(raw: Mapping[str, Any]) -> Spread:
    return Spread(
        str(raw.get("topologyKey")),
        _int(raw.get("maxSkew"), 1),
        _int(raw.get("minDomains"), 1),
        label_selector(raw.get("labelSelector")),
        tuple(map(str, raw.get("matchLabelKeys") or ())),
        raw.get("nodeAffinityPolicy") != "Ignore",
        raw.get("nodeTaintsPolicy") == "Honor",
    )
