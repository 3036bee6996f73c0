# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""C(mode: karpenter): the part of a node group that Karpenter interprets, the part that stays user data, and what would be lost.

Karpenter renders the interpreted part itself, and adds the identity of the cluster. It ignores all of this for C(amiFamily: Custom),
which stands for ubuntu: the user data of ubuntu is complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NoReturn, Protocol

from .. import data
from ..errors import Problems, joined
from ..model.own_fields import label_path
from ..model.spec import NodeSpec, Taint
from .cloud_init import NODE_CONFIG
from .kubelet_layers import Layers
from .model import File, Notes, UserData
from .refusals import ALWAYS_ALLOWED, given_at, given_paths, refuse_karpenter

WHOLE = "ubuntu"
"""The family whose user data Karpenter takes as it is."""

UNREGISTERED = Taint("karpenter.sh/unregistered", "", "NoExecute")
"""The taint with which Karpenter expects a node to register. It removes the taint when it has set labels and taints."""

_USER_DATA = "node_group.user_data"
_FAMILIES = {"al2": "AL2", "al2023": "AL2023", "bottlerocket": "Bottlerocket", "ubuntu": "Custom"}

_ALWAYS = (*ALWAYS_ALLOWED, "max_pods", "reserved", "trust", "user_data")
_CAN: Mapping[str, tuple[str, ...]] = {
    "al2": ("kubelet.config", "local_storage.strategy", "commands.pre"),
    "al2023": ("kubelet", "containerd", "local_storage", "proxy", "commands.pre", "nodeadm"),
    "bottlerocket": ("kubelet", "containerd.registry_mirrors", "local_storage", "proxy", "bottlerocket"),
    "windows": ("kubelet.config", "commands.pre", "windows.version", "windows.edition"),
}
_MERGES_CONFIG = ("al2023", "bottlerocket")
"""Families whose user data can contain kubelet configuration beside the configuration that Karpenter writes."""

_GRACE = ("evictionSoft", "evictionSoftGracePeriod")


class Family(Protocol):
    """What C(Karpenter) needs of a family; C(families/registry.py) describes it."""

    def check(self, spec: NodeSpec, problems: Problems) -> None:
        """Report what the family cannot express."""

    def notes(self, spec: NodeSpec) -> Notes:
        """Warnings and skipped checks."""

    def kubelet_input(self, spec: NodeSpec, problems: Problems) -> Layers | None:
        """What kubelet is given."""

    def user_data(self, spec: NodeSpec) -> UserData:
        """The user data document."""

    def files(self, spec: NodeSpec) -> tuple[File, ...]:
        """The files that the user data means."""


class Karpenter:
    """A family with C(mode: karpenter): the family renders what Karpenter does not interpret."""

    def __init__(self, family: Family) -> None:
        self._family = family

    def check(self, spec: NodeSpec, problems: Problems) -> None:
        """Report what Karpenter or the family cannot express, and what Karpenter would change in the user data."""
        before = len(problems)
        check(spec, problems)
        self._family.check(rest(spec), problems)
        if len(problems) == before:
            check_text(spec, self.user_data(spec).text, problems)

    def notes(self, spec: NodeSpec) -> Notes:
        """Warnings and skipped checks of the family."""
        return self._family.notes(rest(spec))

    def kubelet_input(self, spec: NodeSpec, problems: Problems) -> Layers | None:
        """What kubelet is given by the fields, whether Karpenter or the user data brings it."""
        return self._family.kubelet_input(replace(spec, user_data=(), user_data_paths=(), override=None), problems)

    def user_data(self, spec: NodeSpec) -> UserData:
        """The text for C(userData) of the EC2NodeClass: Karpenter adds the tags of PowerShell itself."""
        document = self._family.user_data(rest(spec))
        if spec.family != "windows":
            return document
        return replace(document, text="\n".join(piece.text for piece in document.fragments))

    def files(self, spec: NodeSpec) -> tuple[File, ...]:
        """The files that the user data means."""
        return self._family.files(rest(spec))

    def plan(self, spec: NodeSpec) -> NoReturn:
        """Raise C(SpecError): Karpenter sets up the node when it boots."""
        refuse_karpenter(spec)


def ami_family(spec: NodeSpec) -> str:
    """The value of C(amiFamily) in the EC2NodeClass."""
    return _FAMILIES.get(spec.family) or f"Windows{spec.windows.version}"


