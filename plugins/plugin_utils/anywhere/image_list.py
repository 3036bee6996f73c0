# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The images of an air-gapped installation: lists from several programs as one, and their names in a registry mirror."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..errors import Problems, joined
from .mirror_files import host, registries
from .model import Mirror

_DOCKER_HUB = "docker.io"
_OTHER_NAMES_OF_IT = ("index.docker.io", "registry-1.docker.io")
_NAME = re.compile(
    r"(?:(?P<registry>[a-zA-Z0-9.-]+\.[a-zA-Z0-9-]+(?::[0-9]+)?|localhost(?::[0-9]+)?|[a-zA-Z0-9.-]+:[0-9]+|\[[0-9a-fA-F:]+\](?::[0-9]+)?)/)?"
    r"(?P<repository>[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*)"
    r"(?::(?P<tag>[A-Za-z0-9_][A-Za-z0-9._-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?",
    re.ASCII,
)


@dataclass(frozen=True, order=True)
class Image:
    """An image with its whole name. sources: which lists name it."""

    name: str
    registry: str
    repository: str
    version: str
    sources: tuple[str, ...]


def merge(lists: Mapping[str, Iterable[str]], problems: Problems) -> tuple[Image, ...]:
    """All images of several lists, each once, sorted by name. Reports lines that are not an image with a tag or a digest.

    lists: source, such as C(clusterctl), → lines, such as C(clusterctl init list-images) prints them. Blank lines and comments are
    left out. C(nginx:1) is the same as C(docker.io/library/nginx:1).
    """
    found: dict[str, Image] = {}
    for source in sorted(lists):
        for index, line in enumerate(lists[source]):
            text = line.strip().strip("'\"")
            if not text or text.startswith("#"):
                continue
            image = _image(text, source, joined(joined("images", source), index), problems)
            if image is not None:
                known = found.get(image.name)
                sources = (*known.sources, source) if known and source not in known.sources else known.sources if known else (source,)
                found[image.name] = Image(image.name, image.registry, image.repository, image.version, sources)
    return tuple(found[name] for name in sorted(found))


def _image(text: str, source: str, path: str, problems: Problems) -> Image | None:
    match = _NAME.fullmatch(text)
    if match is None:
        problems.add("anywhere.image", path, "is not the name of an image", value=text, allowed="HOST/PATH:TAG")
        return None
    if match["tag"] is None and match["digest"] is None:
        fix = "add the tag: without it, the newest image is copied, and another one is pulled later"
        problems.add("anywhere.image", path, "has no tag and no digest", value=text, fix=fix)
        return None
    registry, repository = match["registry"] or _DOCKER_HUB, match["repository"]
    registry = _DOCKER_HUB if registry in _OTHER_NAMES_OF_IT else registry
    if registry == _DOCKER_HUB and "/" not in repository:
        repository = f"library/{repository}"
    version = (f":{match['tag']}" if match["tag"] else "") + (f"@{match['digest']}" if match["digest"] else "")
    return Image(f"{registry}/{repository}{version}", registry, repository, version, (source,))


def in_mirror(image: Image, mirror: Mirror) -> str | None:
    """The name of an image in a mirror, or None if the mirror does not have its registry."""
    namespaces = dict(registries(mirror))
    if image.registry not in namespaces:
        return None
    parts = (host(mirror), namespaces[image.registry].strip("/"), image.repository)
    return "/".join(part for part in parts if part) + image.version


def check_mirror(images: Iterable[Image], mirror: Mirror, problems: Problems) -> None:
    """Report registries whose images nodes would pull from the internet, because the mirror does not have them."""
    known = dict(registries(mirror))
    missing: dict[str, list[str]] = {}
    for image in images:
        if image.registry not in known:
            missing.setdefault(image.registry, []).append(image.repository)
    for registry, repositories in sorted(missing.items()):
        path = joined(mirror.path, "ociNamespaces")
        count = f"{len(repositories)} image{'' if len(repositories) == 1 else 's'}"
        fix = f"add {{registry: {registry}, namespace: …}}"
        problems.add("anywhere.unmirrored", path, f"does not have {registry}, the registry of {count} such as {repositories[0]}", fix=fix)
