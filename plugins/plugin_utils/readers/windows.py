# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the PowerShell of Windows nodes: the call of C(Start-EKSBootstrap.ps1), and what runs before and after it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .. import windows_calls
from ..artifacts.windows_bootstrap import SCRIPT
from ..errors import Problems
from ..formats import powershell
from .meaning import Meaning
from .model import ReadPart

_QUOTES = powershell.SINGLE_QUOTES + powershell.DOUBLE_QUOTES
_CALL = re.compile(rf"\s*&\s*(?:\$\{{?EKSBootstrapScriptFile\b|[{_QUOTES}]?[^{_QUOTES}|;]*Start-EKSBootstrap\.ps1)", re.IGNORECASE)
_STOP, _CONTINUE = "$ErrorActionPreference = 'Stop'", "$ErrorActionPreference = 'Continue'"
_WAIT = re.compile(r"\(Get-Service kubelet\)\.WaitForStatus\('Running', \[TimeSpan\]::FromSeconds\((\d+)\)\)")
_TEXTS = {
    "EKSClusterName": "name",
    "APIServerEndpoint": "endpoint",
    "Base64ClusterCA": "certificate_authority",
    "ServiceCIDR": "service_cidr",
}


def read(parts: Sequence[ReadPart]) -> Meaning:
    """The meaning of a document for EC2Launch."""
    found = Meaning("windows")
    [part] = parts
    problems = Problems()
    block = powershell.unwrap(part.text, "", problems)
    if len(problems):
        found.lose(part, part.text, next(iter(problems)).message)
        return found
    found.put("windows.persist", block.persist)
    lines = [line for line in block.lines if line.strip() != SCRIPT]
    reading = windows_calls.read_calls("\n".join(lines), {})
    begins = [number for number, line in enumerate(lines) if _CALL.match(line)]
    if not begins and not re.search(r"EKSBootstrap", part.text, re.IGNORECASE):
        # EKS adds the call.
        found.put("mode", "managed")
        found.put("user_data", ["\n".join(lines) + "\n"])
        return found
    flags = windows_calls.flags_of(reading.calls[0]) if len(reading.calls) == 1 else None
    if len(begins) != 1 or flags is None or any(value is None for value in reading.calls[0].values()):
        found.lose(part, part.text, "does not contain exactly one call of Start-EKSBootstrap.ps1 with known arguments")
        return found
    _read_call({name: value for name, value in reading.calls[0].items() if value is not None}, flags, found, part)
    end = begins[0]
    while lines[end].rstrip().endswith("`") and end + 1 < len(lines):
        end += 1
    _read_before(lines[: begins[0]], found)
    _read_after(lines[end + 1 :], found)
    return found


def _read_call(call: Mapping[str, tuple[str, ...]], flags: Mapping[str, list[str]], found: Meaning, part: ReadPart) -> None:
    for name, field in _TEXTS.items():
        found.state(field, call.get(name, ("",))[0])
    if "DNSClusterIP" in call:
        found.read_dns(list(call["DNSClusterIP"]))
    found.put("windows.container_runtime", call.get("ContainerRuntime", ("",))[0])
    found.put("windows.eks_endpoint", call.get("Endpoint", ("",))[0])
    found.put("windows.excluded_snat_cidrs", list(call.get("ExcludedSnatCIDRs", ())))
    if "KubeProxyExtraArgs" in call:
        words = powershell.split_arguments(" ".join(call["KubeProxyExtraArgs"]))
        if words is None:
            found.lose(part, " ".join(call["KubeProxyExtraArgs"]), "are arguments of kube-proxy that cannot be split")
        found.put("windows.kube_proxy_extra_args", words)
    others = dict(flags)
    for flag, place in (("kube-reserved", "reserved.kube"), ("system-reserved", "reserved.system")):
        pairs = [word.partition("=") for word in others.get(flag, [""])[-1].split(",")]
        if flag in others and all(equals for _key, equals, _value in pairs):
            found.put(place, {key: value for key, _equals, value in pairs})
            del others[flag]
    found.read_kubelet({}, others)


def _read_before(lines: list[str], found: Meaning) -> None:
    """Lines between the two preferences stop the join if they fail: commands.pre. Others stay as they are."""
    if len(lines) > 1 and lines[-1] == _CONTINUE and _STOP in lines:
        start = len(lines) - 1 - lines[::-1].index(_STOP)
        found.put("commands.pre", ["\n".join(lines[start + 1 : -1])])
        lines = lines[:start]
    if any(line.strip() for line in lines):
        found.put("user_data", ["\n".join(lines) + "\n"])


def _read_after(lines: list[str], found: Meaning) -> None:
    """Lines after the call are commands.post. A wait for kubelet, which the collection writes, becomes their timeout."""
    if lines[:1] == [_STOP] and len(lines) > 1 and _WAIT.fullmatch(lines[1]):
        lines = lines[1:]
    commands: list[dict[str, object]] = []
    for line in lines:
        if wait := _WAIT.fullmatch(line):
            commands.append({"run": "", "timeout": int(wait[1])})
        elif commands or line.strip():
            if not commands:
                commands.append({"run": ""})
            commands[-1]["run"] = f"{commands[-1]['run']}{line}\n"
    found.put("commands.post", [command for command in commands if str(command["run"]).strip()])
