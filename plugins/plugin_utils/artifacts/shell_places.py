# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the fields with the arguments of C(/etc/eks/bootstrap.sh) in the user's shell scripts.

C(override) replaces our call, so everything that its call does not pass, or passes differently, is a warning. A call in user data is
rejected, because it is a second one; different values are named with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..bootstrap_calls import SCRIPT, Call, read_calls
from ..errors import Problem, Problems, joined, shown
from ..formats import mime
from ..formats.shell_reader import PackageMissing
from ..kubelet_settings import NODE_LABELS, TAINTS, is_map, is_same, value_of
from ..kubernetes import node_labels_flag
from ..model.spec import NodeSpec
from . import boot_labels, cloud_init, origins
from .bootstrap_script import CONFIG_DIR, Image, common_options, kubelet_words
from .eksctl_contract import HELPER, variables
from .kubelet_precedence import labels_of, taints_of
from .model import Notes

_USER_DATA, _OVERRIDE = "node_group.user_data", "node_group.override"
_MENTION = re.compile(r"bootstrap\.sh|kubelet|/etc/eks|/etc/kubernetes")
_LOOKED_UP = ("--apiserver-endpoint", "--b64-cluster-ca")
"""Options whose values the script gets from EKS if they are missing."""
_CONFIG_DIR = "config-dir"
_FIX = "set it in one place only"


@dataclass(frozen=True)
class _Given:
    """A value that our call passes. name: as it is passed. path: the input that gives it. is_computed: the user did not write it."""

    name: str
    value: str
    path: str
    is_computed: bool = False


def check(spec: NodeSpec, problems: Problems) -> None:
    """Report values that a call in user data or C(commands.pre) gives differently from the fields, if no precedence is set.

    C(node_script.check) reports the call itself.
    """
    if spec.user_data_precedence is not None or spec.managed:
        return
    for path, text in _scripts(spec):
        if SCRIPT not in text:
            continue
        try:
            reading = read_calls(text)
        except PackageMissing:
            continue
        for call in reading.calls:
            for given, other in _differences(spec, call):
                if other is not None and not given.is_computed:
                    message = f"passes {given.name} {shown(other)} to {SCRIPT}, but {given.path} is {shown(given.value)}"
                    problems.add("user_data.conflict", path, message, fix=_FIX)


def notes(spec: NodeSpec, image: Image) -> Notes:
    """Warnings about values of the fields that C(override) changes, and the scripts that were not read completely."""
    if spec.managed:
        return Notes()
    warnings, unchecked = Problems(), Problems()
    for path, text in _scripts(spec):
        if path.startswith("node_group.commands") and not _MENTION.search(text):
            continue
        _reading(path, text, None, unchecked)
    if spec.override is not None:
        reading = _reading(_OVERRIDE, spec.override, known_variables(spec, image), unchecked)
        for call in reading[-1:]:
            _compare_override(spec, call, warnings)
    return Notes(tuple(warnings), tuple(unchecked))


def known_variables(spec: NodeSpec, image: Image) -> dict[str, str]:
    """The variables of eksctl's contract whose values do not depend on the node."""
    known = variables(spec)
    if not boot_labels.placeholders(spec.labels):
        known |= {"NODE_LABELS": node_labels_flag(spec.labels), "KUBELET_EXTRA_ARGS": image.join(kubelet_words(spec))}
    return {name: value for name, value in known.items() if value is not None}


def _scripts(spec: NodeSpec) -> Iterator[tuple[str, str]]:
    for part in cloud_init.existing_parts(spec, Problems()):
        if part.media_type == cloud_init.SHELL:
            yield _USER_DATA, mime.decoded(part, _USER_DATA, Problems())
    for index, command in enumerate(spec.commands_pre):
        yield joined("node_group.commands.pre", index), command


def _reading(path: str, text: str, known: Mapping[str, str] | None, unchecked: Problems) -> tuple[Call, ...]:
    try:
        reading = read_calls(text, known, HELPER)
    except PackageMissing as missing:
        message = f"was not compared with the fields: {missing}"
        unchecked.add("shell.missing_package", path, message, fix="run pip install tree-sitter tree-sitter-bash")
        return ()
    if not reading.is_complete:
        message = f"contains shell commands that were not compared with the fields: only literal arguments of {SCRIPT} are"
        unchecked.add("user_data.unread_shell", path, message, fix="write the settings of the node as fields")
    return reading.calls


