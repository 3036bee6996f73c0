# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the files of registry mirrors with the files that a cloud-config of the user writes.

containerd reads one file for each registry, so the mirrors of a registry have one place on a node. Our script runs after cloud-init has
written the files of the user, and would replace them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..errors import Problems, joined
from ..formats import mime
from ..model.spec import NodeSpec
from . import cloud_init, linux_files
from .comparison import FIX
from .model import File

if TYPE_CHECKING:
    from ..formats.cloud_config import WrittenFile

_HOSTS = "hosts.toml"
_MIRRORS = "node_group.containerd.registry_mirrors"


def check(spec: NodeSpec, problems: Problems) -> None:
    """Report files that differ, if nothing decides between the two."""
    for path, file, origin in _different(spec) if spec.user_data_precedence is None else ():
        problems.add("user_data.conflict", path, f"writes {file}, but {origin} writes it with other content", fix=FIX)


def kept(spec: NodeSpec, files: Iterable[File]) -> tuple[File, ...]:
    """Our files without those of the registries for which the user's files win."""
    if spec.user_data_precedence != "theirs":
        return tuple(files)
    folders = tuple(file.removesuffix(_HOSTS) for _path, file, _origin in _different(spec))
    return tuple(file for file in files if not file.path.startswith(folders))


def is_compared(spec: NodeSpec, file: WrittenFile) -> bool:
    """Whether we write the file, too, and know the user's content."""
    return file.content is not None and file.path in _ours(spec)


def _different(spec: NodeSpec) -> Iterator[tuple[str, str, str]]:
    """The place of a user's document, the file that it writes differently, and the field that gives our file."""
    ours = _ours(spec) if spec.user_data else {}
    if not ours:
        return
    from ..formats import cloud_config

    ignored = Problems()
    for path, part in cloud_init.placed_parts(spec, ignored):
        if part.media_type == cloud_init.CLOUD_CONFIG:
            document = cloud_config.load(mime.decoded(part, path, ignored), path, ignored)
            for file in cloud_config.written_files(document):
                if is_compared(spec, file) and _meaning(str(file.content)) != _meaning(ours[file.path]):
                    yield path, file.path, joined(_MIRRORS, file.path.split("/")[-2])


def _ours(spec: NodeSpec) -> dict[str, str]:
    found = linux_files.registry_mirrors(spec.containerd.registry_mirrors)
    return {file.path: file.content for file in found if file.path.endswith(f"/{_HOSTS}")}


def _meaning(text: str) -> Any:
    """The settings in a file, with the mirrors in their order, which containerd follows. A text that is not TOML stands for itself."""
    from ..formats import toml

    try:
        found = toml.parse(text)
    except toml.TomlError:
        return text
    hosts = found.get("host")
    return found, list(hosts) if isinstance(hosts, dict) else None
