# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an upgrade changes, from the live cluster and the rendered objects: versions before and after, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import Problems

_WORKERS = ("MachineDeployment", "MachinePool")
_PLANE = "KubeadmControlPlane"
_ONE_MINOR = "upgrade one minor version after the other: first to {0}"


# --- the two parts -----------------------------------------------------------------------------------------------------------------------


def control_plane_part(objects: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """The objects that are applied first: everything but the groups of workers, their templates and the health checks."""
    late = set(_WORKERS) | {"MachineSet", "MachineHealthCheck"}
    of_workers = {name for one in objects if one["kind"] in late for name in _templates(one)}
    of_plane = {name for one in objects if one["kind"] not in late for name in _templates(one)}
    later = of_workers - of_plane
    return tuple(one for one in objects if one["kind"] not in late and (one["kind"], one["metadata"]["name"]) not in later)


def _templates(one: Mapping[str, Any]) -> set[tuple[str, str]]:
    """The templates to which an object refers."""
    return set(_references(one.get("spec")))


def _references(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        kind, name = value.get("kind"), value.get("name")
        if isinstance(kind, str) and isinstance(name, str) and kind.endswith("Template"):
            yield kind, name
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


# --- before and after --------------------------------------------------------------------------------------------------------------------


def rows(
    live: Mapping[str, Any], objects: Sequence[Mapping[str, Any]], providers: Sequence[Mapping[str, str]], cert_manager: str
) -> list[dict[str, Any]]:
    """One row for each subject: what it is before and after, None if it does not exist. Rows without a change are there, too."""
    return [
        *_group_rows(live, objects),
        *_provider_rows(live, providers),
        _row("cert-manager", live["cert_manager"], cert_manager if live["cert_manager"] else None),
        *(_row(f"unused {name.partition('/')[0]} {name.rpartition('/')[2]}", "exists", None) for name in live["leftovers"]),
    ]


def _row(subject: str, before: Any, after: Any) -> dict[str, Any]:
    return {"subject": subject, "before": before, "after": after, "changes": before != after}


def _wanted_groups(objects: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], Mapping[str, Any]]:
    return {(one["kind"], one["metadata"]["name"]): one for one in objects if one["kind"] in (_PLANE, *_WORKERS)}


def _live_groups(live: Mapping[str, Any]) -> dict[tuple[str, str], Mapping[str, Any]]:
    return {(one["kind"], one["name"]): one for one in live["groups"]}


def _version(one: Mapping[str, Any]) -> str | None:
    spec = one.get("spec") or {}
    found = spec.get("version") or ((spec.get("template") or {}).get("spec") or {}).get("version")
    return None if found is None else str(found)


def _group_rows(live: Mapping[str, Any], objects: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    found, wanted = _live_groups(live), _wanted_groups(objects)
    for key in [*wanted, *(key for key in sorted(found) if key not in wanted)]:
        before, after = found.get(key), wanted.get(key)
        subject = "control plane" if key[0] == _PLANE else f"worker group {key[1]}"
        yield _row(f"{subject}: Kubernetes", before and before["version"], after and _version(after))
        # A number that is not rendered belongs to an autoscaler.
        count = after and after["spec"].get("replicas", before and before["replicas"])
        yield _row(f"{subject}: machines", before and before["replicas"], count)
        if before and after:
            old, new = set(before["templates"]), {name for _kind, name in _templates(after)}
            if old != new:
                yield _row(f"{subject}: templates", ", ".join(sorted(old - new)), ", ".join(sorted(new - old)))


def _provider_rows(live: Mapping[str, Any], providers: Sequence[Mapping[str, str]]) -> Iterator[dict[str, Any]]:
    for one in providers:
        key = f"{one['type']} {one['name']}"
        yield _row(f"Cluster API: {key}", live["providers"].get(key), one["version"])


def page(found: Sequence[Mapping[str, Any]]) -> str:
    """The rows with a change as lines, and one line about the others."""
    lines = [f"  {row['subject']}: {_shown(row['before'])} -> {_shown(row['after'])}" for row in found if row["changes"]]
    return "\n".join(lines or ["  no version, group or template changes"])


def _shown(value: Any) -> str:
    return "none" if value is None or value == "" else str(value)


# --- what is refused ---------------------------------------------------------------------------------------------------------------------


def check(
    live: Mapping[str, Any],
    objects: Sequence[Mapping[str, Any]],
    providers: Sequence[Mapping[str, str]],
    cert_manager: str,
    problems: Problems,
) -> None:
    """Report what an upgrade cannot do: skip a minor version, go back, or change what cannot be changed."""
    _check_versions(live, objects, problems)
    installed = [(f"cluster_api_version.{one['name']}", live["providers"].get(f"{one['type']} {one['name']}"), one["version"])
                 for one in providers]  # fmt: skip
    for path, before, after in (*installed, ("cert_manager_version", live["cert_manager"], cert_manager)):
        if before is not None and version_of(after) < version_of(before):
            fix = f"use {before} or a newer version"
            problems.add("anywhere.upgrade_version", path, f"is older than {before}, which the cluster has", value=after, fix=fix)
    _check_immutable(live["cluster"], objects, problems)


def _check_versions(live: Mapping[str, Any], objects: Sequence[Mapping[str, Any]], problems: Problems) -> None:
    found = _live_groups(live)
    for key, one in _wanted_groups(objects).items():
        before, after = (found.get(key) or {}).get("version"), _version(one)
        if before is None or after is None:
            continue
        old, new = version_of(before), version_of(after)
        path = f"{key[0]}/{key[1]}.version"
        if new < old:
            fix = f"use {before} or a newer version; Kubernetes cannot go back"
            problems.add("anywhere.upgrade_version", path, f"is older than {before}, which the cluster has", value=after, fix=fix)
        elif (new[0], new[1]) > (old[0], old[1] + 1):
            fix = _ONE_MINOR.format(f"v{old[0]}.{old[1] + 1}")
            problems.add("anywhere.upgrade_version", path, f"is more than one minor version after {before}", value=after, fix=fix)


def version_of(version: str) -> tuple[int, int, int]:
    """A version as numbers."""
    words = version.lstrip("v").partition("-")[0].partition("+")[0].split(".")
    numbers = [int(word) if word.isdigit() else 0 for word in words[:3]]
    major, minor, patch = (*numbers, 0, 0, 0)[:3]
    return major, minor, patch


def _check_immutable(live: Mapping[str, Any], objects: Sequence[Mapping[str, Any]], problems: Problems) -> None:
    cluster = next((one for one in objects if one["kind"] == "Cluster"), None)
    if cluster is None:
        return
    spec = cluster.get("spec") or {}
    network = spec.get("clusterNetwork") or {}
    pairs = [
        ("clusterNetwork.pods.cidrBlocks", _cidrs(live["network"], "pods"), _cidrs(network, "pods")),
        ("clusterNetwork.services.cidrBlocks", _cidrs(live["network"], "services"), _cidrs(network, "services")),
        ("clusterNetwork.serviceDomain", live["network"].get("serviceDomain"), network.get("serviceDomain")),
        ("controlPlaneEndpoint.host", live["endpoint"].get("host"), (spec.get("controlPlaneEndpoint") or {}).get("host")),
        ("controlPlaneRef", _target(live["control_plane"]), _target(spec.get("controlPlaneRef") or {})),
        ("infrastructureRef", _target(live["infrastructure"]), _target(spec.get("infrastructureRef") or {})),
        ("externalEtcdConfiguration", live["external_etcd"], _has_external_etcd(objects)),
    ]
    for path, before, after in pairs:
        # What the file does not say stays as it is, and so does what the provider has chosen.
        if before is not None and after is not None and before != after:
            name = cluster["metadata"]["name"]
            fix = "write the old value; or make another cluster, and move the workloads"
            message = f"cannot be changed: the cluster has {_shown_value(before)}"
            problems.add("anywhere.upgrade_immutable", f"Cluster/{name}.{path}", message, value=after, fix=fix)


def _cidrs(network: Mapping[str, Any], kind: str) -> list[str] | None:
    found = (network.get(kind) or {}).get("cidrBlocks")
    return None if found is None else list(found)


def _target(reference: Mapping[str, Any]) -> str | None:
    return f"{reference.get('kind')}/{reference.get('name')}" if reference else None


def _has_external_etcd(objects: Sequence[Mapping[str, Any]]) -> bool:
    for one in objects:
        spec = one.get("spec") or {}
        config = (spec.get("kubeadmConfigSpec") or {}).get("clusterConfiguration") or {}
        if (one["kind"] == "Cluster" and spec.get("managedExternalEtcdRef")) or (config.get("etcd") or {}).get("external"):
            return True
    return False


def _shown_value(value: Any) -> str:
    if isinstance(value, bool):
        return "it" if value else "none"
    return ", ".join(value) if isinstance(value, list) else str(value)