def kubelet(spec: NodeSpec) -> dict[str, Any]:
    """C(spec.kubelet) of the EC2NodeClass: what Karpenter uses for scheduling, and renders except on ubuntu."""
    asks_for_dns = spec.dns_of_group or bool(spec.cluster.dns_ips)
    document = spec.kubelet_document("maxPods", *(("clusterDNS",) if asks_for_dns else ()))
    return {name: document[name] for name in data.karpenter()["kubelet"] if document.get(name) is not None}


def instance_store_policy(spec: NodeSpec) -> str | None:
    """C(spec.instanceStorePolicy) of the EC2NodeClass. Karpenter knows only RAID 0."""
    return "RAID0" if spec.local_storage and spec.local_storage.strategy == "raid0" and spec.family != WHOLE else None


def rest(spec: NodeSpec) -> NodeSpec:
    """The specification of the user data: without what Karpenter renders, and, on ubuntu, with the taint that it expects."""
    if spec.family == WHOLE:
        return replace(spec, taints=(*spec.taints, UNREGISTERED))
    interpreted = data.karpenter()["kubelet"]
    # Karpenter renders the RAID array; a mount path is still the business of nodeadm.
    storage = None if instance_store_policy(spec) and not (spec.local_storage and spec.local_storage.mount_path) else spec.local_storage
    merges = spec.family in _MERGES_CONFIG
    # Other values of override and strategy are refused already.
    dropped = {"labels", "taints", "max_pods", "reserved", "override", "strategy"}
    dropped |= {name for name, renders in (("local_storage", storage), ("kubelet", merges)) if not renders}
    given = {key: value for key, value in spec.given.items() if key not in dropped}
    if isinstance(given.get("kubelet"), Mapping) and isinstance(given["kubelet"].get("config"), Mapping):
        config = {name: value for name, value in given["kubelet"]["config"].items() if name not in interpreted}
        given["kubelet"] = {**given["kubelet"], "config": config}
    return replace(
        spec,
        mode="managed",
        strategy="bootstrap_script" if spec.strategy else None,
        override=None,
        commands_post=(),
        labels={},
        taints=(),
        max_pods=None,
        dns_ips=(),
        dns_of_group=False,
        dns_of_eks=True,
        kube_reserved={},
        system_reserved={},
        kubelet_config={name: value for name, value in spec.kubelet_config.items() if merges and name not in interpreted},
        kubelet_flags=spec.kubelet_flags if merges else {},
        local_storage=storage,
        given=given,
    )


def check(spec: NodeSpec, problems: Problems) -> None:
    """Report what Karpenter cannot express."""
    _check_labels(spec, problems)
    _check_evictions(spec, problems)
    if spec.family == WHOLE:
        return
    if spec.strategy == "static":
        problems.add(
            "karpenter.unsupported_field",
            "node_group.strategy",
            "static is not possible, because Karpenter calls the image's script",
            value="static",
            fix="remove it",
        )
    if spec.family == "windows" and spec.windows.version is None and not problems.touches("node_group.windows"):
        problems.add(
            "karpenter.windows_version",
            "node_group.windows.version",
            "is required, because the amiFamily of Karpenter contains it",
            allowed="2019, 2022, 2025",
            fix='set it, for example windows: {version: "2022"}',
        )
    for path in sorted(given_paths(spec.given, (*_ALWAYS, *_CAN[spec.family]))):
        if not problems.touches(f"node_group.{path}"):
            message = f"cannot be added to the user data of {spec.family}, which Karpenter completes"
            problems.add("karpenter.unsupported_field", f"node_group.{path}", message, fix="remove it, or bake it into the AMI")
    _check_kubelet(spec, problems)
    if len(kubelet(spec).get("clusterDNS", ())) > 1 and spec.family != "al2023":
        path = "node_group.kubelet.config.clusterDNS" if spec.dns_of_group else "cluster.dns_ips"
        message = f"has several addresses, but Karpenter passes only one to {spec.family}"
        problems.add("karpenter.unsupported_field", path, message, value=list(spec.dns_ips), allowed="one IP address", fix="keep one")
    storage = spec.local_storage
    if storage and storage.strategy != "raid0" and spec.family == "al2":
        path = "node_group.local_storage.strategy"
        message = "cannot be set, because Karpenter knows only RAID 0"
        problems.add("karpenter.unsupported_field", path, message, value=storage.strategy, allowed="raid0", fix="set raid0")


