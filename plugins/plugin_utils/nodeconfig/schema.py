# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of a NodeConfig, C(node.eks.aws/v1alpha1) of amazon-eks-ami, July 2026, and their strict checks.

nodeadm drops unknown fields and checks few values. Here, values that nodeadm would drop or ignore, or that make it fail later,
are problems. C(.read) is as lenient as nodeadm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import Problems, joined, rename
from ..kubelet_fields import kubelet_config_problems
from . import values

API_VERSION = "node.eks.aws/v1alpha1"
KIND = "NodeConfig"
_HEAD = ("apiVersion", "kind")

Version = tuple[int, int] | None
Check = Callable[[Any, str, Problems], None]


@dataclass(frozen=True)
class Field:
    """One field: C(kind) is its type in Go, and C(check) is a further check of its value.

    kind: text, bytes (base64 text), bool, texts (list), record (C(fields)), environment (text by variable by service),
    gates (bool by name), free (any mapping).
    """

    kind: str
    check: Check | None = None
    fields: Mapping[str, Field] = field(default_factory=dict)


def _record(**fields: Field) -> Field:
    return Field("record", None, fields)


SPEC = _record(
    cluster=_record(
        name=Field("text", values.cluster_name),
        apiServerEndpoint=Field("text", values.endpoint),
        certificateAuthority=Field("bytes", values.certificate_authority),
        cidr=Field("text", values.cidr),
        enableOutpost=Field("bool"),
        id=Field("text", values.one_line),
    ),
    containerd=_record(config=Field("text", values.toml), baseRuntimeSpec=Field("free", values.plain)),
    instance=_record(
        localStorage=_record(
            strategy=Field("text", values.storage_strategy),
            mountPath=Field("text", values.absolute_path),
            disabledMounts=Field("texts", values.disabled_mount),
        ),
        environment=Field("environment", values.environment),
        network=_record(nameservers=Field("texts", values.ip), domains=Field("texts", values.domain)),
    ),
    kubelet=_record(
        config=Field("free", values.kubelet_config),
        flags=Field("texts", values.kubelet_flag),
        maxPodsExpression=Field("text", values.max_pods_expression),
    ),
    featureGates=Field("gates", values.feature_gates),
)

_GO_NAMES = {
    "text": "text",
    "bytes": "base64 text",
    "bool": "true or false",
    "texts": "a list of strings",
    "record": "a mapping",
    "environment": "a mapping of services to mappings of variables to texts",
    "gates": "a mapping of feature gates to true or false",
    "free": "a mapping",
}


def spec_problems(spec: Any, path: str, problems: Problems, version: Version = None) -> None:
    """Report every problem in the C(spec) of a NodeConfig, or in a part of it.

    path: the place of C(spec) in the input. version: of Kubernetes, (major, minor); without it, kubelet fields of all known
    versions are accepted.
    """
    _walk(spec, SPEC, path, problems)
    kubelet = spec.get("kubelet") if isinstance(spec, Mapping) else None
    config = kubelet.get("config") if isinstance(kubelet, Mapping) else None
    where = f"{path}.kubelet.config"
    if isinstance(config, Mapping):
        heads = [f"{where}.{name}" for name in _HEAD]
        if not any(found.path.startswith(where) and found.path not in heads for found in problems):
            rest = {name: item for name, item in config.items() if name not in _HEAD}
            kubelet_config_problems(rest, version, where, problems)


def document_problems(document: Any, path: str, problems: Problems, version: Version = None) -> bool:
    """Check a whole document with apiVersion and kind like C(spec_problems). Returns True if it has no problems."""
    before = len(problems)
    if not isinstance(document, Mapping):
        problems.add(
            "nodeconfig.wrong_document", path, "is not a NodeConfig", value=document, allowed="a mapping with apiVersion, kind and spec"
        )
        return False
    for name, right in (("apiVersion", API_VERSION), ("kind", KIND)):
        if name not in document:
            problems.add("nodeconfig.missing_field", path, f"{name} is missing", fix=f"add {name}: {right}")
        elif document[name] != right or not isinstance(document[name], str):
            problems.add(
                "nodeconfig.wrong_document", joined(path, name), "is not a valid value for nodeadm", value=document[name], allowed=right
            )
    for name in document:
        if name not in ("apiVersion", "kind", "metadata", "spec"):
            _unknown(name, ("apiVersion", "kind", "metadata", "spec"), document, path, problems)
    if not isinstance(document.get("metadata", {}), (Mapping, type(None))):
        problems.add(
            "nodeconfig.wrong_type", joined(path, "metadata"), "has the wrong type", value=document["metadata"], allowed="a mapping"
        )
    if document.get("spec") is not None:
        spec_problems(document["spec"], joined(path, "spec"), problems, version)
    return len(problems) == before


def _walk(value: Any, here: Field, path: str, problems: Problems) -> None:
    if value is None:
        return  # to nodeadm the same as not there
    if not _is_kind(value, here.kind):
        problems.add(
            "nodeconfig.wrong_type", path, "has the wrong type", value=value, allowed=_GO_NAMES[here.kind], fix=_fix(value, here.kind)
        )
    elif here.kind == "record":
        for name, item in value.items():
            if name in here.fields:
                _walk(item, here.fields[name], joined(path, name), problems)
            else:
                _unknown(name, here.fields, value, path, problems)
    elif here.kind == "texts":
        for index, item in enumerate(value):
            where = joined(path, index)
            if not isinstance(item, str):
                problems.add("nodeconfig.wrong_type", where, "has the wrong type", value=item, allowed="text", fix=_fix(item, "text"))
            elif here.check is not None:
                here.check(item, where, problems)
    elif here.check is not None:
        here.check(value, path, problems)


def _is_kind(value: Any, kind: str) -> bool:
    if kind in ("text", "bytes"):
        return isinstance(value, str)
    if kind == "bool":
        return isinstance(value, bool)
    if kind == "texts":
        return isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    return isinstance(value, Mapping)


def _fix(value: Any, kind: str) -> str | None:
    if kind == "text" and isinstance(value, (bool, int, float)):
        return "quote it"
    if kind == "texts" and isinstance(value, str):
        return "write a list, also for a single item"
    if kind == "bool" and value in ("true", "false"):
        return "remove the quotes"
    return None


def _unknown(name: Any, known: Any, given: Any, path: str, problems: Problems) -> None:
    similar = problems.nearest(name, known)
    problems.add(
        "nodeconfig.unknown_field",
        joined(path, name),
        "nodeadm does not have this field and would ignore it",
        allowed=", ".join(known),
        nearest=similar,
        fix=rename(similar, given),
    )
