# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One eksctl node group, self-managed or managed, as a node group of our own."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import Problems, SpecError, joined, listed, nearest, rename, shown
from ..families.registry import resolve
from ..model.fields import EKSCTL_FAMILIES
from ..model.plain import INVALID
from ..model.schema import boolean, list_of, mapping, text, type_name, wrong_type
from ..model.values import ip_address
from . import eksctl_fields as names

CLUSTER_LABEL = "alpha.eksctl.io/cluster-name"
GROUP_LABEL = "alpha.eksctl.io/nodegroup-name"
_BOOT_LABELS = {"node-lifecycle": "{instance_lifecycle}", "alpha.eksctl.io/instance-id": "{instance_id}"}
"""Labels that eksctl's script adds on the node, on al2 and ubuntu only."""

_TAINT_FORMS = 'value:Effect, :Effect or Effect, as in {dedicated: "gpu:NoSchedule"}'
_COMMANDS = list_of(text(multiline=True, empty=True))
_ALIASES = {alias.lower(): alias for alias in EKSCTL_FAMILIES}


class NotOurs:
    """What has no place in node bootstrap, with the reason."""

    def __init__(self) -> None:
        self._rows: list[dict[str, str]] = []

    def add(self, path: str, reason: str) -> None:
        """Note one path of the eksctl file."""
        self._rows.append({"path": path, "reason": reason})

    def sorted(self) -> list[dict[str, str]]:
        """The rows by path."""
        return sorted(self._rows, key=lambda row: row["path"])


@dataclass
class Group:
    """A translated node group and where it came from. C(whole): nothing was wrong with it so far."""

    path: str
    fields: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    """Path of a field of ours → path in the eksctl file."""
    whole: bool = True


def known_fields(
    tree: Mapping[str, Any], path: str, ours: Iterable[str], others: Iterable[str], elsewhere: Mapping[str, str], problems: Problems
) -> dict[str, Any]:
    """The known fields of C(tree) that are not null; unknown ones are reported.

    elsewhere: fields of the other kind of node group, and what to do instead.
    """
    allowed = sorted({*ours, *others})
    found = {}
    for name, value in tree.items():
        if name in allowed:
            if value is not None:
                found[name] = value
        elif name in elsewhere:
            problems.add(
                "eksctl.wrong_group_kind", joined(path, name), "does not exist for this kind of node group in eksctl", fix=elsewhere[name]
            )
        else:
            guess = problems.nearest(name, [*allowed, *elsewhere])
            fix = rename(guess, tree)
            few = listed(allowed, guess)
            problems.add(
                "eksctl.unknown_field", joined(path, name), "is not a field of eksctl's configuration", allowed=few, nearest=guess, fix=fix
            )
    return found


def translate(item: Any, path: str, cluster_name: Any, managed: bool, problems: Problems, not_ours: NotOurs) -> Group | None:
    """The node group that an item of C(nodeGroups) or C(managedNodeGroups) describes; None if the item is not a node group."""
    if not isinstance(item, dict):
        wrong_type(item, "a node group", path, problems)
        return None
    before = len(problems)
    ours = names.MANAGED_OURS if managed else names.SELF_MANAGED_OURS
    others = names.MANAGED_NOT_OURS if managed else names.SELF_MANAGED_NOT_OURS
    elsewhere = names.SELF_MANAGED_ONLY if managed else names.MANAGED_ONLY
    given = known_fields(item, path, ours, others, elsewhere, problems)
    for name in given:
        if name in others:
            if name != "iam" or not isinstance(given[name], dict) or given[name].keys() - {_ROLE}:
                not_ours.add(joined(path, name), others[name])
            _check_nested(given[name], name, path, problems)
    if "name" not in given:
        problems.add("input.missing_field", joined(path, "name"), "is required", fix="add name")
    _Translation(given, path, cluster_name, managed, problems, not_ours, group := Group(path)).run()
    group.whole = len(problems) == before
    return group


def accept(group: Group, cluster: Mapping[str, Any], problems: Problems) -> None:
    """Report, with the paths of the eksctl file, why a translated group cannot be rendered."""
    if not group.whole or "family" not in group.fields:
        return
    try:
        resolve(cluster, group.fields)
    except SpecError as error:
        for one in error.problems:
            # What is wrong with the cluster is said once, with the path it has as an input of ours.
            where = _origin(one.path, group) if one.path.startswith("node_group") else one.path
            details = {"value": one.value} if isinstance(one.value, (str, int, float, bool, list, dict)) else {}
            problems.add(one.rule, where, one.message, allowed=one.allowed, nearest=one.nearest, fix=one.fix, **details)


