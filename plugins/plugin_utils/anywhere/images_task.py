# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action anywhere_images without Ansible and without files: its options, and what one task does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import Problems
from . import image_list
from .cluster_file import Read, read_cluster
from .clusterctl_config import Versions, init_arguments
from .manifest_images import images_of
from .model import DOCKER, Cluster

MODULE = "nodebootstrap.eks.anywhere_images"
OPTIONS: dict[str, Any] = {
    "cluster_file": {"type": "path", "required": True},
    "cluster_api_version": {"type": "str"},
    "clusterctl_arguments": {"type": "list", "elements": "str"},
    "clusterctl_config": {"type": "str"},
    "bootstrap_image": {"type": "str"},
    "images": {"type": "list", "elements": "str", "default": []},
    "manifests": {"type": "list", "elements": "path", "default": []},
    "output": {"type": "path"},
    "timeout": {"type": "float", "default": 60.0},
}

Run = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""Runs a module on the admin machine, by its name and options."""

Write = Callable[[str, bytes], bool]
"""Writes a file: path, content. Returns whether it changed. Raises C(SpecError)."""


def images_task(
    options: Mapping[str, Any], run: Run, *, read: Read, write: Write, say: Callable[[str], None], check_mode: bool
) -> dict[str, Any]:
    """List all images, with their names in the mirror of the cluster, and print the list. Raises C(SpecError) with all problems."""
    cluster, _found = read_cluster(options["cluster_file"], read)
    lists = {
        f"manifests[{index}]": images_of(read(path, "manifests"), f"manifests[{index}]") for index, path in enumerate(options["manifests"])
    }
    arguments = _arguments(options, cluster)
    answer = run(MODULE, {**options, "clusterctl_arguments": arguments})
    if "lines" not in answer:
        return dict(answer)
    problems = Problems()
    kind = [options["bootstrap_image"]] if options["bootstrap_image"] else []
    found = image_list.merge({**lists, "clusterctl": answer["lines"], "kind": kind, "options": options["images"]}, problems)
    problems.raise_any()
    if cluster.mirror is not None:
        image_list.check_mirror(found, cluster.mirror, problems)
        problems.raise_any()
    rows = [_row(image, cluster) for image in found]
    text = "".join(f"{row['name']} {row['mirror']}\n" if row["mirror"] else f"{row['name']}\n" for row in rows)
    say(text.rstrip("\n"))
    warnings = [] if kind else ["bootstrap_image is not set, so that the image of the bootstrap cluster is not in the list"]
    changed = bool(options["output"]) and not check_mode and write(options["output"], text.encode())
    return {"changed": changed, "images": rows, **({"warnings": warnings} if warnings else {})}


def _arguments(options: Mapping[str, Any], cluster: Cluster) -> list[str]:
    """The arguments that name the providers with their versions. Without a version, clusterctl chooses the newest ones."""
    if options["clusterctl_arguments"] is not None:
        return list(options["clusterctl_arguments"])
    version = options["cluster_api_version"]
    *others, docker = init_arguments(Versions(version, "")) if version else ("--infrastructure", "docker")
    # The versions of other providers are not those of Cluster API.
    return [*others, docker if cluster.provider == DOCKER else cluster.provider.removesuffix("DatacenterConfig").lower()]


def _row(image: image_list.Image, cluster: Cluster) -> dict[str, Any]:
    mirror = None if cluster.mirror is None else image_list.in_mirror(image, cluster.mirror)
    return {"name": image.name, "mirror": mirror, "sources": list(image.sources)}
