# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bottlerocket: one TOML document of settings, which the node's API takes at first boot."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn
from urllib.parse import urlsplit

from ..artifacts import origins
from ..artifacts.bottlerocket_kubelet import kubelet_settings
from ..artifacts.model import File, Fragment, Notes, UserData
from ..artifacts.refusals import (
    given_at,
    refuse,
    refuse_apply,
    refuse_boot_labels,
    refuse_foreign_fields,
    refuse_outpost,
    refuse_unless_managed_can,
)
from ..artifacts.settings_tree import (
    COMPUTED_NO_PROXY,
    IDENTITY,
    LABELS,
    TAINTS,
    Leaves,
    Setting,
    by_precedence,
    collect,
    disagree,
    leaves,
    nested,
    report_at_origin,
    unite,
)
from ..bottlerocket_settings import bottlerocket_problems
from ..errors import Problems, SpecError, joined
from ..formats import toml
from ..formats.user_data_kind import KIND_NAMES, classify
from ..kubernetes import kubelet_label_problem
from ..model.spec import Mirror, NodeSpec

_NO_SHELL = "cannot run: Bottlerocket has no shell"
_CONTAINERS = "use bottlerocket.settings.bootstrap-commands (calls of apiclient) or bottlerocket.settings.bootstrap-containers"

_REFUSED = {
    "strategy": ("exists only on al2 and ubuntu; Bottlerocket always boots from its settings", "remove it"),
    "commands.pre": (_NO_SHELL, _CONTAINERS),
    "commands.post": (_NO_SHELL, "run a DaemonSet, which starts after kubelet is up"),
    "override": ("is not possible: Bottlerocket has no shell and no bootstrap script", _CONTAINERS),
    "containerd.config": (
        "cannot be set: Bottlerocket writes containerd's configuration from its own settings",
        "use bottlerocket.settings.container-runtime, .container-runtime-plugins or .container-registry",
    ),
    "containerd.pause_image": ("has had no effect on Bottlerocket since Kubernetes 1.21 (pod-infra-container-image)", "remove it"),
    "local_storage.mount_path": ("cannot be set: Bottlerocket mounts the array below /mnt/.ephemeral", "remove it"),
}

_MANAGED_CAN = (
    "max_pods",
    "reserved",
    "kubelet",
    "containerd.registry_mirrors",
    "trust",
    "local_storage",
    "proxy",
    "user_data",
    "bottlerocket",
)

_OF_EKS: tuple[tuple[str, ...], ...] = (*IDENTITY, LABELS, TAINTS)
"""What EKS writes itself when it completes the user data of a managed node group."""

_STORAGE_COMMANDS = [
    ["apiclient", "ephemeral-storage", "init"],
    ["apiclient", "ephemeral-storage", "bind", "--dirs", "/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods"],
]
"""The directories are named: releases before 1.46 bind none unless told which."""

_FILE = "/etc/nodebootstrap/settings.toml"
"""Where C(node_files) puts the settings. Bottlerocket reads no file itself: this one is for C(apiclient apply) from a host container."""


def check(spec: NodeSpec, problems: Problems) -> None:
    """Report what Bottlerocket cannot express, and what would keep it from booting."""
    refuse(spec, _REFUSED, problems)
    refuse_foreign_fields(spec, problems)
    refuse_outpost(spec, problems)
    refuse_boot_labels(spec, problems)
    refuse_unless_managed_can(spec, _MANAGED_CAN, problems)
    _check_storage(spec, problems)
    _check_proxy(spec, problems)
    _check_mirrors(spec, problems)
    version = spec.cluster.kubernetes_version
    bottlerocket_problems(spec.bottlerocket, "node_group.bottlerocket.settings", problems, version)
    theirs = [*_settings_field(spec)]
    documents = [_document(path, text, version, problems) for path, text in zip(spec.user_data_paths, spec.user_data, strict=True)]
    for settings in (theirs, *documents):
        _check_theirs(settings, spec, problems)
    ours = collect(_ours(spec, problems), problems)
    reported = Problems()
    bottlerocket_problems(nested(ours), "settings", reported, version)
    report_at_origin(ours, reported, problems)
    final = _united(ours, theirs, documents, spec, problems)
    if spec.managed:
        unreadable = Problems()
        toml.eks_merge_problem(nested(final), "settings", unreadable)
        report_at_origin(final, unreadable, problems)


def notes(_spec: NodeSpec) -> Notes:
    """Nothing is left to say about a valid specification."""
    return Notes()


def kubelet_input(spec: NodeSpec, problems: Problems) -> None:
    """Bottlerocket writes a configuration that we do not know as a whole."""


def user_data(spec: NodeSpec) -> UserData:
    """The settings as TOML; empty when a managed group adds nothing to what EKS writes."""
    text = _text(spec)
    refused = "EKS merges its own settings into this document, and cannot read it compressed" if spec.managed else None
    return UserData(text, (Fragment("settings", text),) if text else (), refused)


