# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The images that manifests name: those of the containers of every object that makes pods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import Problem, SpecError
from ..formats import yaml

_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")


def images_of(text: str, path: str) -> tuple[str, ...]:
    """The images of a file of manifests, each once, in its order. Raises C(SpecError) if it is not YAML. path: the place for messages."""
    try:
        documents = yaml.load_all(text, strict=False)
    except yaml.YamlError as error:
        raise SpecError([Problem("anywhere.not_yaml", path, f"is not YAML: {error}")]) from None
    return tuple(dict.fromkeys(image for document in documents for image in _images(document)))


def _images(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key in _CONTAINERS and isinstance(item, list):
                rows = (row.get("image") for row in item if isinstance(row, dict))
                yield from (image for image in rows if isinstance(image, str) and image)
            else:
                yield from _images(item)
    elif isinstance(value, list):
        for item in value:
            yield from _images(item)
