# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parses the input into a specification, in pure steps: check the fields, resolve aliases, merge, compute, check again.

Every step reports its problems and continues with the valid values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..errors import Problem, Problems, SpecError, joined
from ..formats.compression import unpack
from ..kubernetes import parse_version
from ..network import cluster_dns_ips, no_proxy_entries
from . import checks, compute, existing, instance_checks, merge, own_fields, registries
from .described_cluster import check_cluster
from .fields import FAMILY_ALIASES, NODE_GROUP_KIND
from .plain import INVALID, NamedFile, plain
from .spec import Cluster, Containerd, LocalStorage, NodeSpec, PostCommand, Proxy, Taint, Windows

SCRIPT_FAMILIES = ("al2", "ubuntu")

_CLUSTER_ONLY = frozenset(("endpoint", "certificate_authority", "certificateAuthority", "service_cidr", "arn"))
"""Fields that show that a mapping is a cluster."""


def parse(cluster: Any, node_group: Any, problems: Problems, running: str | None = None) -> NodeSpec | None:
    """Return the specification of C(node_group) in C(cluster), both in the form users write.

    running: the instance type of the single node that the specification is for; by default it is for all nodes of the group.

    Problems are added to C(problems), and the specification lacks the invalid fields, so that later stages can report more
    problems. Returns None only if there is no node group or no known family.
    """
    raw_group = plain(node_group, "node_group", problems)
    if _are_exchanged(cluster, raw_group):
        fix = "exchange the two, as in node_group | nodebootstrap.eks.user_data(cluster)"
        problems.add("input.wrong_type", "node_group", "is a cluster, and the given cluster is a node group", fix=fix)
        return None
    facts = check_cluster(cluster, problems)
    given = NODE_GROUP_KIND(raw_group, "node_group", problems)
    if given is INVALID or "family" not in given:
        return None
    resolved = _cluster({} if facts is INVALID else facts)
    group = _without_alias(given, problems)
    merged = _merge(resolved, group, problems)
    existing_texts = _user_data(group, problems)
    computed = _compute(group, merged, existing_texts, problems, running)
    spec = _specification(resolved, given, merged, computed, existing_texts, problems)
    warnings = (
        *spec.warnings,
        *instance_checks.check(spec, computed.shape, problems),
        *checks.newer_version(spec),
        *registries.warnings(spec),
    )
    return replace(spec, unchecked=checks.check(spec, problems), warnings=warnings)


def _are_exchanged(cluster: Any, node_group: Any) -> bool:
    """Is the cluster given as the node group, and the node group as the cluster? Every field would be a problem."""
    if not isinstance(cluster, Mapping) or not isinstance(node_group, Mapping):
        return False
    return "family" in cluster and "family" not in node_group and not _CLUSTER_ONLY.isdisjoint(node_group)


def _without_alias(group: dict[str, Any], problems: Problems) -> dict[str, Any]:
    """Return C(group) with our name for an eksctl family, and with the fields that the eksctl name implies."""
    alias = group["family"]
    if alias not in FAMILY_ALIASES:
        return group
    family, implied = FAMILY_ALIASES[alias]
    for field, values in implied.items():
        own = group.get(field, {})
        for name in values.keys() & own.keys():
            if own[name] != values[name]:
                merge.report_twice(f"node_group.{field}.{name}", own[name], f"node_group.family ({alias})", values[name], problems)
    return {**group, "family": family, **{field: values | group.get(field, {}) for field, values in implied.items()}}


def _cluster(facts: dict[str, Any]) -> Cluster:
    version, endpoint = facts.get("kubernetes_version"), facts.get("endpoint")
    return Cluster(
        **{
            **facts,
            "dns_ips": tuple(facts.get("dns_ips", ())),
            "endpoint": endpoint.rstrip("/") if endpoint else None,
            "kubernetes_version": parse_version(version) if version else None,
        }
    )


@dataclass(frozen=True)
class _Merged:
    """A node group after C(merge): settings that can be given in several places, and C(group) without those places."""

    group: Mapping[str, Any]
    strategy: str | None
    max_pods: Any
    max_pods_path: str
    dns_ips: tuple[str, ...]
    dns_of_group: bool
    kube_is_automatic: bool
    kube_reserved: Mapping[str, str]
    system_reserved: Mapping[str, str]
    kubelet_config: Mapping[str, Any]
    kubelet_flags: Mapping[str, tuple[str, ...]]
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]


