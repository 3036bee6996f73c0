# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""image_seal on temporary roots: what image_verify reports is gone, everything else stays, and nothing outside of the root is touched."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable
from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._image import leftovers, mounts, seal, tree, verify
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.host import Host
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils._image.clean_trees import FAMILIES, clean
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils._image.defects import (
    CONTEXT,
    DEFECTS,
    NEAR_MISSES,
    SERVER,
    Change,
)
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.host_files import machine, running

RULES = {leftover.rule for leftover in leftovers.LEFTOVERS}
IS_BUILD = {seal.PROVENANCE: json.dumps({"collection": {"name": "nodebootstrap.eks"}})}
PLANTED = [change for change in DEFECTS if change.rule in RULES | {"image.log_size"}]
MISSED = [change for change in NEAR_MISSES if change.rule in RULES]

# What the rules do not report, and the seal clears as well.
CLEARED = {
    "/var/log/chrony/tracking.log": "image.logs",
    "/var/log/pods/kube-system_a/b/0.log": "image.logs",
    "/etc/netplan/50-cloud-init.yaml": "image.network_devices",
    "/var/cache/apt/pkgcache.bin": "image.package_cache",
    "/var/lib/apt/lists/deb.debian.org_InRelease": "image.package_cache",
    "/root/.viminfo": "image.shell_history",
    "/root/.aws/sso/cache/1.json": "image.aws_credentials",
    "/var/lib/kubelet/allocated_pods_state": "image.kubelet_state",
    "/var/lib/nodebootstrap/lock": "image.collection_state",
}

# Neighbours of leftovers. They belong to the image, or to the user.
STAYS = (
    "/etc/hosts",
    "/etc/ssh/sshd_config",
    "/root/.ssh/config",
    "/root/.ssh/authorized_keys2",
    "/home/ec2-user/.bashrc",
    "/root/.aws/config",
    "/root/.ansible/collections/ansible_collections/a",
    "/root/.ansible/tmp/ansible-local-1/b",
    "/var/lib/cloud/scripts/per-boot/10-user.sh",
    "/var/lib/eks-node-image/images/pause.tar",
    "/var/lib/kubelet/config.yaml",
    "/var/cache/man/index.db",
    "/etc/netplan/10-own.yaml",
    "/etc/cni/net.d/README",
    "/etc/kubernetes/pki/README",
    "/tmp/systemd-private-0123-chronyd.service-a/tmp/a",
    "/var/lib/amazon/ssm/manifest",
)


def build(root: Path, files: dict[str, str | bytes]) -> Path:
    machine(root, {**IS_BUILD, **files})
    return root


def run(root: Path, ignore: Collection[str] = (), mount_points: Iterable[str] = (), is_check: bool = False) -> dict[str, str]:
    """The removed paths, each with its rule."""
    result = seal.seal(tree.real_root(str(root)), ignore, mount_points, is_check)
    assert result.problems == []
    return {removal.path: removal.rule for removal in result.removed}


def everything(root: Path) -> dict[str, bytes | str | None]:
    """Path → content of a file, target of a link, None for a directory."""
    found: dict[str, bytes | str | None] = {}
    for path in sorted(root.rglob("*")):
        found[str(path)] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
    return found


def rule_of(path: str, removed: dict[str, str]) -> str:
    """The rule by which a file, or a directory above it, was removed."""
    return next((rule for one, rule in removed.items() if f"{path}/".startswith(f"{one}/")), "")


def leftover_findings(root: Path) -> list[str]:
    found = verify.verify(Host(60.0, str(root)), "image").findings
    return [f"{one['rule']} {one['path']}" for one in found if one["rule"] in RULES | {"image.log_size"}]


