# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The checks of single values of the input: addresses, quantities, labels, flags, versions.

Each is a C(Kind): it takes a value, its path and the problems, and returns the value in its normal form, or INVALID after it has reported
the problem. C(fields.py) says which field has which kind.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from typing import Any

from ..errors import Problems
from ..kubernetes import label_key_problem, label_value_problem
from ..network import cidr_problem
from ..quantities import parse_quantity
from .plain import INVALID, NamedFile
from .schema import choice, list_of, text, type_name, wrong_type

LABEL_PLACEHOLDERS = {
    "instance_id": "i-0123456789abcdef0",
    "instance_lifecycle": "on-demand",
    "availability_zone": "us-gov-west-1a",
}
"""Placeholders in label values that the node replaces when it boots, each with an example value for syntax checks."""

_VERSION_FORM = 'a version such as "1.33"'
_VERSION_TEXT = re.compile(r"v?1\.[0-9]{1,2}(\.[0-9]+([+-][0-9A-Za-z.+-]+)?)?")
_VERSION = text(pattern=_VERSION_TEXT.pattern, what="a Kubernetes version", allowed=_VERSION_FORM)


def certificate_authority(value: Any, path: str, problems: Problems) -> Any:
    """Base64 of one or more PEM certificates."""
    fix = "copy certificateAuthority.data of `aws eks describe-cluster` unchanged"
    if isinstance(value, str) and "-----BEGIN" in value:
        problems.add(
            "cluster.invalid_certificate_authority",
            path,
            "is PEM, not base64 of PEM",
            allowed="base64 of PEM",
            fix="encode it, for example with the filter b64encode",
        )
        return INVALID
    value = text(allowed="base64 of PEM", fix=fix)(value, path, problems)
    if value is INVALID:
        return INVALID
    try:
        pem = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        problems.add("cluster.invalid_certificate_authority", path, "is not valid base64", allowed="base64 of PEM", fix=fix)
        return INVALID
    armour = re.fullmatch(rb"\s*(-----BEGIN CERTIFICATE-----\s[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*)+", pem)
    if not armour:
        problems.add(
            "cluster.invalid_certificate_authority",
            path,
            "is base64, but not of a PEM certificate",
            allowed="base64 of PEM",
            fix=fix,
        )
        return INVALID
    return value


def cidr(value: Any, path: str, problems: Problems) -> Any:
    """A network in CIDR notation without host bits."""
    value = text(allowed="a CIDR such as 10.100.0.0/16")(value, path, problems)
    if value is INVALID:
        return INVALID
    reason = cidr_problem(value)
    if reason:
        fix = _network_meant(value)
        problems.add(
            "input.invalid_cidr", path, reason, value=value, allowed="a CIDR such as 10.100.0.0/16 or fd40:6404:f93b::/108", fix=fix
        )
        return INVALID
    return value


def _network_meant(text: str) -> str | None:
    """What to write instead of C(10.100.0.1/16) or C(10.100.0.0/255.255.0.0)."""
    try:
        return f"write {ipaddress.ip_network(text, strict=False)}" if "/" in text else None
    except ValueError:
        return None


def ip_address(value: Any, path: str, problems: Problems) -> Any:
    """One IPv4 or IPv6 address, in its shortest spelling."""
    value = text(allowed="an IP address")(value, path, problems)
    if value is INVALID:
        return INVALID
    try:
        address = ipaddress.ip_address(value)
    except ValueError:
        problems.add("input.invalid_ip", path, "is not an IP address", value=value, allowed="an IPv4 or IPv6 address")
        return INVALID
    if "%" in value:
        problems.add(
            "input.invalid_ip", path, "has a zone, which is not valid on other machines", value=value, allowed="an address without %zone"
        )
        return INVALID
    return str(address)