def _merge(cluster: Cluster, group: dict[str, Any], problems: Problems) -> _Merged:
    strategy = group.get("strategy", "bootstrap_script" if group["family"] in SCRIPT_FAMILIES else None)
    flags_of = partial(own_fields.flag_places, group)
    max_pods, max_pods_path = merge.merge_max_pods(group, group.get("max_pods"), problems, flags_of("max-pods"))
    dns_ips, dns_of_group = merge.merge_dns_ips(group, list(cluster.dns_ips) or None, problems, flags_of("cluster-dns"))
    reserved = group.get("reserved", {})
    # With strategy static, the script of the image, which computes the reservations, does not run.
    own_kube = reserved.get("kube", "auto" if strategy == "static" and group["family"] in SCRIPT_FAMILIES else None)
    kube_is_automatic, kube = merge.merge_reserved(
        group, merge.KUBE_RESERVED, own_kube, "node_group.reserved.kube", problems, flags_of("kube-reserved")
    )
    system_is_automatic, system = merge.merge_reserved(
        group, merge.SYSTEM_RESERVED, reserved.get("system"), "node_group.reserved.system", problems, flags_of("system-reserved")
    )
    if system_is_automatic:
        problems.add(
            "reserved.unsupported_auto",
            "node_group.reserved.system",
            "auto is available only for reserved.kube",
            fix="use quantities such as 100m or 100Mi",
        )
    labels = own_fields.merge_labels(group, problems)
    taints = own_fields.merge_taints(group, problems)
    rest = merge.without(group, (*merge.COMPUTED_PLACES, *own_fields.TAINT_PLACES))
    flags = merge.merge_kubelet_flags(rest, problems, own_fields.FIELD_OF_FLAG)
    config = merge.without_flagged(rest, merge.merge_kubelet_config(rest, problems), flags, problems)
    return _Merged(
        group=merge.without(rest, merge.KUBELET_PLACES),
        strategy=strategy,
        max_pods=max_pods,
        max_pods_path=max_pods_path,
        dns_ips=tuple(dns_ips or ()),
        dns_of_group=dns_of_group,
        kube_is_automatic=kube_is_automatic,
        kube_reserved=kube,
        system_reserved=system,
        kubelet_config=config,
        kubelet_flags=dict(sorted(flags.items())),
        labels=labels,
        taints=tuple(Taint(one["key"], one.get("value", ""), one["effect"]) for _path, one in taints if "key" in one and "effect" in one),
    )


@dataclass(frozen=True)
class _Computed:
    """The values that depend on the instance type."""

    shape: compute.Shape
    max_pods: int | None
    kube_reserved: Mapping[str, str]
    warnings: tuple[Problem, ...]


def _compute(group: Mapping[str, Any], merged: _Merged, texts: Mapping[str, str], problems: Problems, running: str | None) -> _Computed:
    family = group["family"]
    shape = compute.Shape.of(group.get("instance", {}), problems, running)
    max_pods = compute.max_pods(merged.max_pods, merged.max_pods_path, family, shape, problems, running=running is not None)
    kube, warning = merged.kube_reserved, None
    own = compute.Pods(max_pods, merged.max_pods_path) if max_pods is not None else None
    in_force = existing.pods_in_force(group, texts, own, shape)
    if merged.kube_is_automatic:
        implied = "kube" not in group.get("reserved", {})
        kube = {**compute.automatic_reserved(in_force, shape, problems, implied=implied), **kube}
    elif not kube and in_force is not None:
        warning = compute.reserved_warning(family, in_force, shape)
    return _Computed(shape, max_pods, kube, (warning,) if warning else ())


