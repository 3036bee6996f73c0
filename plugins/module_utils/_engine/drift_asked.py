# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drift of a node without a record: what the plan asks for, compared with the files of the image's programs.

Only values that the plan states are compared. Values that are known only on the node, such as C(${INSTANCE_ID}), are left out.
"""

from __future__ import annotations

import base64
import binascii
import json
import shlex
from typing import Any, Iterator, Mapping, Tuple

from .._node import kubeconfig, nodeadm_files, yaml_reader
from .._node.files import Reader
from .._node.kubelet_process import KUBECONFIG
from . import drift, effective_values, image_script, nodeadm
from .drift import SNAP, Drift, Snaps
from .plan import ImageScriptStep, Plan

_SERVER = "server"

Asked = Tuple[str, str, Any]
"""A source, a setting in it, and its value."""


def find(plan: Plan, read: Reader, snaps: Snaps) -> list[Drift]:
    """The differences from what the plan asks for, sorted by source and setting."""
    asked: list[Asked] = []
    for step in plan.steps:
        if isinstance(step, ImageScriptStep):
            asked += _of_script(plan, step)
    if plan.runs_nodeadm:
        asked += _of_nodeadm(plan, read)
    sources = {source: _values(source, read, snaps) for source in {source for source, _name, _value in asked}}
    found = (Drift(source, name, value, sources[source].get(name)) for source, name, value in asked)
    return sorted((item for item in found if not drift.is_same(item.recorded, item.found)), key=lambda item: item[:2])


def _values(source: str, read: Reader, snaps: Snaps) -> Mapping[str, Any]:
    """The settings of a source, C(server) of a kubeconfig among them."""
    if source.startswith(SNAP):
        settings = snaps.settings(source[len(SNAP) :])
        arguments = settings.get("args")
        return {**settings, **(effective_values.flags("args", arguments) if isinstance(arguments, str) else {})}
    current = read(source)
    if current is None:
        return {}
    if source == KUBECONFIG:
        return {_SERVER: kubeconfig.find_server(current.content.decode("utf-8", "replace"))}
    return effective_values.parse(source, current.content)


def _certificate(encoded: str) -> Asked | None:
    try:
        content = base64.b64decode(encoded)
    except (binascii.Error, ValueError):
        return None
    return (image_script.CA, effective_values.CONTENT, effective_values.parse(image_script.CA, content)[effective_values.CONTENT])


def _is_constant(value: Any) -> bool:
    return "${" not in json.dumps(value)


# --- the image's script ------------------------------------------------------------------------------------------------------------------


def _of_script(plan: Plan, step: ImageScriptStep) -> Iterator[Asked]:
    script = next((file.content.decode("utf-8", "surrogateescape") for file in plan.files if file.path == step.path), "")
    words = image_script.script_call(script)
    if words is None:
        return
    wanted = dict(zip(words[2::2], words[3::2]))
    if "--apiserver-endpoint" in wanted and "--enable-local-outpost" not in wanted:
        yield (KUBECONFIG, _SERVER, wanted["--apiserver-endpoint"])
    certificate = _certificate(wanted.get("--b64-cluster-ca", ""))
    if certificate is not None and "--b64-cluster-ca" in wanted:
        yield certificate
    if "--dns-cluster-ip" in wanted:
        dns = wanted["--dns-cluster-ip"]
        yield (SNAP + step.snap, "cluster-dns", dns) if step.snap else (image_script.CONFIG, "clusterDNS", dns.split(","))
    source, variable = (SNAP + step.snap, "args") if step.snap else (image_script.EXTRA_ARGS, "KUBELET_EXTRA_ARGS")
    prefix = "" if step.snap else "Service.Environment."
    for name, value in effective_values.flags(variable, wanted.get("--kubelet-extra-args", "")).items():
        if _is_constant(value):
            yield (source, prefix + name, value)


# --- nodeadm -----------------------------------------------------------------------------------------------------------------------------


def _of_nodeadm(plan: Plan, read: Reader) -> Iterator[Asked]:
    """The values of our NodeConfig that no later document can replace."""
    documents = [file for file in plan.files if file.path.startswith(nodeadm_files.DIRECTORY + "/")]
    others = "".join(
        content.decode("utf-8", "replace")
        for name, content in nodeadm.documents(read).items()
        if f"{nodeadm_files.DIRECTORY}/{name}" not in plan.paths
    )
    for file in documents:
        try:
            document = yaml_reader.parse(file.content.decode("utf-8", "replace"))
        except yaml_reader.YamlError:
            continue
        spec = document.get("spec") if isinstance(document, dict) else None
        for source, name, value in _of_spec(spec if isinstance(spec, dict) else {}):
            if _is_constant(value) and name.rpartition(".")[2] not in others:
                yield (source, name, value)


def _section(spec: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = spec.get(name)
    return value if isinstance(value, dict) else {}


def _of_spec(spec: Mapping[str, Any]) -> Iterator[Asked]:
    cluster, kubelet = _section(spec, "cluster"), _section(spec, "kubelet")
    is_outpost = str(cluster.get("enableOutpost")).lower() == "true"
    if isinstance(cluster.get("apiServerEndpoint"), str) and not is_outpost:
        yield (KUBECONFIG, _SERVER, cluster["apiServerEndpoint"])
    certificate = _certificate(str(cluster.get("certificateAuthority", "")))
    if certificate is not None and cluster.get("certificateAuthority"):
        yield certificate
    config = kubelet.get("config")
    if isinstance(config, dict) and config:
        for name, value in effective_values.flatten(config).items():
            yield (nodeadm_files.KUBELET_DROP_IN, name, value)
    arguments = kubelet.get("flags")
    if isinstance(arguments, list):
        text = " ".join(shlex.quote(str(word)) for word in arguments)
        for name, value in effective_values.flags("NODEADM_KUBELET_ARGS", text).items():
            yield (nodeadm_files.ENVIRONMENT, name, value)
