# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of single values of a NodeConfig that nodeadm does not make, but that a node needs to start (amazon-eks-ami, July 2026).

Every function has the form C(check(value, path, problems)). Types are already checked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from .. import kubelet
from ..capacity import InstanceShape
from ..data import instance_types
from ..errors import Problems, joined, rename
from ..network import cidr_problem, ip_problem
from .encoding import decode_base64
from .expression_values import ExpressionError, UnsupportedExpression
from .expressions import VARIABLES, pods

STRATEGIES = ("RAID0", "RAID10", "Mount")
DISABLED_MOUNTS = ("Containerd", "PodLogs", "SOCI")
FEATURE_GATES = ("InstanceIdNodeName", "FastImagePull")

_MAX_DEPTH = 60
"""Levels of a free mapping. The surrounding document must also fit into the limit of YAML."""

_CLUSTER_NAME = re.compile(r"[0-9A-Za-z][A-Za-z0-9_-]{0,99}", re.ASCII)
_ENDPOINT = re.compile(r"https://[^\s/?#@]+/?", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_UNIT = re.compile(r"[A-Za-z0-9:_.@-]+", re.ASCII)
_UNIT_SUFFIXES = (".service", ".socket", ".timer", ".target", ".mount", ".slice", ".path")
_DOMAIN = re.compile(r"~?(\.|\.?[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?)", re.ASCII)
_FLAG = re.compile(r"--?[A-Za-z][A-Za-z0-9_-]*(=.*)?", re.ASCII)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_UNREADABLE = re.compile("[\x00\ud800-\udfff]")


def one_line(value: str, path: str, problems: Problems) -> None:
    """Text that is not empty, without line breaks and control characters."""
    if not value:
        problems.add("nodeconfig.empty", path, "is empty, which nodeadm treats as not set", fix="remove it")
    elif _CONTROL.search(value):
        problems.add("nodeconfig.unsafe_text", path, "contains a control character", value=value, allowed="one line of text")


def cluster_name(value: str, path: str, problems: Problems) -> None:
    """The name of an EKS cluster (EKS API, CreateCluster)."""
    if not _CLUSTER_NAME.fullmatch(value):
        allowed = "up to 100 letters, digits, hyphens and underscores, the first one a letter or digit"
        problems.add("nodeconfig.invalid_value", path, "is not the name of an EKS cluster", value=value, allowed=allowed)


def endpoint(value: str, path: str, problems: Problems) -> None:
    """The https URL of an API server."""
    if not _ENDPOINT.fullmatch(value):
        problems.add("nodeconfig.invalid_value", path, "is not an API server endpoint", value=value, allowed="an https URL")


def certificate_authority(value: str, path: str, problems: Problems) -> None:
    """Base64 of a PEM certificate."""
    decoded = decode_base64(value.encode("utf-8", "replace"))
    if decoded is None:
        problems.add(
            "nodeconfig.invalid_value", path, "is not base64", allowed="base64 of the PEM file, as `aws eks describe-cluster` prints it"
        )
    elif not decoded.lstrip().startswith(b"-----BEGIN CERTIFICATE-----") or b"-----END CERTIFICATE-----" not in decoded:
        problems.add(
            "nodeconfig.invalid_value", path, "does not contain a PEM certificate", allowed="base64 of -----BEGIN CERTIFICATE----- …"
        )


def cidr(value: str, path: str, problems: Problems) -> None:
    """A network in CIDR notation without host bits."""
    reason = cidr_problem(value)
    if reason is not None:
        problems.add("nodeconfig.invalid_value", path, reason, value=value, allowed="the service CIDR, for example 10.100.0.0/16")


def ip(value: str, path: str, problems: Problems) -> None:
    """An IPv4 or IPv6 address."""
    reason = ip_problem(value)
    if reason is not None:
        problems.add("nodeconfig.invalid_value", path, reason, value=value, allowed="an IP address")


def domain(value: str, path: str, problems: Problems) -> None:
    """A domain as in C(Domains=) of systemd-resolved."""
    if not _DOMAIN.fullmatch(value):
        problems.add(
            "nodeconfig.invalid_value",
            path,
            "is not a domain for systemd-resolved",
            value=value,
            allowed="a domain name, with ~ before it for routing only",
        )


def storage_strategy(value: str, path: str, problems: Problems) -> None:
    """nodeadm accepts every case: it passes the text to setup-local-disks in lower case."""
    if value.upper() not in map(str.upper, STRATEGIES):
        _one_of(value, STRATEGIES, path, problems)


def disabled_mount(value: str, path: str, problems: Problems) -> None:
    """A mount that nodeadm leaves out of local storage (C(disabledMounts))."""
    _one_of(value, DISABLED_MOUNTS, path, problems)


def _one_of(value: str, allowed: tuple[str, ...], path: str, problems: Problems) -> None:
    if value not in allowed:
        problems.add(
            "nodeconfig.unknown_value",
            path,
            "is not a valid value for nodeadm",
            value=value,
            allowed=", ".join(allowed),
            nearest=problems.nearest(value, allowed),
        )


def absolute_path(value: str, path: str, problems: Problems) -> None:
    """The absolute path of a mount point, without spaces."""
    one_line(value, path, problems)
    if value and (not value.startswith("/") or any(char.isspace() for char in value)):
        problems.add(
            "nodeconfig.invalid_value", path, "is not an absolute path without spaces", value=value, allowed="for example /mnt/k8s-disks"
        )


def environment(value: Mapping[Any, Any], path: str, problems: Problems) -> None:
    """Services by name without C(.service), C(default) for all of them; variables by name."""
    for service, variables in value.items():
        where = joined(path, service)
        if not isinstance(service, str) or not _UNIT.fullmatch(service):
            problems.add("nodeconfig.invalid_name", where, "is not the name of a systemd service", value=service)
        elif service.endswith(_UNIT_SUFFIXES):
            bare = service.rpartition(".")[0]
            problems.add(
                "nodeconfig.invalid_name",
                where,
                f"nodeadm would write a drop-in for {service}.service, which is not the name of a unit",
                fix=f"write {bare}",
            )
        if variables is None:
            continue
        if not isinstance(variables, Mapping):
            fix = "put it under default, or under the name of a service"
            problems.add(
                "nodeconfig.wrong_type",
                where,
                "has the wrong type",
                value=variables,
                allowed="a mapping of variable names to strings",
                fix=fix,
            )
            continue
        for name, text in variables.items():
            _variable(name, text, joined(where, name), problems)


def _variable(name: Any, text: Any, path: str, problems: Problems) -> None:
    if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
        problems.add(
            "nodeconfig.invalid_name",
            path,
            "is not the name of an environment variable",
            value=name,
            allowed="letters, digits and underscores",
        )
    if text is None:
        problems.add("nodeconfig.empty", path, "has no value", fix='write "" for an empty one')
    elif not isinstance(text, str):
        problems.add("nodeconfig.wrong_type", path, "has the wrong type", value=text, allowed="text", fix="quote it")
    elif _UNREADABLE.search(text):
        problems.add("nodeconfig.unsafe_text", path, "contains NUL or a lone surrogate, which systemd cannot process")


def feature_gates(value: Mapping[Any, Any], path: str, problems: Problems) -> None:
    """Feature gates of nodeadm, not of kubelet: name → boolean."""
    for name, switch in value.items():
        where = joined(path, name)
        if name not in FEATURE_GATES:
            similar = problems.nearest(name, FEATURE_GATES)
            problems.add(
                "nodeconfig.unknown_feature_gate",
                where,
                "nodeadm does not have this feature gate",
                allowed=", ".join(FEATURE_GATES),
                nearest=similar,
                fix=rename(similar, value),
            )
        if not isinstance(switch, bool):
            problems.add("nodeconfig.wrong_type", where, "has the wrong type", value=switch, allowed="true or false")


def kubelet_flag(value: str, path: str, problems: Problems) -> None:
    """One flag as one word. nodeadm joins all flags with blanks in an EnvironmentFile, and systemd splits them again."""
    if _CONTROL.search(value):
        problems.add(
            "nodeconfig.unsafe_text",
            path,
            "contains a line break, NUL or another control character, which would end the line that systemd reads",
            value=value,
        )
        return
    if "\\" in value:
        problems.add("nodeconfig.unsafe_text", path, "contains a backslash, which systemd removes", value=value)
    bare = _QUOTED.sub("", value)
    if '"' in bare or "'" in bare:
        problems.add("nodeconfig.unsafe_text", path, "has an unclosed quote: systemd would join it with the next arguments", value=value)
    elif " " in bare:
        problems.add(
            "nodeconfig.invalid_flag",
            path,
            "is more than one word",
            value=value,
            fix="write --flag=value, one flag in each entry; quote spaces in a value",
        )
    elif not _FLAG.fullmatch(value):
        problems.add("nodeconfig.invalid_flag", path, "is not a kubelet flag", value=value, allowed="--flag=value")


def kubelet_config(value: Mapping[Any, Any], path: str, problems: Problems) -> None:
    """A KubeletConfiguration in the version that nodeadm writes. The rules for its fields are in C(kubelet_rules.py)."""
    for name, right in (("apiVersion", kubelet.API_VERSION), ("kind", kubelet.KIND)):
        if value.get(name, right) != right:
            fix = "remove it: nodeadm writes the one that the installed kubelet reads"
            problems.add(
                "nodeconfig.replaces_nodeadm", joined(path, name), "replaces the one that nodeadm writes", value=value[name], fix=fix
            )
    plain(value, path, problems)


def plain(value: Any, path: str, problems: Problems, depth: int = 0) -> None:
    """Report values that JSON cannot represent."""
    if depth > _MAX_DEPTH:
        problems.add("nodeconfig.too_deep", path, f"is nested more than {_MAX_DEPTH} levels deep")
    elif isinstance(value, str):
        if re.search("[\ud800-\udfff]", value):
            problems.add("nodeconfig.unsafe_text", path, "contains a lone surrogate, which UTF-8 cannot represent")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                problems.add("nodeconfig.wrong_type", joined(path, key), "a key must be text", value=key, fix="quote it")
            plain(item, joined(path, key), problems, depth + 1)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            plain(item, joined(path, index), problems, depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        problems.add("nodeconfig.wrong_type", path, "is not a valid JSON number", value=str(value))
    elif value is not None and not isinstance(value, (bool, int, float)):
        problems.add("nodeconfig.wrong_type", path, "is not text, a number, a boolean, a list or a mapping", value=value)


def toml(value: str, path: str, problems: Problems) -> None:
    """The configuration of containerd: nodeadm merges it at boot, and stops if it is not TOML."""
    from ..formats.toml import TomlError, parse

    try:
        parse(value)
    except TomlError as error:
        missing = error.rule == "toml.missing_package"
        problems.add(error.rule, path, str(error) if missing else f"is not TOML, and nodeadm would stop at boot: {error}", fix=error.fix)


def max_pods_expression(value: str, path: str, problems: Problems) -> None:
    """A CEL expression with three integers. If the result is not a number of pods, nodeadm only logs a warning and ignores it.

    Reports an expression that has no valid result on any instance type. Accepts an expression that only CEL can evaluate.
    """
    if not value.strip():
        problems.add("nodeconfig.empty", path, "is empty", fix="remove it")
        return
    errors = {}
    for shape in _shapes():
        try:
            pods(value, shape)
            return
        except ExpressionError as error:
            errors[str(error)] = error.unknown
        except UnsupportedExpression:
            return
    [(message, unknown), *others] = errors.items()
    if others:
        message = "does not result in a number of pods on any instance type"
    allowed = ", ".join(VARIABLES) + " and the operators of CEL" if unknown else None
    similar = problems.nearest(unknown, VARIABLES) if unknown else None
    problems.add(
        "nodeconfig.invalid_expression",
        path,
        f"{message}; nodeadm would ignore the expression",
        value=value,
        allowed=allowed,
        nearest=similar,
    )


@cache
def _shapes() -> tuple[InstanceShape, ...]:
    """All pairs of numbers of network interfaces and addresses that instance types have."""
    pairs = {(row["max_enis"], row["ips_per_eni"]) for row in instance_types().values()}
    return tuple(InstanceShape(*pair) for pair in sorted(pair for pair in pairs if None not in pair))
