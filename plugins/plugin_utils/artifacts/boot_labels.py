# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels whose value only the booting node knows, asked from the instance metadata service (IMDSv2 only)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_TOKEN = "http://169.254.169.254/latest/api/token"
_METADATA = "http://169.254.169.254/latest/meta-data"

_SOURCES = {
    "instance_id": ("INSTANCE_ID", "instance-id", "i-[0-9a-f]+"),
    "instance_lifecycle": ("INSTANCE_LIFECYCLE", "instance-life-cycle", "[a-z-]+"),
    "availability_zone": ("AVAILABILITY_ZONE", "placement/availability-zone", "[a-z0-9-]+"),
}
"""Placeholder → shell variable, metadata path, and the form an answer must have before it may go into a label."""

_PLACEHOLDER = re.compile(r"\{(" + "|".join(_SOURCES) + r")\}")


def placeholders(labels: Mapping[str, str]) -> tuple[str, ...]:
    """The placeholders that occur in label values, sorted."""
    return tuple(sorted({name for value in labels.values() for name in _PLACEHOLDER.findall(value)}))


def split_labels(labels: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """(known now, known at boot): labels without and with placeholders."""
    boot = {key: value for key, value in labels.items() if _PLACEHOLDER.search(value)}
    return {key: value for key, value in labels.items() if key not in boot}, boot


def shell_text(text: str) -> str:
    """C(text) with each placeholder as the expansion of its shell variable; for use inside double quotes."""
    return _PLACEHOLDER.sub(lambda match: f"${{{_SOURCES[match.group(1)][0]}}}", text)


def shell_lookups(names: Iterable[str]) -> str:
    """Bash lines that set the shell variable of each placeholder, or end the script when IMDS does not answer in the expected form."""
    wanted = sorted(set(names))
    if not wanted:
        return ""
    lines = [
        f"TOKEN=$(curl -sf -m 5 --retry 9 --retry-connrefused -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 300' {_TOKEN})",
        f'imds() {{ curl -sf -m 5 --retry 9 --retry-connrefused -H "X-aws-ec2-metadata-token: $TOKEN" {_METADATA}/"$1" | grep -Ex "$2"; }}',
    ]
    for name in wanted:
        variable, path, form = _SOURCES[name]
        lines.append(f"{variable}=$(imds {path} '{form}')")
    return "".join(f"{line}\n" for line in lines)
