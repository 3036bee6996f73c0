# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Quantities and durations as Kubernetes and Go read them."""

from __future__ import annotations

import re
from decimal import Decimal

_LONGEST = 64
"""Characters. Real quantities and durations are shorter, and longer ones would take time to compute."""

_QUANTITY = re.compile(
    r"(?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?P<suffix>[KMGTPE]i|[numkMGTPE]|)(?P<exponent>[eE][+-]?[0-9]{1,3})?",
    re.ASCII,
)
_SUFFIXES = {
    "": Decimal(1),
    "n": Decimal(10) ** -9,
    "u": Decimal(10) ** -6,
    "m": Decimal(10) ** -3,
    **{letter: Decimal(1000) ** power for power, letter in enumerate("kMGTPE", start=1)},
    **{f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", start=1)},
}

_DURATION = re.compile(r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+", re.ASCII)
_DURATION_TERM = re.compile(r"([0-9.]+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_UNITS = {
    "ns": Decimal(10) ** -9,
    "us": Decimal(10) ** -6,
    "µs": Decimal(10) ** -6,
    "μs": Decimal(10) ** -6,
    "ms": Decimal(10) ** -3,
    "s": Decimal(1),
    "m": Decimal(60),
    "h": Decimal(3600),
}
_LONGEST_DURATION = Decimal(2**63 - 1) / 10**9
"""Seconds; Go counts nanoseconds in 64 bits (292 years)."""
_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}


def parse_quantity(text: object) -> Decimal | None:
    """The value of a Kubernetes quantity (C(100m), C(1.5Gi), C(2e3)), or None when C(text) is not one.

    Source: k8s.io/apimachinery, resource.Quantity. Stricter in two unimportant respects: at least one digit, and an exponent
    of at most three.
    """
    if not isinstance(text, str) or len(text) > _LONGEST:
        return None
    match = _QUANTITY.fullmatch(text)
    # A suffix and an exponent exclude each other: 1Me3 is not a quantity.
    if match is None or (match["suffix"] and match["exponent"]):
        return None
    return Decimal(match["number"] + (match["exponent"] or "")) * _SUFFIXES[match["suffix"]]


def parse_duration(text: object) -> Decimal | None:
    """Seconds of a Go duration (C(1h30m), C(250ms), C(0)), or None when C(text) is not one.

    Source: Go's time.ParseDuration: units are required except for zero, and 292 years is the longest.
    """
    if not isinstance(text, str) or len(text) > _LONGEST:
        return None
    if text in {"0", "+0", "-0"}:
        return Decimal(0)
    if _DURATION.fullmatch(text) is None:
        return None
    seconds = sum((Decimal(number) * _UNITS[unit] for number, unit in _DURATION_TERM.findall(text)), Decimal(0))
    if seconds > _LONGEST_DURATION:
        return None
    return -seconds if text.startswith("-") else seconds


def parse_bool(text: object) -> bool | None:
    """The value of a Go boolean (C(1), C(t), C(TRUE), C(false)), or None when C(text) is not one. Source: Go's strconv.ParseBool."""
    return _BOOLEANS.get(text) if isinstance(text, str) else None
