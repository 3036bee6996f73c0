# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The proxy of a Windows node: variables of our script, and of the services containerd and kubelet.

Windows gives every service the variables in the value Environment of its registry key, each time the service starts (README of NSSM,
"Merged service environment"). Variables of the machine are not used: services that run before do not reliably see them, also after a new
start (containerd, issues 6609 and 8846), and they would reach every other program on the node.
"""

from __future__ import annotations

from ..errors import Problems
from ..formats import powershell
from ..model.spec import NodeSpec

_SERVICES = r"""foreach ($ServiceName in 'containerd', 'kubelet') {
  $Service = Get-Service -Name $ServiceName -ErrorAction SilentlyContinue
  if ($Service) {
    $ServiceKey = "HKLM:\SYSTEM\CurrentControlSet\Services\$ServiceName"
    $OldVariables = @((Get-Item -LiteralPath $ServiceKey).GetValue('Environment') | Where-Object { $_ })
    [string[]]$NewVariables = @($OldVariables | Where-Object { $_ -notmatch '^(HTTP|HTTPS|NO)_PROXY=' }) + $ProxyVariables
    if (($OldVariables -join "`n") -cne ($NewVariables -join "`n")) {
      New-ItemProperty -LiteralPath $ServiceKey -Name 'Environment' -PropertyType MultiString -Value $NewVariables -Force | Out-Null
      if ($Service.Status -ne 'Stopped') {
        $Service.WaitForStatus('Running', '00:05:00')
        Restart-Service -Name $ServiceName -Force
      }
    }
  }
}"""
"""A service gets the variables and a new start, unless it has them. kubelet exists only after the bootstrap."""


def check(spec: NodeSpec, problems: Problems) -> None:
    """Report values that Windows would change."""
    if spec.proxy is None:
        return
    for name, values in (("http", [spec.proxy.http]), ("https", [spec.proxy.https]), ("no_proxy", spec.proxy.no_proxy)):
        for value in values:
            if value is not None and (reason := powershell.kubelet_args_problem(value)):
                problems.add("windows.unsafe_word", f"node_group.proxy.{name}", reason, value=value, fix="use a value without it")


def items(spec: NodeSpec) -> list[str]:
    """The variables as C(NAME=value)."""
    return [f"{name}={value}" for name, value in spec.proxy.variables().items()] if spec.proxy else []


def variables(spec: NodeSpec) -> list[str]:
    """Lines that give the variables to the rest of the script. Windows does not distinguish their case."""
    found = spec.proxy.variables() if spec.proxy else {}
    return [f"$env:{name} = {powershell.quote(value)}" for name, value in found.items()]


def services(spec: NodeSpec) -> list[str]:
    """Lines that give the variables to the services that exist."""
    return [f"$ProxyVariables = @({', '.join(powershell.quote(item) for item in items(spec))})", *_SERVICES.splitlines()]
