# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads calls of EKS's C(Start-EKSBootstrap.ps1) in PowerShell of the user."""

from __future__ import annotations

from collections.abc import Mapping

from .formats.powershell import split_arguments
from .formats.powershell_calls import Reading
from .formats.powershell_calls import read_calls as read
from .kubelet_settings import flag_name

NAME = "Start-EKSBootstrap.ps1"
VARIABLE = "EKSBootstrapScriptFile"
"""The variable with its path, in user data of eksctl, of Karpenter and of this collection."""
EXTRA_ARGS = "KubeletExtraArgs"
KUBELET_MAX_PODS = 110
"""kubelet's own default: the script passes no number."""

_PARAMETERS = (
    "EKSClusterName",
    "APIServerEndpoint",
    "Base64ClusterCA",
    "ServiceCIDR",
    "DNSClusterIP",
    "ContainerRuntime",
    EXTRA_ARGS,
    "KubeProxyExtraArgs",
    "ExcludedSnatCIDRs",
    "Endpoint",
)


def read_calls(text: str, known: Mapping[str, str]) -> Reading:
    """The calls in C(text). known: variables with their values."""
    return read(text, NAME, VARIABLE, _PARAMETERS, known)


def flags_of(call: Mapping[str, tuple[str, ...] | None]) -> dict[str, list[str]] | None:
    """The flags of kubelet that a call passes. None if they are unknown."""
    value = call.get(EXTRA_ARGS, ("",))
    words = None if value is None or len(value) != 1 else split_arguments(value[0])
    if words is None or not all(word.startswith("--") for word in words):
        return None
    flags: dict[str, list[str]] = {}
    for word in words:
        _unused, equals, text = word.partition("=")
        flags.setdefault(flag_name(word), []).append(text if equals else "true")
    return flags
