# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Warnings about the validity of certificates. They depend on the date, so they are never part of an output file."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from ..errors import Problem, joined
from ..model.spec import NodeSpec

SOON = timedelta(days=30)
"""The time before the end of a certificate from which on there is a warning."""


@dataclass(frozen=True)
class Validity:
    """The validity of a certificate. name: its subject."""

    name: str
    begins: datetime
    ends: datetime


def validity(pem: str) -> list[Validity]:
    """The validity of each certificate. Empty if the Python package C(cryptography) is missing. Raises C(ValueError)."""
    try:
        from cryptography import x509
    except ImportError:
        return []
    return [_validity(certificate) for certificate in x509.load_pem_x509_certificates(pem.encode("ascii", "replace"))]


def warnings(specs: Iterable[NodeSpec], now: float) -> list[Problem]:
    """What is wrong with the certificates of node groups at C(now), in seconds since the epoch. Each certificate is reported once.

    Empty if the Python package C(cryptography) is missing, which ansible-core normally brings.
    """
    today = datetime.fromtimestamp(now, timezone.utc)
    found: dict[str, Problem] = {}
    for spec in specs:
        for path, text in _certificates(spec):
            if text in found:
                continue
            try:
                certificates = validity(text)
            except ValueError:
                continue  # reported without looking at the date, if it is the user's own certificate
            for certificate in certificates:
                message = _message(certificate, today)
                if message is not None:
                    found.setdefault(text, Problem("certificates.dates", path, message))
    return list(found.values())


def _certificates(spec: NodeSpec) -> Iterator[tuple[str, str]]:
    for text in spec.trust:
        yield "node_group.trust", text
    for host, listed in spec.containerd.registry_mirrors.items():
        for index, mirror in enumerate(listed):
            path = joined(joined("node_group.containerd.registry_mirrors", host), index)
            yield from ((f"{path}.ca", text) for text in mirror.ca if not text.startswith("/"))
    if spec.cluster.certificate_authority:
        yield "cluster.certificate_authority", base64.b64decode(spec.cluster.certificate_authority).decode("ascii", "replace")


def _message(certificate: Validity, today: datetime) -> str | None:
    name, begins, ends = certificate.name, certificate.begins, certificate.ends
    if ends <= today:
        return f"contains the certificate {name}, which has expired on {ends:%Y-%m-%d}"
    if begins > today:
        return f"contains the certificate {name}, which is not valid before {begins:%Y-%m-%d}"
    return f"contains the certificate {name}, which expires on {ends:%Y-%m-%d}" if ends <= today + SOON else None


def _validity(certificate: Any) -> Validity:
    begins, ends = (_utc(certificate, name) for name in ("not_valid_before", "not_valid_after"))
    return Validity(certificate.subject.rfc4514_string() or "without a name", begins, ends)


def _utc(certificate: Any, name: str) -> datetime:
    """A date of a certificate. cryptography before 42 has only dates without a time zone, which are in UTC."""
    found = getattr(certificate, f"{name}_utc", None)
    result: datetime = found if found is not None else getattr(certificate, name).replace(tzinfo=timezone.utc)
    return result
