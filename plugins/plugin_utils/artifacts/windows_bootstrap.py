# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start-EKSBootstrap.ps1 of EKS's Windows images: its parameters, and the PowerShell that gives them.

Parameters: Amazon EKS user guide (Windows AMIs) and the script of the 1.2x images. It merges no kubelet configuration: what
kubelet needs goes through -KubeletExtraArgs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..formats import powershell
from ..kubernetes import node_labels_flag, taints_flag
from ..model.spec import NodeSpec

SCRIPT = '[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"'
"""The only value that PowerShell expands; everything else is single-quoted."""

_STREAMS = "3>&1 4>&1 5>&1 6>&1"
"""Warnings, verbose and debug text and messages go where EC2Launch logs output."""

DATA_FILE = "bootstrap.psd1"

Parameter = tuple[str, str | Sequence[str]]


def flags(spec: NodeSpec) -> list[tuple[str, tuple[str, ...]]]:
    """Kubelet flags by name, with each value: those of the fields first, then the user's in the order of their names."""
    found: list[tuple[str, tuple[str, ...]]] = []
    if spec.labels:
        found.append(("node-labels", (node_labels_flag(spec.labels),)))
    if spec.taints:
        found.append(("register-with-taints", (taints_flag(spec.taints),)))
    if spec.max_pods is not None:
        found.append(("max-pods", (str(spec.max_pods),)))
    for name, values in (("kube-reserved", spec.kube_reserved), ("system-reserved", spec.system_reserved)):
        if values:
            found.append((name, (",".join(f"{key}={value}" for key, value in values.items()),)))
    return [*found, *sorted(spec.kubelet_flags.items())]


def kubelet_words(spec: NodeSpec) -> list[str]:
    """The same flags as words of kubelet's command line."""
    return [f"--{name}={value}" for name, values in flags(spec) for value in values]


def parameters(spec: NodeSpec) -> list[Parameter]:
    """What the script is called with, in the order of eksctl and then of the documentation; what is not set is left out."""
    cluster, windows = spec.cluster, spec.windows
    every: list[tuple[str, str | Sequence[str] | None]] = [
        ("EKSClusterName", cluster.name),
        ("APIServerEndpoint", cluster.endpoint),
        ("Base64ClusterCA", cluster.certificate_authority),
        ("ServiceCIDR", cluster.service_cidr),
        ("DNSClusterIP", spec.dns_ips[0] if spec.dns_ips else None),
        ("ContainerRuntime", windows.container_runtime),
        ("KubeletExtraArgs", powershell.kubelet_extra_args(kubelet_words(spec))),
        ("KubeProxyExtraArgs", powershell.kubelet_extra_args(windows.kube_proxy_extra_args)),
        ("ExcludedSnatCIDRs", windows.excluded_snat_cidrs),
        ("Endpoint", windows.eks_endpoint),
    ]
    return [(name, value) for name, value in every if value]


def call(spec: NodeSpec) -> str:
    """The one line that bootstraps the node."""
    return f"{powershell.call('$EKSBootstrapScriptFile', parameters(spec))} {_STREAMS}"


def call_with_data() -> str:
    """The same, reading the parameters from the data file that lies beside the script."""
    read = f'$Parameters = Import-PowerShellDataFile -LiteralPath "$PSScriptRoot\\{DATA_FILE}"'
    return f"{read}\n& $EKSBootstrapScriptFile @Parameters {_STREAMS}"


def data(spec: NodeSpec) -> str:
    """The parameters as a PowerShell data file, which holds literals only."""
    lines = [f"    {name} = {_literal(value)}" for name, value in parameters(spec)]
    return "\n".join(["@{", *lines, "}", ""])


def variable_values(spec: NodeSpec) -> dict[str, str | Sequence[str]]:
    """What an override finds: the variables that eksctl sets, set or not, and the others that were given."""
    # Every image since Kubernetes 1.24 runs containerd only.
    return dict.fromkeys(_EKSCTL_VARIABLES, "") | {"ContainerRuntime": "containerd"} | dict(parameters(spec))


def variables(spec: NodeSpec) -> list[str]:
    """Lines that set these variables, and a hashtable of kubelet's arguments."""
    lines = [_assignment(name, value) for name, value in variable_values(spec).items()]
    pairs = [(name, ",".join(values)) for name, values in flags(spec)]
    return [*lines, f"$KubeletExtraArgsMap = {_hashtable(pairs)}"]


_EKSCTL_VARIABLES = (
    "EKSClusterName",
    "APIServerEndpoint",
    "Base64ClusterCA",
    "ServiceCIDR",
    "DNSClusterIP",
    "ContainerRuntime",
    "KubeletExtraArgs",
)


def _assignment(name: str, value: str | Sequence[str]) -> str:
    kind = "string" if isinstance(value, str) else "string[]"
    return f"[{kind}]${name} = {_literal(value)}"


def _literal(value: str | Sequence[str]) -> str:
    if isinstance(value, str):
        return powershell.quote(value)
    return f"@({', '.join(powershell.quote(item) for item in value)})"


def _hashtable(pairs: Iterable[tuple[str, str]]) -> str:
    items = "; ".join(f"{powershell.quote(key)} = {powershell.quote(value)}" for key, value in pairs)
    return f"@{{ {items} }}" if items else "@{}"
