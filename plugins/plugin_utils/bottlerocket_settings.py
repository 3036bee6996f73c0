# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Bottlerocket accepts below C(settings).

Bottlerocket refuses unknown settings and stops booting, with nothing but the console to tell why: so every name and every value
is checked here first. Names and types: C(_data/bottlerocket_settings.json); patterns: Bottlerocket's settings models, 1.19 to 1.57.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any

from . import data
from .errors import Problems, joined, rename
from .kubernetes import label_key_problem, label_value_problem, taint_effects
from .network import ip_problem
from .quantities import parse_quantity

_Version = tuple[int, int] | None
_Node = Mapping[str, Any]


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.ASCII)
    return lambda text: compiled.fullmatch(text) is not None


def _decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def _is_pem(text: str) -> bool:
    return b"-----BEGIN CERTIFICATE-----" in (_decoded(text) or b"")


def _is_taint(text: str) -> bool:
    value, colon, effect = text.partition(":")
    return bool(colon) and effect in taint_effects and label_value_problem(value) is None


def _is_sysctl(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9./_-]{1,128}", text) is not None and ".." not in text and not text.startswith((".", "/"))


_THRESHOLD_PERCENT = _matches(r"(?:100|[0-9]{1,2})(?:\.[0-9]{1,6})?%")

# Type of a setting → (does a text fit, what fits). Text that fits nothing in particular is one line without control characters.
_TEXTS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "string": (lambda text: text.isprintable(), "one line of text"),
    "text": (lambda text: "\0" not in text, "text"),
    "base64": (lambda text: _decoded(text) is not None, "base64"),
    "base64_pem": (_is_pem, "base64 of certificates in PEM"),
    "bootstrap_token": (_matches(r"[a-z0-9]{6}\.[a-z0-9]{16}"), "a bootstrap token"),
    "cluster_name": (lambda text: bool(text) and label_value_problem(text) is None, "a cluster name of at most 63 characters"),
    "cpuset": (_matches(r"[0-9]{1,5}(?:-[0-9]{1,5})?(?:,[0-9]{1,5}(?:-[0-9]{1,5})?)*"), "a list of CPUs such as 0,3-5,8"),
    "domain": (_matches(r"(?!\.)[0-9A-Za-z.-]{1,253}"), "a DNS name"),
    # Not Go's format: the units have this order, each may occur once, and even zero needs one.
    "duration": (
        _matches(r"(?=.)(?:[0-9]+(?:\.[0-9]+)?h)?(?:[0-9]+(?:\.[0-9]+)?m)?(?:[0-9]+(?:\.[0-9]+)?s)?(?:[0-9]+(?:\.[0-9]+)?ms)?"),
        'a duration such as "30s" or "1h5m"',
    ),
    "gpu_model": (_matches(r"[a-z][0-9]+\.[0-9]+gb"), "a GPU model such as a100.40gb"),
    "hostname": (_matches(r"[0-9a-z.-]{1,253}"), "a host name in lower case"),
    "identifier": (_matches(r"[A-Za-z0-9-]{1,76}"), "letters, digits and -, at most 76"),
    "ip": (lambda text: ip_problem(text) is None, "an IP address"),
    "label_key": (lambda text: label_key_problem(text) is None, "a key such as example.com/name"),
    "label_value": (lambda text: label_value_problem(text) is None, "a label value, quoted"),
    "mig_profile": (_matches(r"[12347]|[0-9]g\.[0-9]+gb"), 'a number of partitions such as "3", or a profile such as "1g.5gb"'),
    "module": (_matches(r"[A-Za-z0-9_-]{1,64}"), "a kernel module"),
    "numa_node": (_matches(r"[0-9]{1,4}"), "the number of a NUMA node"),
    "quantity": (lambda text: parse_quantity(text) is not None, 'a quantity such as "100m" or "1Gi"'),
    "sysctl": (_is_sysctl, "a kernel parameter such as net.core.somaxconn"),
    "taint": (_is_taint, '"value:Effect" or ":Effect" with one of ' + ", ".join(taint_effects)),
    "threshold": (
        lambda text: _THRESHOLD_PERCENT(text) or parse_quantity(text) is not None,
        'a quantity such as "100Mi", or a percentage such as "10%"',
    ),
    "url": (lambda text: bool(text) and text.isprintable() and " " not in text, "a URL"),
    "version_lock": (_matches(r"latest|v[0-9]+\.[0-9]+\.[0-9]+"), "latest, or a version such as v1.50.0"),
}
_BYTES = _matches(r"(?:[0-9]+(?:\.[0-9]+)?\s?(?:[kmgtKMGT]i?)?[bB]?|unlimited)")