def files(spec: NodeSpec) -> tuple[File, ...]:
    """The settings as one file, readable by root only: registry credentials may be among them."""
    text = _text(spec)
    return (File(_FILE, text, mode="0600"),) if text else ()


def plan(spec: NodeSpec) -> NoReturn:
    """Raise C(SpecError): the role of this family applies its settings."""
    refuse_apply(spec, "is not supported by apply: a Bottlerocket node has no shell, only an API for its settings")


def wanted_settings(spec: NodeSpec) -> Leaves:
    """The settings one by one, as a live node is compared with them."""
    problems = Problems()
    documents = [_document(path, text, None, problems) for path, text in zip(spec.user_data_paths, spec.user_data, strict=True)]
    ours = collect(_ours(spec, problems), problems)
    final = _united(ours, [*_settings_field(spec)], documents, spec, problems)
    if len(problems):
        raise SpecError(problems)
    return final


def _text(spec: NodeSpec) -> str:
    final = wanted_settings(spec)
    return toml.dump({"settings": nested(final)}) if final else ""


def _united(ours: Leaves, theirs: list[Setting], documents: list[list[Setting]], spec: NodeSpec, problems: Problems) -> Leaves:
    """Fields and C(bottlerocket.settings), which must not disagree, and then the user's own documents by precedence."""
    fields = unite(ours, collect(theirs, problems), disagree, problems)
    existing = collect((setting for document in documents for setting in document), problems)
    return unite(fields, existing, by_precedence(spec.user_data_precedence), problems)


def _settings_field(spec: NodeSpec) -> Iterator[Setting]:
    return leaves((), spec.bottlerocket, "node_group.bottlerocket.settings")


def _document(path: str, text: str, version: tuple[int, int] | None, problems: Problems) -> list[Setting]:
    """The settings of one existing user data document; empty when it is refused."""
    kind = classify(text)
    if kind not in ("toml", "unknown"):
        problems.add(
            "user_data.wrong_kind",
            path,
            f"is {KIND_NAMES[kind]}, which Bottlerocket cannot read",
            allowed="TOML with the top table settings",
            fix="remove it",
        )
        return []
    return list(leaves((), check_document(text, path, version, problems), joined(path, "settings")))


def check_document(text: str, path: str, version: tuple[int, int] | None, problems: Problems) -> Mapping[str, Any]:
    """The settings in a TOML document; empty if it has none. Report what Bottlerocket would refuse."""
    before = len(problems)
    tree = toml.load(text, path, problems)
    for key in tree:
        if key != "settings":
            fix = f"write it below settings: [settings.{key}]"
            problems.add(
                "bottlerocket.outside_settings", joined(path, key), "is outside of settings, and Bottlerocket would not boot", fix=fix
            )
    settings = tree.get("settings")
    if len(problems) == before and not isinstance(settings, Mapping):
        problems.add(
            "bottlerocket.no_settings",
            path,
            "has no table settings, and Bottlerocket would not boot",
            allowed="TOML with the top table settings",
        )
    if not isinstance(settings, Mapping):
        return {}
    bottlerocket_problems(settings, joined(path, "settings"), problems, version)
    return settings


def _check_theirs(settings: list[Setting], spec: NodeSpec, problems: Problems) -> None:
    """What the user wrote as settings must pass what the fields must pass."""
    for setting in settings:
        owner = next((place for place in _OF_EKS if setting.place[: len(place)] == place), None)
        if spec.managed and owner:
            field = {LABELS: "labels", TAINTS: "taints"}.get(owner)
            fix = f"set node_group.{field}, and set the same in EKS for the node group" if field else "remove it"
            problems.add("bottlerocket.written_by_eks", setting.origin, "is written by EKS for a managed node group", fix=fix)
        elif owner == LABELS and (reason := kubelet_label_problem(setting.place[-1])):
            problems.add(
                "labels.forbidden_prefix",
                setting.origin,
                reason,
                fix="use your own prefix, or set the label on the Node object after the node has joined",
            )


def _check_storage(spec: NodeSpec, problems: Problems) -> None:
    if spec.local_storage and spec.local_storage.strategy != "raid0":
        problems.add(
            "bottlerocket.unsupported_storage",
            "node_group.local_storage.strategy",
            "is not available: Bottlerocket creates one RAID 0 array from the instance's disks, or does not use them",
            value=spec.local_storage.strategy,
            allowed="raid0",
            fix="set strategy: raid0, or remove local_storage",
        )


def _check_proxy(spec: NodeSpec, problems: Problems) -> None:
    if spec.proxy and spec.proxy.http and spec.proxy.http != spec.proxy.https:
        problems.add(
            "bottlerocket.http_proxy",
            "node_group.proxy.http",
            "has no setting: Bottlerocket supports only one proxy, for https",
            fix="set the proxy as https (http can only be the same proxy)",
        )


