# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values as a difference shows them: without secrets, and certificates as their fingerprints."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ..errors import Problems
from ..formats import pem
from ..formats.secrets import NOT_SHOWN, find_secrets, is_secret_name

_LONGEST = 16_384
"""Characters of a text that are shown: the limit of EC2 for user data."""
_LARGEST = 1 << 64


def fingerprints(text: str) -> tuple[str, ...]:
    """The SHA-256 fingerprints of the certificates in PEM, or in base64 of PEM. Empty for any other text."""
    if "-----BEGIN" not in text:
        try:
            text = base64.b64decode("".join(text.split()), validate=True).decode("ascii")
        except (binascii.Error, ValueError):
            return ()
    if "-----BEGIN CERTIFICATE-----" not in text:
        return ()
    return tuple(hashlib.sha256(pem.der(one)).hexdigest() for one in pem.certificates(text, "", Problems()))


def authority(text: str) -> str:
    """A certificate authority: its fingerprint, or the begin and the digest of a text that is not one."""
    if find_secrets(text):
        return NOT_SHOWN
    found = fingerprints(text)
    return _certificates(found) if found else f"{text[:12]}… (SHA-256 {_digest(text)})"


def shown(value: Any, name: Any = "") -> Any:
    """C(value) as plain data. name: of the setting, which can show that the value is a secret."""
    is_secret = isinstance(name, str) and is_secret_name(name)
    if isinstance(value, Mapping):
        return {_text(key): shown(item, name if is_secret else key) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [shown(item, name) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if is_secret:
        return NOT_SHOWN
    if isinstance(value, int):
        return value if abs(value) < _LARGEST else hex(value)
    if isinstance(value, (float, str)):
        return _text(value, name) if isinstance(value, str) else value
    return NOT_SHOWN if isinstance(value, (bytes, bytearray)) else _text(str(value), name)


def value_text(value: Any) -> str:
    """A value of C(shown) as text for people."""
    if value is None:
        return "(not set)"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _text(value: Any, name: Any = "") -> str:
    if not isinstance(value, str):
        return str(shown(value))
    if find_secrets(value) or (isinstance(name, str) and name and find_secrets(f"{name}: {value}")):
        return NOT_SHOWN
    if found := fingerprints(value):
        return _certificates(found)
    if len(value) > _LONGEST:
        return f"{value[:_LONGEST]}… ({len(value)} characters, SHA-256 {_digest(value)})"
    return value


def _certificates(found: tuple[str, ...]) -> str:
    return f"certificate{'s' if len(found) > 1 else ''} with SHA-256 fingerprint {', '.join(found)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
