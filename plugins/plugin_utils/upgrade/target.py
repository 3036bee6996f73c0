# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The version of kubelet that nodes will have after an upgrade."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..publish.image import is_known_parameter, node_of
from ..publish.model import Image

FindImage = Callable[[str], tuple[Image | None, str]]
"""Reads an image, and says why it could not be read, '' if it was or does not exist."""


class Target(NamedTuple):
    """kubelet: such as C(1.36), '' if it is not known. unchecked: why it is not known, if a permission is missing."""

    kubelet: str = ""
    unchecked: tuple[str, ...] = ()


def target_of_image(image: str, find_image: FindImage) -> Target:
    """What an image contains, by its name. image: the ID or the parameter in a launch template, '' without one."""
    if not image:
        return Target()
    found, problem = (None, "") if is_known_parameter(image) else find_image(image)
    if problem:
        return Target(unchecked=(f"the version of kubelet in the image {image} was not checked: {problem}",))
    version = node_of(image, found).version
    return Target("" if version is None else "{}.{}".format(*version))