def _ours(spec: NodeSpec, problems: Problems) -> Iterator[Setting]:
    """The settings that the cluster and the common fields mean."""
    if not spec.managed:
        yield from _cluster(spec)
    # EKS gives host 10 of the service CIDR itself; another address is the user's choice.
    if spec.dns_ips and not (spec.managed and spec.dns_of_eks):
        address = spec.dns_ips[0] if len(spec.dns_ips) == 1 else list(spec.dns_ips)
        yield Setting(("kubernetes", "cluster-dns-ip"), address, origins.of_field(spec, ("clusterDNS",)))
    if spec.max_pods is not None:
        yield Setting(("kubernetes", "max-pods"), spec.max_pods, origins.of_field(spec, ("maxPods",)))
    for setting, field, values in (
        ("kube-reserved", "kubeReserved", spec.kube_reserved),
        ("system-reserved", "systemReserved", spec.system_reserved),
    ):
        for key, value in values.items():
            yield Setting(("kubernetes", setting, key), value, origins.of_field(spec, (field, key)))
    yield from kubelet_settings(spec, problems)
    if spec.containerd.registry_mirrors:
        yield _mirrors(spec.containerd.registry_mirrors)
    if spec.trust:
        bundle = base64.b64encode("".join(spec.trust).encode("ascii")).decode("ascii")
        yield from leaves(("pki", "nodebootstrap"), {"data": bundle, "trusted": True}, "node_group.trust")
    if spec.local_storage:
        command = {"commands": _STORAGE_COMMANDS, "mode": "always", "essential": True}
        # Commands run in the order of their names: the disks come first.
        yield from leaves(("bootstrap-commands", "000-nodebootstrap-local-storage"), command, "node_group.local_storage")
    if spec.proxy:
        if spec.proxy.https:
            yield Setting(("network", "https-proxy"), spec.proxy.https, "node_group.proxy.https")
        own = given_at(spec, "proxy.no_proxy")
        origin = COMPUTED_NO_PROXY if own is None else "node_group.proxy.no_proxy"
        yield Setting(("network", "no-proxy"), list(spec.proxy.no_proxy), origin, tuple(own or ()))


def _cluster(spec: NodeSpec) -> Iterator[Setting]:
    """Who the cluster is, and what the node is to be in it. hostname_type needs no setting: the image takes the private DNS name,
    which EC2 forms as the subnet's hostname type says."""
    cluster = spec.cluster
    facts = zip(IDENTITY, (cluster.endpoint, cluster.certificate_authority, cluster.name), strict=True)
    for (place, value), field in zip(facts, ("endpoint", "certificate_authority", "name"), strict=True):
        if value is not None:
            yield Setting(place, value, f"cluster.{field}")
    for key, value in spec.labels.items():
        yield Setting((*LABELS, key), value, origins.of_label(spec, key))
    by_key: dict[str, list[str]] = {}
    for taint in spec.taints:
        by_key.setdefault(taint.key, []).append(f"{taint.value}:{taint.effect}")
    for key, effects in by_key.items():
        yield Setting((*TAINTS, key), effects, origins.of_taints(spec))


def _mirrors(mirrors: Mapping[str, tuple[Mirror, ...]]) -> Setting:
    # containerd's own name for "every registry" is _default, Bottlerocket's is *.
    tables: list[dict[str, Any]] = [
        {"registry": "*" if host == "_default" else host, "endpoint": [_endpoint(mirror) for mirror in listed]}
        for host, listed in mirrors.items()
    ]
    return Setting(("container-registry", "mirrors"), tables, "node_group.containerd.registry_mirrors")


def _endpoint(mirror: Mirror) -> str:
    """The URL for C(endpoint), where containerd takes a path as the root of the API, and appends C(/v2) only to a URL without a path."""
    path = urlsplit(mirror.url).path.rstrip("/")
    return mirror.url if mirror.override_path or not path or path.endswith("/v2") else f"{mirror.url.rstrip('/')}/v2"


_NO_MIRROR_SETTING = {
    "ca": "use trust, which the node trusts for every registry",
    "skip_verify": "use trust, with the certificate authority of the mirror",
    "dial_timeout": "remove it",
}


def _check_mirrors(spec: NodeSpec, problems: Problems) -> None:
    for host, listed in spec.containerd.registry_mirrors.items():
        for index, mirror in enumerate(listed):
            path = joined(joined("node_group.containerd.registry_mirrors", host), index)
            for field, fix in _NO_MIRROR_SETTING.items():
                if getattr(mirror, field):
                    message = "has no setting: a mirror of Bottlerocket has only a URL"
                    problems.add("bottlerocket.mirror_setting", joined(path, field), message, fix=fix)
            if mirror.override_path and not urlsplit(mirror.url).path.rstrip("/"):
                message = "cannot be set for a URL without a path, to which Bottlerocket appends /v2"
                problems.add("bottlerocket.mirror_setting", joined(path, "override_path"), message, fix="remove it")
            if set(mirror.capabilities) != {"pull", "resolve"}:
                message = "has no setting: a mirror of Bottlerocket always resolves and pulls"
                problems.add("bottlerocket.mirror_setting", joined(path, "capabilities"), message, fix="remove it")
