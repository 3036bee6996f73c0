# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NodeConfig parts: the user's beside ours, and kubelet flags as nodeadm passes them on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import Problems
from ..formats.mime import Part, decoded
from ..model.spec import NodeSpec
from ..nodeconfig.document import check_document
from . import kubelet_precedence, proxy_environment
from .cloud_init import NODE_CONFIG
from .precedence import Precedence, flag_value_problem, flag_word

__all__ = [
    "CONFIG_DROP_IN",
    "check_document",
    "flag_value_problem",
    "flag_values",
    "flag_word",
    "merged",
    "placed_configs",
    "reconcile",
]

CONFIG_DROP_IN = (
    "[Service]\n"
    "ExecStart=\n"
    "ExecStart=/usr/bin/nodeadm init --skip run --config-source imds://user-data --config-source file:///etc/eks/nodeadm.d/"
    " --config-cache /run/eks/nodeadm/config.json\n"
)
"""nodeadm-config of the image reads only user data and fails without a complete cluster there (amazon-eks-ami, July 2026)."""


def placed_configs(parts: Iterable[tuple[str, Part]], problems: Problems) -> list[tuple[str, dict[str, Any]]]:
    """The NodeConfigs among the parts, in order, each with its place in the user's input."""
    found = []
    for place, part in parts:
        if part.media_type == NODE_CONFIG:
            before = len(problems)
            text = decoded(part, place, problems)
            document = check_document(text, place, problems) if len(problems) == before else {}
            if document:
                found.append((place, document))
    return found


def merged(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """One NodeConfig that says what all of them say, merged as nodeadm merges."""
    if len(documents) == 1:
        return documents[0]
    from ..nodeconfig import merge

    return dict(merge.merge(documents))


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
    if not existing and not override:
        return ours
    theirs = _spec(merged([document for _place, document in existing])) if existing else {}
    last = _spec(override or {})
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
            kubelet = kubelet_precedence.own_section(value, _section(theirs, key), _section(last, key), spec, keep, derived=derived)
            kept = _without_foreign_dns(kubelet, derived, theirs, last, spec)
        elif key == "containerd":
            kept = _containerd(value, _section(theirs, key), keep, problems)
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
        if isinstance(text := _section(_spec(document), "containerd").get("config"), str)
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


def _spec(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return _section(document, "spec")


def _section(tree: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = tree.get(name)
    return section if isinstance(section, Mapping) else {}


def _over(first: Any, second: Any) -> Any:
    """C(first) with C(second) on top."""
    if not isinstance(first, Mapping) or not isinstance(second, Mapping):
        return first if second is None else second
    return {**first, **{key: _over(first.get(key), value) for key, value in second.items()}}


def _without_foreign_dns(
    kubelet: dict[str, Any], derived: Sequence[str], theirs: Mapping[str, Any], last: Mapping[str, Any], spec: NodeSpec
) -> dict[str, Any]:
    """Our section without computed name servers, if another service CIDR wins: nodeadm computes them from that one."""
    cidr = _section(last, "cluster").get("cidr") or (
        _section(theirs, "cluster").get("cidr") if spec.user_data_precedence == "theirs" else None
    )
    if not cidr or cidr == spec.cluster.service_cidr or not derived:
        return kubelet
    config = {name: value for name, value in _section(kubelet, "config").items() if name not in derived}
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
    sections = [dict(_section(section, "containerd")) for section in (theirs, ours, last)]
    if any(isinstance(section.get("config"), str) for section in sections):
        from ..formats import toml

        paths = ("node_group.user_data", "node_group.containerd.config", "node_group.override")
        for section, path in zip(sections, paths, strict=True):
            if isinstance(section.get("config"), str):
                section["config"] = toml.load(section["config"], path, problems)
    before, own, after = sections
    keep.overridden(_over(before, own), after, ("containerd",), own)


def flag_values(kubelet: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """kubelet's flags in a NodeConfig as name → values, without the quotes that systemd takes away."""
    return {name: tuple(values) for name, values in kubelet_precedence.kubelet_flags(kubelet).items()}
