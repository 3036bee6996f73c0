# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real kubelet, on containerd 2, removes unused container images when the disk is full. The pinned images of the role stay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabNode
from ansible_collections.nodebootstrap.eks.tests.lab.failing import hand_written, journal
from ansible_collections.nodebootstrap.eks.tests.lab.joining import PATIENCE
from ansible_collections.nodebootstrap.eks.tests.lab.progress import TOP, say, wait_for
from ansible_collections.nodebootstrap.eks.tests.oracle import image_archives
from ansible_collections.nodebootstrap.eks.tests.oracle.ansible_calls import call

pytestmark = pytest.mark.docker

PINNED, UNPINNED = "example.com/pinned:1", "example.com/unpinned:1"
FOLDER, UNIT = "/var/lib/eks-node-image/images", "eks-node-image-import.service"
ROLE = TOP / "roles/eks_node_image/files"

#: Every disk is too full: at each check, about every 10 seconds, kubelet removes all unused images. Otherwise it does so every 5 minutes.
FULL = {
    "evictionHard": {"imagefs.available": "99.9%"},
    "imageMinimumGCAge": "1s",
    "imageGCHighThresholdPercent": 1,
    "imageGCLowThresholdPercent": 0,
}


def with_images(folder: Path, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The files of a node that imports images at boot, as the role installs them."""
    lines = ["\t".join([row["name"], row["file"], row["sha256"], "pinned" if row["pinned"] else "-"]) for row in rows]
    return {
        **{f"{FOLDER}/{row['file']}": (folder / row["file"]).read_bytes() for row in rows},
        f"{FOLDER}/images.list": "".join(f"{line}\n" for line in lines),
        "/usr/libexec/eks-node-image/import-images": ((ROLE / "import-images.sh").read_text(), 0o755),
        f"/etc/systemd/system/{UNIT}": (ROLE / UNIT).read_text(),
        "/etc/systemd/system/multi-user.target.d/50-import.conf": f"[Unit]\nWants={UNIT}\n",
    }


def images(node: LabNode) -> set[str]:
    """Names of images that containerd has."""
    listed = node.exec(["ctr", "-n", "k8s.io", "images", "ls", "-q"], check=True).stdout.decode().split()
    return {PINNED, UNPINNED} & {*listed}


def collections(node: LabNode) -> int:
    """How often kubelet has tried to remove unused images."""
    return sum("Attempting to delete unused images" in line for _when, line in journal(node, 0))


def test_kubelet_spares_pinned_images(lab: Lab, tmp_path: Path) -> None:
    pinned = image_archives.write(tmp_path, PINNED, "pinned", file="pinned.tar")
    unpinned = image_archives.write(tmp_path, UNPINNED, "unpinned", file="unpinned.tar", pinned=False)
    files = with_images(tmp_path, [pinned, unpinned])
    with lab.node("al2023", user_data=hand_written(lab, **FULL), kubelet="1.36", real_nodeadm=False, containerd=2, files=files) as node:
        found = node.wait_ready(PATIENCE)
        assert found["status"]["nodeInfo"]["containerRuntimeVersion"].startswith("containerd://2.")
        assert all(f"{name} is imported" in node.journal(UNIT) for name in (PINNED, UNPINNED))
        wait_for("the removal of the image that is not pinned", lambda: UNPINNED not in images(node), PATIENCE)
        began = collections(node)
        wait_for("two more garbage collections", lambda: collections(node) >= began + 2, PATIENCE)
        assert images(node) == {PINNED}
        say(f"{PINNED} survived {collections(node)} garbage collections")

        # Without the label, it does not stay.
        options = json.dumps({"images": [{**pinned, "pinned": False}], "folder": FOLDER, "snapshotter": ""})
        assert call(node, tmp_path, "image_import", "-a", options)["missing"] == [PINNED]
        wait_for("the removal of the image whose label is gone", lambda: images(node) == set(), PATIENCE)
