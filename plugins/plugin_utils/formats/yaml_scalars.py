# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a YAML scalar means to nodeadm and kubelet: the resolution rules of go.yaml.in/yaml/v2 (2.4) and its way to JSON.

Part of C(.yaml_reader); the rules are held against the Go program by tests/oracle/test_yaml_reader.py.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from decimal import Decimal

_TAG = "tag:yaml.org,2002:"
_STR, _BINARY, _FLOAT, _TIMESTAMP = _TAG + "str", _TAG + "binary", _TAG + "float", _TAG + "timestamp"
_RESOLVED_TAGS = {_TAG + name for name in ("str", "bool", "int", "float", "null", "timestamp")}

_WORDS: dict[str, bool | float | None] = {
    **dict.fromkeys(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"], True),
    **dict.fromkeys(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"], False),
    **dict.fromkeys(["", "~", "null", "Null", "NULL"], None),
    **dict.fromkeys([".nan", ".NaN", ".NAN"], math.nan),
    **dict.fromkeys([".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"], math.inf),
    **dict.fromkeys(["-.inf", "-.Inf", "-.INF"], -math.inf),
}
_FIRST_OF_NUMBER = frozenset("+-.0123456789")

_INT = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|0[oO]([0-7]+)|0[bB]([01]+)|0([0-7]*)|([1-9][0-9]*))")
_SIGNED_BINARY = re.compile(r"0b([+-][01]+)")
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_FRACTION = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")
_DATE = re.compile(
    r"[0-9]{4}-(0?[1-9]|1[0-2])-(0?[1-9]|[12][0-9]|3[01])"
    r"([Tt ]([01]?[0-9]|2[0-3]):[0-5]?[0-9]:[0-5]?[0-9](\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_LARGEST_PRINTED_IN_FULL = 1e21


class ScalarError(ValueError):
    """A scalar that the Go reader refuses; the message names no place."""


Scalar = str | int | float | bool | None


def resolve(text: str, tag: str | None, plain: bool) -> Scalar:
    """The value of a scalar.

    tag: its full tag, or None. plain: without quotes and not in a block. Raises C(ScalarError).
    """
    if _SURROGATE.search(text):
        raise ScalarError("an escape names half of a surrogate pair: write the character itself or \\U and eight digits")
    if tag is None:
        return _untagged(text) if plain else text
    if tag == _BINARY:
        return _binary(text)
    if tag not in _RESOLVED_TAGS or tag == _STR:
        return text
    if tag == _TIMESTAMP:
        if _DATE.fullmatch(text):
            return text
        raise ScalarError(f"{text!r:.80} is not a timestamp")
    value = _untagged(text)
    if tag == _FLOAT and isinstance(value, int) and not isinstance(value, bool) and value < 2**63:
        return float(value)
    if tag == _FLOAT and isinstance(value, float):
        return value
    if tag == _TAG + _kind(value):
        return value
    raise ScalarError(f"{text!r:.80} is not of type {tag.removeprefix(_TAG)}")


def _kind(value: Scalar) -> str:
    if value is None:
        return "null"
    return {bool: "bool", int: "int", float: "float", str: "str"}[type(value)]


def _untagged(text: str) -> Scalar:
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _FIRST_OF_NUMBER:
        return text
    if text[0] == ".":
        return _decimal(text.replace("_", ""), text) if _FRACTION.fullmatch(text) else text
    number = text.replace("_", "")
    if (match := _INT.fullmatch(number)) is not None:
        value = _integer(match)
        if value is not None:
            return value
    if (match := _SIGNED_BINARY.fullmatch(number)) is not None:
        value = int(match[1], 2)
        if -(2**63) <= value < 2**63:
            return value
    return _decimal(number, text)


def _integer(match: re.Match[str]) -> int | None:
    """An integer that 64 bits hold, signed or not; None for a larger one."""
    sign, base16, base8, base2, old_base8, base10 = match.groups()
    digits, base = next(
        (digits, base) for digits, base in ((base16, 16), (base8, 8), (base2, 2), (old_base8, 8), (base10, 10)) if digits is not None
    )
    if len(digits) > 70:  # more than 64 bits in any base, except with many leading zeros
        digits = digits.lstrip("0")
        if len(digits) > 64:
            return None
    value = int(f"{sign}{digits or '0'}", base)
    largest = 2**63 if sign else 2**64
    return value if -(2**63) <= value < largest else None


def _decimal(number: str, text: str) -> float | str:
    """C(number) as a float where it is one that a float can hold, else C(text)."""
    if not _DECIMAL.fullmatch(number):
        return text
    value = float(number)
    return text if math.isinf(value) else value


def _binary(text: str) -> str:
    try:
        return base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ScalarError("!!binary is not base64 of text") from error


def json_number(value: float) -> int | float:
    """A float as JSON carries it on: without a fraction it is an integer. Raises C(ScalarError) for NaN and infinity."""
    if not math.isfinite(value):
        raise ScalarError(f"{value} is not a valid JSON number")
    if value.is_integer() and abs(value) < _LARGEST_PRINTED_IN_FULL:
        return int(Decimal(repr(value)))
    return value


def key_text(value: Scalar) -> str:
    """A mapping key as JSON spells it. Raises C(ScalarError) for null and for integers above 63 bits."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float_key(value)
    if isinstance(value, int) and value < 2**63:
        return str(value)
    raise ScalarError("a key must be a string" if value is None else f"the key {value} is too large: quote it")


def _float_key(value: float) -> str:
    """The Go reader prints float keys in single precision, with an exponent below 1e-4 and from 1e6 on."""
    if math.isnan(value):
        return ".nan"
    try:
        single = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        single = math.copysign(math.inf, value)
    if math.isinf(single):
        return ".inf" if single > 0 else "-.inf"
    shortest = next(text for digits in range(9) if struct.pack("f", float(text := f"{single:.{digits}e}")) == struct.pack("f", single))
    mantissa, exponent = shortest.split("e")
    power = int(exponent)
    if power < -4 or power >= 6:
        return f"{mantissa}e{'-' if power < 0 else '+'}{abs(power):02d}"
    return f"{Decimal(shortest):f}"
