# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Container images from archives: which are missing in containerd, and their import. Standard library, Python 3.7 and newer.

An imported image has a label with the checksum of its archive, so that another archive with the same name is imported again. The program
C(import-images) of the role eks_node_image does the same at boot.
"""

from __future__ import annotations

import json
import os
import re
import tarfile
from typing import Any, Iterable, List, NamedTuple, Sequence, Tuple

from .._node import programs
from .._node.errors import ApplyRefused
from .tree import digest_of

NAMESPACE = "k8s.io"
"""Where kubelet and its runtime interface (CRI) find images."""

ARCHIVE_LABEL = "nodebootstrap.eks/archive"
PINNED_LABEL, PINNED = "io.cri-containerd.pinned", "pinned"
"""CRI reports such an image as pinned, and kubelet never removes it."""

TIMEOUT_SECONDS = 1800.0
_CLIENT_VERSION = re.compile(r"^Client:\n\s+Version:\s+v?([0-9]+)\.", re.MULTILINE)
_NAME_OF_OCI_IMAGE = "io.containerd.image.name"


class ContainerImage(NamedTuple):
    """An image and its archive. C(file): base name of the archive."""

    name: str
    file: str
    sha256: str
    pinned: bool


class Containerd(NamedTuple):
    """A containerd. C(snapshotter): unpacks the layers when an image is imported; with '', the first container unpacks them."""

    address: str
    snapshotter: str

    def run(self, *words: str) -> str:
        """The output of C(ctr). Raises ApplyRefused."""
        result = programs.run(["ctr", "--address", self.address, "--namespace", NAMESPACE, *words], TIMEOUT_SECONDS)
        if result.status:
            lines = result.errors.strip().splitlines()
            raise ApplyRefused(f"ctr {' '.join(words[:2])} failed ({result.status}): {lines[-1][:500] if lines else 'no error message'}")
        return result.output

    def is_running(self) -> bool:
        """Whether containerd answers."""
        return programs.run(["ctr", "--address", self.address, "version"], TIMEOUT_SECONDS).status == 0


def missing(containerd: Containerd, images: Iterable[ContainerImage]) -> List[ContainerImage]:
    """The images that are not imported, or from another archive, or with another label for kubelet."""
    return [image for image in images if not containerd.run("images", "ls", "-q", _filter(image)).strip()]


def check_archive(folder: str, image: ContainerImage) -> None:
    """Raise ApplyRefused if the archive is not the expected one, or does not contain the image."""
    path = os.path.join(folder, image.file)
    try:
        digest = digest_of(path)
        if digest != image.sha256:
            raise ApplyRefused(f"{path} has the SHA-256 checksum {digest}, not {image.sha256}", "replace the file, or correct the checksum")
        names = archive_names(path)
    except (OSError, tarfile.TarError, ValueError) as error:
        raise ApplyRefused(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if image.name not in names:
        found = f"contains {', '.join(names)}" if names else "contains no image with a name"
        raise ApplyRefused(
            f"{path} {found}, not {image.name}", f"use a name of the archive, or tag the image as {image.name} and save it again"
        )


def import_image(containerd: Containerd, folder: str, image: ContainerImage) -> None:
    """Import an image and label it. Raises ApplyRefused."""
    unpack = ["--snapshotter", containerd.snapshotter] if containerd.snapshotter else ["--no-unpack"]
    containerd.run("images", "import", *_local(containerd), *unpack, os.path.join(folder, image.file))
    # ctr removes a label with an empty value.
    pinned = PINNED if image.pinned else ""
    containerd.run("images", "label", image.name, f"{PINNED_LABEL}={pinned}", f"{ARCHIVE_LABEL}={image.sha256}")


def archive_names(path: str) -> List[str]:
    """The names that containerd gives to the images of an archive: a Docker archive, or an OCI layout with names."""
    with tarfile.open(path) as archive:
        index, manifest = (_json(archive, name) for name in ("index.json", "manifest.json"))
    if isinstance(index, dict):
        rows = index.get("manifests") or []
        found = [(row.get("annotations") or {}).get(_NAME_OF_OCI_IMAGE) for row in rows if isinstance(row, dict)]
    else:
        tags = [tag for row in manifest or [] if isinstance(row, dict) for tag in row.get("RepoTags") or []]
        found = [full_name(tag) for tag in tags]
    return sorted({name for name in found if name})


def full_name(tag: str) -> str:
    """The name of an image with its registry, as containerd completes it."""
    first, slash, _rest = tag.partition("/")
    if not slash:
        return f"docker.io/library/{tag}"
    return tag if "." in first or ":" in first or first == "localhost" else f"docker.io/{tag}"


def _filter(image: ContainerImage) -> str:
    operator = "==" if image.pinned else "!="
    conditions: Sequence[Tuple[str, str, str]] = (
        ("name", "==", image.name),
        (f'labels."{ARCHIVE_LABEL}"', "==", image.sha256),
        (f'labels."{PINNED_LABEL}"', operator, PINNED),
    )
    return ",".join(f'{field}{operator}"{value}"' for field, operator, value in conditions)


def _local(containerd: Containerd) -> List[str]:
    """ctr 2 otherwise lets containerd import the image, which does not know every snapshotter."""
    match = _CLIENT_VERSION.search(containerd.run("version"))
    return ["--local"] if match and int(match.group(1)) > 1 else []


def _json(archive: tarfile.TarFile, name: str) -> Any:
    try:
        stream = archive.extractfile(name)
    except KeyError:
        return None
    return None if stream is None else json.loads(stream.read().decode("utf-8"))
