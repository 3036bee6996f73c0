# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The images that manifests name: those of containers and volumes of every object that makes pods, and of machines that are containers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import Problem, SpecError
from ..formats import yaml

_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
_VOLUMES = "volumes"
_MACHINE = "customImage"
"""The field of a DockerMachineTemplate with the image of the machine."""

_STATIC_PODS = "/etc/kubernetes/manifests/"


def images_of(text: str, path: str) -> tuple[str, ...]:
    """The images of a file of manifests, each once, in its order. Raises C(SpecError) if it is not YAML. path: the place for messages."""
    try:
        documents = yaml.load_all(text, strict=False)
    except yaml.YamlError as error:
        raise SpecError([Problem("anywhere.not_yaml", path, f"is not YAML: {error}")]) from None
    return tuple(dict.fromkeys(image for document in documents for image in _images(document)))


def _images(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from _of_static_pod(value)
        for key, item in value.items():
            if key in _CONTAINERS and isinstance(item, list):
                yield from _texts(row.get("image") for row in item if isinstance(row, dict))
            elif key == _VOLUMES and isinstance(item, list):
                yield from _texts(_reference(row) for row in item)
            elif key == _MACHINE:
                yield from _texts([item])
            else:
                yield from _images(item)
    elif isinstance(value, list):
        for item in value:
            yield from _images(item)


def _texts(values: Iterable[Any]) -> Iterator[str]:
    return (value for value in values if isinstance(value, str) and value)


def _reference(volume: Any) -> Any:
    """The image of a volume of the type image."""
    image = volume.get("image") if isinstance(volume, dict) else None
    return image.get("reference") if isinstance(image, dict) else None


def _of_static_pod(value: dict[Any, Any]) -> Iterator[str]:
    """The images of a manifest that Cluster API writes on nodes, such as that of kube-vip. A file that is not YAML has none."""
    path, content = value.get("path"), value.get("content")
    if isinstance(path, str) and isinstance(content, str) and path.startswith(_STATIC_PODS):
        try:
            documents = yaml.load_all(content, strict=False)
        except yaml.YamlError:
            return
        for document in documents:
            yield from _images(document)
