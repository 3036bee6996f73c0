# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The comparison of two images finds every difference that matters, and the list of the others stays short."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._image.provenance import PROVENANCE, SBOM
from ansible_collections.nodebootstrap.eks.tests.oracle import image_trees

PLANS = Path(__file__).resolve().parents[1] / "golden/image_plans"


def tree(**changes: tarfile.TarInfo | bytes) -> dict[str, str]:
    """A tree with one file, a directory and two links, and changes."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, kind, target in (("etc", tarfile.DIRTYPE, ""), ("bin", tarfile.SYMTYPE, "usr/bin"), ("etc/b", tarfile.LNKTYPE, "etc/a")):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            archive.addfile(member)
        for name, content in {"etc/a": b"a", ".dockerenv": b"", "var/cache/ldconfig/aux-cache": b"x", **changes}.items():
            member = content if isinstance(content, tarfile.TarInfo) else tarfile.TarInfo(name)
            member.size = 0 if isinstance(content, tarfile.TarInfo) else len(content)
            archive.addfile(member, io.BytesIO(b"" if isinstance(content, tarfile.TarInfo) else content))
    packed.seek(0)
    return image_trees.read(packed)


def test_the_tree_has_type_mode_and_digest() -> None:
    found = tree()
    assert found["/etc"] == "directory 0644 0:0" and found["/bin"] == "link to usr/bin"
    assert found["/etc/b"] == "the same file as /etc/a" and found["/etc/a"].startswith("file 0644 0:0 ca978112ca1b")
    assert "/.dockerenv" in found


def test_equal_trees_have_no_differences() -> None:
    other = tree(**{"var/cache/ldconfig/aux-cache": b"another", "var/lib/rpm/rpmdb.sqlite": b""})
    assert image_trees.differences(tree(), other) == []
    assert image_trees.used_patterns(tree(), other) == ["/var/cache/ldconfig/aux-cache", "/var/lib/rpm/*"]
    assert image_trees.differences(tree(), tree()) == []


@pytest.mark.parametrize("path", ["etc/a", "usr/bin/kubelet", "opt/new"])
def test_another_content_is_found(path: str) -> None:
    assert [line.split(":")[0] for line in image_trees.differences(tree(), tree(**{path: b"b"}))] == [f"/{path}"]


def test_another_mode_is_found() -> None:
    member = tarfile.TarInfo("etc/a")
    member.mode = 0o777
    assert len(image_trees.differences(tree(), tree(**{"etc/a": member}))) == 1


def test_the_list_is_short_and_leaves_out_nothing_that_is_installed() -> None:
    assert len(image_trees.MAY_DIFFER) <= 30
    paths = {PROVENANCE, SBOM, "/usr/bin/containerd", "/opt/cni/bin/bridge", "/etc/ssl/certs/ca-certificates.crt"}
    for plan in PLANS.glob("*.json"):
        content = json.loads(plan.read_text(encoding="utf-8"))
        paths |= {entry["path"] for name in ("files", "links", "repositories", "certificates") for entry in content[name]}
        paths |= {download["dest"] for download in content["downloads"]}
    assert [path for path in sorted(paths) if image_trees.may_differ(path)] == []