def _compare_override(spec: NodeSpec, call: Call, warnings: Problems) -> None:
    for given, other in _differences(spec, call):
        if given.is_computed or (other is None and given.name in _LOOKED_UP):
            continue
        if other is None:
            value = "" if given.name == f"--{_CONFIG_DIR}" else f", which is {shown(given.value)},"
            message = f"does not pass {given.name} to {SCRIPT}, so {given.path}{value} has no effect"
        else:
            message = f"passes {given.name} {shown(other)} to {SCRIPT}, which replaces {shown(given.value)} of {given.path}"
        warnings.extend([Problem("user_data.replaced_by_override", _OVERRIDE, message, fix=_FIX)])


def _differences(spec: NodeSpec, call: Call) -> Iterator[tuple[_Given, str | None]]:
    """Every value of our call that C(call) does not pass, or passes differently; then with that value."""
    if call.cluster_name != spec.cluster.name:
        yield _Given("the cluster name", str(spec.cluster.name), "cluster.name"), call.cluster_name
    for given in _options(spec):
        other = call.options.get(given.name)
        if other is None or not _is_same_option(given.name, given.value, other):
            yield given, other
    labels = labels_of(call.flags.get(NODE_LABELS, ()))
    for key, value in spec.labels.items():
        if labels.get(key) != value:
            yield _Given(f"label {key}", value, origins.of_label(spec, key)), labels.get(key)
    taints = {f"{taint.key}:{taint.effect}": taint.value for taint in taints_of(",".join(call.flags.get(TAINTS, [])[-1:]))}
    for taint in spec.taints:
        name = f"{taint.key}:{taint.effect}"
        if taints.get(name) != taint.value:
            yield _Given(f"taint {name}", taint.value, origins.of_taints(spec)), taints.get(name)
    yield from _flags(spec, call)


def _options(spec: NodeSpec) -> Iterator[_Given]:
    yield _Given("--apiserver-endpoint", str(spec.cluster.endpoint), "cluster.endpoint")
    yield _Given("--b64-cluster-ca", str(spec.cluster.certificate_authority), "cluster.certificate_authority")
    words = common_options(spec)
    paths = {
        "--dns-cluster-ip": origins.of_field(spec, ("clusterDNS",)),
        "--ip-family": "cluster.service_cidr",
        "--service-ipv6-cidr": "cluster.service_cidr",
        "--pause-container-account": "node_group.containerd.pause_image",
        "--pause-container-version": "node_group.containerd.pause_image",
    }
    for name, value in zip(words[::2], words[1::2], strict=True):
        # Whether the script computes max pods has an effect only through the flag, which is compared below.
        if name in paths:
            yield _Given(name, value, paths[name], is_computed=name == "--dns-cluster-ip" and paths[name] == "cluster.service_cidr")


def _flags(spec: NodeSpec, call: Call) -> Iterator[tuple[_Given, str | None]]:
    wanted: dict[str, list[str]] = {}
    for word in kubelet_words(spec):
        name, _unused, value = word.removeprefix("--").partition("=")
        wanted.setdefault(name, []).append(value)
    for name, values in wanted.items():
        if name in (NODE_LABELS, TAINTS):
            continue
        found = call.flags.get(name)
        if found is not None and _is_same_flag(name, values, found):
            continue
        path = origins.of_flag(spec, name)
        if name == "max-pods":
            path = origins.of_field(spec, ("maxPods",))
        elif name == _CONFIG_DIR:
            path = _configuration_path(spec)
        yield _Given(f"--{name}", ",".join(values), path), None if found is None else ",".join(found)


def _configuration_path(spec: NodeSpec) -> str:
    kubelet: Any = spec.given.get("kubelet")
    return "node_group.kubelet.config" if isinstance(kubelet, Mapping) and kubelet.get("config") else "node_group.reserved"


def _is_same_flag(name: str, values: list[str], found: list[str]) -> bool:
    if name == _CONFIG_DIR:
        return found[-1].rstrip("/") == CONFIG_DIR
    if is_map(name):
        wanted, other = value_of(name, values), value_of(name, found)
        return all(key in other and is_same(name, value, other[key]) for key, value in wanted.items())
    return is_same(name, value_of(name, values), value_of(name, found))


def _is_same_option(name: str, value: str, other: str) -> bool:
    if name == "--dns-cluster-ip":
        return is_same("cluster-dns", value.split(","), other.split(","))
    return value.rstrip("/") == other.rstrip("/") if name == "--apiserver-endpoint" else value == other
