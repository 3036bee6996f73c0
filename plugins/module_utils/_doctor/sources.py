# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node was made from: its image, its user data and its NodeConfigs. Standard library, Python 3.7 and newer."""

from __future__ import annotations

import json
from typing import Any, Dict, List

from .._image.provenance import PROVENANCE
from .._join.settings import USER_DATA_FILE, decompressed
from .._node import nodeadm_files
from .._node.host import Host, parse_release
from .._node.redaction import HIDDEN, redact_document, redact_string

RELEASE = "/etc/eks/release"
INSTANCE_DATA = "/run/cloud-init/instance-data.json"

_PROVENANCE_FIELDS = ("collection", "family", "kubernetes_version", "lock")
_METADATA = {"ami": "ami-id", "instance": "instance-id", "instance_type": "instance-type"}


def image(host: Host) -> Dict[str, Any]:
    """The image and the instance.

    C(release): the fields that the image of EKS names. C(provenance): what the role eks_node_image recorded, None for other images.
    C(ami), C(instance), C(instance_type): as cloud-init recorded them, None if it did not.
    """
    found: Dict[str, Any] = {
        "release": {name: redact_string(value) for name, value in parse_release(host.text(RELEASE) or "").items()},
        "provenance": None,
    }
    recorded = _mapping(host, PROVENANCE)
    if recorded:
        found["provenance"] = {name: recorded.get(name) for name in _PROVENANCE_FIELDS}
    source = _mapping(host, INSTANCE_DATA).get("ds")
    metadata = source.get("meta_data") if isinstance(source, dict) else None
    for name, key in _METADATA.items():
        value = metadata.get(key) if isinstance(metadata, dict) else None
        found[name] = value if isinstance(value, str) else None
    return found


def user_data(host: Host) -> Dict[str, Any] | None:
    """The user data that cloud-init stored: C(path), C(text) and whether C(redacted) values are missing in it. None without a file."""
    content = host.read(USER_DATA_FILE)
    if content is None:
        return None
    text = decompressed(content)
    if content and not text:
        host.report(f"{USER_DATA_FILE} cannot be read: it is damaged gzip")
    return _shown(USER_DATA_FILE, text)


def node_configs(host: Host) -> List[Dict[str, Any]]:
    """The documents that nodeadm merges with the user data, each in the form of C(user_data), in their order."""
    found = ((path, host.text(path)) for path in nodeadm_files.document_paths(host))
    return [_shown(path, text) for path, text in found if text is not None]


def _shown(path: str, text: str) -> Dict[str, Any]:
    shown = redact_document(text)
    return {"path": path, "text": shown, "redacted": shown.count(HIDDEN) > text.count(HIDDEN)}


def _mapping(host: Host, path: str) -> Dict[str, Any]:
    """A JSON file with a mapping; {} without one."""
    text = host.text(path)
    if text is None:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        host.add_problem(f"{path} cannot be read", error)
        return {}
    return value if isinstance(value, dict) else {}
