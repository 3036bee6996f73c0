# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The NodeConfigs in the user's own user data, and how nodeadm merges them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import Problems
from ..formats.mime import Part, decoded
from ..nodeconfig.document import check_document
from .cloud_init import NODE_CONFIG

CONFIG_DROP_IN = (
    "[Service]\n"
    "ExecStart=\n"
    "ExecStart=/usr/bin/nodeadm init --skip run --config-source imds://user-data --config-source file:///etc/eks/nodeadm.d/"
    " --config-cache /run/eks/nodeadm/config.json\n"
)
"""nodeadm-config of the image reads only user data and fails without a complete cluster there (amazon-eks-ami, July 2026)."""


def placed_configs(parts: Iterable[tuple[str, Part]], problems: Problems) -> list[tuple[str, dict[str, Any]]]:
    """The NodeConfigs among the parts, in order, each with its place in the user's input."""
    found = []
    for place, part in parts:
        if part.media_type == NODE_CONFIG:
            before = len(problems)
            text = decoded(part, place, problems)
            document = check_document(text, place, problems) if len(problems) == before else {}
            if document:
                found.append((place, document))
    return found


def merged(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """One NodeConfig that says what all of them say, merged as nodeadm merges."""
    if len(documents) == 1:
        return documents[0]
    from ..nodeconfig import merge

    return dict(merge.merge(documents))


def settings(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """C(spec) of a NodeConfig."""
    return section(document, "spec")


def section(tree: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The mapping at a key; an empty one if there is none."""
    found = tree.get(name)
    return found if isinstance(found, Mapping) else {}
