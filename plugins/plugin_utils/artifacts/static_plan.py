# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Strategy C(static) on a live node: what restarts when one of the finished files changed."""

from __future__ import annotations

from collections.abc import Iterable

from .. import kubelet
from ..model.spec import NodeSpec
from . import kubelet_files, linux_files, live_parts, static_kubelet
from .model import File
from .node_plan import Directory, Machine, Once, Plan, Service, Snap, SnapFacts, Step

_CONTAINERD, _PAUSE, _KUBELET = "containerd", "pause image", "kubelet"
_RUNTIME = "containerd.service"
_SANDBOX = "sandbox-image.service"

_OF_KUBELET = (
    kubelet.CA_FILE,
    kubelet_files.CONFIG_FILE,
    kubelet.KUBECONFIG,
    static_kubelet.FACTS_SCRIPT,
    static_kubelet.KUBELET_UNIT,
    static_kubelet.KUBELET_DROP_IN,
)
_FOLDERS = (Directory("/etc/cni/net.d"), Directory("/etc/containerd/config.d"))
"""What the images' scripts make, and containerd's configuration speaks of."""


def al2(spec: NodeSpec, machine: Machine, files: Iterable[File], disks: str) -> Plan:
    """A plan for Amazon Linux 2. disks: shell lines that prepare the instance store, or nothing."""
    before: list[Step] = [Once("local storage", f"#!/bin/bash\nset -e\n{disks}")] if disks else []
    unit = "kubelet.service"
    kubelet = Service(_KUBELET, (unit,), enable=(unit,))
    return live_parts.plan(
        spec,
        machine,
        directories=_FOLDERS,
        files=live_parts.planned(spec, files, _readers(unit)),
        owned=(static_kubelet.FACTS,),
        steps=(*before, *_before_kubelet(), kubelet),
        verify=live_parts.verify(unit, spec.kubelet_config, spec.kubelet_flags),
    )


def ubuntu(spec: NodeSpec, machine: Machine, files: Iterable[File], snap: str, unit: str, image_settings: Iterable[str]) -> Plan:
    """A plan for Ubuntu. snap, unit: kubelet's. image_settings: what the image's script sets, and kubelet would prefer to its file."""
    settings = static_kubelet.snap_settings(spec)
    facts = SnapFacts(
        domain=static_kubelet.node_domain(str(spec.cluster.region)),
        by_address=spec.hostname_type != "resource_name",
        ipv6=spec.cluster.ip_family == "ipv6",
    )
    # The program that reads the identity of the node does not run: the module reads it and makes the settings.
    laid = [file for file in files if file.path != static_kubelet.FACTS_SCRIPT]
    kubelet = Snap(_KUBELET, snap, unit, settings, tuple(sorted({*image_settings} - settings.keys())))
    return live_parts.plan(
        spec,
        machine,
        directories=_FOLDERS,
        files=live_parts.planned(spec, laid, _readers(unit)),
        snap_facts=facts,
        steps=(*_before_kubelet(), kubelet),
        verify=live_parts.verify(unit, spec.kubelet_config, spec.kubelet_flags),
    )


def _before_kubelet() -> tuple[Step, ...]:
    # The unit of the BPF file system is not a step: a restart would unmount what running pods use. kubelet's unit wants it.
    # The pull has nothing to do where the image lacks the program; so only a change of its files runs it.
    return (Service(_CONTAINERD, (_RUNTIME,), enable=(_RUNTIME,)), Service(_PAUSE, (_SANDBOX,), active=()))


def _readers(kubelet_unit: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = dict.fromkeys(_OF_KUBELET, (_KUBELET,))
    found |= {kubelet.CONTAINERD_CONFIG: (_CONTAINERD, _PAUSE), static_kubelet.SANDBOX_UNIT: (_PAUSE,)}
    for unit, step in ((_RUNTIME, _CONTAINERD), (_SANDBOX, _PAUSE), (kubelet_unit, _KUBELET)):
        found[linux_files.proxy_path(unit)] = (step,)
    return found
