# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of Bottlerocket settings."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import joined
from ..families.bottlerocket import check_document
from . import instance
from .kubelet_settings import check_labels
from .report import Report
from .subject import Subject

_RESERVED = ("kube-reserved", "system-reserved")
_IDENTITY = ("cluster-name", "api-server", "cluster-certificate")


def check(subject: Subject, report: Report) -> None:
    """Report what Bottlerocket, or kubelet, refuses."""
    for part in subject.parts("toml"):
        settings = check_document(part.text, part.path, subject.version, report.problems)
        kubernetes = settings.get("kubernetes")
        if not isinstance(kubernetes, Mapping):
            kubernetes = {}
        path = f"{joined(part.path, 'settings')}.kubernetes"
        missing = [name for name in _IDENTITY if name not in kubernetes]
        if len(missing) == len(_IDENTITY):
            message = "does not name the cluster: only EKS, for a managed node group without an AMI of its own, and Karpenter add it"
            report.problems.add("bottlerocket.no_cluster", path, message)
        elif missing:
            for name in missing:
                report.problems.add("cluster.missing_field", path, f"{name} is missing, so the node does not join", fix=f"add {name}")
        reserved = tuple((name, kubernetes[name], f"{path}.{name}") for name in _RESERVED if isinstance(kubernetes.get(name), Mapping))
        pods = (kubernetes["max-pods"], f"{path}.max-pods") if "max-pods" in kubernetes else None
        evictions = (kubernetes["eviction-hard"], f"{path}.eviction-hard") if "eviction-hard" in kubernetes else None
        instance.check(instance.Amounts(pods, reserved, evictions), subject, report.problems)
        labels = kubernetes.get("node-labels")
        for key, value in labels.items() if isinstance(labels, Mapping) else ():
            where = joined(f"{path}.node-labels", key)
            if not report.problems.touches(where):
                check_labels({key: value}, where, report.problems)
