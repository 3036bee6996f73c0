# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""PEM certificates: armour and base64 are checked, X.509 is not parsed."""

from __future__ import annotations

import base64
import binascii
import re

from ..errors import Problems

_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \1-----")
_ARMOUR = re.compile(r"-----(?:BEGIN|END)\b")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY")
_WIDTH = 64
"""Characters of base64 in each line (RFC 7468)."""

ALLOWED = "certificates in PEM: -----BEGIN CERTIFICATE-----, base64, -----END CERTIFICATE-----"


def certificates(text: str, path: str, problems: Problems) -> list[str]:
    """Return every certificate in C(text) as PEM with lines of the usual length. Text outside of the armour is a comment.

    Reports everything else in armour, base64 that is invalid, and text without a certificate. Empty if there is a problem.
    """
    before = len(problems)
    if _PRIVATE_KEY.search(text):
        fix = "remove the key: a node needs only the certificate, and every process on the node can read user data"
        problems.add("certificates.private_key", path, "contains a private key", allowed=ALLOWED, fix=fix)
        return []
    found = []
    for kind, body in _BLOCK.findall(text):
        if kind != "CERTIFICATE":
            fix = "write the certificate with `openssl x509 -in FILE`"
            problems.add("certificates.invalid_pem", path, f"contains PEM of another kind, {kind[:40]}", allowed=ALLOWED, fix=fix)
        else:
            der = _decode(body)
            if der is None:
                problems.add("certificates.invalid_pem", path, "contains a certificate whose base64 is invalid", allowed=ALLOWED)
            else:
                found.append(_armoured(der))
    rest = _ARMOUR.search(_BLOCK.sub("", text))
    if rest:
        message = "contains PEM armour without its counterpart: a BEGIN or END line is missing or misspelled"
        problems.add("certificates.invalid_pem", path, message, allowed=ALLOWED, fix="copy the whole file, with both lines")
    elif not found and len(problems) == before:
        problems.add("certificates.invalid_pem", path, "contains no certificate", allowed=ALLOWED, fix=_meant(text))
    return list(dict.fromkeys(found)) if len(problems) == before else []


def der(certificate: str) -> bytes:
    """The binary form of one certificate that C(certificates) returned."""
    return base64.b64decode("".join(certificate.splitlines()[1:-1]))


def is_plausible(certificate: str) -> bool:
    """Whether the binary form begins as every certificate does: an ASN.1 sequence of exactly the length of the rest."""
    content = der(certificate)
    if len(content) < 4 or content[0] != 0x30:
        return False
    size, head = content[1], 2
    if size & 0x80:
        head += size & 0x7F
        size = int.from_bytes(content[2:head], "big")
    return len(content) == head + size


def _decode(body: str) -> bytes | None:
    try:
        return base64.b64decode("".join(body.split()), validate=True) or None
    except (binascii.Error, ValueError):
        return None


def _armoured(content: bytes) -> str:
    text = base64.b64encode(content).decode("ascii")
    lines = [text[start : start + _WIDTH] for start in range(0, len(text), _WIDTH)]
    return "\n".join(["-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----", ""])


def _meant(text: str) -> str | None:
    """What to do about base64 of PEM, or about the path of a file."""
    content = _decode(text)
    if content is not None and b"-----BEGIN" in content:
        return "decode it, for example with the filter b64decode"
    if re.fullmatch(r"[\w~.][\w./~-]*|/[\w./~-]+", text.strip()):
        return "write the content of the file, for example with lookup('ansible.builtin.file', PATH)"
    return None