def _check_labels(spec: NodeSpec, problems: Problems) -> None:
    facts = data.karpenter()
    for key, value in spec.labels.items():
        path = label_path(spec.given, key)
        domain = key.rpartition("/")[0]
        if "{" in value:
            message = "is resolved on the node, but Karpenter sets the labels of a NodePool"
            problems.add("labels.known_at_boot_only", path, message, value=value, fix="use a fixed value")
        elif key in facts["well_known_labels"] or problems.touches(path):
            continue
        elif key == "kubernetes.io/hostname" or (
            domain.endswith(tuple(facts["restricted_label_domains"])) and not domain.endswith(tuple(facts["allowed_label_domains"]))
        ):
            message = "is restricted: Karpenter rejects a NodePool with it"
            problems.add("karpenter.restricted_label", path, message, fix="use your own prefix")


def _check_evictions(spec: NodeSpec, problems: Problems) -> None:
    signals = data.karpenter()["eviction_signals"]
    path = "node_group.kubelet.config"
    for field in ("evictionHard", *_GRACE):
        values = spec.kubelet_config.get(field)
        for signal in values if isinstance(values, Mapping) else ():
            if signal not in signals and not problems.touches(joined(f"{path}.{field}", signal)):
                message = "is not an eviction signal that Karpenter accepts"
                problems.add("karpenter.invalid_kubelet", joined(f"{path}.{field}", signal), message, allowed=", ".join(signals))
    _check_grace_periods(spec, problems)


def _check_grace_periods(spec: NodeSpec, problems: Problems) -> None:
    soft, grace = (spec.kubelet_config.get(field) or {} for field in _GRACE)
    if not isinstance(soft, Mapping) or not isinstance(grace, Mapping):
        return
    for field, other, missing in ((*_GRACE, soft.keys() - grace.keys()), (*_GRACE[::-1], grace.keys() - soft.keys())):
        for signal in sorted(missing):
            path = joined(f"node_group.kubelet.config.{field}", signal)
            if not problems.touches(path):
                message = f"has no value in {other}, so that Karpenter rejects the EC2NodeClass"
                problems.add("karpenter.invalid_kubelet", path, message, fix="set it in both or in neither")


def _check_kubelet(spec: NodeSpec, problems: Problems) -> None:
    interpreted = data.karpenter()["kubelet"]
    for field, value in spec.kubelet_config.items():
        path = joined("node_group.kubelet.config", field)
        if spec.family not in _MERGES_CONFIG and field not in interpreted and value is not None and not problems.touches(path):
            message = f"cannot be set: on {spec.family}, Karpenter accepts only {', '.join(interpreted)}"
            problems.add("karpenter.unsupported_field", path, message, fix="remove it, or bake it into the AMI")
    if spec.family == "bottlerocket" and spec.kubelet_config.get("podsPerCore") is not None:
        path = "node_group.kubelet.config.podsPerCore"
        problems.add("karpenter.unsupported_field", path, "has no setting on Bottlerocket, and Karpenter rejects it", fix="set max_pods")
    for name in spec.kubelet_flags:
        path = joined("node_group.kubelet.flags", name)
        owner = field_of_flag(name)
        if owner and not problems.touches(path):
            message = "is interpreted by Karpenter, which does not see flags in the user data"
            problems.add("karpenter.interpreted_flag", path, message, fix=f"use the field node_group.kubelet.config.{owner} instead")
    expression = spec.nodeadm.get("kubelet")
    if isinstance(expression, Mapping) and "maxPodsExpression" in expression:
        path = "node_group.nodeadm.kubelet.maxPodsExpression"
        problems.add("karpenter.written_by_karpenter", path, "has no effect, because Karpenter always sets maxPods", fix="use max_pods")


def field_of_flag(name: str) -> str | None:
    """The field that Karpenter interprets and that this flag of kubelet sets, if there is one."""
    field = data.kubelet_flags()["flags"].get(name, {}).get("config")
    return field if field in data.karpenter()["kubelet"] else None


def check_text(spec: NodeSpec, text: str, problems: Problems) -> None:
    """Report what Karpenter would change or drop in the user data. The rest of the specification is valid."""
    if spec.family in ("al2", "al2023") and text:
        _check_mime(spec, text, problems)
    elif spec.family == "bottlerocket":
        _check_settings(spec, text, problems)


