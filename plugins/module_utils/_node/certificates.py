# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The certificates in PEM files, and the validity of certificate authorities, as OpenSSL reads it. Standard library, Python 3.7 and newer.

C(ssl) describes only certificates that may sign others. The validity of other certificates is unknown.
"""

from __future__ import annotations

import re
import ssl
from typing import Any, List, Mapping, NamedTuple

_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----[!-~\s]+?-----END CERTIFICATE-----", re.ASCII)


class Validity(NamedTuple):
    """C(name): the common name, or the last part of the subject. C(begins), C(ends): seconds since the epoch."""

    name: str
    begins: float
    ends: float


def split(pem: str) -> List[str]:
    """The certificates in a PEM file, each as PEM, in its order."""
    return list(_CERTIFICATE.findall(pem))


def validity(pem: str) -> List[Validity]:
    """The validity of each certificate authority in C(pem), in its order. Raises ValueError if one cannot be read."""
    found = []
    for text in split(pem):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            context.load_verify_locations(cadata=text)
            described = context.get_ca_certs()
        except ssl.SSLError as error:
            raise ValueError(error.reason or str(error)) from None
        found += [_validity(certificate) for certificate in described]
    return found


def _validity(certificate: Mapping[str, Any]) -> Validity:
    subject = [pair for part in certificate["subject"] for pair in part]
    names = [value for key, value in subject if key == "commonName"] or [value for _key, value in subject[-1:]]
    begins, ends = (ssl.cert_time_to_seconds(certificate[key]) for key in ("notBefore", "notAfter"))
    return Validity(names[0] if names else "without a name", begins, ends)
