# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that outlive the program that starts them: Molecule and the demonstration work on them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from . import engine, images
from .families import Al2Node, Al2023Node, UbuntuNode
from .node import Node

FAMILIES: dict[str, type[Node]] = {"": Node, "al2": Al2Node, "al2023": Al2023Node, "ubuntu": UbuntuNode}


def start(nodes: list[dict[str, Any]]) -> None:
    """Boot every node that is not there yet, all at once.

    A node: `name`, `family` ('' for a bare one), and any of `suite`, `files` ({path: content} or {path: [content, mode]}), `cloud_init`,
    `containerd`, `ssh_key`.
    """
    missing = [node for node in nodes if engine.docker("container", "inspect", node["name"], check=False).returncode != 0]
    for suite, family in sorted({(node.get("suite", "bookworm"), node["family"]) for node in missing}):
        images.image(suite, family)
    with ThreadPoolExecutor(max_workers=max(1, len(missing))) as pool:
        list(pool.map(_start, missing))


def _start(node: dict[str, Any]) -> None:
    options = {key: value for key, value in node.items() if key != "family"}
    # JSON has no tuples.
    options["files"] = {path: tuple(file) if isinstance(file, list) else file for path, file in node.get("files", {}).items()}
    FAMILIES[node["family"]].start(**options).leave()


def addresses(names: list[str]) -> dict[str, str]:
    """Return the IP address of each node."""
    template = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}"
    found = engine.docker("container", "inspect", "--format", template, *names).stdout.decode().split()
    return dict(zip(names, found, strict=True))


def stop(names: list[str]) -> None:
    """Remove these nodes, if they exist."""
    if names:
        engine.docker("rm", "-f", "-v", *names, check=False)


def stop_all() -> None:
    """Remove every persistent node that this checkout started."""
    stop(engine.docker("ps", "-aq", "--filter", f"label={engine.PERSISTENT}={engine.CHECKOUT}").stdout.decode().split())