def bottlerocket_problems(settings: Any, path: str, problems: Problems, version: _Version = None) -> None:
    """Report what Bottlerocket would refuse in C(settings), which is all that stands below C(settings) in its user data.

    C(version) is the Kubernetes version of the cluster: some settings came with one.
    """
    tree = {"type": "table", "settings": data.bottlerocket_settings()}
    if isinstance(settings, Mapping) and set(settings) == {"settings"}:
        problems.add(
            "bottlerocket.nested_settings", joined(path, "settings"), "is a second table named settings", fix="remove the outer one"
        )
        return
    _check(settings, tree, path, problems, version)


def _check(value: Any, node: _Node | str, path: str, problems: Problems, version: _Version) -> None:
    node = {"type": node} if isinstance(node, str) else node
    needs = node.get("kubernetes")
    if needs is not None and version is not None and version[1] < needs:
        problems.add(
            "bottlerocket.setting_not_in_version",
            path,
            f"Bottlerocket has this setting from Kubernetes 1.{needs}, not in 1.{version[1]}",
            fix="remove it",
        )
        return
    kind = node["type"]
    if value is None:
        problems.add("bottlerocket.null", path, "TOML has no null", value=value, fix="set a value or remove it")
    elif kind in {"table", "map"}:
        _check_table(value, node, path, problems, version)
    elif kind == "list" or (kind == "one_or_list" and isinstance(value, (list, tuple))):
        _check_list(value, node["items"], path, problems, version)
    elif kind == "one_or_list":
        _check(value, node["items"], path, problems, version)
    elif kind in _SHAPES:
        _SHAPES[kind](value, node, path, problems)
    else:
        _check_text(value, node, path, problems)


def _check_table(value: Any, node: _Node, path: str, problems: Problems, version: _Version) -> None:
    if not isinstance(value, Mapping):
        problems.add("bottlerocket.wrong_type", path, "is not a table", value=value, allowed="a mapping")
        return
    known, items, keys = node.get("settings", {}), node.get("items"), node.get("keys")
    for key, item in value.items():
        where = joined(path, key)
        if not isinstance(key, str):
            problems.add("bottlerocket.wrong_type", where, "the key must be text", value=key, fix="quote it")
        elif key in known:
            _check(item, known[key], where, problems, version)
        elif items is None or (isinstance(keys, tuple) and key not in keys):
            names = sorted(known) or list(keys or ())
            problems.add(
                "bottlerocket.unknown_setting",
                where,
                "Bottlerocket does not have this setting and would not boot",
                allowed=", ".join(names) if len(names) <= 12 else None,
                nearest=(guess := problems.nearest(key, names)),
                fix=rename(guess, value),
            )
        elif isinstance(keys, str) and not _TEXTS[keys][0](key):
            problems.add("bottlerocket.invalid_name", where, "is not a valid name here", value=key, allowed=_TEXTS[keys][1])
        else:
            _check(item, items, where, problems, version)
    for name in node.get("required", ()):
        if name not in value:
            problems.add("bottlerocket.missing_setting", path, f"{name} is missing", fix=f"add {name}")


def _check_list(value: Any, items: _Node | str, path: str, problems: Problems, version: _Version) -> None:
    if not isinstance(value, (list, tuple)):
        problems.add("bottlerocket.wrong_type", path, "is not a list", value=value, allowed="a list")
        return
    for index, item in enumerate(value):
        _check(item, items, joined(path, index), problems, version)


