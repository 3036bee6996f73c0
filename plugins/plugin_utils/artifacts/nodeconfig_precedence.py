# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our settings in a NodeConfig beside those of the user's own NodeConfigs: which value is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import Problems
from ..model.spec import NodeSpec
from . import kubelet_precedence, proxy_environment
from .nodeconfig_parts import merged, section, settings
from .precedence import Precedence


def reconcile(
    ours: dict[str, Any],
    existing: list[tuple[str, dict[str, Any]]],
    override: Mapping[str, Any] | None,
    spec: NodeSpec,
    problems: Problems,
    warnings: Problems | None = None,
) -> dict[str, Any]:
    """Our settings as they have to be written between the user's own NodeConfigs, with their places, and C(override).

    nodeadm lets the later document win, and kubelet prefers flags to its configuration. A value that the user's document has otherwise
    is either a problem, or written so that it wins (precedence ours), or left out of ours (theirs). Cluster identity is always ours unless
    C(theirs) is asked for; labels and taints are united; what is computed never replaces what the user wrote. C(override) wins, with a
    warning for each value that it changes.
    """
    theirs = settings(merged([document for _place, document in existing])) if existing else {}
    last = settings(override or {})
    hosts = proxy_environment.own_entries(spec)
    fields = proxy_environment.beside(ours, (theirs, last))
    own, theirs = proxy_environment.agreed(proxy_environment.without_list(fields, last) if hosts is None else fields, theirs, hosts)
    keep = Precedence(spec, problems, Problems() if warnings is None else warnings)
    result = {}
    # nodeadm reads null as nothing said.
    own = {key: value for key, value in own.items() if value is not None}
    for key in (*own, *(key for key in ("kubelet",) if key not in own)):
        value, other = own.get(key, {}), theirs.get(key)
        if key == "cluster":
            kept = _identity(value, other, spec.user_data_precedence)
        elif key == "kubelet":
            derived = () if spec.dns_of_group or spec.cluster.dns_ips else ("clusterDNS",)
            kubelet = kubelet_precedence.own_section(value, section(theirs, key), section(last, key), spec, keep, derived=derived)
            kept = _without_foreign_dns(kubelet, derived, theirs, last, spec)
        elif key == "containerd":
            kept = _containerd(value, section(theirs, key), keep, problems)
        else:
            kept = keep.tree(value, other, (key,))
        if kept:
            result[key] = kept
    for key in sorted(last.keys() - {"kubelet"}):
        if key != "containerd":
            keep.overridden(_over(theirs.get(key), result.get(key)), last[key], (key,), result.get(key))
    _overridden_containerd(theirs, result, last, keep, problems)
    _check_containerd(
        [*existing, ("", {"spec": result}), ("node_group.override", override or {})],
        spec,
        problems,
    )
    return result


def _check_containerd(documents: Iterable[tuple[str, Mapping[str, Any]]], spec: NodeSpec, problems: Problems) -> None:
    """Report TOML for containerd of the user's NodeConfigs that does not fit what nodeadm merges it with: the image's, and ours.

    documents: path and NodeConfig, in the order of nodeadm; our own has no path. The family checks it alone.
    """
    own = "node_group.containerd.config" if spec.containerd.config else "node_group.nodeadm.containerd.config"
    texts = [
        (f"{path}.spec.containerd.config" if path else own, text)
        for path, document in documents
        if isinstance(text := section(settings(document), "containerd").get("config"), str)
    ]
    if all(path == own for path, _unused in texts) or any(problems.touches(path) for path, _unused in texts):
        return
    from ..formats import toml
    from . import containerd_config

    read = []
    for path, text in texts:
        try:
            read.append((path, toml.parse(text)))
        except toml.TomlError:
            return  # reported where the document is read
    has_mirrors = bool(spec.containerd.registry_mirrors)
    containerd_config.check_merged(read, spec.cluster.kubernetes_version, problems, has_mirrors=has_mirrors)


def _over(first: Any, second: Any) -> Any:
    """C(first) with C(second) on top."""
    if not isinstance(first, Mapping) or not isinstance(second, Mapping):
        return first if second is None else second
    return {**first, **{key: _over(first.get(key), value) for key, value in second.items()}}


def _without_foreign_dns(
    kubelet: dict[str, Any], derived: Sequence[str], theirs: Mapping[str, Any], last: Mapping[str, Any], spec: NodeSpec
) -> dict[str, Any]:
    """Our section without computed name servers, if another service CIDR wins: nodeadm computes them from that one."""
    cidr = section(last, "cluster").get("cidr") or (
        section(theirs, "cluster").get("cidr") if spec.user_data_precedence == "theirs" else None
    )
    if not cidr or cidr == spec.cluster.service_cidr or not derived:
        return kubelet
    config = {name: value for name, value in section(kubelet, "config").items() if name not in derived}
    rest = {key: value for key, value in kubelet.items() if key != "config"}
    return rest | ({"config": config} if config else {})


def _identity(ours: Mapping[str, Any], theirs: Any, choice: str | None) -> dict[str, Any]:
    if choice != "theirs" or not isinstance(theirs, Mapping):
        return dict(ours)
    return {key: value for key, value in ours.items() if key not in theirs}


def _containerd(ours: Mapping[str, Any], theirs: Mapping[str, Any], keep: Precedence, problems: Problems) -> Any:
    if not isinstance(ours.get("config"), str) or not isinstance(theirs.get("config"), str):
        return keep.tree(ours, theirs, ("containerd",))
    from ..formats import toml

    own = toml.load(ours["config"], "node_group.containerd.config", problems)
    other = toml.load(theirs["config"], "node_group.user_data", problems)
    kept = keep.tree(own, other, ("containerd", "config"))
    rest = keep.tree({key: value for key, value in ours.items() if key != "config"}, theirs, ("containerd",))
    return rest | ({"config": toml.dump(kept, "node_group.containerd.config")} if kept else {})


def _overridden_containerd(
    theirs: Mapping[str, Any], ours: Mapping[str, Any], last: Mapping[str, Any], keep: Precedence, problems: Problems
) -> None:
    """Warn about values of containerd that C(override) replaces: nodeadm merges the TOML documents."""
    if "containerd" not in last:
        return
    sections = [dict(section(layer, "containerd")) for layer in (theirs, ours, last)]
    if any(isinstance(one.get("config"), str) for one in sections):
        from ..formats import toml

        paths = ("node_group.user_data", "node_group.containerd.config", "node_group.override")
        for one, path in zip(sections, paths, strict=True):
            if isinstance(one.get("config"), str):
                one["config"] = toml.load(one["config"], path, problems)
    before, own, after = sections
    keep.overridden(_over(before, own), after, ("containerd",), own)
