# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Observes a node before anything is decided: its operating system, its units, its kubelet, its cluster. Only reads."""

from __future__ import annotations

import json
import os
import re
import shlex
from typing import Any, Iterable, Mapping, NamedTuple, Sequence

from .._node import files, processes, systemd
from .._node.errors import ApplyRefused
from .._node.files import Reader
from .._node.systemd import Unit
from .manifest import Manifest
from .plan import Registration

KUBECONFIGS = ("/var/lib/kubelet/kubeconfig", "/var/lib/kubelet/bootstrap-kubeconfig")

_SERVER = re.compile(r"""^[ \t]*(?:-[ \t]+)?["']?server["']?[ \t]*:[ \t]*["']?([^\s"'#,}]+)""", re.MULTILINE)


class Membership(NamedTuple):
    """The cluster that a node belongs to. C(source): where that is written. C(name) is None if only the endpoint is known."""

    name: str | None
    endpoint: str
    source: str


class NodeState(NamedTuple):
    """What was observed of a node.

    C(os_release): fields of os-release. C(units): every unit that the plan or the manifest mentions. C(kubelet): the unit of kubelet.
    C(kubelet_argv): the command line of the running kubelet, program first. C(kubelet_registration): the labels and taints on that
    command line or in its configuration files; None if kubelet does not run. C(membership): None for a node that has no cluster yet.
    C(has_served): whether the node has something that only a cluster gives.
    """

    os_release: Mapping[str, str]
    manifest: Manifest
    units: Mapping[str, Unit]
    kubelet: Unit | None
    kubelet_argv: Sequence[str]
    kubelet_registration: Registration | None
    membership: Membership | None
    has_served: bool


def observe(manifest: Manifest, units: Iterable[str], kubelet_unit: str | None, read: Reader | None = None) -> NodeState:
    """Observe the node. C(units): the units to ask systemd about, C(kubelet_unit) among them."""
    read = read or files.read
    states = systemd.read_units(units)
    kubelet = states.get(kubelet_unit) if kubelet_unit else None
    argv = processes.command_line(kubelet.pid) if kubelet else []
    return NodeState(
        os_release=os_release(),
        manifest=manifest,
        units=states,
        kubelet=kubelet,
        kubelet_argv=argv,
        kubelet_registration=kubelet_registration(argv, read) if argv else None,
        membership=membership(manifest, argv, read),
        has_served=has_served(argv),
    )


def os_release(paths: Iterable[str] = ("/etc/os-release", "/usr/lib/os-release")) -> dict[str, str]:
    """The fields of os-release; empty if there is no such file."""
    for path in paths:
        try:
            with open(path, encoding="utf-8", errors="replace") as handle:
                lines = handle.read().splitlines()
        except OSError:
            continue
        pairs = (line.partition("=") for line in lines if "=" in line and not line.lstrip().startswith("#"))
        return {name.strip(): _unquote(value) for name, _unused, value in pairs}
    return {}


def _unquote(value: str) -> str:
    try:
        return "".join(shlex.split(value))
    except ValueError:
        return value.strip()


# --- cluster -------------------------------------------------------------------------------------------------------------------------


def membership(manifest: Manifest, kubelet_argv: Sequence[str], read: Reader) -> Membership | None:
    """The cluster of the node according to the manifest, else according to a kubeconfig."""
    if manifest.cluster is not None:
        return Membership(manifest.cluster.name, manifest.cluster.endpoint, "the manifest of nodebootstrap.eks")
    named = option(kubelet_argv, "kubeconfig") + option(kubelet_argv, "bootstrap-kubeconfig")
    for path in dict.fromkeys(KUBECONFIGS + tuple(path for path in named if path.startswith("/"))):
        try:
            current = read(path)
        except ApplyRefused:
            # A path that may not be written is still only read here, and it is somebody else's.
            current = None
        server = server_of(current.content) if current else None
        if server:
            return Membership(None, server, path)
    return None


def server_of(kubeconfig: bytes) -> str | None:
    """The URL of the API server in a kubeconfig; None if it is missing or a placeholder of the image.

    A damaged kubeconfig is searched, too: an unreadable line must not make the node look like one without a cluster.
    """
    match = _SERVER.search(kubeconfig.decode("utf-8", "replace"))
    return match.group(1) if match and re.match(r"https?://", match.group(1)) else None


def has_served(kubelet_argv: Sequence[str], root: str = "/var/lib/kubelet") -> bool:
    """Whether the node has something that only a cluster gives: pods, or a signed serving certificate."""
    root = (option(kubelet_argv, "root-dir") or [root])[-1]
    certificates = (option(kubelet_argv, "cert-dir") or [os.path.join(root, "pki")])[-1]
    pods = os.path.join(root, "pods")
    return os.path.lexists(os.path.join(certificates, "kubelet-server-current.pem")) or (os.path.isdir(pods) and bool(os.listdir(pods)))


# --- kubelet -------------------------------------------------------------------------------------------------------------------------


def option(argv: Sequence[str], name: str) -> list[str]:
    """The values of a flag on a command line, in both spellings, in order."""
    flag = "--" + name
    found = []
    for index, word in enumerate(argv):
        if word.startswith(flag + "="):
            found.append(word[len(flag) + 1 :])
        elif word == flag and index + 1 < len(argv):
            found.append(argv[index + 1])
    return found


def kubelet_registration(argv: Sequence[str], read: Reader) -> Registration:
    """The labels and taints that the running kubelet was started with."""
    labels: dict[str, str] = {}
    for text in option(argv, "node-labels"):
        for item in text.split(","):
            if item.strip():
                key, _unused, value = item.strip().partition("=")
                labels[key] = value
    flags = option(argv, "register-with-taints")
    taints = tuple(taint for taint in flags[-1].split(",") if taint) if flags else _configured_taints(argv, read)
    return Registration(labels, taints)


def _configured_taints(argv: Sequence[str], read: Reader) -> tuple[str, ...]:
    """Taints in kubelet's configuration files; a later file replaces the list."""
    paths = option(argv, "config")
    for folder in option(argv, "config-dir"):
        try:
            paths += sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".conf"))
        except OSError:
            continue
    taints: tuple[str, ...] = ()
    for path in paths:
        try:
            current = read(path) if path.startswith("/") else None
            document = json.loads(current.content.decode("utf-8")) if current else {}
        except (ApplyRefused, ValueError):
            continue
        found = document.get("registerWithTaints") if isinstance(document, dict) else None
        if isinstance(found, list):
            taints = tuple(_taint(item) for item in found if isinstance(item, dict))
    return taints


def _taint(item: Mapping[str, Any]) -> str:
    value = f"={item['value']}" if item.get("value") else ""
    return f"{item.get('key')}{value}:{item.get('effect')}"
