# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The import of container images into both generations of containerd, by the module image_import and by the program for the boot.

tests/oracle/test_image_import.py asks containerd 1, tests/lab/test_image_import.py asks containerd 2. The layers are not unpacked:
test_image_boot.py does that on a node.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._image import container_images
from ansible_collections.nodebootstrap.eks.plugins.module_utils._image.container_images import Containerd, ContainerImage
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import programs as node_programs
from ansible_collections.nodebootstrap.eks.tests.oracle import containerd_daemon, image_archives
from ansible_collections.nodebootstrap.eks.tests.oracle.containerd_daemon import Daemon, Programs

SCRIPT = Path(__file__).resolve().parents[2] / "roles/eks_node_image/files/import-images.sh"
PAUSE, AGENT = "registry.k8s.io/pause:3.10", "example.com/agent:1"


@pytest.fixture(scope="module")
def daemon(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    folder = tmp_path_factory.mktemp("config")
    with containerd_daemon.running(programs, containerd_daemon.as_on_a_node({}, programs, folder)) as running:
        assert running.plugins
        yield running


@pytest.fixture
def containerd(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> Containerd:
    """containerd without images."""
    folder = Path(str(shutil.which(daemon.programs.ctr))).parent
    monkeypatch.setitem(node_programs.ENVIRONMENT, "PATH", f"{folder}:{node_programs.PATH}")
    found = Containerd(str(daemon.folder / "socket"), "")
    for name in found.run("images", "ls", "-q").split():
        found.run("images", "rm", "--sync", name)
    return found


def is_pinned(daemon: Daemon, containerd: Containerd, name: str) -> bool:
    """What the label says, and CRI of containerd 2, which learns of changes a moment later. CRI of containerd 1.6 does not know it."""
    labels = containerd.run("images", "ls", f"name=={name}")
    expected = f"{container_images.PINNED_LABEL}={container_images.PINNED}" in labels
    end = time.monotonic() + 30
    while daemon.programs.major > 1 and status(containerd, name) is not expected:
        assert time.monotonic() < end, f"{name}: CRI says {status(containerd, name)}"
        time.sleep(0.1)
    return expected


def status(containerd: Containerd, name: str) -> bool | None:
    command = image_archives.status_request(containerd.address)
    done = subprocess.run(command, input=image_archives.status_message(name), capture_output=True, check=True)
    return image_archives.is_pinned(done.stdout)


def image(row: dict[str, Any]) -> ContainerImage:
    return ContainerImage(**row)


def imports(containerd: Containerd, folder: Path, *rows: dict[str, Any]) -> list[str]:
    """What the module does. Returns the names that were missing."""
    absent = container_images.missing(containerd, map(image, rows))
    for one in absent:
        container_images.check_archive(str(folder), one)
        container_images.import_image(containerd, str(folder), one)
    return [one.name for one in absent]


def boot(containerd: Containerd, folder: Path, *rows: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    """Run the program for the boot."""
    lines = ["\t".join([row["name"], row["file"], row["sha256"], "pinned" if row["pinned"] else "-"]) for row in rows]
    (folder / "images.list").write_text("".join(f"{line}\n" for line in lines))
    command = ["sh", str(SCRIPT), str(folder), containerd.address]
    return subprocess.run(command, env=node_programs.ENVIRONMENT, capture_output=True, text=True, timeout=300, check=False)


class TestImport:
    def test_missing_images_are_imported_once(self, daemon: Daemon, containerd: Containerd, tmp_path: Path) -> None:
        rows = [
            image_archives.write(tmp_path, PAUSE, file="pause.tar"),
            image_archives.write(tmp_path, AGENT, "agent", file="agent.tar", pinned=False),
        ]
        assert imports(containerd, tmp_path, *rows) == [PAUSE, AGENT]
        assert imports(containerd, tmp_path, *rows) == []
        assert (is_pinned(daemon, containerd, PAUSE), is_pinned(daemon, containerd, AGENT)) == (True, False)
        for file in tmp_path.iterdir():
            file.unlink()
        assert imports(containerd, tmp_path, *rows) == []

    def test_another_archive_or_pin_is_imported_again(self, daemon: Daemon, containerd: Containerd, tmp_path: Path) -> None:
        imports(containerd, tmp_path, image_archives.write(tmp_path, PAUSE))
        before = containerd.run("images", "ls")
        newer = image_archives.write(tmp_path, PAUSE, "newer")
        assert imports(containerd, tmp_path, newer) == [PAUSE]
        assert containerd.run("images", "ls") != before
        assert imports(containerd, tmp_path, {**newer, "pinned": False}) == [PAUSE]
        assert is_pinned(daemon, containerd, PAUSE) is False
        assert imports(containerd, tmp_path, newer) == [PAUSE]
        assert is_pinned(daemon, containerd, PAUSE) is True

    def test_the_names_are_those_of_containerd(self, daemon: Daemon, containerd: Containerd, tmp_path: Path) -> None:
        for number, name in enumerate(
            ("busybox:1", "library/busybox:2", "a/b:1", "localhost/a:1", "localhost:5000/a:1", "example.com/a:1")
        ):
            image_archives.write(tmp_path, name, file=f"{number}.tar")
            full = container_images.archive_names(str(tmp_path / f"{number}.tar"))
            row = image_archives.write(tmp_path, name, file=f"{number}.tar")
            imports(containerd, tmp_path, {**row, "name": full[0]})
            assert full[0] in containerd.run("images", "ls", "-q").split()

    def test_an_exported_image_can_be_imported(self, daemon: Daemon, containerd: Containerd, tmp_path: Path) -> None:
        imports(containerd, tmp_path, image_archives.write(tmp_path, PAUSE))
        # Without --local, ctr of containerd 2 can end before it has written the whole archive.
        local = ["--local"] if "--local" in containerd.run("images", "export", "--help") else []
        containerd.run("images", "export", *local, str(tmp_path / "exported.tar"), PAUSE)
        assert container_images.archive_names(str(tmp_path / "exported.tar")) == [PAUSE]

    def test_at_boot_only_missing_images_are_imported(self, daemon: Daemon, containerd: Containerd, tmp_path: Path) -> None:
        rows = [
            image_archives.write(tmp_path, PAUSE, file="pause.tar"),
            image_archives.write(tmp_path, AGENT, "agent", file="an agent.tar", pinned=False),
        ]
        imports(containerd, tmp_path, rows[0])
        done = boot(containerd, tmp_path, *rows)
        assert done.returncode == 0 and "cannot" not in done.stderr, done
        assert PAUSE not in done.stdout and AGENT in done.stdout
        assert (is_pinned(daemon, containerd, PAUSE), is_pinned(daemon, containerd, AGENT)) == (True, False)
        again = boot(containerd, tmp_path, *rows)
        assert (again.returncode, again.stdout) == (0, "")
        assert imports(containerd, tmp_path, *rows) == [], "both agree on what is missing"
        assert AGENT in boot(containerd, tmp_path, {**rows[1], "pinned": True}).stdout
        assert is_pinned(daemon, containerd, AGENT) is True

    def test_an_archive_that_cannot_be_imported_does_not_stop_the_others(
        self, daemon: Daemon, containerd: Containerd, tmp_path: Path
    ) -> None:
        good = image_archives.write(tmp_path, PAUSE, file="pause.tar")
        (tmp_path / "broken.tar").write_bytes(b"broken")
        done = boot(containerd, tmp_path, {**good, "name": AGENT, "file": "broken.tar"}, good)
        assert done.returncode == 1 and AGENT in done.stderr
        assert is_pinned(daemon, containerd, PAUSE) is True
