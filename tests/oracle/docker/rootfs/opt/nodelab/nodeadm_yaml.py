# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One NodeConfig as Go's readers understand it: what a bare word means, keys as text, fields it does not know dropped, types kept."""

import base64
import json
import math
import re

import yaml

_TRUE = {"y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"}
_FALSE = {"n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"}
_NOTHING = {"", "~", "null", "Null", "NULL"}
_INTEGER = re.compile(r"([-+]?)0(?:([bB])([01]+)|([oO]?)([0-7]+)|([xX])([0-9a-fA-F]+))")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_ENDLESS = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")

#: The fields of a spec. str and bool: that type; bytes: base64 text; dict: any mapping; {"*": …}: any keys.
_FIELDS = {
    "cluster": {"name": str, "apiServerEndpoint": str, "certificateAuthority": bytes, "cidr": str, "enableOutpost": bool, "id": str},
    "containerd": {"config": str, "baseRuntimeSpec": dict},
    "instance": {
        "localStorage": {"strategy": str, "mountPath": str, "disabledMounts": [str]},
        "environment": {"*": {"*": str}},
        "network": {"nameservers": [str], "domains": [str]},
    },
    "kubelet": {"config": dict, "flags": [str], "maxPodsExpression": str},
    "featureGates": {"*": bool},
}


class _Loader(yaml.SafeLoader):
    """PyYAML's, but a bare word means what _meant says."""


_Loader.yaml_implicit_resolvers = {"<": [("tag:yaml.org,2002:merge", re.compile("<<"))]}
_Loader.add_constructor("tag:yaml.org,2002:str", lambda _loader, node: node.value if node.style else _meant(node.value))
_Loader.add_constructor("tag:yaml.org,2002:merge", lambda _loader, node: node.value)


def _meant(text):
    if text in _NOTHING:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    number = text if text.startswith("_") else text.replace("_", "")
    found = _INTEGER.fullmatch(number)
    if found:
        sign, binary, bits, _octal, octets, _hexadecimal, digits = found.groups()
        return int(sign + (bits or octets or digits), 2 if binary else 8 if octets else 16)
    if re.fullmatch(r"[-+]?[0-9]+", number):
        return int(number)
    if _FLOAT.fullmatch(number):
        return float(number)
    if _ENDLESS.fullmatch(text):
        return float(text.replace(".", "", 1))
    return text


def _key(key):
    if key is None:
        raise ValueError("unsupported map key")
    if isinstance(key, bool):
        return str(key).lower()
    if isinstance(key, float):
        return "." + str(key) if not math.isfinite(key) else str(int(key)) if key.is_integer() else str(key)
    return str(key)


def _plain(value):
    """Keys as JSON has them, and nothing that JSON has not."""
    if isinstance(value, dict):
        return {_key(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("unsupported value")
    return value


def _typed(value, kind):
    if isinstance(kind, dict):
        if not isinstance(value, dict):
            raise ValueError(f"{value!r} is not a mapping")
        inner = {key: (item, kind.get(key, kind.get("*"))) for key, item in value.items()}
        empty = {str: "", bool: False}
        return {
            key: empty.get(want, {}) if item is None else _typed(item, want)
            for key, (item, want) in inner.items()
            if want and (item is not None or "*" in kind)
        }
    if isinstance(kind, list):
        if not isinstance(value, list):
            raise ValueError(f"{value!r} is not a list")
        return [_typed("" if item is None else item, kind[0]) for item in value]
    if not isinstance(value, str if kind is bytes else kind):
        raise ValueError(f"{value!r} is not a {kind.__name__}")
    if kind is bytes:
        return base64.b64encode(base64.b64decode(value.replace("\r", "").replace("\n", ""), validate=True)).decode()
    return value


def load(content):
    """The first document as a mapping with apiVersion, kind and spec; ValueError where nodeadm refuses it."""
    text = content.decode()
    try:
        document = json.loads(text) if text.lstrip().startswith("{") else next(yaml.load_all(text, _Loader), None)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(error) from error
    document = _plain(document)
    if not isinstance(document, dict):
        raise ValueError("no mapping")
    return {**document, "spec": _typed(document.get("spec") or {}, _FIELDS)}
