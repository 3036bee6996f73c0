# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many bytes the user data of one small self-managed group takes, as EC2 counts them: after gzip, before base64.

eksctl's figures were measured by running its own code (0.231.0-dev, August 2026) on an m5.large group with nothing set.
The cluster's facts of that run are not recorded, but their length is: eksctl's documents for AL2023 and Windows are
known but for them, and both leave 163 bytes. The cluster here has facts of the same length.
"""

from __future__ import annotations

import base64
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.compression import gzip_bytes
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render

from .inputs import FAMILIES, cluster, small_group

EKSCTL = {
    "al2": (1361, "gzip"),
    "al2023": (823, "plain"),
    "ubuntu": (1236, "gzip"),
    "bottlerocket": (619, "plain"),
    "windows": (568, "plain"),
}
"""Bytes that EC2 counts, and the encoding in which eksctl writes this family."""

FACTS = 163
"""Bytes of cluster name (twice: the label has it too), group name, endpoint, certificate authority, service CIDR and DNS address."""

_DNS = "10.100.0.10"
_GROUP = "workers"


def main() -> int:
    small, real = _short_cluster(), cluster()
    print("User data of an m5.large group with eksctl's two labels, bytes as EC2 counts them; -: the consumer reads no gzip")
    print(f"{'':<14}{'facts of ' + str(FACTS) + ' bytes':^41}|{'a real certificate':^20}")
    print(f"{'family':<14}{'plain':>7}{'gzip':>7}{'eksctl':>9}{'':<7}{'ours less':>10} |{'plain':>9}{'gzip':>9}")
    larger = []
    for family in FAMILIES:
        plain, packed = _sizes(small, family)
        theirs, encoding = EKSCTL[family]
        ours = plain if encoding == "plain" or packed is None else min(plain, packed)
        real_plain, real_packed = _sizes(real, family)
        figures = (
            f"{plain:>7}{_or_dash(packed):>7}{theirs:>9}{' ' + encoding:<7}{theirs - ours:>10} |{real_plain:>9}{_or_dash(real_packed):>9}"
        )
        print(f"{family:<14}{figures}")
        if ours >= theirs:
            larger.append(family)
    print(f"NOT SMALLER than eksctl's: {', '.join(larger)}" if larger else "Smaller than eksctl's in every family")
    return int(bool(larger))


def _sizes(facts: dict[str, Any], family: str) -> tuple[int, int | None]:
    """Bytes of the document as it is, and compressed where its consumer can read that."""
    document = render(facts, small_group(family, facts["name"], _GROUP)).document
    data = document.text.encode()
    return len(data), None if document.gzip_refused else len(gzip_bytes(data))


def _short_cluster() -> dict[str, Any]:
    facts = {
        "name": "demo",
        "certificate_authority": base64.b64encode(b"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n").decode(),
        "service_cidr": "10.100.0.0/16",
        "kubernetes_version": "1.32",
    }
    counted = 2 * len(facts["name"]) + len(_GROUP) + len(facts["certificate_authority"]) + len(facts["service_cidr"]) + len(_DNS)
    host = "0123456789ABCDEF0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com"
    return facts | {"endpoint": "https://" + host[counted + len("https://") - FACTS :]}


def _or_dash(number: int | None) -> str:
    return "-" if number is None else str(number)
