# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that mean the same on every Linux family: registry mirrors, proxy variables, commands after kubelet is up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import Problems
from ..formats import shell, systemd
from ..model.spec import Mirror, Proxy
from .cloud_init import with_newline
from .model import File

POST_UNIT = "nodebootstrap-post.service"
POST_SCRIPT = "/etc/nodebootstrap/post-commands"

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


def check_post_commands(commands: Iterable[str], health: str | None, problems: Problems) -> None:
    """Report commands that would wait for a kubelet that was told to say nothing about its health."""
    if commands and health is None:
        fix = "set another port, or remove commands.post"
        problems.add(
            "commands.no_health_check", "node_group.commands.post", "waits for kubelet's health, and kubelet's healthz port is 0", fix=fix
        )


def post_commands(commands: Iterable[str], after: Iterable[str], health: str | None) -> tuple[File, ...]:
    """A oneshot unit, ordered after the units of C(after), that waits for kubelet and runs the commands; none when there are none.

    health: the URL at which kubelet says that it is well.
    """
    bodies = [with_newline(command) for command in commands]
    if not bodies or health is None:
        return ()
    ask = f"curl -sfo /dev/null -m 2 {shell.quote(health)}"
    wait = f"for _ in $(seq 900); do {ask} && break; sleep 1; done\n"
    check = f"{ask}  # no kubelet after 15 minutes: nothing is run\n"
    unit = systemd.unit(
        {
            "Unit": [("Description", "Commands after kubelet is up (nodebootstrap.eks)"), ("After", " ".join(after))],
            "Service": [("Type", "oneshot"), ("RemainAfterExit", "yes"), ("ExecStart", POST_SCRIPT)],
        }
    )
    return (
        File(POST_SCRIPT, "#!/bin/bash\nset -e\n" + wait + check + "".join(bodies), mode="0755"),
        File(f"/etc/systemd/system/{POST_UNIT}", unit),
    )
