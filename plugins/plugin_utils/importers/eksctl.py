# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""eksctl's C(ClusterConfig) files as cluster facts and node groups of our own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import Problems, joined, nearest, shown
from ..formats import yaml
from ..kubernetes import parse_version
from ..model.described_cluster import check_cluster
from ..model.fields import CLUSTER
from ..model.plain import INVALID, plain
from ..model.schema import wrong_type
from . import eksctl_fields as names
from .eksctl_groups import Group, NotOurs, accept, known_fields, translate

API_VERSION = "eksctl.io/v1alpha5"
KIND = "ClusterConfig"

_NO_VERSION = ("auto", "default", "latest")
"""Words that eksctl replaces by a version when it creates the cluster."""


def from_eksctl(config: str | Mapping[str, Any] | list[Any], cluster: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """C({cluster, node_groups, not_ours}) of an eksctl configuration.

    config: the text of one or several YAML or JSON documents, a document as a mapping, or a list of those.
    cluster: facts that the file lacks (endpoint, CA, service CIDR…); facts in both must agree.
    C(not_ours) lists what has no place in node bootstrap: C({path, reason}), sorted by path.
    Raises C(SpecError) with every problem; its paths are those of the eksctl file.
    """
    problems = Problems()
    not_ours = NotOurs()
    facts = _Facts(problems)
    facts.take_caller(check_cluster(cluster, problems))
    groups: list[Group] = []
    documents = _documents(config, problems)
    found = [(prefix, tree) for prefix, tree in documents if _is_cluster_config(prefix, tree, problems, not_ours)]
    if documents and not found and not problems:
        problems.add("eksctl.no_cluster_config", "kind", "no document is a ClusterConfig", allowed=KIND)
    for prefix, tree in found:
        facts.take_file(prefix, tree, not_ours)
        _top_level(prefix, tree, problems, not_ours)
    for prefix, tree in found:
        groups.extend(_groups(prefix, tree, facts.values.get("name"), problems, not_ours))
    _unique_names(groups, problems)
    for group in groups:
        accept(group, facts.complete(), problems)
    problems.raise_any()
    return {"cluster": facts.in_order(), "node_groups": [group.fields for group in groups], "not_ours": not_ours.sorted()}


def _documents(config: Any, problems: Problems) -> list[tuple[str, dict[str, Any]]]:
    """(path prefix, document) of each document; the prefix is empty when there is only one."""
    if isinstance(config, str):
        text = plain(config, "eksctl_config", problems)
        try:
            loaded: list[Any] = yaml.load_all("" if text is INVALID else text)
        except yaml.YamlError as error:
            problems.add(
                "eksctl.unreadable",
                "eksctl_config",
                f"is not YAML: {error}",
                fix="pass the text of an eksctl configuration file, or the mapping in it",
            )
            return []
        trees = [tree for tree in loaded if tree is not None]
    else:
        trees = list(config) if isinstance(config, list) else [config]
    trees = [tree for tree in (plain(tree, "eksctl_config", problems) for tree in trees) if tree is not INVALID]
    if not trees and not problems:
        problems.add(
            "eksctl.no_cluster_config",
            "eksctl_config",
            "contains no document",
            fix="pass the text of an eksctl configuration file, or the mapping in it",
        )
    result = []
    for index, tree in enumerate(trees):
        prefix = f"documents[{index}]" if len(trees) > 1 else ""
        if isinstance(tree, dict):
            result.append((prefix, tree))
        else:
            fix = "pass the content of the file, for example with lookup('ansible.builtin.file', PATH)" if isinstance(tree, str) else None
            wrong_type(tree, "a mapping: an eksctl ClusterConfig", prefix or "eksctl_config", problems, fix=fix)
    return result


def _is_cluster_config(prefix: str, tree: dict[str, Any], problems: Problems, not_ours: NotOurs) -> bool:
    kind, version = tree.get("kind"), tree.get("apiVersion")
    if prefix and isinstance(kind, str) and isinstance(version, str) and not version.startswith("eksctl.io/"):
        not_ours.add(prefix, f"is a {kind} of {version}, not an eksctl ClusterConfig")
        return False
    if kind != KIND:
        guess = nearest(kind, [KIND]) if kind is not None else None
        problems.add(
            "eksctl.wrong_kind",
            joined(prefix, "kind"),
            "is not ClusterConfig",
            value=kind,
            allowed=KIND,
            nearest=guess,
            fix=f"write kind: {KIND}",
        )
    if version != API_VERSION:
        fix = f"write apiVersion: {API_VERSION}"
        problems.add(
            "eksctl.wrong_kind",
            joined(prefix, "apiVersion"),
            "is not the version of eksctl's configuration",
            value=version,
            allowed=API_VERSION,
            fix=fix,
        )
    return kind == KIND and version == API_VERSION


def _top_level(prefix: str, tree: dict[str, Any], problems: Problems, not_ours: NotOurs) -> None:
    for name in known_fields(tree, prefix, names.CLUSTER_OURS, names.CLUSTER_NOT_OURS, {}, problems):
        if name in names.CLUSTER_NOT_OURS:
            not_ours.add(joined(prefix, name), names.CLUSTER_NOT_OURS[name])


def _groups(prefix: str, tree: dict[str, Any], cluster_name: Any, problems: Problems, not_ours: NotOurs) -> list[Group]:
    result = []
    for field, managed in (("nodeGroups", False), ("managedNodeGroups", True)):
        items = tree.get(field)
        path = joined(prefix, field)
        if items is None:
            continue
        if not isinstance(items, list):
            wrong_type(items, "a list of node groups", path, problems)
            continue
        for index, item in enumerate(items):
            group = translate(item, joined(path, index), cluster_name, managed, problems, not_ours)
            if group is not None:
                result.append(group)
    return result


def _unique_names(groups: list[Group], problems: Problems) -> None:
    seen: dict[str, str] = {}
    for group in groups:
        name = group.fields.get("name")
        if isinstance(name, str):
            first = seen.setdefault(name, group.path)
            if first != group.path:
                problems.add(
                    "output.duplicate_group", f"{group.path}.name", f"is also the name of {first}", value=name, fix="rename one of the two"
                )


class _Facts:
    """Cluster facts with the path each came from, so that two that disagree can both be named."""

    _ORDER = tuple(CLUSTER)

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._origin: dict[str, str] = {}
        self._ipv6: str | None = None
        self.values: dict[str, Any] = {}

    def take_caller(self, given: Any) -> None:
        """The facts of the caller, checked."""
        for name, value in {} if given is INVALID else given.items():
            self._put(name, value, f"cluster.{name}")

    def take_file(self, prefix: str, tree: dict[str, Any], not_ours: NotOurs) -> None:
        """The facts of one document."""
        metadata = self._section(tree, prefix, "metadata", names.METADATA_OURS, names.METADATA_NOT_OURS, not_ours)
        path = joined(prefix, "metadata")
        if metadata.get("name") is None:
            self._problems.add("input.missing_field", joined(path, "name"), "is required", fix="add the name of the cluster")
        self._fact("name", metadata.get("name"), joined(path, "name"))
        self._fact("region", metadata.get("region"), joined(path, "region"))
        version = metadata.get("version")
        if version in _NO_VERSION:
            reason = "is replaced by a version when eksctl creates the cluster: pass cluster.kubernetes_version"
            not_ours.add(joined(path, "version"), reason)
        else:
            self._fact("kubernetes_version", version, joined(path, "version"))
        status = self._section(tree, prefix, "status", names.STATUS_OURS, names.STATUS_NOT_OURS, not_ours)
        path = joined(prefix, "status")
        self._fact("endpoint", status.get("endpoint"), joined(path, "endpoint"))
        self._fact("certificate_authority", status.get("certificateAuthorityData"), joined(path, "certificateAuthorityData"))
        self._fact("id", status.get("id"), joined(path, "id"))
        self._network(tree, prefix, not_ours)
        self._network(status, path, not_ours)
        outpost = self._section(tree, prefix, "outpost", names.OUTPOST_OURS, names.OUTPOST_NOT_OURS, not_ours)
        if outpost.get("controlPlaneOutpostARN"):
            self._put("outpost", True, joined(joined(prefix, "outpost"), "controlPlaneOutpostARN"))

    def _network(self, tree: dict[str, Any], prefix: str, not_ours: NotOurs) -> None:
        network = self._section(tree, prefix, "kubernetesNetworkConfig", names.NETWORK_OURS, {}, not_ours)
        path = joined(prefix, "kubernetesNetworkConfig")
        family = network.get("ipFamily")
        if family is not None and str(family).lower() not in ("ipv4", "ipv6"):
            self._problems.add(
                "input.unknown_value",
                joined(path, "ipFamily"),
                "is not an IP family",
                value=family,
                allowed="IPv4, IPv6",
                nearest=nearest(family, ["IPv4", "IPv6"]),
            )
        # A cluster has services of one family only; eksctl lets the IPv6 range win where its status holds both.
        for name in ("serviceIPv6CIDR", "serviceIPv4CIDR"):
            if network.get(name):
                self._fact("service_cidr", network[name], joined(path, name))
                break
        if str(family).lower() == "ipv6":
            self._ipv6 = joined(path, "ipFamily")
            cidr = self.values.get("service_cidr")
            if cidr is None:
                not_ours.add(self._ipv6, "EKS chooses the IPv6 service range when it creates the cluster: pass cluster.service_cidr")
            elif ":" not in cidr:
                origin = self._origin["service_cidr"]
                self._problems.add(
                    "input.conflict",
                    self._ipv6,
                    f"conflicts with {origin}, which is {shown(cidr)}",
                    value=family,
                    fix="pass the IPv6 service CIDR",
                )

    def _section(
        self, tree: dict[str, Any], prefix: str, name: str, ours: tuple[str, ...], others: Mapping[str, str], not_ours: NotOurs
    ) -> dict[str, Any]:
        section, path = tree.get(name), joined(prefix, name)
        if section is None:
            return {}
        if not isinstance(section, dict):
            wrong_type(section, "a mapping", path, self._problems)
            return {}
        known = known_fields(section, path, ours, others, {}, self._problems)
        for key in known:
            if key in others:
                not_ours.add(joined(path, key), others[key])
        return known

    def _fact(self, name: str, value: Any, path: str) -> None:
        if value is None or value == "":
            return
        kind: Callable[[Any, str, Problems], Any] = CLUSTER[name]
        checked = kind(value, path, self._problems)
        if checked is not INVALID:
            self._put(name, checked, path)

    def _put(self, name: str, value: Any, path: str) -> None:
        if name not in self.values:
            self.values[name], self._origin[name] = value, path
        elif _comparable(name, self.values[name]) != _comparable(name, value):
            other = self._origin[name]
            self._problems.add(
                "input.conflict",
                path,
                f"conflicts with {other}, which is {shown(self.values[name])}",
                value=value,
                fix="correct one of the two",
            )

    def complete(self) -> dict[str, Any]:
        """The facts, with stand-ins for missing ones, so that only the fields of a node group are checked."""
        outpost = {"id": "stand-in"} if self.values.get("outpost") else {}
        service_cidr = "fd00::/108" if self._ipv6 else "10.100.0.0/16"
        return {**_STAND_INS, "service_cidr": service_cidr, **outpost, **self.values}

    def in_order(self) -> dict[str, Any]:
        """The facts that are known, in the order in which the fields are documented."""
        return {name: self.values[name] for name in self._ORDER if name in self.values}


_STAND_INS = {
    "name": "stand-in",
    "endpoint": "https://stand-in.invalid",
    "certificate_authority": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCkFBQUEKLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=",
    "region": "us-west-2",
}


def _comparable(name: str, value: Any) -> Any:
    if name == "kubernetes_version":
        return parse_version(value)
    return value.rstrip("/") if name == "endpoint" else value
