# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads calls of EKS's C(Start-EKSBootstrap.ps1) in PowerShell of the user."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from .formats.powershell import DOUBLE_QUOTES, SINGLE_QUOTES, split_arguments
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
_COMMON_PARAMETERS = (
    "Debug", "ErrorAction", "ErrorVariable", "InformationAction", "InformationVariable", "OutBuffer", "OutVariable", "PipelineVariable",
    "ProgressAction", "Verbose", "WarningAction", "WarningVariable",
)  # fmt: skip
"""Every script with declared parameters has these (about_CommonParameters)."""
_CALL = re.compile(
    rf"&\s*(?:[{DOUBLE_QUOTES}][^{DOUBLE_QUOTES}\n]*{re.escape(NAME)}[{DOUBLE_QUOTES}]"
    rf"|[{SINGLE_QUOTES}][^{SINGLE_QUOTES}\n]*{re.escape(NAME)}[{SINGLE_QUOTES}]|\${VARIABLE}\b)",
    re.IGNORECASE,
)
_END = re.compile(r"[\n|;})]")
_PARAMETER = re.compile(r"(?<=\s)-([A-Za-z][A-Za-z0-9]*)(?![\w=-])")
_NOT_A_PARAMETER = re.compile(rf"(?<=\s)(?:--(?:{'|'.join(_PARAMETERS)})(?![\w-])|-(?:{'|'.join(_PARAMETERS)})=)", re.IGNORECASE)
"""A parameter with two dashes, or with an equals sign behind it, as other shells have it."""


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


def unknown_parameters(text: str, code: str) -> Iterator[re.Match[str]]:
    """The names in calls of the script that are not one of its parameters, with their places. code: of the text without its strings."""
    for call in _CALL.finditer(text):
        if code[call.start()] != "&":
            continue
        # A pipeline is another command.
        end = _END.search(code, call.end())
        behind = end.start() if end else len(code)
        yield from _NOT_A_PARAMETER.finditer(code, call.end(), behind)
        for match in _PARAMETER.finditer(code, call.end(), behind):
            names = (*_PARAMETERS, *_COMMON_PARAMETERS)
            if not any(name.lower().startswith(match[1].lower()) for name in names):
                yield match