def _specification(
    cluster: Cluster, given: Mapping[str, Any], merged: _Merged, computed: _Computed, texts: Mapping[str, str], problems: Problems
) -> NodeSpec:
    group = merged.group
    unusable = Problems()
    dns_of_cidr = _computed_dns(cluster, unusable)
    if not merged.dns_ips:
        problems.extend(unusable)
    storage = group.get("local_storage")
    return NodeSpec(
        cluster=cluster,
        family=group["family"],
        name=group.get("name"),
        mode=group.get("mode", "self_managed"),
        strategy=merged.strategy,
        instance_types=computed.shape.types,
        hostname_type=group.get("instance", {}).get("hostname_type", "ip_name"),
        labels=merged.labels,
        taints=merged.taints,
        max_pods=computed.max_pods,
        dns_ips=merged.dns_ips or dns_of_cidr,
        dns_of_group=merged.dns_of_group,
        dns_of_eks=not merged.dns_ips or (not merged.dns_of_group and merged.dns_ips == dns_of_cidr),
        kube_reserved=compute.in_order(computed.kube_reserved),
        system_reserved=compute.in_order(merged.system_reserved),
        kubelet_config=merged.kubelet_config,
        kubelet_flags=merged.kubelet_flags,
        containerd=_containerd(group.get("containerd", {})),
        local_storage=LocalStorage(storage["strategy"], storage.get("mount_path")) if storage and "strategy" in storage else None,
        trust=tuple(group.get("trust", ())),
        proxy=_proxy(group.get("proxy"), cluster),
        commands_pre=tuple(group.get("commands", {}).get("pre", ())),
        commands_post=tuple(PostCommand(**command) for command in group.get("commands", {}).get("post", ())),
        override=group.get("override"),
        user_data=tuple(texts.values()),
        user_data_paths=tuple(texts),
        user_data_precedence=group.get("user_data_precedence"),
        allow_secrets=group.get("allow_secrets_in_user_data", False),
        nodeadm=group.get("nodeadm", {}),
        bottlerocket=group.get("bottlerocket", {}).get("settings", {}),
        windows=_windows(group.get("windows", {})),
        ubuntu_release=group.get("ubuntu", {}).get("release"),
        ubuntu_kubelet=group.get("ubuntu", {}).get("kubelet", "snap"),
        warnings=computed.warnings,
        given=given,
    )


def _computed_dns(cluster: Cluster, problems: Problems) -> tuple[str, ...]:
    if cluster.service_cidr is None:
        return ()
    try:
        return tuple(cluster_dns_ips(cluster.service_cidr))
    except SpecError as error:
        problems.add(
            error.problems[0].rule,
            "cluster.service_cidr",
            error.problems[0].message,
            value=cluster.service_cidr,
            fix="also set cluster.dns_ips",
        )
        return ()


def _containerd(values: dict[str, Any]) -> Containerd:
    given = sorted(values.get("registry_mirrors", {}).items())
    mirrors = {host: tuple(registries.mirror_of(item) for item in items) for host, items in given}
    return Containerd(values.get("config", {}), mirrors, values.get("pause_image"))


def _proxy(values: dict[str, Any] | None, cluster: Cluster) -> Proxy | None:
    if values is None:
        return None
    entries = no_proxy_entries(cluster.endpoint, cluster.service_cidr, values.get("no_proxy", []))
    return Proxy(values.get("http"), values.get("https"), tuple(entries))


def _windows(values: dict[str, Any]) -> Windows:
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return Windows(**fields)


def _user_data(group: Mapping[str, Any], problems: Problems) -> dict[str, str]:
    """The texts of C(user_data) and C(user_data_files) by their paths in the input."""
    contents: dict[str, str | bytes] = {
        joined("node_group.user_data", index): text for index, text in enumerate(group.get("user_data", []))
    }
    for index, file in enumerate(group.get("user_data_files", [])):
        path = joined("node_group.user_data_files", index)
        if isinstance(file, NamedFile) and file.content is not None:
            contents[path] = file.content
        elif isinstance(file, NamedFile):
            fix = f"use the path of an existing file; relative paths start at {file.start}"
            problems.add("input.unreadable_file", path, file.reason, value=file.name, fix=fix)
        else:
            problems.add("input.unreadable_file", path, "names a file, but files are not read here", value=file, fix="use user_data")
    found = {}
    for path, content in contents.items():
        before = len(problems)
        decoded = unpack(content, path, problems)
        if len(problems) == before and decoded.strip():
            found[path] = decoded
    return found