def scalar_text(value: Any, path: str, problems: Problems) -> Any:
    """Text, or an integer or boolean in the spelling of a command-line flag."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else text(empty=True, allowed="one line of text")(value, path, problems)


def quantity(value: Any, path: str, problems: Problems) -> Any:
    """A Kubernetes quantity such as 100m, 1.5 or 574Mi."""
    value = str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value
    value = text(allowed="a quantity such as 100m or 574Mi")(value, path, problems)
    if value is INVALID or value == "auto":
        return value
    amount = parse_quantity(value)
    if amount is None or amount < 0:
        reason = "is not a Kubernetes quantity" if amount is None else "is negative"
        problems.add("input.invalid_quantity", path, reason, value=value, allowed="a quantity such as 100m or 574Mi")
        return INVALID
    return value


_LABEL_VALUE = 'text of at most 63 characters, such as "web" or "v1.2"'


def label_key(value: Any, path: str, problems: Problems) -> Any:
    """A label key as Kubernetes spells it."""
    reason = label_key_problem(value)
    if reason:
        problems.add("labels.invalid_key", path, reason, allowed="[prefix/]name, as Kubernetes spells label keys")
    return INVALID if reason else value


def label_value(value: Any, path: str, problems: Problems) -> Any:
    """A label value, in which the node may replace the LABEL_PLACEHOLDERS when it boots."""
    if isinstance(value, (bool, int, float)):
        return wrong_type(value, "text", path, problems, fix="quote it: label values are text")
    value = text(empty=True, allowed=_LABEL_VALUE)(value, path, problems)
    if value is INVALID:
        return INVALID
    sample = value
    for name, example in LABEL_PLACEHOLDERS.items():
        sample = sample.replace(f"{{{name}}}", example)
    leftover = re.search(r"\{([^{}]*)\}", sample)
    if leftover:
        problems.add(
            "labels.unknown_placeholder",
            path,
            "contains an unknown placeholder",
            value=value,
            allowed=", ".join(f"{{{name}}}" for name in LABEL_PLACEHOLDERS),
            nearest=problems.nearest(leftover.group(1), LABEL_PLACEHOLDERS),
        )
        return INVALID
    reason = label_value_problem(sample)
    if reason:
        problems.add("labels.invalid_value", path, reason, value=value, allowed=_LABEL_VALUE)
    return INVALID if reason else value


def flag_name(value: Any, path: str, problems: Problems) -> Any:
    """The name of a flag without leading dashes."""
    if re.fullmatch(r"[a-z0-9][a-z0-9-]*", value):
        return value
    fix = f"write {value.lstrip('-')} without the dashes" if re.fullmatch(r"-+[a-z0-9][a-z0-9-]*", value) else None
    problems.add(
        "kubelet.invalid_flag_name", path, "is not a flag name", allowed="lower-case letters, digits and -, without leading dashes", fix=fix
    )
    return INVALID


def flag_value(value: Any, path: str, problems: Problems) -> Any:
    """The value of a flag as text, or a list of values."""
    if isinstance(value, list):
        return list_of(scalar_text, filled=True)(value, path, problems)
    if isinstance(value, (dict, float)):
        return wrong_type(value, "text, an integer, a boolean or a list of them", path, problems)
    return scalar_text(value, path, problems)


def kubernetes_version(value: Any, path: str, problems: Problems) -> Any:
    """A Kubernetes version in text, with or without a patch release."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        minor = re.fullmatch(r"1\.([0-9]{1,2})", str(value))
        # No cluster of today runs 1.1 to 1.9: the zero of 1.30 got lost.
        guess = f"1.{minor[1]:0<2}" if minor else None
        fix = f'write "{guess}": as a number, 1.30 is 1.3' if guess else "quote it with all its digits"
        problems.add("input.wrong_type", path, f"must be text, not {type_name(value)}", value=value, allowed=_VERSION_FORM, fix=fix)
        return INVALID
    minor = re.match(r"\s*[vV]?(1\.[0-9]{1,2})(?![0-9])", value) if isinstance(value, str) else None
    if minor and not _VERSION_TEXT.fullmatch(value):
        problems.add(
            "input.invalid_text",
            path,
            "is not a Kubernetes version",
            value=value,
            allowed=_VERSION_FORM,
            nearest=minor[1],
            fix=f'write "{minor[1]}"',
        )
        return INVALID
    return _VERSION(value, path, problems)


def ubuntu_release(value: Any, path: str, problems: Problems) -> Any:
    """A release of Ubuntu. 22.04 without quotes is a number in YAML."""
    value = f"{value:.2f}" if isinstance(value, float) else value
    return choice("20.04", "22.04", "24.04", "26.04")(value, path, problems)


def named_file(value: Any, path: str, problems: Problems) -> Any:
    """The path of a file, or the file itself if it has been read."""
    return value if isinstance(value, NamedFile) else text(allowed="the path of a file")(value, path, problems)
