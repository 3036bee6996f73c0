# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the fields with the arguments of C(/etc/eks/bootstrap.sh) in the user's shell scripts.

C(override) replaces our call, so everything that its call does not pass, or passes differently, is a warning. A call in user data is
rejected, because it is a second one; different values are named with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..bootstrap_calls import SCRIPT, Call, read_calls
from ..errors import Problem, Problems, joined, shown
from ..formats import mime
from ..formats.shell_reader import PackageMissing
from ..kubelet_settings import is_same
from ..kubernetes import node_labels_flag
from ..model.existing import HELPER
from ..model.spec import NodeSpec
from . import boot_labels, cloud_init, file_places, origins, proxy_places
from .bootstrap_script import Image, common_options, kubelet_words
from .comparison import SHELL_MENTION
from .eksctl_contract import outpost_variables, variables
from .model import Notes
from .passed_flags import CONFIG_DIR, FIX, Difference, Given, differences, warn

_USER_DATA, _OVERRIDE = "node_group.user_data", "node_group.override"
_LOOKED_UP = ("--apiserver-endpoint", "--b64-cluster-ca")
"""Options whose values the script gets from EKS if they are missing."""


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
                    problems.add("user_data.conflict", path, message, fix=FIX)


def notes(spec: NodeSpec, image: Image) -> Notes:
    """Warnings about values of the fields that C(override) changes, and the scripts that were not read completely."""
    if spec.managed:
        return Notes()
    warnings, unchecked = Problems(), Problems()
    for path, text in _scripts(spec):
        if path.startswith("node_group.commands") and not SHELL_MENTION.search(text):
            continue
        _reading(spec, path, text, None, unchecked)
    _name_cloud_configs(spec, unchecked)
    if spec.override is not None:
        reading = _reading(spec, _OVERRIDE, spec.override, known_variables(spec, image), unchecked)
        for call in reading[-1:]:
            warn(_differences(spec, call), SCRIPT, _LOOKED_UP, warnings)
        if spec.proxy is not None:
            proxy_places.warn(spec, warnings)
    return Notes(tuple(warnings), tuple(unchecked))


def unread(spec: NodeSpec) -> tuple[Problem, ...]:
    """Scripts that may change a setting of the node and were not read completely, on a family without C(bootstrap.sh)."""
    unchecked = Problems()
    for path, text in _scripts(spec):
        if SHELL_MENTION.search(text):
            _reading(spec, path, text, None, unchecked)
    _name_cloud_configs(spec, unchecked)
    return tuple(unchecked)


def _name_cloud_configs(spec: NodeSpec, unchecked: Problems) -> None:
    """Name commands of a cloud-config, and files that it writes, if they may change a setting of the node and were not compared.

    What a template or an address becomes on the node is not known.
    """
    ignored = Problems()
    placed = cloud_init.placed_parts(spec, ignored)
    for path, part in placed:
        if part.media_type in (cloud_init.INCLUDE, cloud_init.JINJA):
            message = "becomes a document only on the node, which was not compared with the fields"
            unchecked.add("user_data.unread_shell", path, message, fix="write the settings of the node as fields")
    parts = [one for one in placed if one[1].media_type == cloud_init.CLOUD_CONFIG]
    if not parts:
        return
    from ..formats import cloud_config

    for path, part in parts:
        document = cloud_config.load(mime.decoded(part, path, ignored), path, ignored)
        texts = [("runs commands", command) for command in cloud_config.commands(document)]
        texts += [
            (f"writes {file.path}", proxy_places.unread_text(path, file))
            for file in cloud_config.written_files(document)
            if not file_places.is_compared(spec, file)
        ]
        for what in dict.fromkeys(what for what, text in texts if SHELL_MENTION.search(text)):
            message = f"{what}, which was not compared with the fields"
            unchecked.add("user_data.unread_shell", path, message, fix="write the settings of the node as fields")


def known_variables(spec: NodeSpec, image: Image) -> dict[str, str]:
    """The variables of eksctl's contract whose values do not depend on the node."""
    known = variables(spec) | outpost_variables(spec)
    if not boot_labels.placeholders(spec.labels):
        known |= {"NODE_LABELS": node_labels_flag(spec.labels), "KUBELET_EXTRA_ARGS": image.join(kubelet_words(spec))}
    return {name: value for name, value in known.items() if value is not None}


def _scripts(spec: NodeSpec) -> Iterator[tuple[str, str]]:
    for part in cloud_init.existing_parts(spec, Problems()):
        if part.media_type in (cloud_init.SHELL, cloud_init.BOOTHOOK):
            yield _USER_DATA, mime.decoded(part, _USER_DATA, Problems())
    for index, command in enumerate(spec.commands_pre):
        yield joined("node_group.commands.pre", index), command


def _reading(spec: NodeSpec, path: str, text: str, known: Mapping[str, str] | None, unchecked: Problems) -> tuple[Call, ...]:
    try:
        reading = read_calls(text, known, HELPER)
    except PackageMissing as missing:
        message = f"was not compared with the fields: {missing}"
        unchecked.add("shell.missing_package", path, message, fix="run pip install tree-sitter tree-sitter-bash")
        return ()
    if not reading.is_complete or not proxy_places.is_read(spec, path, text):
        arguments = "" if spec.family == "al2023" else f"literal arguments of {SCRIPT} and "
        message = f"contains shell commands that were not compared with the fields: only {arguments}literal proxy variables are"
        unchecked.add("user_data.unread_shell", path, message, fix="write the settings of the node as fields")
    return reading.calls


def _differences(spec: NodeSpec, call: Call) -> Iterator[Difference]:
    """Every value of our call that C(call) does not pass, or passes differently; then with that value."""
    if call.cluster_name != spec.cluster.name:
        yield Given("the cluster name", str(spec.cluster.name), "cluster.name"), call.cluster_name
    for given in _options(spec):
        other = call.options.get(given.name)
        if other is None or not _is_same_option(given.name, given.value, other):
            yield given, other
    storage, disks = spec.local_storage, call.options.get("--local-disks")
    # A call that does not pass it leaves the disks as our script has prepared them.
    if storage and disks not in (None, storage.strategy):
        yield Given("--local-disks", storage.strategy, "node_group.local_storage.strategy"), disks
    yield from differences(spec, kubelet_words(spec), call.flags, {CONFIG_DIR: _configuration_path(spec)})


def _options(spec: NodeSpec) -> Iterator[Given]:
    yield Given("--apiserver-endpoint", str(spec.cluster.endpoint), "cluster.endpoint")
    yield Given("--b64-cluster-ca", str(spec.cluster.certificate_authority), "cluster.certificate_authority")
    if spec.cluster.outpost:
        yield Given("--enable-local-outpost", "true", "cluster.outpost")
        yield Given("--cluster-id", str(spec.cluster.id), "cluster.id")
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
            yield Given(name, value, paths[name], is_computed=name == "--dns-cluster-ip" and paths[name] == "cluster.service_cidr")


def _configuration_path(spec: NodeSpec) -> str:
    kubelet: Any = spec.given.get("kubelet")
    return "node_group.kubelet.config" if isinstance(kubelet, Mapping) and kubelet.get("config") else "node_group.reserved"


def _is_same_option(name: str, value: str, other: str) -> bool:
    if name == "--dns-cluster-ip":
        return is_same("cluster-dns", value.split(","), other.split(","))
    return value.rstrip("/") == other.rstrip("/") if name == "--apiserver-endpoint" else value == other
