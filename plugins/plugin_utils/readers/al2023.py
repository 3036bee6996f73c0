# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads NodeConfigs of Amazon Linux 2023, merged as nodeadm does, into the form of the input."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..artifacts import cloud_init, nodeconfig_flags
from ..errors import Problems
from ..formats import shell, toml
from ..network import no_proxy_entries
from ..nodeconfig import schema
from ..nodeconfig.merge import merge
from ..nodeconfig.read import NodeConfigError, document, parse
from .meaning import Meaning, proxy_of
from .model import ReadPart
from .own_script import HEAD, own_script
from .places import place_of

_CLUSTER = {
    "name": "name",
    "apiServerEndpoint": "endpoint",
    "certificateAuthority": "certificate_authority",
    "cidr": "service_cidr",
    "id": "id",
    "enableOutpost": "outpost",
}
_STORAGE = {"RAID0": "raid0", "RAID10": "raid10", "Mount": "mount"}
_ONE_FLAG = re.compile(r"""--[A-Za-z0-9][A-Za-z0-9._-]*(?:=(?:[^\s"'\\]|"[^"]*"|'[^']*')*)?""")
_PRE_FAILED = "systemctl disable --now nodeadm-run.service"
_PRE = cloud_init.pre_script((), _PRE_FAILED)
_GUARD = cloud_init.on_failure(_PRE_FAILED)


def read(parts: Sequence[ReadPart]) -> Meaning:
    """The meaning of the parts. One of them is a NodeConfig."""
    found = Meaning("al2023")
    configs = []
    for part in parts:
        if part.kind == "nodeconfig":
            try:
                configs.append(parse(part.text))
            except NodeConfigError as error:
                found.lose(part, part.text, str(error))
                continue
            _report_unknown(part, found)
    try:
        spec = merge(configs)["spec"]
    except NodeConfigError as error:
        for part in parts:
            if part.kind == "nodeconfig":
                found.lose(part, part.text, str(error))
        spec = {}
    _read_spec(spec, found)
    _read_scripts([part for part in parts if part.kind != "nodeconfig"], found)
    return found


def _report_unknown(part: ReadPart, found: Meaning) -> None:
    """Report the settings that nodeadm ignores or misreads."""
    problems = Problems()
    schema.document_problems(document(part.text, strict=False), "", problems)
    for problem in problems:
        found.lose_at(part, place_of(part, problem.path), problem.message)


def _read_spec(spec: Mapping[str, Any], found: Meaning) -> None:
    rest = dict(spec)
    cluster = rest.pop("cluster", {})
    for name, field in _CLUSTER.items():
        found.state(field, cluster.get(name))
    if not found.cluster:
        # EKS or Karpenter adds a NodeConfig with the cluster.
        found.put("mode", "managed")
    kubelet = dict(rest.pop("kubelet", {}))
    flags = list(kubelet.pop("flags", []))
    single = [word for word in flags if _ONE_FLAG.fullmatch(word)]
    found.read_kubelet(kubelet.pop("config", {}), nodeconfig_flags.kubelet_flags({"flags": single}))
    if others := [word for word in flags if word not in single]:
        kubelet["flags"] = others
    instance = dict(rest.pop("instance", {}))
    if (storage := _storage(instance.get("localStorage"))) is not None:
        found.put("local_storage", storage)
        del instance["localStorage"]
    if (proxy := proxy_of(instance.get("environment"), found.cluster)) is not None:
        found.put("proxy", proxy)
        del instance["environment"]
    containerd = dict(rest.pop("containerd", {}))
    if tables := _tables(containerd.get("config")):
        found.put("containerd.config", tables)
        del containerd["config"]
    for name, value in (("kubelet", kubelet), ("instance", instance), ("containerd", containerd), *rest.items()):
        found.put(f"nodeadm.{name}", value)


def _storage(storage: Any) -> dict[str, str] | None:
    if not isinstance(storage, Mapping) or not storage.keys() <= {"strategy", "mountPath"} or storage.get("strategy") not in _STORAGE:
        return None
    path = {"mount_path": storage["mountPath"]} if storage.get("mountPath") else {}
    return {"strategy": _STORAGE[storage["strategy"]], **path}


def _tables(text: Any) -> dict[str, Any]:
    """The settings of containerd, if they can be written as data."""
    return toml.load(text, "", Problems()) if isinstance(text, str) else {}


def _read_scripts(parts: Sequence[ReadPart], found: Meaning) -> None:
    """Scripts that stop the join if they fail are commands.pre. Others stay as they are."""
    kept = []
    for part in parts:
        commands = found.node_group.get("commands", {})
        own = own_script(part.text) if part.kind == "shell" else None
        if part.kind == "shell" and part.text.startswith(_PRE) and "pre" not in commands:
            found.put("commands.pre", [part.text.removeprefix(_PRE).removeprefix(_exports(found.node_group.get("proxy"), found.cluster))])
        elif own is not None and (post := own.take_post()) and "post" not in commands:
            found.put("commands.post", post)
            rest = own.rest.removeprefix("systemctl daemon-reload\n")
            if own.files or rest:
                guard = "" if found.node_group.get("mode") == "managed" else _GUARD
                kept.append(replace(part, text=f"{HEAD}{guard}{own.remaining()}{rest}"))
        else:
            kept.append(part)
    found.keep(kept)


def _exports(proxy: Any, cluster: Mapping[str, Any]) -> str:
    """The lines that give the proxy to C(commands.pre), as C(cloud_init.proxy_exports) writes them."""
    if not isinstance(proxy, Mapping):
        return ""
    entries = no_proxy_entries(cluster.get("endpoint"), cluster.get("service_cidr"), proxy.get("no_proxy", []))
    values = {"HTTP_PROXY": proxy.get("http"), "HTTPS_PROXY": proxy.get("https"), "NO_PROXY": ",".join(entries)}
    upper = {name: value for name, value in values.items() if value}
    both = {**upper, **{name.lower(): value for name, value in upper.items()}}
    return "".join(f"export {name}={shell.quote(value)}\n" for name, value in both.items())
