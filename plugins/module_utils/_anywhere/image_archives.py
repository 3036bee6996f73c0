# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Loads archives of images into Docker, or into the nodes of a cluster of kind, for machines without a registry."""

from __future__ import annotations

import json
import os
import tarfile
from typing import Any, Dict, List, Mapping, Set

from . import bootstrap_cluster
from .programs import AdminPrograms, StepFailed

_ENDINGS = (".tar", ".tar.gz", ".tgz")
_LARGEST_INDEX = 4 * 1024 * 1024
_NAMES = ("io.containerd.image.name", "org.opencontainers.image.ref.name")


def load(programs: AdminPrograms, options: Mapping[str, Any], check_mode: bool) -> Dict[str, Any]:
    """Load the archives whose images are missing. Raises C(StepFailed)."""
    cluster = options["name"]
    nodes = [one.name for one in bootstrap_cluster.nodes(programs, cluster)] if cluster else []
    if cluster and not nodes:
        raise StepFailed("there is no cluster {0}; fix: create it first".format(cluster))
    loaded = []
    for path in archives(options["images_dir"]):
        images = images_of(path)
        present = _in_nodes(programs, nodes, images) if cluster else _in_docker(programs, images)
        if images and present:
            continue
        loaded.append(os.path.basename(path))
        if not check_mode:
            argv = ["kind", "load", "image-archive", path, "--name", cluster] if cluster else ["docker", "load", "--input", path]
            programs.run(argv, options["timeout"])
    return {"changed": bool(loaded), "archives": loaded}


def archives(folder: str) -> List[str]:
    """The archives of a folder, sorted. Raises C(StepFailed) without any."""
    folder = os.path.abspath(os.path.expanduser(folder))
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(_ENDINGS))
    except OSError as error:
        raise StepFailed("{0} cannot be read: {1}".format(folder, error.strerror)) from None
    if not names:
        raise StepFailed(
            "{0} has no archive ({1}); fix: save images there, for example with docker save".format(folder, ", ".join(_ENDINGS))
        )
    return [os.path.join(folder, name) for name in names]


def images_of(path: str) -> List[str]:
    """The names of the images of an archive of Docker or of the Open Container Initiative. Raises C(StepFailed) if it is neither."""
    found: Set[str] = set()
    is_known = False
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                name = os.path.normpath(member.name)
                if name not in ("manifest.json", "index.json") or not member.isfile() or member.size > _LARGEST_INDEX:
                    continue
                stream = archive.extractfile(member)
                content = json.loads(stream.read().decode("utf-8")) if stream else None
                is_known = True
                found.update(_tags(content) if name == "manifest.json" else _references(content))
    except (OSError, tarfile.TarError, ValueError, EOFError, AttributeError, TypeError) as error:
        raise StepFailed("{0} is not an archive of images: {1}; fix: save it again, or move it away".format(path, error)) from None
    if not is_known:
        raise StepFailed("{0} is not an archive of images; fix: move it away".format(path))
    return sorted(found)


def _tags(rows: Any) -> List[str]:
    return [tag for row in rows for tag in row.get("RepoTags") or ()]


def _references(index: Any) -> List[str]:
    annotations = [row.get("annotations") or {} for row in index.get("manifests") or ()]
    # The second annotation is a whole name in some archives, and only the tag in others.
    found = [next((row[name] for name in _NAMES if "/" in row.get(name, "")), "") for row in annotations]
    return [name for name in found if name]


def _in_docker(programs: AdminPrograms, images: List[str]) -> bool:
    return bool(images) and programs.try_run(["docker", "image", "inspect", "--format", "{{.Id}}", *images]).status == 0


def _in_nodes(programs: AdminPrograms, nodes: List[str], images: List[str]) -> bool:
    for node in nodes:
        result = programs.try_run(["docker", "exec", node, "ctr", "-n", "k8s.io", "images", "list", "-q"])
        known = set(result.output.split()) if result.status == 0 else set()
        if not all(_whole(name) in known for name in images):
            return False
    return True


def _whole(name: str) -> str:
    """The name as containerd keeps it: with a registry."""
    first, slash, _rest = name.partition("/")
    if not slash:
        return "docker.io/library/" + name
    return name if "." in first or ":" in first or first == "localhost" else "docker.io/" + name
