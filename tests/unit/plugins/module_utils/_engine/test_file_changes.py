# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of a plan beside files of a node, what was there before us, and how all of it is removed."""

from __future__ import annotations

import hashlib
import os
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import file_changes, removal, service_commands
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.manifest import ManagedFile, Manifest, Original
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.plan import Plan, PlannedFile
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import files as _files
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import snapd
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.diff import Diff
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import ApplyRefused, Change, Current
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.live_plans import typed_plan, unit

STORE = SimpleNamespace(folder="/var/lib/nodebootstrap")


def file(path: str, content: str = "new", **fields: Any) -> PlannedFile:
    shape = PlannedFile(path, content.encode(), 0o644, "root", "root", "text", ("kubelet",), False)
    return shape._replace(**fields)


def planned(*files: PlannedFile, owned: tuple[str, ...] = ()) -> Plan:
    return typed_plan("al2")._replace(files=files, owned=owned, directories=(), steps=())


def managed(**fields: Any) -> ManagedFile:
    return ManagedFile("x", (), False, None)._replace(**fields)


def here(**contents: Any) -> Any:
    found = {path.replace("_", "/"): content for path, content in contents.items()}
    return lambda path: found.get(path) if isinstance(found.get(path), Current) else _current(found.get(path))


def _current(content: str | None, mode: int = 0o644) -> Current | None:
    return None if content is None else Current(content.encode(), mode, 0, 0)


def compare(plan: Plan, read: Any, manifest: Manifest | None = None) -> Any:
    manifest = manifest or Manifest()
    originals = file_changes.Originals(STORE, manifest)
    found = file_changes.compare(plan, manifest, originals, None, lambda path: f"label of {path}", read)
    return found.changes, found.files, originals


def test_a_file_that_is_as_planned_counts_as_ours_and_is_not_written() -> None:
    items, files, originals = compare(planned(file("/a")), here(_a="new"))
    assert items == []
    assert files["/a"] == ManagedFile(hashlib.sha256(b"new").hexdigest(), ("kubelet",), False, None)
    assert originals.changes(Manifest(files=files)) == []


def test_a_new_file_gets_a_label_and_a_replaced_one_keeps_its_own_and_its_content_is_kept() -> None:
    items, files, originals = compare(planned(file("/a"), file("/b", mode=0o600)), here(_b=Current(b"old", 0o640, 0, 7)))
    assert [item.change for item in items] == [Change("/a", b"new", 0o644, 0, 0, "label of /a"), Change("/b", b"new", 0o600, 0, 0, None)]
    assert [(item.has_effect, item.action) for item in items] == [(True, "write /a"), (True, "write /b")]
    original = files["/b"].original
    assert files["/a"].original is None and original[1:] == (0o640, 0, 7)
    assert originals.changes(Manifest(files=files)) == [Change(f"{STORE.folder}/originals/{original.kept}", b"old", 0o600)]


def test_another_mode_is_a_change_without_effect() -> None:
    [item], _files_of, _originals = compare(planned(file("/a", mode=0o600)), here(_a="new"))
    assert item.has_effect is False and item.change.mode == 0o600


def test_the_first_original_stays_the_original() -> None:
    original = Original("0" * 32, 0o644, 0, 0)
    manifest = Manifest(files={"/a": managed(original=original)})
    _items, files, originals = compare(planned(file("/a", "newer")), here(_a="ours"), manifest)
    assert files["/a"].original == original and originals.changes(Manifest(files=files)) == []


def test_files_that_left_the_plan_are_removed_or_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = managed(read_by=("containerd",))
    replaced = ours._replace(original=Original("f" * 32, 0o600, 0, 0))
    manifest = Manifest(files={"/a": ours, "/b": replaced}, owned=("/o", "/stays"))
    monkeypatch.setattr(_files, "read", here(_var_lib_nodebootstrap_originals_ffffffffffffffffffffffffffffffff="theirs"))
    items, files, originals = compare(planned(owned=("/stays",)), here(_a="ours", _b="ours", _o="x", _stays="x"), manifest)
    assert [item.action for item in items] == ["remove /a", "restore /b", "remove /o"]
    assert [item.change.content for item in items] == [None, b"theirs", None] and items[0].read_by == ("containerd",)
    assert files == {} and originals.changes(Manifest()) == [Change(f"{STORE.folder}/originals/{'f' * 32}", None)]