@pytest.mark.parametrize("family", FAMILIES)
def test_everything_that_the_rules_report_is_removed(family: str, tmp_path: Path) -> None:
    tree = clean(family)
    tree.files |= IS_BUILD | dict.fromkeys(CLEARED, "x") | dict.fromkeys(STAYS, "x")
    tree.files.pop("/etc/eks/bootstrap.sh", None)
    before = set(tree.files)
    for change in PLANTED:
        change.apply(tree)
    tree.links.pop("/etc/resolv.conf", None)
    tree.build(tmp_path)
    assert {line.split()[0] for line in leftover_findings(tmp_path)} == RULES | {"image.log_size"}
    untouched = everything(tmp_path)
    expected = run(tmp_path, is_check=True)
    assert everything(tmp_path) == untouched
    assert run(tmp_path) == expected
    assert leftover_findings(tmp_path) == []
    assert run(tmp_path) == {}
    assert {path: rule_of(path, expected) for path in CLEARED} == CLEARED
    planted = {path for change in PLANTED for path in {*change.files, *change.links, *change.sizes}}
    assert not [path for path in before - set(CLEARED) - planted if not (tmp_path / path.lstrip("/")).exists()]
    assert os.readlink(tmp_path / "var/lib/dbus/machine-id") == leftovers.MACHINE_ID
    assert (tmp_path / "etc/machine-id").read_bytes() == b""
    assert (tmp_path / "var/log/chrony").is_dir()


