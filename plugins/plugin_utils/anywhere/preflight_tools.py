# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight checks of the tools on the admin machine: which are missing or too old, and where they come from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..kubernetes import parse_version
from .check import CAPI, EKSCTL, FAILED, OK, SKIPPED, WARNING, Check, Facts, Wanted
from .model import CILIUM


@dataclass(frozen=True)
class Tool:
    """A tool. engines: which need it. oldest: the oldest version that has what is used. reason: what older ones do not have."""

    name: str
    engines: tuple[str, ...]
    oldest: tuple[int, int, int]
    reason: str
    source: str


TOOLS = (
    Tool(
        "docker",
        (CAPI, EKSCTL),
        (20, 10, 0),
        "the API of Docker that kind and the Docker provider use",
        "https://docs.docker.com/engine/install/",
    ),
    Tool(
        "kind",
        (CAPI,),
        (0, 27, 0),
        "the configuration of registries for containerd 2",
        "https://kind.sigs.k8s.io/docs/user/quick-start/#installation",
    ),
    Tool(
        "clusterctl",
        (CAPI,),
        (1, 13, 0),
        "the objects of Cluster API that are rendered",
        "https://cluster-api.sigs.k8s.io/user/quick-start#install-clusterctl",
    ),
    Tool("kubectl", (CAPI, EKSCTL), (1, 22, 0), "server-side apply", "https://kubernetes.io/docs/tasks/tools/"),
    Tool("helm", (CAPI,), (3, 8, 0), "charts in registries", "https://helm.sh/docs/intro/install/"),
    Tool("eksctl", (EKSCTL,), (0, 100, 0), "plug-ins", "https://eksctl.io/installation/"),
    Tool(
        "eksctl-anywhere",
        (EKSCTL,),
        (0, 18, 0),
        "upgrades without a bootstrap cluster",
        "https://anywhere.eks.amazonaws.com/docs/getting-started/install/",
    ),
)
NAMES = tuple(f"tool_{tool.name.replace('-', '_')}" for tool in TOOLS)
_KUBECTL_SKEW = 1
"""Minor versions that kubectl may be older or newer than the API server."""


def needed(wanted: Wanted) -> tuple[str, ...]:
    """The names of the tools to look for."""
    return tuple(tool.name for tool in TOOLS if wanted.engine in tool.engines)


def check(facts: Facts, wanted: Wanted) -> Iterator[Check]:
    """One check for each tool of the engine."""
    for tool in TOOLS:
        name = f"tool_{tool.name.replace('-', '_')}"
        if wanted.engine not in tool.engines:
            continue
        if tool.name == "helm" and wanted.has_packages is False:
            yield Check(name, SKIPPED, "is not needed: there are no packages, and the CNI is applied from its manifest")
            continue
        if tool.name == "helm" and not wanted.has_packages and wanted.cluster.network.plugin != CILIUM:
            yield Check(name, SKIPPED, "is not needed: only Cilium is installed from a chart")
            continue
        yield _check(name, tool, facts["tools"][tool.name], wanted)


def _check(name: str, tool: Tool, found: Facts, wanted: Wanted) -> Check:
    oldest = ".".join(map(str, tool.oldest))
    source = f"install {tool.name} {oldest} or newer: {tool.source}"
    if not found["path"]:
        return Check(name, FAILED, f"{tool.name} is not in PATH", source)
    if not found["version"]:
        return Check(name, WARNING, f"{found['path']} does not say its version: {found['problem']}", source)
    version = tuple(int(part) for part in found["version"].split("."))
    text = f"{found['version']} at {found['path']}"
    if version < tool.oldest:
        return Check(name, FAILED, f"{text} is too old: it does not have {tool.reason}", source)
    minor = parse_version(wanted.cluster.version or "")
    if tool.name == "kubectl" and minor is not None and abs(version[1] - minor[1]) > _KUBECTL_SKEW:
        cure = f"use kubectl of a minor version between 1.{minor[1] - _KUBECTL_SKEW} and 1.{minor[1] + _KUBECTL_SKEW}"
        return Check(name, WARNING, f"{text}, and the cluster has Kubernetes {wanted.cluster.version}", cure)
    return Check(name, OK, text)