def _check_mime(spec: NodeSpec, text: str, problems: Problems) -> None:
    from ..formats import mime, mime_reader

    path = _USER_DATA if spec.user_data else "node_group.commands.pre"
    for number, part in enumerate(mime_reader.read(text, path, problems), 1):
        # Karpenter decodes quoted-printable, and no other encoding.
        body = mime.decoded(part, path, problems) if part.transfer_encoding == "quoted-printable" else part.body
        if "\r" in body:
            message = f"contains carriage returns in part {number}, which Karpenter removes"
            problems.add("karpenter.changed_text", path, message, fix="use LF line ends")
        if any(line.startswith("--//") for line in body.splitlines()):
            message = f"has a line in part {number} that begins with --//, which is the boundary of Karpenter's parts"
            problems.add("karpenter.changed_text", path, message, fix="change the line")
        if spec.family != "al2023":
            continue
        dropped = sorted(name for name, value in part.headers if value.lower() not in ("7bit", "8bit", "binary", "quoted-printable"))
        if dropped:
            message = f"needs the header {', '.join(dropped)} in part {number}, which Karpenter drops on al2023"
            fix = "write scripts as commands.pre, and use ASCII text with LF line ends and without file names"
            problems.add("karpenter.dropped_header", path, message, fix=fix)
        if part.media_type == NODE_CONFIG and not dropped:
            _check_node_config(spec, body, problems)


def _check_node_config(spec: NodeSpec, text: str, problems: Problems) -> None:
    from ..nodeconfig import read

    document = read.document(text)
    settings = document.get("spec") if isinstance(document, Mapping) else None
    section = settings.get("kubelet") if isinstance(settings, Mapping) else None
    if isinstance(settings, Mapping) and settings.get("cluster"):
        _report_written(_USER_DATA, "spec.cluster", "remove it", problems)
    if not isinstance(section, Mapping):
        return
    config, flags = section.get("config"), section.get("flags")
    for field in config if isinstance(config, Mapping) else ():
        if field == "registerWithTaints":
            _report_written(_USER_DATA, f"spec.kubelet.config.{field}", "use the field node_group.taints instead", problems)
        elif field in data.karpenter()["kubelet"]:
            fix = f"use the field node_group.kubelet.config.{field} instead"
            _report_written(_USER_DATA, f"spec.kubelet.config.{field}", fix, problems)
    for word in flags if isinstance(flags, list) else ():
        name = str(word).lstrip("-").partition("=")[0]
        own = {"node-labels": "labels", "register-with-taints": "taints"}.get(name)
        field = field_of_flag(name)
        if own or field:
            path = joined("node_group.kubelet.flags", name) if name in spec.kubelet_flags else _USER_DATA
            _report_written(path, f"--{name}", f"use the field node_group.{own or f'kubelet.config.{field}'} instead", problems)


def _report_written(path: str, what: str, fix: str, problems: Problems) -> None:
    problems.add("karpenter.written_by_karpenter", path, f"sets {what}, which Karpenter writes or schedules by", fix=fix)


def _check_settings(spec: NodeSpec, text: str, problems: Problems) -> None:
    from ..formats import toml

    facts = data.karpenter()
    found = toml.load(text, _USER_DATA, problems).get("settings", {}) if text else {}
    for name, value in found.get("kubernetes", {}).items():
        path = _origin(spec, name)
        nested = facts["bottlerocket_kubernetes"].get(name)
        if name in facts["bottlerocket_fields"]:
            field = facts["bottlerocket_fields"][name]
            message = "is interpreted by Karpenter, which does not see it in the user data"
            problems.add("karpenter.written_by_karpenter", path, message, fix=f"use the field node_group.kubelet.config.{field} instead")
        elif name not in facts["bottlerocket_kubernetes"]:
            problems.add("karpenter.dropped_setting", path, "is dropped by Karpenter, which does not know this setting", fix="remove it")
        elif nested:
            tables = value.values() if name in ("credential-providers", "static-pods") else (value,)
            for key in sorted(_unknown_keys(tables, nested)):
                message = "is dropped by Karpenter, which does not know this setting"
                problems.add("karpenter.dropped_setting", joined(path, key), message, fix="remove it")


def _unknown_keys(tables: Any, known: list[str]) -> Iterator[str]:
    for table in tables:
        yield from (key for key in (table if isinstance(table, Mapping) else ()) if key not in known)


def _origin(spec: NodeSpec, name: str) -> str:
    """The place in the input of a setting below C(settings.kubernetes)."""
    path = f"bottlerocket.settings.kubernetes.{name}"
    if given_at(spec, path) is not None:
        return f"node_group.{path}"
    return _USER_DATA if spec.user_data else "node_group.kubelet"
