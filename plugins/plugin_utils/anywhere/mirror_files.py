# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files with which containerd uses a registry mirror: one hosts.toml for each registry, and the certificate authority."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass

from ..formats import toml
from .model import Mirror

CERTS_DIR = "/etc/containerd/certs.d"
_CA_FILE = "mirror-ca.crt"
DEFAULT_REGISTRY = "public.ecr.aws"
"""The registry of the images of EKS Anywhere. It is mirrored if the mirror names no other registries."""


@dataclass(frozen=True)
class NodeFile:
    """A file of a node. is_secret: whether it contains a password."""

    path: str
    content: str
    mode: str = "0644"
    is_secret: bool = False


@dataclass(frozen=True)
class Credentials:
    """The user name and the password of a registry."""

    username: str
    password: str

    @property
    def header(self) -> str:
        """The value of the header Authorization."""
        return "Basic " + base64.b64encode(f"{self.username}:{self.password}".encode()).decode("ascii")


def mirror_files(mirror: Mirror, credentials: Credentials | None) -> tuple[NodeFile, ...]:
    """The files below C(/etc/containerd/certs.d). Certificates are verified unless the mirror says C(insecureSkipVerify)."""
    return tuple(_files(mirror, credentials))


def registries(mirror: Mirror) -> tuple[tuple[str, str], ...]:
    """Every registry that is mirrored, with its namespace in the mirror, sorted."""
    return tuple(sorted((registry, namespace or "") for registry, namespace in mirror.namespaces)) or ((DEFAULT_REGISTRY, ""),)


def host(mirror: Mirror) -> str:
    """The mirror as HOST:PORT. An IPv6 address is in brackets."""
    name = mirror.endpoint
    return f"[{name}]:{mirror.port}" if ":" in name and not name.startswith("[") else f"{name}:{mirror.port}"


def _files(mirror: Mirror, credentials: Credentials | None) -> Iterator[NodeFile]:
    ca = f"{CERTS_DIR}/{_CA_FILE}"
    if mirror.ca:
        yield NodeFile(ca, mirror.ca if mirror.ca.endswith("\n") else f"{mirror.ca}\n")
    for registry, namespace in registries(mirror):
        settings: dict[str, object] = {"capabilities": ["pull", "resolve"], "override_path": True}
        if mirror.ca:
            settings["ca"] = ca
        if mirror.skip_verify:
            settings["skip_verify"] = True
        if mirror.authenticate and credentials is not None:
            settings["header"] = {"Authorization": credentials.header}
        url = "/".join(part for part in (f"https://{host(mirror)}/v2", namespace.strip("/")) if part)
        # containerd looks for a table header for each host, and does not see inline tables.
        # The registry itself is the fallback of containerd. Its name in "server" makes the message of a failed pull name it, too.
        content = toml.dump({"server": f"https://{registry}", "host": {url: settings}}, quoted_headers=True)
        is_secret = "header" in settings
        yield NodeFile(f"{CERTS_DIR}/{registry}/hosts.toml", content, "0600" if is_secret else "0644", is_secret)
