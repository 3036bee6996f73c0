# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that mean the same on every Linux family: registry mirrors, proxy variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..formats import systemd
from ..model.spec import Mirror, Proxy
from .model import File

_REGISTRY_HOSTS = {"docker.io": "https://registry-1.docker.io"}
"""Registries whose server has another name than the one in image references (containerd, docs/hosts.md)."""


def registry_mirrors(mirrors: Mapping[str, tuple[Mirror, ...]], folder: str = "/etc/containerd/certs.d") -> Iterable[File]:
    """One C(hosts.toml) for each registry, and its certificates. containerd asks the mirrors in their order, then the registry itself."""
    if not mirrors:
        return
    from ..formats import toml

    for host, listed in mirrors.items():
        server = _REGISTRY_HOSTS.get(host, f"https://{host}")
        lines = [] if host == "_default" else [f"server = {toml.quote(server)}\n"]
        for number, mirror in enumerate(listed, 1):
            own = "".join(one for one in mirror.ca if not one.startswith("/"))
            bundle = File(f"{folder}/{host}/mirror-{number}.pem", own)
            if own:
                yield bundle
            paths = [*(one for one in mirror.ca if one.startswith("/")), *([bundle.path] if own else [])]
            settings: dict[str, Any] = {
                "capabilities": list(mirror.capabilities),
                "ca": paths if len(paths) > 1 else "".join(paths),
                "dial_timeout": mirror.dial_timeout,
                "override_path": mirror.override_path,
                "skip_verify": mirror.skip_verify,
            }
            # containerd sorts hosts by the line of their table header: inline tables would lose the order.
            lines.append(f"[host.{toml.quote(mirror.url)}]\n{toml.dump({name: value for name, value in settings.items() if value})}")
        yield File(f"{folder}/{host}/hosts.toml", "".join(lines))


def proxy_drop_in(unit: str, proxy: Proxy) -> File:
    """A drop-in that gives the proxy variables to one systemd unit."""
    pairs = [("Environment", systemd.environment_assignment(name, value)) for name, value in proxy.variables().items()]
    # A proxy URL may contain a password (allow_secrets_in_user_data), so only root may read the file.
    return File(proxy_path(unit), systemd.unit({"Service": pairs}), mode="0600")


def proxy_path(unit: str) -> str:
    """Where the proxy variables of a unit stand."""
    return f"/etc/systemd/system/{unit}.d/50-nodebootstrap-proxy.conf"