@pytest.mark.parametrize("change", MISSED, ids=lambda change: change.id)
def test_a_near_miss_stays(change: Change, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = clean(change.family)
    change.apply(tree)
    tree.files |= IS_BUILD
    host = tree.build(tmp_path)
    monkeypatch.setattr(mounts, "read", _mounts_of(host, tmp_path))
    before = everything(tmp_path)
    run(tmp_path, ignore=["image.logs", "image.temporary_files"])
    assert everything(tmp_path) == before


def _mounts_of(host: Host, root: Path) -> object:
    rows = tuple(mount._replace(path=f"{root}{mount.path}") for mount in mounts.read(host))
    return lambda _host: rows


@pytest.mark.parametrize("family", FAMILIES)
def test_a_clean_image_stays_as_it_is(family: str, tmp_path: Path) -> None:
    tree = clean(family)
    tree.files |= IS_BUILD
    tree.build(tmp_path)
    before = everything(tmp_path)
    assert run(tmp_path) == {}
    assert everything(tmp_path) == before


def test_the_cache_of_apt_goes_with_its_lists(tmp_path: Path) -> None:
    build(tmp_path, {"/var/cache/apt/pkgcache.bin": "x"})
    assert run(tmp_path) == {}


def test_the_records_of_the_image_stay(tmp_path: Path) -> None:
    build(tmp_path, {"/var/lib/nodebootstrap/image/containerd.sha256": "x", "/var/lib/nodebootstrap/drift.json": "{}"})
    assert run(tmp_path).keys() == {"/var/lib/nodebootstrap/drift.json"}


def test_a_rule_can_be_ignored(tmp_path: Path) -> None:
    files = {"/root/.ssh/authorized_keys": "ssh-ed25519 A", "/var/log/journal/0a/system.journal": "x", "/var/log/secure": "x"}
    build(tmp_path, {**files, "/var/tmp/core.1": "x"})
    assert run(tmp_path, ["image.authorized_keys", "image.journal", "image.core_dumps"]) == {"/var/log/secure": "image.logs"}
    assert run(tmp_path, ["image.logs"]).keys() == {"/root/.ssh/authorized_keys", "/var/log/journal/0a", "/var/tmp/core.1"}


# --- links and file systems --------------------------------------------------------------------------------------------------------------


def test_links_are_removed_and_never_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    for name in ("instance/i-1/a", "log/secure", "home/.bash_history", "deep/a"):
        (outside / name).parent.mkdir(parents=True, exist_ok=True)
        (outside / name).write_text("precious")
    root = build(tmp_path / "root", {"/var/lib/cloud/data/status.json": "{}", "/root/.ssh/id": "x", "/home/a/b": "x"})
    links = {
        "var/lib/cloud/instance": outside / "instance",
        "var/lib/cloud/data/deep": outside / "deep",
        "var/log": outside / "log",
        "home/user": outside / "home",
        "root/.ssh/authorized_keys": outside / "deep/a",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    before = everything(outside)
    assert run(root).keys() == {"/var/lib/cloud/instance", "/var/lib/cloud/data", "/root/.ssh/authorized_keys"}
    assert everything(outside) == before
    assert (root / "var/log").is_symlink()


def test_a_machine_id_that_is_a_link_is_reported(tmp_path: Path) -> None:
    outside = tmp_path / "id"
    outside.write_text("0123456789abcdef0123456789abcdef\n")
    root = build(tmp_path / "root", {"/var/log/secure": "x"})
    (root / "etc/machine-id").symlink_to(outside)
    result = seal.seal(str(root), (), (), False)
    assert [removal.path for removal in result.removed] == ["/var/log/secure"]
    assert mentions(result.problems, "/etc/machine-id")
    assert outside.stat().st_size == 33


def test_other_file_systems_are_not_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = build(tmp_path, {"/var/log/secure": "x", "/etc/resolv.conf": "nameserver 10.0.0.2\n", "/var/lib/cloud/data/a": "x"})
    kept = ("/var/log", "/etc/resolv.conf")
    rows = tuple(mounts.Mount(f"{root}{path}", "/dev/sdb", "xfs", ()) for path in kept)
    monkeypatch.setattr(mounts, "read", lambda _host: rows)
    assert run(root).keys() == {"/var/lib/cloud/data"}
    assert run(root, mount_points=["/var/log"]).keys() == {"/var/log/secure"}


def test_a_directory_with_a_mount_point_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    volume = "/var/lib/kubelet/pods/a/volumes/b"
    root = build(tmp_path, {f"{volume}/data": "precious"})
    monkeypatch.setattr(mounts, "read", lambda _host: (mounts.Mount(f"{root}{volume}", "/dev/sdb", "xfs", ()),))
    result = seal.seal(str(root), (), (), False)
    assert result.removed == [] and mentions(result.problems, volume)
    assert (root / volume.lstrip("/") / "data").read_text() == "precious"


def test_files_that_a_process_uses_stay(tmp_path: Path) -> None:
    names = ("playbook/play.yml", "socket/a", "mentioned/b", "old/c", "script.sh", "open")
    root = build(tmp_path, {f"/tmp/{name}": "x" for name in names} | {"/proc/9/cmdline": "sh\0-c\0cat </tmp/mentioned/b; exit\0"})
    process = root / "proc/9"
    (process / "fd").mkdir()
    for name, target in {"cwd": "/tmp/playbook", "exe": "/tmp/script.sh", "fd/3": "/tmp/open", "fd/4": "socket:[1]"}.items():
        (process / name).symlink_to(target)
    assert run(root).keys() == {"/tmp/old", "/tmp/socket"}


# --- refusals ----------------------------------------------------------------------------------------------------------------------------

LOG = {"/var/log/secure": "x"}
REFUSED: dict[str, dict[str, str | bytes]] = {
    "not a build": {seal.PROVENANCE: ""},
    "another file": {seal.PROVENANCE: "{}"},
    "kubelet runs": running("--node-ip=10.0.0.1"),
    "was a node": {"/etc/eks/bootstrap.sh": "", "/var/lib/kubelet/kubeconfig": SERVER + CONTEXT},
}


@pytest.mark.parametrize("files", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("is_check", [False, True])
def test_other_machines_are_refused(files: dict[str, str | bytes], is_check: bool, tmp_path: Path, golden_message: GoldenMessages) -> None:
    build(tmp_path, {**LOG, **files})
    before = everything(tmp_path)
    with pytest.raises(ApplyRefused) as refused:
        run(tmp_path, is_check=is_check)
    assert everything(tmp_path) == before
    golden_message(refused.value)


def test_a_machine_without_the_file_of_the_build_is_refused(tmp_path: Path, golden_message: GoldenMessages) -> None:
    machine(tmp_path, dict(LOG))
    with pytest.raises(ApplyRefused) as refused:
        run(tmp_path)
    golden_message(refused.value)
    assert (tmp_path / "var/log/secure").exists()


@pytest.mark.parametrize("root", ["", "relative", "/does/not/exist", __file__])
def test_the_root_is_the_absolute_path_of_a_directory(root: str) -> None:
    with pytest.raises(ApplyRefused) as refused:
        tree.real_root(root)
    assert mentions(refused.value, root)


def test_no_function_has_a_default_root() -> None:
    assert seal.seal.__defaults__ is None
