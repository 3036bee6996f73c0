# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explains NodeConfigs: nodeadm of Amazon Linux 2023 (amazon-eks-ami, July 2026).

C(nodeadm-boot-hook.service) and C(nodeadm-config.service) run before cloud-init, C(nodeadm-run.service) after its final stage.
C(nodeadm-config) reads user data only. C(nodeadm-run) also reads C(/etc/eks/nodeadm.d), and writes all files again if the result differs.
"""

from __future__ import annotations

import base64
import posixpath
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from ..artifacts import nodeconfig_flags
from ..capacity import InstanceShape
from ..difference.fact import leaves, path_of
from ..kubelet_settings import NODE_LABELS, TAINTS, flag_name
from ..nodeconfig import envelope, predict, read
from ..readers.model import Place, ReadPart, UserData
from ..readers.places import place_of
from . import cloud_init, outcome
from .kubelet import Given, kubelet_config, kubelet_flags
from .model import Explanation, File, Setting, Step, Unknown
from .outcome import Kind, Machine, Outcome, of_user

_BOOT_HOOK, _CONFIG, _RUN = "nodeadm-boot-hook.service", "nodeadm-config.service", "nodeadm-run.service"
DROP_INS = "/etc/eks/nodeadm.d"
_CONFIG_PATH = "spec.kubelet.config"
_EXPRESSION = "spec.kubelet.maxPodsExpression"
_LAST_WITH_CONTAINERD_1 = 29
"""The last minor whose images have containerd 1.7 (amazon-eks-ami, July 2026: only the variables of 1.28 and 1.29 ask for it)."""
_CIDRS = ("10.100.0.0/16", "192.168.0.0/16", "fd00:1234::/108")
"""Service CIDRs that have in common only what all have."""
_OF_CIDR = "depends on the service CIDR, which EKS or Karpenter adds"
_NVIDIA = "on an instance with NVIDIA GPUs, the image's packages add a runtime to containerd and a label to the node"

Document = tuple[ReadPart, str, Mapping[str, Any]]
"""A NodeConfig: its part, the path of the document in the part, and its decoded spec."""


def explain(found: UserData, data: bytes, machine: Machine) -> Explanation:
    """What an AL2023 node does. data: the user data as it was given, which nodeadm decodes itself."""
    unknown: list[Unknown] = []
    middle = cloud_init.steps(found, unknown)
    written = cloud_init.files(found)
    drop_ins = [file for file in found.files if posixpath.dirname(file.path) == DROP_INS]
    for file in drop_ins:
        if file.text is None:
            why = "the document does not contain the whole file, and nodeadm merges it over user data"
            unknown.append(Unknown(file.path, why, place_of(found.parts[file.part], file.key, of_key=True)))
    texts = {posixpath.basename(file.path): file.text.encode("utf-8", "replace") for file in drop_ins if file.text is not None}
    configs = [part for part in found.parts if part.kind == "nodeconfig"]
    try:
        early = envelope.effective(data)["spec"] if configs else {}
        spec = envelope.effective(data, texts)["spec"] if configs or texts else {}
        if early.get("cluster") and (reason := read.missing(early)) is not None:
            raise read.NodeConfigError(reason, fatal=True)
        outcomes = [(why, _outcome(spec, found, kind, cidr)) for why, kind, cidr in _cases(machine, spec)]
    except read.NodeConfigError as error:
        return _failed(error, configs, middle, written, unknown)
    result = outcome.combine(outcomes)
    if not spec.get("cluster"):
        unknown.append(Unknown("the cluster", "EKS or Karpenter adds it to this user data", None))
    unknown.append(Unknown("GPUs", _NVIDIA))
    by_nodeadm = outcome.files_of(result, lambda _path: "nodeadm")
    taken = {file.path for file in by_nodeadm}
    files = sorted([*by_nodeadm, *(file for file in written if file.path not in taken)], key=lambda file: file.path)
    where = _place(_documents(found), _EXPRESSION)[1]
    warnings = [Step("early", _CONFIG, f"logs a warning: {text}", where) for text in result.warnings]
    timeline = [*_before(configs), *warnings, *middle, *_after(found, spec, result)]
    rows = [row.value for table in (result.config, result.flags) for row in table.values()]
    unknown += [Unknown(name, why) for name, why in sorted(result.unknown.items())]
    unknown += outcome.used_placeholders([*rows, *(file.content for file in files)])
    return Explanation(tuple(timeline), tuple(files), result.config, result.flags, {}, tuple(unknown))


def _failed(
    error: read.NodeConfigError, configs: list[ReadPart], middle: list[Step], written: list[File], unknown: list[Unknown]
) -> Explanation:
    where = cloud_init.first_line(configs[0]) if configs else None
    does = f"fails, and kubelet does not start: {error}"
    timeline = [_boot_hook(), Step("early", _CONFIG, does, where), *middle]
    unknown.append(Unknown("nodeadm", f"it stops before it writes files: {error}", where))
    unknown += outcome.used_placeholders(file.content for file in written)
    return Explanation(tuple(timeline), tuple(written), {}, {}, {}, tuple(unknown))


def _boot_hook() -> Step:
    return Step("early", _BOOT_HOOK, "runs the image's own hook, before the network is up")


def _before(configs: list[ReadPart]) -> Iterator[Step]:
    yield _boot_hook()
    for part in configs:
        yield Step("early", _CONFIG, "reads the NodeConfig", cloud_init.first_line(part))
    if not configs:
        yield Step("early", _CONFIG, "reads the NodeConfig that EKS adds")
    yield Step("early", _CONFIG, "writes the configuration of containerd and kubelet")


def _after(found: UserData, spec: Mapping[str, Any], result: Outcome) -> Iterator[Step]:
    for file in found.files:
        if posixpath.dirname(file.path) == DROP_INS:
            place = place_of(found.parts[file.part], file.key, of_key=True)
            yield Step("nodeadm", _RUN, f"reads {file.path}, which wins over user data, and writes the configuration again", place)
    if strategy := spec.get("instance", {}).get("localStorage", {}).get("strategy"):
        where = _place(_documents(found), "spec.instance.localStorage.strategy")[1]
        yield Step("nodeadm", _RUN, f"sets up the disks of the instance ({strategy})", where)
    yield Step("nodeadm", _RUN, "starts containerd.service")
    yield Step("nodeadm", _RUN, "starts kubelet.service")
    yield from registration(result.flags)


def registration(flags: Mapping[str, Setting]) -> Iterator[Step]:
    """What kubelet does, with the labels and taints of its flags."""
    for name, what in ((f"--{NODE_LABELS}", "labels"), (f"--{TAINTS}", "taints")):
        if (row := flags.get(name)) is not None and row.value is not None:
            text = row.value if isinstance(row.value, str) else ",".join(map(str, row.value))
            yield Step("kubelet", "kubelet.service", f"registers the node with the {what} {text}", row.where)
    yield Step("kubelet", "kubelet.service", "registers the node with the API server")


def _cases(machine: Machine, spec: Mapping[str, Any]) -> Iterator[tuple[str, Kind, str | None]]:
    """The kinds of nodes, and with them the service CIDRs, if user data does not have one."""
    cidr, *others = (None,) if spec.get("cluster") else _CIDRS
    listed = outcome.kinds(machine, "al2023")
    for why, kind in listed:
        yield why, kind, cidr
    for other in others:
        yield _OF_CIDR, listed[0][1], other


def _outcome(spec: Mapping[str, Any], found: UserData, kind: Kind, cidr: str | None) -> Outcome:
    node = node_of(kind.shape, f"1.{kind.minor}.0")
    if cidr is not None:
        name, endpoint, authority = outcome.CLUSTER_NAME, outcome.ENDPOINT, base64.b64encode(outcome.AUTHORITY.encode()).decode()
        spec = {**spec, "cluster": {"name": name, "apiServerEndpoint": endpoint, "certificateAuthority": authority, "cidr": cidr}}
    prediction = predict.predict(spec, node)
    given = _given(spec, found)
    unknown = {**prediction.unknown, **prediction.unknown_fields}
    config = kubelet_config(kind.minor, prediction.config, given, prediction.unknown_fields)
    if spec.get("kubelet", {}).get("maxPodsExpression") and not prediction.warnings and "maxPods" in prediction.config:
        path, place = _place(_documents(found), _EXPRESSION)
        row = config.get("maxPods")
        if row is not None and row.source == "instance_type":
            config["maxPods"] = of_user(row.value, path, place)
    flags = kubelet_flags(nodeconfig_flags.flag_values({"flags": prediction.flags}), given)
    return Outcome(dict(prediction.files), unknown, config, flags, prediction.warnings)


def node_of(shape: InstanceShape, kubelet_version: str) -> predict.Node:
    """A node of a type and a version, with placeholders for everything that only the instance knows."""
    minor = int(kubelet_version.split(".")[1])
    return predict.Node(
        instance_id=outcome.INSTANCE_ID,
        private_dns_name=outcome.PRIVATE_DNS_NAME,
        region=outcome.REGION,
        availability_zone=outcome.AVAILABILITY_ZONE,
        ipv4=outcome.IPV4,
        ipv6=outcome.IPV6,
        kubelet_version=kubelet_version,
        containerd_version="1.7" if minor <= _LAST_WITH_CONTAINERD_1 else "2.1",
        vcpus=shape.vcpus or 1,
        shape=shape,
        memory_mib=shape.memory,
    )


def _documents(found: UserData) -> list[Document]:
    """The NodeConfigs in the order in which nodeadm merges them."""
    listed = [(part, "", part.text) for part in found.parts if part.kind == "nodeconfig"]
    drop_ins = [file for file in found.files if posixpath.dirname(file.path) == DROP_INS and file.text is not None]
    for file in sorted(drop_ins, key=lambda file: posixpath.basename(file.path)):
        listed.append((found.parts[file.part], file.key, file.text or ""))
    documents: list[Document] = []
    for part, key, text in listed:
        try:
            documents.append((part, key, read.parse(text)["spec"]))
        except read.NodeConfigError:
            continue
    return documents


def _place(documents: list[Document], path: str) -> tuple[str, Place | None]:
    """Where the last document sets C(path): its path in messages, and its place."""
    keys = path.split(".")[1:]
    for part, key, spec in reversed(documents):
        value: Any = spec
        for name in keys:
            value = value.get(name) if isinstance(value, Mapping) else None
        if value is not None:
            return _at(part, key, path)
    return path, None


def _at(part: ReadPart, key: str, path: str) -> tuple[str, Place]:
    if key:
        return f"{part.path}.{key}".lstrip("."), place_of(part, key, of_key=True)
    return f"{part.path}.{path}".lstrip("."), place_of(part, path)


def _given(spec: Mapping[str, Any], found: UserData) -> Given:
    kubelet = spec.get("kubelet", {})
    origins: dict[str, Setting] = {}
    for part, key, document in _documents(found):
        section = document.get("kubelet", {})
        for name, _value in leaves(section.get("config", {}), ()):
            origins[path_of(name)] = Setting(None, "user_data", *_at(part, key, path_of(name, _CONFIG_PATH)))
        for index, item in enumerate(section.get("flags", ())):
            for word in _split(item):
                origins[f"--{flag_name(word)}"] = Setting(None, "user_data", *_at(part, key, f"spec.kubelet.flags[{index}]"))
    words = [word for item in kubelet.get("flags", ()) for word in _split(item)]
    return Given(kubelet.get("config", {}), nodeconfig_flags.flag_values({"flags": words}), origins)


def _split(item: str) -> list[str]:
    """The words that systemd makes of an item of C(flags)."""
    try:
        return shlex.split(item)
    except ValueError:
        return [item]