def _check_text(value: Any, node: _Node, path: str, problems: Problems) -> None:
    fits, allowed = _TEXTS[node["type"]]
    enum = node.get("enum")
    # What may be a secret is not repeated in a message.
    shown = {} if node.get("secret") or node["type"].startswith("base64") else {"value": value}
    if not isinstance(value, str):
        problems.add("bottlerocket.wrong_type", path, "is not text", allowed=", ".join(enum) if enum else allowed, fix="quote it", **shown)
    elif enum is not None and value not in enum:
        quoted = ", ".join(one or '""' for one in enum)
        problems.add(
            "bottlerocket.unknown_value",
            path,
            "is not a valid value for Bottlerocket",
            allowed=quoted,
            nearest=problems.nearest(value, enum),
            **shown,
        )
    elif enum is None and not fits(value):
        problems.add("bottlerocket.invalid_value", path, "cannot be read", allowed=allowed, **shown)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check_bool(value: Any, _node: _Node, path: str, problems: Problems) -> None:
    if not isinstance(value, bool):
        problems.add("bottlerocket.wrong_type", path, "is not a boolean", value=value, allowed="true or false, unquoted")


def _check_int(value: Any, node: _Node, path: str, problems: Problems) -> None:
    least, most = node["minimum"], node["maximum"]
    if not _is_number(value) or not least <= value <= most:
        problems.add(
            "bottlerocket.out_of_range",
            path,
            "is not valid for this setting",
            value=value,
            allowed=f"a whole number from {least} to {most}, unquoted",
        )


def _check_int_or_text(value: Any, node: _Node, path: str, problems: Problems) -> None:
    number = int(value) if isinstance(value, str) and re.fullmatch(r"[0-9]{1,19}", value, re.ASCII) else value
    _check_int(number, node, path, problems)


def _check_percent(value: Any, _node: _Node, path: str, problems: Problems) -> None:
    _check_int_or_text(value, {"minimum": 0, "maximum": 100}, path, problems)


def _check_bytes(value: Any, _node: _Node, path: str, problems: Problems) -> None:
    if not (_is_number(value) and 0 <= value < 2**63) and not (isinstance(value, str) and _BYTES(value)):
        problems.add(
            "bottlerocket.invalid_value", path, "cannot be read", value=value, allowed='a number of bytes, or a size such as "8mib"'
        )


def _check_limit(value: Any, _node: _Node, path: str, problems: Problems) -> None:
    if value != "unlimited" and not (_is_number(value) and -1 <= value < 2**63):
        problems.add(
            "bottlerocket.invalid_value", path, "is not a limit", value=value, allowed='a whole number, or -1 or "unlimited" for no limit'
        )


def _check_command(value: Any, _node: _Node, path: str, problems: Problems) -> None:
    words = value if isinstance(value, (list, tuple)) else ()
    if not words or not all(isinstance(word, str) and word.isprintable() for word in words) or words[0] != "apiclient":
        problems.add(
            "bottlerocket.invalid_value",
            path,
            "is not a call of apiclient",
            value=value,
            allowed='a list of words, the first of which is "apiclient"',
        )


def _check_host_entry(value: Any, _node: _Node, path: str, problems: Problems) -> None:
    pair = value if isinstance(value, (list, tuple)) and len(value) == 2 else (None, None)
    names = pair[1] if isinstance(pair[1], (list, tuple)) else (None,)
    if ip_problem(pair[0]) or not all(isinstance(name, str) and _TEXTS["domain"][0](name) for name in names):
        problems.add(
            "bottlerocket.invalid_value", path, "is not an entry of /etc/hosts", value=value, allowed='["IP address", ["name", …]]'
        )


_SHAPES: Mapping[str, Callable[[Any, _Node, str, Problems], None]] = {
    "bool": _check_bool,
    "bytes": _check_bytes,
    "command": _check_command,
    "host_entry": _check_host_entry,
    "int": _check_int,
    "int_or_text": _check_int_or_text,
    "limit": _check_limit,
    "percent": _check_percent,
}
