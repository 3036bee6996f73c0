# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Strategy C(bootstrap_script) on a live node: the image's script runs once, and again when what it was told changed."""

from __future__ import annotations

from collections.abc import Iterable

from ..model.spec import NodeSpec
from . import live_parts, node_script
from .model import File, for_root_only
from .node_plan import ImageScript, Machine, Plan

_STEP = "bootstrap script"
_READ_BY_NOBODY = "/etc/containerd/certs.d/"
"""containerd looks into this folder at each pull."""


def plan(
    spec: NodeSpec,
    machine: Machine,
    files: Iterable[File],
    text: str,
    kubelet: str,
    writes: tuple[str, ...],
    *,
    runtime: str = "containerd.service",
    snap: str | None = None,
) -> Plan:
    """A plan whose one step is the image's script.

    text: the lines that call it. kubelet, runtime: units that it starts. writes: files that it writes or edits.
    """
    laid = (*files, *for_root_only([node_script.calling_script(text)], spec.allow_secrets))
    # Whatever else changed is told to the script, or to units that it starts: proxy variables, kubelet's drop-in, its configuration.
    readers = {file.path: (_STEP,) for file in laid if not file.path.startswith(_READ_BY_NOBODY)}
    return live_parts.plan(
        spec,
        machine,
        files=live_parts.planned(spec, laid, readers),
        steps=(ImageScript(_STEP, node_script.CALLING_SCRIPT, writes, kubelet, runtime, snap),),
        verify=live_parts.verify(kubelet, spec.kubelet_config, spec.kubelet_flags, runtime),
    )
