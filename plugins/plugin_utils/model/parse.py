# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Input to specification: everything is checked, nothing is raised, what is whole goes on."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from ..errors import Problems, SpecError, joined
from ..formats.compression import unpack
from ..kubernetes import parse_version
from ..network import cluster_dns_ips, no_proxy_entries
from . import checks, compute, merge
from .fields import CLUSTER_KIND, FAMILY_ALIASES, NODE_GROUP_KIND
from .plain import INVALID, plain
from .spec import Cluster, Containerd, LocalStorage, NodeSpec, Proxy, Taint, Windows

SCRIPT_FAMILIES = ("al2", "ubuntu")


def parse(cluster: Any, node_group: Any, problems: Problems, running: str | None = None) -> NodeSpec | None:
    """The specification of C(node_group) in C(cluster), both as users write them.

    running: the instance type of the one running node that this is about; without it the specification is for all of them.

    What is wrong is reported to C(problems); the specification then lacks exactly those fields, so that later stages
    can report theirs too. None only when there is no node group or no known family to speak of.
    """
    raw_cluster = plain(cluster, "cluster", problems)
    raw_group = plain(node_group, "node_group", problems)
    facts = CLUSTER_KIND(raw_cluster if raw_cluster is not None else {}, "cluster", problems)
    group = NODE_GROUP_KIND(raw_group, "node_group", problems)
    if group is INVALID or "family" not in group:
        return None
    given = copy.deepcopy(group)
    _expand_alias(group, problems)
    return _specification(_cluster({} if facts is INVALID else facts), group, given, problems, running)


def _expand_alias(group: dict[str, Any], problems: Problems) -> None:
    """Replace eksctl's family name by ours and fill in what the name implies."""
    alias = group["family"]
    if alias not in FAMILY_ALIASES:
        return
    family, implied = FAMILY_ALIASES[alias]
    group["family"] = family
    for field, values in implied.items():
        own = group.get(field, {})
        group[field] = values | own
        for name in values.keys() & own.keys():
            if own[name] != values[name]:
                merge.report_twice(f"node_group.{field}.{name}", own[name], f"node_group.family ({alias})", values[name], problems)


def _cluster(facts: dict[str, Any]) -> Cluster:
    values = dict(facts)
    version = values.pop("kubernetes_version", None)
    endpoint = values.pop("endpoint", None)
    return Cluster(
        **{**values, "dns_ips": tuple(values.get("dns_ips", ()))},
        endpoint=endpoint.rstrip("/") if endpoint else None,
        kubernetes_version=parse_version(version) if version else None,
    )


def _specification(cluster: Cluster, group: dict[str, Any], given: dict[str, Any], problems: Problems, running: str | None) -> NodeSpec:
    family = group["family"]
    strategy = group.get("strategy", "bootstrap_script") if family in SCRIPT_FAMILIES else group.get("strategy")
    warnings: list[str] = []
    unchecked: list[str] = []
    mode = group.get("mode", "self_managed")
    pods_field, pods_path = merge.merge_max_pods(group, group.get("max_pods"), problems)
    dns, dns_of_group = merge.merge_dns_ips(group, list(cluster.dns_ips) or None, problems)
    shape = compute.Shape.of(group.get("instance", {}), problems, running)
    max_pods = compute.max_pods(pods_field, pods_path, family, shape, problems, running=running is not None)
    reserved = group.get("reserved", {})
    # static replaces the image's script, which would have computed the reservations.
    own_kube = reserved.get("kube", "auto" if strategy == "static" else None)
    automatic, kube = merge.merge_reserved(group, merge.KUBE_RESERVED, own_kube, "node_group.reserved.kube", problems)
    computed, system = merge.merge_reserved(group, merge.SYSTEM_RESERVED, reserved.get("system"), "node_group.reserved.system", problems)
    if computed:
        problems.add("node_group.reserved.system", "auto exists for reserved.kube only", fix="give quantities such as 100m or 100Mi")
    if automatic:
        kube = compute.automatic_reserved(max_pods, shape, problems, implied="kube" not in reserved) | kube
    elif not kube and max_pods is not None:
        compute.warn_about_reserved(family, max_pods, shape, warnings)
    storage = group.get("local_storage")
    spec = NodeSpec(
        cluster=cluster,
        family=family,
        name=group.get("name"),
        mode=mode,
        strategy=strategy,
        instance_types=shape.types,
        hostname_type=group.get("instance", {}).get("hostname_type", "ip_name"),
        labels=dict(sorted(group.get("labels", {}).items())),
        taints=tuple(Taint(t["key"], t.get("value", ""), t["effect"]) for t in group.get("taints", []) if "key" in t and "effect" in t),
        max_pods=max_pods,
        dns_ips=tuple(dns) if dns else _computed_dns(cluster, problems),
        dns_of_group=dns_of_group,
        dns_of_eks=not dns or (not dns_of_group and tuple(dns) == _computed_dns(cluster, Problems())),
        kube_reserved=compute.in_order(kube),
        system_reserved=compute.in_order(system),
        kubelet_config=merge.merge_kubelet_config(group, problems),
        kubelet_flags=dict(sorted(merge.merge_kubelet_flags(group, problems).items())),
        containerd=_containerd(group.get("containerd", {})),
        local_storage=LocalStorage(storage["strategy"], storage.get("mount_path")) if storage and "strategy" in storage else None,
        proxy=_proxy(group.get("proxy"), cluster),
        commands_pre=tuple(group.get("commands", {}).get("pre", ())),
        commands_post=tuple(group.get("commands", {}).get("post", ())),
        override=group.get("override"),
        user_data=_user_data(group.get("user_data", []), problems),
        user_data_precedence=group.get("user_data_precedence"),
        allow_secrets=group.get("allow_secrets_in_user_data", False),
        nodeadm=group.get("nodeadm", {}),
        bottlerocket=group.get("bottlerocket", {}).get("settings", {}),
        windows=_windows(group.get("windows", {})),
        ubuntu_release=group.get("ubuntu", {}).get("release"),
        warnings=tuple(warnings),
        given=given,
    )
    checks.check(spec, problems, unchecked)
    return replace(spec, unchecked=tuple(unchecked))


def _computed_dns(cluster: Cluster, problems: Problems) -> tuple[str, ...]:
    if cluster.service_cidr is None:
        return ()
    try:
        return tuple(cluster_dns_ips(cluster.service_cidr))
    except SpecError as error:
        problems.add("cluster.service_cidr", error.problems[0].message, value=cluster.service_cidr, fix="give cluster.dns_ips as well")
        return ()


def _containerd(values: dict[str, Any]) -> Containerd:
    mirrors = {host: tuple(urls) for host, urls in sorted(values.get("registry_mirrors", {}).items())}
    return Containerd(values.get("config", {}), mirrors, values.get("pause_image"))


def _proxy(values: dict[str, Any] | None, cluster: Cluster) -> Proxy | None:
    if values is None:
        return None
    entries = no_proxy_entries(cluster.endpoint, cluster.service_cidr, values.get("no_proxy", []))
    return Proxy(values.get("http"), values.get("https"), tuple(entries))


def _windows(values: dict[str, Any]) -> Windows:
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return Windows(**fields)


def _user_data(texts: list[str], problems: Problems) -> tuple[str, ...]:
    found = []
    for index, text in enumerate(texts):
        before = len(problems)
        decoded = unpack(text, joined("node_group.user_data", index), problems)
        if len(problems) == before and decoded.strip():
            found.append(decoded)
    return tuple(found)