def _origin(path: str, group: Group) -> str:
    for ours in sorted(group.origins, key=len, reverse=True):
        if path == ours or path.startswith((f"{ours}.", f"{ours}[")):
            return f"{group.origins[ours]}{path[len(ours) :]}"
    return f"{group.path} ({path})"


def _check_nested(value: Any, name: str, path: str, problems: Problems) -> None:
    if name in names.NESTED and isinstance(value, dict):
        known_fields(value, joined(path, name), names.NESTED[name], (), {}, problems)


_ROLE = "instanceRoleARN"


class _Translation:
    """The fields of one group, translated one by one."""

    def __init__(
        self, given: dict[str, Any], path: str, cluster_name: Any, managed: bool, problems: Problems, not_ours: NotOurs, group: Group
    ) -> None:
        self.given, self.path, self.cluster_name, self.managed = given, path, cluster_name, managed
        self.problems, self.not_ours, self.group = problems, not_ours, group
        self.family, self.alias = "", ""

    def run(self) -> None:
        """Fill the group, in the order in which our fields are documented."""
        self._put("name", "name", self.given.get("name"))
        self._family()
        self._mode()
        self._role()
        self._instance()
        self._labels()
        self._put("taints", "taints", self._taints())
        self._put("max_pods", "maxPodsPerNode", self._max_pods())
        self._kubelet()
        self._commands()
        self._bottlerocket()
        self._runtime()

    def _at(self, name: str) -> str:
        return joined(self.path, name)

    def _put(self, ours: str, theirs: str, value: Any) -> None:
        """Set our field (one name) unless there is nothing to set."""
        if value is not None and value is not INVALID and value not in ({}, []):
            self.group.fields[ours] = value
        self.group.origins[f"node_group.{ours}"] = self._at(theirs)

    def _family(self) -> None:
        name = self.given.get("amiFamily", "AmazonLinux2023")
        path = self._at("amiFamily")
        folded = str(name).lower()
        if folded in names.DEPRECATED_FAMILIES:
            self.problems.add(
                "eksctl.removed_family",
                path,
                f"is not supported any more: {names.DEPRECATED_FAMILIES[folded]}",
                value=name,
                fix="use a current family",
            )
        elif not isinstance(name, str) or folded not in _ALIASES:
            self.problems.add(
                "input.unknown_value",
                path,
                "is not a family of eksctl",
                value=name,
                allowed=", ".join(EKSCTL_FAMILIES),
                nearest=nearest(name, EKSCTL_FAMILIES),
            )
        else:
            self.alias = _ALIASES[folded]
            self.family, implied = EKSCTL_FAMILIES[self.alias]
            self._put("family", "amiFamily", self.family)
            for ours, values in implied.items():
                self._put(ours, "amiFamily", copy.deepcopy(values))

    def _role(self) -> None:
        """The role is for the access of nodes to the cluster. eksctl creates the one of a group that names none."""
        iam = self.given.get("iam")
        if isinstance(iam, dict):
            self._put("role_arn", "iam", iam.get(_ROLE))
            self.group.origins["node_group.role_arn"] = joined(self._at("iam"), _ROLE)

    def _mode(self) -> None:
        image = self.given.get("ami")
        if image is not None:
            if isinstance(image, str):
                self.not_ours.add(self._at("ami"), "chooses the AMI, which is part of the launch template")
            else:
                wrong_type(image, "text", self._at("ami"), self.problems)
        custom = isinstance(image, str) and image.startswith("ami-")
        # eksctl resolves an AMI id for Ubuntu itself, so EKS adds nothing there either.
        mode = "managed_custom_ami" if custom or self.family == "ubuntu" else "managed"
        self._put("mode", "ami", mode if self.managed else "self_managed")

    def _instance(self) -> None:
        kind, types, origin = self.given.get("instanceType"), self.given.get("instanceTypes"), "instanceTypes"
        distribution = self.given.get("instancesDistribution")
        if distribution is not None:
            origin = "instancesDistribution"
            path = self._at(origin)
            if isinstance(distribution, dict):
                known = known_fields(distribution, path, ("instanceTypes",), names.DISTRIBUTION_NOT_OURS, {}, self.problems)
                types = known.get("instanceTypes")
                for name in known:
                    if name in names.DISTRIBUTION_NOT_OURS:
                        self.not_ours.add(joined(path, name), names.DISTRIBUTION_NOT_OURS[name])
            else:
                wrong_type(distribution, "a mapping", path, self.problems)
        # "mixed" is eksctl's own word for "see instancesDistribution".
        kind = None if kind == "mixed" and types else kind
        if kind and types:
            self.problems.add(
                "input.conflict",
                self._at("instanceType"),
                f"cannot be set together with {origin}",
                value=kind,
                fix="set only one of the two",
            )
        elif types:
            self._put("instance", origin, {"types": types})
        elif kind:
            self._put("instance", "instanceType", {"type": kind})

    def _labels(self) -> None:
        given = self.given.get("labels", {})
        if mapping(given, self._at("labels"), self.problems) is INVALID:
            return
        labels: dict[str, Any] = {}
        defaults = {CLUSTER_LABEL: self.cluster_name, GROUP_LABEL: self.given.get("name")}
        for key, value in defaults.items():
            if value is not None and given.get(key, value) != value:
                path = joined(self._at("labels"), key)
                self.problems.add(
                    "eksctl.own_label", path, f"is set by eksctl itself, to {shown(value)}", value=given[key], fix="remove it"
                )
        if self.family in ("al2", "ubuntu") and self._eksctl_script():
            labels |= _BOOT_LABELS
        labels |= {key: value for key, value in defaults.items() if isinstance(value, str)}
        self._put("labels", "labels", dict(sorted((labels | given).items())))

    def _eksctl_script(self) -> bool:
        """Whether eksctl's own script, which asks the node for two labels, would be in the user data."""
        return not self.managed or self.family == "ubuntu"

    def _taints(self) -> Any:
        given, path = self.given.get("taints"), self._at("taints")
        if isinstance(given, dict):
            if self.managed:
                fix = "write a list of {key, value, effect}"
                self.problems.add(
                    "eksctl.wrong_group_kind",
                    path,
                    "is a mapping, which eksctl supports for nodeGroups only",
                    value=given,
                    allowed="a list",
                    fix=fix,
                )
                return None
            return [self._map_taint(key, given[key], joined(path, key)) for key in sorted(given)]
        if isinstance(given, list):
            for index, taint in enumerate(given):
                if isinstance(taint, dict):
                    known_fields(taint, joined(path, index), ("effect", "key", "value"), (), {}, self.problems)
                else:
                    wrong_type(taint, "a mapping of key, value and effect", joined(path, index), self.problems)
            return [{k: v for k, v in taint.items() if v not in (None, "")} if isinstance(taint, dict) else taint for taint in given]
        return given if given is None else wrong_type(given, "a list or a mapping", path, self.problems)

    def _map_taint(self, key: str, given: Any, path: str) -> dict[str, str]:
        value, _unused, effect = str(given).rpartition(":")
        if not isinstance(given, str) or not effect or ":" in value:
            self.problems.add(
                "eksctl.invalid_taint", path, "is not a taint as eksctl writes it in a mapping", value=given, allowed=_TAINT_FORMS
            )
        return {"key": key, "value": value, "effect": effect} if value else {"key": key, "effect": effect}

    def _max_pods(self) -> Any:
        value, path = self.given.get("maxPodsPerNode"), self._at("maxPodsPerNode")
        if value is None or (value == 0 and not isinstance(value, bool)):
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            return wrong_type(value, "an integer", path, self.problems)
        if value < 0:
            self.problems.add(
                "input.out_of_range", path, "is negative", value=value, allowed="1 to 65535", fix="remove it to keep the image's default"
            )
            return None
        return value

    def _kubelet(self) -> None:
        config, path = self.given.get("kubeletExtraConfig"), self._at("kubeletExtraConfig")
        if config is not None and mapping(config, path, self.problems) is INVALID:
            config = None
        for name in sorted(set(config or {}) & set(names.FORBIDDEN_KUBELET_FIELDS)):
            reason = names.FORBIDDEN_KUBELET_FIELDS[name]
            self.problems.add(
                "eksctl.refused_kubelet_field", joined(path, name), f"is refused by eksctl and here: {reason}", fix="remove it"
            )
        if config and self.family in ("bottlerocket", "windows"):
            fix = (
                "write bottlerocket.settings.kubernetes"
                if self.family == "bottlerocket"
                else "add kubelet.flags to the imported node group"
            )
            self.problems.add("eksctl.refused_kubelet_field", path, f"cannot be set for {self.alias}, neither in eksctl nor here", fix=fix)
        merged = dict(config or {})
        address = self._cluster_dns()
        if address is not None and self.family != "bottlerocket":
            own = merged.setdefault("clusterDNS", [address])
            if own != [address]:
                self._disagree("clusterDNS", address, joined(path, "clusterDNS"), own)
        self.group.origins["node_group.kubelet"] = self.path
        self.group.origins["node_group.kubelet.config"] = path
        if config is None:
            self.group.origins["node_group.kubelet.config"] = self._at("clusterDNS")
        if merged:
            self.group.fields["kubelet"] = {"config": merged}

    def _cluster_dns(self) -> Any:
        value = self.given.get("clusterDNS")
        if value in (None, ""):
            return None
        checked = ip_address(value, self._at("clusterDNS"), self.problems)
        return None if checked is INVALID else checked

    def _commands(self) -> None:
        pre = self.given.get("preBootstrapCommands")
        if pre is not None:
            pre = _COMMANDS(pre, self._at("preBootstrapCommands"), self.problems)
            kept = [command for command in pre if command.strip()] if pre is not INVALID else []
            self._put("commands", "preBootstrapCommands", {"pre": kept} if kept else None)
            self.group.origins["node_group.commands.pre"] = self._at("preBootstrapCommands")
        override = self.given.get("overrideBootstrapCommand")
        if override is not None:
            checked = text(multiline=True, empty=True)(override, self._at("overrideBootstrapCommand"), self.problems)
            self._put("override", "overrideBootstrapCommand", checked or None)

    def _bottlerocket(self) -> None:
        block, path = self.given.get("bottlerocket"), self._at("bottlerocket")
        if block is not None and self.family and self.family != "bottlerocket":
            self.problems.add(
                "family.foreign_field", path, f"has no effect on {self.alias}", fix="remove it, or set amiFamily: Bottlerocket"
            )
            return
        if self.family != "bottlerocket" or (block is not None and mapping(block, path, self.problems) is INVALID):
            return
        known = known_fields(block or {}, path, names.BOTTLEROCKET, (), {}, self.problems)
        below = joined(path, "settings")
        settings = mapping(copy.deepcopy(known.get("settings", {})), below, self.problems)
        if settings is INVALID:
            return
        self._admin_container(known, settings, path)
        address = self._cluster_dns()
        if address is not None:
            self._nested(settings, ("kubernetes", "cluster-dns-ip"), address, "clusterDNS", below)
        self._put("bottlerocket", "bottlerocket", {"settings": settings} if settings else None)

    def _admin_container(self, block: dict[str, Any], settings: dict[str, Any], path: str) -> None:
        enabled, origin = block.get("enableAdminContainer"), "bottlerocket.enableAdminContainer"
        place = ("host-containers", "admin", "enabled")
        if enabled is None:
            ssh = self.given.get("ssh")
            # SSH enables the admin container, unless the settings disable it: the input does not contradict itself.
            if not (isinstance(ssh, dict) and ssh.get("allow") is True) or _stands(settings, place):
                return
            enabled, origin = True, "ssh.allow"
        if boolean(enabled, f"{path}.enableAdminContainer", self.problems) is not INVALID:
            self._nested(settings, place, enabled, origin, joined(path, "settings"))

    def _nested(self, tree: dict[str, Any], place: tuple[str, ...], value: Any, origin: str, path: str) -> None:
        """Set C(value) at C(place) in C(tree); another value at that place is an error that names both."""
        for key in place[:-1]:
            path = joined(path, key)
            below = tree.setdefault(key, {})
            if not isinstance(below, dict):
                wrong_type(below, "a mapping", path, self.problems)
                return
            tree = below
        found = tree.setdefault(place[-1], value)
        if found != value or isinstance(found, bool) != isinstance(value, bool):
            self._disagree(origin, value, joined(path, place[-1]), found)

    def _disagree(self, origin: str, value: Any, other_path: str, other: Any) -> None:
        self.problems.add(
            "input.conflict",
            f"{self.path}.{origin}",
            f"conflicts with {other_path}, which is {shown(other)}",
            value=value,
            fix="set it in one place only",
        )

    def _runtime(self) -> None:
        runtime, path = self.given.get("containerRuntime"), self._at("containerRuntime")
        if runtime in (None, ""):
            return
        if runtime == "containerd":
            if self.family == "windows":
                self._put("windows", "amiFamily", {**self.group.fields.get("windows", {}), "container_runtime": "containerd"})
            else:
                self.not_ours.add(path, "containerd is the only runtime of these images")
        elif runtime in ("docker", "dockerd"):
            reason = "does not exist any more: kubelet has not supported Docker since 1.24, and no supported EKS version is older"
            self.problems.add("eksctl.container_runtime", path, reason, value=runtime, allowed="containerd", fix="remove it")
        else:
            kind = type_name(runtime) if not isinstance(runtime, str) else "not a container runtime"
            self.problems.add(
                "eksctl.container_runtime",
                path,
                f"is {kind}",
                value=runtime,
                allowed="containerd",
                nearest=nearest(runtime, ["containerd"]),
                fix="remove it",
            )


def _stands(tree: Any, place: tuple[str, ...]) -> bool:
    for key in place:
        if not isinstance(tree, dict) or key not in tree:
            return False
        tree = tree[key]
    return True