def test_a_lost_original_is_an_error(golden_message: GoldenMessages) -> None:
    manifest = Manifest(files={"/a": managed(original=Original("e" * 32, 0o600, 0, 0))})
    with pytest.raises(ApplyRefused) as caught:
        compare(planned(), here(_a="ours"), manifest)
    golden_message(caught.value)


def test_an_unknown_owner_is_refused(golden_message: GoldenMessages) -> None:
    with pytest.raises(ApplyRefused) as caught:
        compare(planned(file("/a", owner="unknown-user")), here())
    golden_message(caught.value)


@pytest.mark.parametrize(
    ("fields", "current", "earlier"),
    [
        ({"sensitive": True}, _current("canary"), {}),
        ({}, _current("canary", 0o600), {}),
        ({}, _current("canary"), {"/a": managed(sensitive=True)}),
    ],
    ids=["secret", "private", "was secret"],
)
def test_secrets_are_not_in_a_diff(fields: Any, current: Current, earlier: Any) -> None:
    [item], _files_of, _originals = compare(planned(file("/a", "canary new", **fields)), here(_a=current), Manifest(files=earlier))
    diff = file_changes.diff_of(item)
    assert "canary" not in str(diff) and diff.before != diff.after


def test_a_diff_says_modes_and_absence() -> None:
    [first, second], _files_of, _originals = compare(planned(file("/a"), file("/b", mode=0o755)), here(_b=Current(b"\xff", 0o644, 0, 0)))
    assert file_changes.diff_of(first) == Diff("/a (absent)", "/a (0644)", "", "new")
    assert (file_changes.diff_of(second).before, file_changes.diff_of(second).before_header) == ("(binary content)\n", "/b (0644)")


# --- absent ----------------------------------------------------------------------------------------------------------------------------


def words(commands: list[Any]) -> list[str]:
    return [service_commands.describe(command) for command in commands]


def test_absent_undoes_what_the_manifest_says(monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = Manifest(
        files={path: managed() for path in ("/etc/systemd/system/post.service", "/etc/containerd/config.toml", "/gone")},
        image={"/var/lib/kubelet/kubeconfig": None},
        owned=("/run/x",),
        kubelet="kubelet.service",
        units=("containerd.service", "kubelet.service"),
        enabled=("kubelet.service",),
        snap={"kubelet-eks": {"a": None, "b": 3, "same": "x"}},
    )
    monkeypatch.setattr(snapd, "read_settings", lambda name: {"a": "ours", "b": 4, "same": "x"})
    assert removal.units_of(manifest) == ["containerd.service", "kubelet.service", "post.service"]
    units = {name: unit(name) for name in removal.units_of(manifest)}
    texts = {
        path: "x" for path in ("/etc/systemd/system/post.service", "/etc/containerd/config.toml", "/var/lib/kubelet/kubeconfig", "/run/x")
    }
    found = removal.decide(manifest, file_changes.Originals(STORE, manifest), units, lambda path: _current(texts.get(path)))
    assert found.actions == [
        "remove /etc/containerd/config.toml",
        "remove /etc/systemd/system/post.service",
        "remove /run/x",
        "remove /var/lib/kubelet/kubeconfig",
        "reload systemd",
        "stop kubelet.service post.service",
        "disable kubelet.service",
        "set kubelet-eks: a, b",
        "restart containerd.service",
    ]
    assert words(found.forward) == [
        "systemctl stop kubelet.service post.service",
        "systemctl disable kubelet.service",
        "snap set kubelet-eks",
        "systemctl daemon-reload",
        "systemctl reset-failed containerd.service",
        "systemctl restart containerd.service",
    ]
    assert found.forward[2].argv[-2:] == ("a!", "b=3")
    assert words(found.back) == [
        "systemctl daemon-reload",
        "systemctl --quiet enable kubelet.service",
        "snap set kubelet-eks",
        "systemctl reset-failed containerd.service",
        "systemctl restart containerd.service",
        "systemctl reset-failed kubelet.service post.service",
        "systemctl restart kubelet.service post.service",
    ]


def test_folders_that_others_use_stay(tmp_path: Any) -> None:
    for name in ("ours", "ours/below", "shared"):
        os.mkdir(tmp_path / name)
    (tmp_path / "shared/theirs").touch()
    removal.remove_empty_folders([str(tmp_path / name) for name in ("ours", "ours/below", "shared", "never")])
    assert sorted(os.listdir(tmp_path)) == ["shared"]
