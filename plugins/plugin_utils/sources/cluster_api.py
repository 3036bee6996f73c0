# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What manifests of Cluster API for EKS contribute to user data.

The controller makes the user data when a machine is created, from the manifest, the cluster and the version of the controller. So it is not
in the manifest. What the manifest contains is checked in the form that the node gets: commands as a script, files with a known beginning,
and settings of kubelet in the document, or the call, that configures the node.
"""

from __future__ import annotations

import base64
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from ..formats import yaml
from ..formats.located_text import LocatedText, Spot
from ..formats.user_data_kind import classify
from .model import Item, Origin, SourceText, listed, mapping, origin_of, plain

_KINDS = ("EKSConfig", "EKSConfigTemplate", "NodeadmConfig", "NodeadmConfigTemplate")
_COMMANDS = ("preBootstrapCommands", "postBootstrapCommands", "preNodeadmCommands")
_SCRIPT_KINDS = ("shell", "nodeconfig")
"""The kinds of files with rules of their own."""

_ENDPOINT = "https://0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com"
_CA = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").decode()
_CLUSTER = {"name": "cluster", "apiServerEndpoint": _ENDPOINT, "certificateAuthority": _CA, "cidr": "10.100.0.0/16"}
"""Stands for the cluster, which the controller adds."""


def read(document: Mapping[str, Any]) -> list[Item] | None:
    """What a configuration of nodes contributes to user data. None for other documents."""
    kind = document.get("kind")
    if kind not in _KINDS:
        return None
    steps = ("spec", "template", "spec") if kind.endswith("Template") else ("spec",)
    path = ".".join([f"{kind}/{mapping(document, 'metadata').get('name')}", *steps])
    spec = mapping(document, *steps)
    found: list[Item] = [*_commands(spec, path), *_files(spec, path)]
    found += _node_config(spec, path) if kind.startswith("Nodeadm") else _call(spec, path)
    return found


def _commands(spec: Mapping[str, Any], path: str) -> Iterator[SourceText]:
    """The commands, which cloud-init puts into one script."""
    for name in _COMMANDS:
        commands = [command for command in listed(spec.get(name)) if isinstance(command, str)]
        if commands:
            # The first line stands for the shell that cloud-init starts, and has no place of its own.
            lines, spots = ["#!/bin/sh"], [_begin(commands[0])]
            for command in commands:
                lines += command.removesuffix("\n").split("\n")
                spots += _spots(command)
            yield SourceText(f"{path}.{name}", "\n".join([*lines, ""]), None, Origin(tuple(spots), True))


def _begin(text: str) -> Spot:
    return text.spots[0] if isinstance(text, LocatedText) else (1, 1)


def _spots(command: str) -> list[Spot]:
    count = command.removesuffix("\n").count("\n") + 1
    is_verbatim = isinstance(command, LocatedText) and command.is_verbatim
    return list(command.spots[:count]) if isinstance(command, LocatedText) and is_verbatim else [_begin(command)] * count


def _files(spec: Mapping[str, Any], path: str) -> Iterator[SourceText]:
    for index, file in enumerate(listed(spec.get("files"))):
        content = mapping(file).get("content")
        if isinstance(content, str) and not mapping(file).get("encoding") and classify(content) in _SCRIPT_KINDS:
            yield plain(content, f"{path}.files[{index}].content")


def _node_config(spec: Mapping[str, Any], path: str) -> list[SourceText]:
    settings = {name: spec[name] for name in ("kubelet", "containerd", "instance", "featureGates") if spec.get(name)}
    if not settings:
        return []
    document = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": {"cluster": _CLUSTER, **settings}}
    return [_made(yaml.dump(_plain(document)), f"{path}.{next(iter(settings))}", "al2023", settings)]


def _call(spec: Mapping[str, Any], path: str) -> list[SourceText]:
    arguments = {name: value for name, value in mapping(spec, "kubeletExtraArgs").items() if isinstance(value, str)}
    if not arguments:
        return []
    flags = " ".join(f"--{name}={value}" for name, value in sorted(arguments.items()))
    facts = ["--apiserver-endpoint", _ENDPOINT, "--b64-cluster-ca", _CA, "--dns-cluster-ip", "10.100.0.10"]
    call = shlex.join(["/etc/eks/bootstrap.sh", "cluster", *facts, "--kubelet-extra-args", flags])
    return [_made(f"#!/bin/bash\n{call}\n", f"{path}.kubeletExtraArgs", None, arguments)]


def _made(text: str, path: str, family: str | None, settings: Any) -> SourceText:
    """A text that was made of settings, with the place of the first of them."""
    first = next(_texts(settings), None)
    origin = origin_of(first)
    return SourceText(path, text, family, Origin(origin.spots[:1], False) if origin else None)


def _texts(value: Any) -> Iterator[LocatedText]:
    if isinstance(value, LocatedText):
        yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(child)


def _plain(value: Any) -> Any:
    """C(value) without places, for the serializer."""
    if isinstance(value, dict):
        return {name: _plain(child) for name, child in value.items()}
    if isinstance(value, list):
        return [_plain(child) for child in value]
    return str(value) if isinstance(value, LocatedText) else value
