# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of a flag of kubelet on the new family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..data import kubelet_flags, kubernetes_versions
from ..kubelet_fields import Version, why_gone
from ..kubelet_flags import field_of_flag
from ..kubelet_settings import value_of

_SET_BY_NODEADM = {
    "bootstrap-kubeconfig": "nodeadm writes the kubeconfig, also that of a local cluster on Outposts",
    "cloud-provider": "nodeadm sets --cloud-provider=external",
    "config": "nodeadm writes the configuration of kubelet, and passes its path",
    "config-dir": "nodeadm writes spec.kubelet.config to a drop-in, and passes the directory",
    "container-runtime": "containerd is the only runtime",
    "container-runtime-endpoint": "nodeadm sets the socket of containerd",
    "hostname-override": "nodeadm sets the name of the node from EC2",
    "image-credential-provider-bin-dir": "nodeadm configures the credential provider of ECR",
    "image-credential-provider-config": "nodeadm configures the credential provider of ECR",
    "kubeconfig": "nodeadm writes the kubeconfig, and passes its path",
    "node-ip": "nodeadm sets the address of the instance",
    "pod-infra-container-image": "nodeadm uses the pause image of the AMI",
}
"""Flags that nodeadm sets itself, or whose value it decides (awslabs/amazon-eks-ami, nodeadm/internal/kubelet)."""

_SET_BY_BOTTLEROCKET = {
    name: "Bottlerocket sets it from its settings"
    for name in _SET_BY_NODEADM
    if name not in ("cloud-provider", "hostname-override", "node-ip")
}
_DEFAULTS = {("cgroup-driver", "systemd"): "systemd is the cgroup driver that nodeadm sets"}
_OLDEST_MINOR_IN_USE = 27
"""The oldest kubelet on the last nodes with Amazon Linux 2. Flags that were removed before it are not in use."""


@dataclass(frozen=True)
class Fate:
    """field: of kubelet's configuration that replaces the flag. dropped: why the flag is left out."""

    field: str | None = None
    value: Any = None
    dropped: str | None = None
    question: str | None = None


def fate(name: str, values: Sequence[str], family: str, version: Version) -> Fate:
    """What becomes of a flag with its values. Without a version, only flags that no supported version has are replaced."""
    owned = _SET_BY_BOTTLEROCKET if family == "bottlerocket" else _SET_BY_NODEADM
    if (reason := owned.get(name) or _DEFAULTS.get((name, ",".join(values)))) is not None:
        return Fate(dropped=reason)
    row: Mapping[str, Any] | None = kubelet_flags()["flags"].get(name)
    if row is None:
        return Fate()
    minor = version[1] if version else min(int(one.partition(".")[2]) for one in kubernetes_versions()["eks"])
    gone = why_gone(row, minor, "flag")
    if gone is None:
        return Fate()
    field = field_of_flag(name, (1, minor))
    if field is not None and values:
        return Fate(field=field, value=value_of(name, values))
    instead = str(row.get("instead", ""))
    if instead.startswith("remove it: ") or row.get("until", minor) < _OLDEST_MINOR_IN_USE:
        return Fate(dropped=f"{gone}" + (f"; {instead.removeprefix('remove it: ')}" if instead else ""))
    return Fate(question=f"{gone}, and no field of kubelet's configuration replaces it")
