# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Archives that are not what is expected, and errors of ctr. tests/oracle/image_import_rows.py has the real containerd."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._image import container_images
from ansible_collections.nodebootstrap.eks.plugins.module_utils._image.container_images import Containerd, ContainerImage
from ansible_collections.nodebootstrap.eks.plugins.module_utils._image.tree import digest_of
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.tests.oracle import image_archives
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

Programs = Callable[[str, str], Path]

NAME = "example.com/agent:1"
SCRIPT = Path(__file__).resolve().parents[5] / "roles/eks_node_image/files/import-images.sh"


def refused(folder: Path, image: ContainerImage) -> str:
    with pytest.raises(ApplyRefused) as error:
        container_images.check_archive(str(folder), image)
    return str(error.value).replace(str(folder), "FOLDER")


def test_a_missing_archive(tmp_path: Path, golden_message: GoldenMessages) -> None:
    golden_message(refused(tmp_path, ContainerImage(NAME, "agent.tar", "0" * 64, True)))


def test_another_checksum(tmp_path: Path, golden_message: GoldenMessages) -> None:
    image = ContainerImage(**image_archives.write(tmp_path, NAME))
    golden_message(refused(tmp_path, image._replace(sha256="0" * 64)))


def test_another_name(tmp_path: Path, golden_message: GoldenMessages) -> None:
    image = ContainerImage(**image_archives.write(tmp_path, "busybox:1"))
    golden_message(refused(tmp_path, image._replace(name=NAME)))
    container_images.check_archive(str(tmp_path), image._replace(name="docker.io/library/busybox:1"))


@pytest.mark.parametrize("content", [b"no archive", b""], ids=["text", "empty"])
def test_a_file_that_is_not_an_archive(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "agent.tar").write_bytes(content)
    digest = digest_of(str(tmp_path / "agent.tar"))
    assert "agent.tar" in refused(tmp_path, ContainerImage(NAME, "agent.tar", digest, True))


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ({}, []),
        ({"manifest.json": [{"RepoTags": None}]}, []),
        ({"manifest.json": [{"RepoTags": ["a:1", "b.example.com/c:2"]}]}, ["b.example.com/c:2", "docker.io/library/a:1"]),
        ({"index.json": {"manifests": [{"annotations": {"io.containerd.image.name": NAME}}, {}]}}, [NAME]),
        ({"index.json": {}}, []),
    ],
    ids=["nothing", "no tags", "Docker", "OCI", "OCI without images"],
)
def test_the_names_in_an_archive(files: dict[str, object], names: list[str], tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name, content in files.items():
            packed = json.dumps(content).encode()
            member = tarfile.TarInfo(name)
            member.size = len(packed)
            archive.addfile(member, io.BytesIO(packed))
    assert container_images.archive_names(str(tmp_path / "a.tar")) == names


def test_an_error_of_ctr(programs: Programs, golden_message: GoldenMessages) -> None:
    programs("ctr", "echo 'ctr: failed to dial: no such file' >&2\nexit 1\n")
    containerd = Containerd("/run/containerd/containerd.sock", "overlayfs")
    with pytest.raises(ApplyRefused) as error:
        container_images.missing(containerd, [ContainerImage(NAME, "agent.tar", "0" * 64, True)])
    golden_message(error.value)
    assert not containerd.is_running()


def test_the_layers_are_unpacked_by_the_snapshotter(programs: Programs) -> None:
    record = programs("ctr", "printf 'Client:\\n  Version:  v2.2.9\\n'\n")
    image = ContainerImage(NAME, "agent.tar", "0" * 64, False)
    container_images.import_image(Containerd("/socket", "overlayfs"), "/folder", image)
    assert record.read_text().splitlines() == [
        "--address /socket --namespace k8s.io version",
        "--address /socket --namespace k8s.io images import --local --snapshotter overlayfs /folder/agent.tar",
        f"--address /socket --namespace k8s.io images label {NAME} {container_images.PINNED_LABEL}= "
        f"{container_images.ARCHIVE_LABEL}={'0' * 64}",
    ]


def test_the_program_for_the_boot_has_the_same_labels() -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    assert f"archive={container_images.ARCHIVE_LABEL}\n" in text and f"pinned={container_images.PINNED_LABEL}\n" in text
    assert f"--namespace {container_images.NAMESPACE} " in text
