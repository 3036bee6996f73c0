# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explains PowerShell of Windows nodes: EC2Launch runs it, and its call of C(Start-EKSBootstrap.ps1) starts kubelet and kube-proxy."""

from __future__ import annotations

import re

from .. import windows_calls
from ..errors import Problems
from ..formats import powershell
from ..readers.model import Place, ReadPart, UserData
from . import outcome
from .cloud_init import first_line
from .kubelet import Given, kubelet_flags
from .model import Explanation, File, Setting, Step, Unknown

_UNIT = "EC2Launch"
_CALL = re.compile(rf"\s*&.*(?:{windows_calls.VARIABLE}|{re.escape(windows_calls.NAME)})", re.IGNORECASE)
_CA_FILE = "C:\\ProgramData\\Amazon\\EKS\\cluster_ca.crt"
_FROM_INSTANCE = "the script computes it from the instance and the cluster"
_FILES = (
    "C:\\ProgramData\\Amazon\\EKS\\cni\\config\\vpc-bridge.conf",
    "C:\\ProgramData\\kubernetes\\kubeconfig",
    "C:\\ProgramData\\kubernetes\\kubelet-config.json",
    "C:\\etc\\resolv.conf",
)
_IMAGE_FLAGS = {
    "cgroups-per-qos": "false",
    "cloud-provider": "external",
    "container-runtime-endpoint": "npipe:////./pipe/containerd-containerd",
    "enforce-node-allocatable": "",
    "hostname-override": outcome.PRIVATE_DNS_NAME,
    "node-ip": outcome.IPV4,
    "resolv-conf": "",
    "v": "1",
}


def explain(found: UserData) -> Explanation:
    """What a Windows node does."""
    [part] = found.parts
    problems = Problems()
    block = powershell.unwrap_foreign(part.text, "", problems)
    whole = first_line(part)
    if len(problems):
        why = next(iter(problems)).message
        return Explanation((), (), {}, {}, {}, (Unknown("the user data", why, whole),))
    reading = windows_calls.read_calls("\n".join(block.lines), {})
    boot = "at every boot" if block.persist else "at the first boot only"
    timeline = [Step("launch", _UNIT, f"runs the script {boot}", whole)]
    unknown = [Unknown(f"<{name}>", "EC2Launch reads this tag, and what it does is not explained", whole) for _at, name in block.others]
    if len(reading.calls) != 1:
        mentions = re.search("EKSBootstrap", part.text, re.IGNORECASE)
        why = "the script does not contain exactly one certain call of it" if mentions else "EKS adds the call to this user data"
        unknown.append(Unknown(windows_calls.NAME, why, _call_place(part) or whole))
        return Explanation(tuple(timeline), (), {}, {}, {}, tuple(unknown))
    [call] = reading.calls
    where = _call_place(part) or whole
    settings = {}
    for name, values in sorted(call.items()):
        value = None if values is None else values[0] if len(values) == 1 else list(values)
        settings[f"-{name}"] = Setting(value, "user_data", f"-{name}", where)
        if values is None:
            unknown.append(Unknown(f"-{name}", "it is known only on the node", where))
    words = windows_calls.flags_of(call)
    if words is None:
        unknown.append(Unknown(f"-{windows_calls.EXTRA_ARGS}", "the flags of kubelet in it are known only on the node", where))
    origins = {f"--{name}": Setting(None, "user_data", f"-{windows_calls.EXTRA_ARGS}", where) for name in words or {}}
    given = Given(flags={name: tuple(values) for name, values in (words or {}).items()}, origins=origins)
    flags = kubelet_flags({name: (value,) for name, value in _IMAGE_FLAGS.items()}, given)
    timeline.append(Step("bootstrap", _UNIT, f"calls {windows_calls.NAME}", where))
    if not {"APIServerEndpoint", "Base64ClusterCA"} <= call.keys():
        timeline.append(Step("bootstrap", _UNIT, "asks the EKS API for the endpoint and the certificate authority", where))
    timeline.append(Step("bootstrap", _UNIT, "writes the configuration of the network, kubelet and kube-proxy", where))
    timeline.append(Step("kubelet", "kubelet", "registers the node with the API server"))
    timeline.append(Step("kubelet", "kube-proxy", "starts"))
    files = [
        File(_CA_FILE, windows_calls.NAME, outcome.authority((call.get("Base64ClusterCA") or ("",))[0])),
        *(File(path, windows_calls.NAME, None) for path in _FILES),
    ]
    unknown += [Unknown(file.path, _FROM_INSTANCE) for file in files if file.content is None]
    unknown += outcome.used_placeholders(row.value for row in flags.values())
    return Explanation(tuple(timeline), tuple(sorted(files, key=lambda file: file.path)), {}, flags, settings, tuple(unknown))


def _call_place(part: ReadPart) -> Place | None:
    for number, line in enumerate(part.text.split("\n"), 1):
        if _CALL.match(line):
            start = len(line) - len(line.lstrip())
            return Place(part.index, number, start + 1, len(line.strip()))
    return None
