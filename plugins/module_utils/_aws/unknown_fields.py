# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields of launch templates that this version of boto3 does not know.

boto3 leaves them out of its answers. A version that is created from such an answer would lose them, so they are looked up in the XML.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any, Iterator, Tuple

_EVENT = "response-received.ec2.DescribeLaunchTemplateVersions"


class RawAnswers:
    """Keeps the last answer of DescribeLaunchTemplateVersions as EC2 sent it."""

    def __init__(self) -> None:
        self._body = b""
        self._shape: Any = None

    def watch(self, api: Any) -> None:
        """Keep the answers of a boto3 client of EC2."""
        self._shape = api.meta.service_model.operation_model("DescribeLaunchTemplateVersions").output_shape
        # The ID replaces an earlier registration.
        api.meta.events.register(_EVENT, self._keep, unique_id="nodebootstrap.eks")

    def _keep(self, response_dict: Any, **_others: Any) -> None:
        self._body = (response_dict or {}).get("body") or b""

    def unknown(self) -> Tuple[str, ...]:
        """The paths of the unknown fields of the last answer, below C(LaunchTemplateData)."""
        versions = self._shape.members["LaunchTemplateVersions"]
        data = versions.member.members["LaunchTemplateData"]
        try:
            root = ElementTree.fromstring(self._body)
        except ElementTree.ParseError:
            return ()
        steps = "/".join("{*}" + name for name in (_wire_name(versions), "item", _wire_name(data)))
        return tuple(sorted({path for element in root.iterfind(steps) for path in _unknown(element, data, "")}))


def _wire_name(shape: Any) -> str:
    return str(shape.serialization.get("name", shape.name))


def _unknown(element: Any, shape: Any, path: str) -> Iterator[str]:
    if shape.type_name == "list":
        for item in element:
            yield from _unknown(item, shape.member, path + "[]")
    elif shape.type_name == "structure":
        known = {member.serialization.get("name", name): (name, member) for name, member in shape.members.items()}
        for child in element:
            tag = child.tag.rpartition("}")[2]
            name, member = known.get(tag, (tag[:1].upper() + tag[1:], None))
            below = path + "." + name if path else name
            if member is None:
                yield below
            else:
                yield from _unknown(child, member, below)
