# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A row of the corpus of valid user data, and the pieces that rows are built from.

Rows for a public example rebuild its structure: the order and headers of its parts, its encoding, its options, and the commands around
the call. Names, values and sentences are our own.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml

NAME = "shop"
CA = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUPx==\n-----END CERTIFICATE-----\n").decode()
ENDPOINT = "https://0123456789ABCDEF0123456789ABCDEF.gr7.eu-west-1.eks.amazonaws.com"
CIDR = "10.100.0.0/16"
CIDR6 = "fd12:3456:789a::/108"
DNS = "10.100.0.10"
SHELL = "text/x-shellscript"
US_ASCII = 'text/x-shellscript; charset="us-ascii"'
CLOUD = "text/cloud-config"
NODE = "application/node.eks.aws"


@dataclass(frozen=True)
class KnownGood:
    """Valid user data. tool: that renders it, or whose documentation shows it. url: of the example; empty for our own renderings.

    family, version: of its nodes. cluster: the name that the text states where the reader can know it, or None.
    needs_family: whether the text alone does not exclude a family on which it is wrong.
    """

    id: str
    tool: str
    family: str
    text: str | bytes
    url: str = ""
    version: tuple[int, int] | None = None
    cluster: str | None = NAME
    needs_family: bool = False


def script(*lines: str, first: str = "#!/bin/bash") -> str:
    """A shell script."""
    return "\n".join([first, *lines, ""])


def multipart(
    *parts: tuple[str, str] | tuple[str, str, tuple[str, ...]], boundary: str = "BOUNDARY", quoted: bool = True, version_first: bool = True
) -> str:
    """A MIME document. parts: type, content, and other headers of each."""
    shown = f'"{boundary}"' if quoted else boundary
    head = ["MIME-Version: 1.0", f"Content-Type: multipart/mixed; boundary={shown}"]
    lines = [*(head if version_first else reversed(head)), ""]
    for kind, content, *others in parts:
        headers = others[0] if others else ()
        lines += [f"--{boundary}", f"Content-Type: {kind}", *headers, "", content]
    return "\n".join([*lines, f"--{boundary}--", ""])


def cloud_config(**keys: Any) -> str:
    """A cloud-config. The order of its keys stays."""
    return "#cloud-config\n" + yaml.dump(keys)


def cluster_section(cidr: str = CIDR) -> dict[str, str]:
    """The cluster of a NodeConfig."""
    return {"name": NAME, "apiServerEndpoint": ENDPOINT, "certificateAuthority": CA, "cidr": cidr}


def node_config(
    spec: Mapping[str, Any] | None = None,
    *,
    cidr: str = CIDR,
    cluster: bool = True,
    start: str = "",
    metadata: Mapping[str, Any] | None = None,
) -> str:
    """A NodeConfig. cluster: whether it has one. start: text in front of it."""
    document: dict[str, Any] = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig"}
    if metadata is not None:
        document["metadata"] = dict(metadata)
    document["spec"] = ({"cluster": cluster_section(cidr)} if cluster else {}) | dict(spec or {})
    return start + yaml.dump(document)


def kubelet(config: Mapping[str, Any] | None = None, *flags: str) -> dict[str, Any]:
    """The kubelet section of a NodeConfig."""
    found: dict[str, Any] = {}
    if config:
        found["config"] = dict(config)
    if flags:
        found["flags"] = list(flags)
    return {"kubelet": found}


def base64_of(text: str) -> str:
    """base64 around a text."""
    return base64.b64encode(text.encode()).decode()


def gzip_of(text: str) -> bytes:
    """gzip around a text."""
    return gzip.compress(text.encode(), mtime=0)


def bootstrap(*words: str, name: str = NAME) -> str:
    """A call of the image's script: the name of the cluster, then its arguments."""
    return " ".join(["/etc/eks/bootstrap.sh", name, *words])


FACTS = f"--b64-cluster-ca {CA} --apiserver-endpoint {ENDPOINT}"
VARIABLES = (f"B64_CLUSTER_CA={CA}", f"API_SERVER_URL={ENDPOINT}")
WITH_VARIABLES = "--b64-cluster-ca $B64_CLUSTER_CA --apiserver-endpoint $API_SERVER_URL"
