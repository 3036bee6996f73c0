# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a live Windows node gets, as data: the role C(eks_node_windows) hands it to a PowerShell script that compares it with the node.

Texts of users are values in lists, never keys: Windows PowerShell 5.1 reads no JSON object whose keys differ in case alone.
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import Problem, SpecError
from ..formats import json
from ..kubelet import healthz
from ..kubernetes import taints_flag
from ..model.spec import NodeSpec
from . import windows_bootstrap, windows_proxy

FORMAT = 1
"""Version of the plan and of the state that the node keeps. The script refuses another one."""

FOLDER = r"C:\ProgramData\nodebootstrap"

FILES = ("pre.ps1", "bootstrap.ps1", windows_bootstrap.DATA_FILE, "post.ps1")
"""Every file that may be in the folder; files that are not in a plan are removed."""

LIMIT = 65_535
"""Characters of an encoded plan. It travels as a SecureString, which holds no more."""

# Windows Server by the number that Windows itself goes by.
_BUILDS = {"2019": 17763, "2022": 20348, "2025": 26100}
# What can be changed in the service alone, without the image's script.
_ARGUMENTS = {"KubeletExtraArgs", "KubeProxyExtraArgs"}


@dataclass(frozen=True)
class Script:
    """A script on the node. name: what messages call it. key: it runs again when this text, or a digest of it, differs."""

    name: str
    file: str
    content: str
    key: str

    def plain(self) -> dict[str, str]:
        """The script as plain data, without its content."""
        return {"name": self.name, "file": self.file, "key": hashlib.sha256(self.key.encode("utf-8")).hexdigest()}


def plan(spec: NodeSpec, *, pre: Script | None, bootstrap: Script, post: Script | None) -> dict[str, Any]:
    """The plan as plain data. pre, post: run once for each content, before and after C(bootstrap)."""
    overridden = spec.override is not None
    return {
        "format": FORMAT,
        "folder": FOLDER,
        "cluster": {"name": spec.cluster.name, "endpoint": spec.cluster.endpoint},
        "windows": {"version": spec.windows.version, "build": _BUILDS.get(spec.windows.version or ""), "edition": spec.windows.edition},
        "registration": {
            "labels": [f"{key}={value}" for key, value in sorted(spec.labels.items())],
            "taints": [taints_flag([taint]) for taint in spec.taints],
        },
        "files": [{"name": name, "content": content} for name, content in _contents(spec, pre, bootstrap, post).items()],
        "every_file": list(FILES),
        "sensitive": spec.allow_secrets,
        "pre": None if pre is None else pre.plain(),
        "bootstrap": bootstrap.plain(),
        "post": None if post is None else post.plain(),
        "parameters": [] if overridden else [name for name, _unused in windows_bootstrap.parameters(spec)],
        "expected": None if overridden else _expected(spec),
        "healthz": healthz({}, spec.kubelet_flags),
        "proxy": windows_proxy.items(spec),
    }


def key(spec: NodeSpec) -> str:
    """The text whose change needs another run of Start-EKSBootstrap.ps1: all its parameters but the services' extra arguments."""
    return json.dump([[name, value] for name, value in _plain_parameters(spec).items() if name not in _ARGUMENTS])


def encoded(plan: Mapping[str, Any]) -> str:
    """The plan as one word of base64: compressed JSON with sorted keys. Raises C(SpecError) when it is too long to travel."""
    text = base64.b64encode(zlib.compress(json.dump(plan).encode("ascii"), 9)).decode("ascii")
    if len(text) > LIMIT:
        message = f"is too long for a live Windows node: {len(text)} characters when packed"
        fix = "let the commands download large content"
        raise SpecError([Problem("live.plan_too_large", "node_group.commands", message, allowed=f"at most {LIMIT}", fix=fix)])
    return text


def _contents(spec: NodeSpec, pre: Script | None, bootstrap: Script, post: Script | None) -> dict[str, str]:
    found = {script.file: script.content for script in (pre, bootstrap, post) if script is not None}
    if spec.override is None:
        found[windows_bootstrap.DATA_FILE] = windows_bootstrap.data(spec)
    return {name: found[name] for name in FILES if name in found}


def _expected(spec: NodeSpec) -> dict[str, Any]:
    """What the image's script leaves on the node when it has understood its parameters."""
    given = _plain_parameters(spec)
    return {
        "certificate_authority": given["Base64ClusterCA"],
        "dns": given.get("DNSClusterIP"),
        "service_cidr": given.get("ServiceCIDR"),
        "excluded_snat_cidrs": list(given.get("ExcludedSnatCIDRs", ())),
        "kubelet_arguments": given.get("KubeletExtraArgs", ""),
        "kube_proxy_arguments": given.get("KubeProxyExtraArgs", ""),
    }


def _plain_parameters(spec: NodeSpec) -> dict[str, Any]:
    return {name: value if isinstance(value, str) else list(value) for name, value in windows_bootstrap.parameters(spec)}


def script(name: str, file: str, lines: Iterable[str], key_text: str | None = None) -> Script:
    """A script of C(lines). key_text: what makes it run again; None means its content."""
    content = "\n".join([*lines, ""])
    return Script(name, file, content, content if key_text is None else key_text)
