# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parses one NodeConfig document like nodeadm (amazon-eks-ami, July 2026): JSON or YAML, without unknown fields, with types.

C(.schema) has the strict checks.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from ..errors import joined, shown
from ..formats import json, yaml
from .encoding import decode_base64
from .schema import API_VERSION, KIND, SPEC, Field

_MISSING = {
    "name": "Name is missing in cluster configuration",
    "apiServerEndpoint": "Apiserver endpoint is missing in cluster configuration",
    "certificateAuthority": "Certificate authority is missing in cluster configuration",
    "cidr": "CIDR is missing in cluster configuration",
}


class NodeConfigError(ValueError):
    """nodeadm does not accept a NodeConfig.

    fatal: whether nodeadm stops. It ignores some user data that it cannot decode.
    """

    def __init__(self, message: str, *, fatal: bool = False) -> None:
        super().__init__(message)
        self.fatal = fatal


def document(text: str, *, strict: bool = True) -> Any:
    """C(text) as plain data. Like nodeadm, it parses text that begins with a brace as JSON, and other text as YAML.

    strict: reject duplicate keys. Raises C(NodeConfigError).
    """
    # The decoder of Kubernetes treats text that begins with a brace as JSON, including YAML in flow style.
    looks_like_json = text.lstrip().startswith("{")
    try:
        return json.load(text, strict=strict) if looks_like_json else yaml.load(text, strict=strict)
    except ValueError as error:
        raise NodeConfigError(f"is not {'JSON' if looks_like_json else 'YAML'}: {error}") from error


def parse(text: str) -> dict[str, Any]:
    """The document in C(text), with C(apiVersion), C(kind) and the decoded C(spec) (see C(decode)).

    Raises C(NodeConfigError) if nodeadm rejects it.
    """
    found = document(text, strict=False)
    if found is None:
        found = {}
    if not isinstance(found, dict):
        raise NodeConfigError(f"is not a mapping but {shown(found)}")
    for name, right in (("kind", KIND), ("apiVersion", API_VERSION)):
        if found.get(name) in (None, ""):
            raise NodeConfigError(f"{name} is missing")
        if found[name] != right:
            raise NodeConfigError(f"{name} is {shown(found[name])}, not {right}")
    return {"apiVersion": API_VERSION, "kind": KIND, "spec": decode(found.get("spec"))}


def decode(spec: Any) -> dict[str, Any]:
    """The C(spec) of a document as nodeadm decodes it: without unknown and empty fields, and with base64 in standard form.

    Raises C(NodeConfigError) for a wrong type. An empty certificate authority is kept, as in nodeadm.
    """
    return _record(spec, SPEC, "spec")


def missing(spec: Mapping[str, Any]) -> str | None:
    """The result of C(nodeadm config check) for a decoded, merged C(spec): the first missing field, or None."""
    cluster = spec.get("cluster", {})
    for name, message in _MISSING.items():
        absent = name not in cluster if name == "certificateAuthority" else not cluster.get(name)
        if absent:
            return message
    if cluster.get("enableOutpost") and not cluster.get("id"):
        return "cluster ID must be provided for outposts"
    return None


def _record(value: Any, here: Field, path: str) -> dict[str, Any]:
    result = {}
    for name, item in _mapping(value, path).items():
        if name in here.fields and item is not None:
            found = _value(item, here.fields[name], joined(path, name))
            if found not in ("", [], {}) or here.fields[name].kind == "bytes":
                result[name] = found
    return result


def _value(value: Any, here: Field, path: str) -> Any:
    if here.kind == "record":
        return _record(value, here, path)
    if here.kind == "text":
        return _text(value, path)
    if here.kind == "bytes":
        return _bytes(value, path)
    if here.kind == "bool":
        return _bool(value, path)
    if here.kind == "texts":
        if not isinstance(value, (list, tuple)):
            raise _wrong(value, path, "a list")
        return [_text(item, joined(path, index)) for index, item in enumerate(value)]
    if here.kind == "environment":
        services = _mapping(value, path)
        return {name: _variables(item, joined(path, name)) for name, item in services.items()}
    if here.kind == "gates":
        return {name: _bool(item, joined(path, name)) for name, item in _mapping(value, path).items()}
    return dict(_mapping(value, path))


def _variables(value: Any, path: str) -> dict[str, str]:
    return {name: _text(item, joined(path, name)) for name, item in _mapping(value, path).items()}


def _mapping(value: Any, path: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _wrong(value, path, "a mapping")
    return value


def _text(value: Any, path: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _wrong(value, path, "text")
    return value


def _bool(value: Any, path: str) -> bool:
    if value is None:
        return False
    if not isinstance(value, bool):
        raise _wrong(value, path, "true or false")
    return value


def _bytes(value: Any, path: str) -> str:
    decoded = decode_base64(_text(value, path).encode("utf-8", "replace"))
    if decoded is None:
        raise NodeConfigError(f"{path} is not base64")
    return base64.b64encode(decoded).decode("ascii")


def _wrong(value: Any, path: str, right: str) -> NodeConfigError:
    return NodeConfigError(f"{path} is {shown(value)}, not {right}")
