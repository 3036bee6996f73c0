# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every rule of image_verify finds its planted defect and nothing else; clean images, nodes and near misses have no findings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._image import model, verify
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.host import FreeSpace, Host
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils._image.clean_trees import FAMILIES, SYSCTL, clean
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils._image.defects import DEFECTS, MIB, NEAR_MISSES, Change
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.host_files import running

Programs = Callable[[str, str], Path]

# systemd of a node whose kubelet runs as process 7, and of a machine that is not a node.
KUBELET_RUNS = "printf 'LoadState=not-found\\n\\nLoadState=loaded\\nActiveState=active\\nMainPID=7\\n'\n"
NOT_A_NODE = "printf 'LoadState=not-found\\n\\nLoadState=not-found\\n'\n"


def check(change: Change, root: Path, programs: Programs, patch: pytest.MonkeyPatch) -> verify.Verification:
    tree = clean(change.family, change.profile)
    change.apply(tree)
    programs("matchpathcon", f"echo '{change.selinux}'\n")
    programs("systemctl", NOT_A_NODE)
    space = FreeSpace(change.free_mib * MIB, 20_000 * MIB, 1000, 1000)
    patch.setattr(Host, "free_space", lambda _host, _path: space)
    return verify.verify(tree.build(root / "root"), change.profile, change.version)


@pytest.mark.parametrize("change", DEFECTS, ids=lambda change: change.id)
def test_a_planted_defect_is_found(
    change: Change, tmp_path: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch, golden_message: GoldenMessages
) -> None:
    found = check(change, tmp_path, programs, monkeypatch)
    assert {finding["rule"] for finding in found.findings} == {change.rule}
    lines = [f"{one['severity']} {one['path']}: {one['message']}; {one['fix']} [{one['rule']}]" for one in found.findings]
    assert not any("\n" in line or one["fix"].endswith(".") for line, one in zip(lines, found.findings, strict=True))
    golden_message("\n".join(lines))


@pytest.mark.parametrize("change", NEAR_MISSES, ids=lambda change: change.id)
def test_a_near_miss_is_not_found(change: Change, tmp_path: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check(change, tmp_path, programs, monkeypatch).findings == []


@pytest.mark.parametrize("profile", model.PROFILES)
@pytest.mark.parametrize("system", FAMILIES)
def test_a_clean_machine_has_no_findings(
    system: str, profile: str, tmp_path: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = check(Change("", system, profile=profile), tmp_path, programs, monkeypatch)
    assert (found.findings, found.problems, found.family) == ([], [], FAMILIES[system])


def test_a_running_kubelet_says_what_it_requires(tmp_path: Path, programs: Programs) -> None:
    tree = clean("ubuntu", "live")
    tree.files |= {"/proc/sys/kernel/panic": "0\n", **running("--protect-kernel-defaults")}
    programs("systemctl", KUBELET_RUNS)
    found = verify.verify(tree.build(tmp_path / "root"), "live", ignore=["image.disk_space"])
    assert [(one["rule"], one["path"]) for one in found.findings] == [("image.kernel_defaults", "/proc/sys/kernel/panic")]


def test_ignored_rules_are_not_checked(tmp_path: Path, programs: Programs) -> None:
    programs("systemctl", NOT_A_NODE)
    tree = clean("al2023")
    tree.files[SYSCTL] = "net.ipv4.ip_forward=0\n"
    ignored = ["image.kernel_defaults", "image.ip_forward", "image.disk_space"]
    found = verify.verify(tree.build(tmp_path / "root"), "image", ignore=ignored)
    assert found.findings == [] and not set(ignored) & set(found.rules)
    assert [text.split()[0] for text in verify.unknown_rules([*ignored, "image.nothing"])] == ["image.nothing"]


def test_rules_of_leftovers_are_for_images() -> None:
    only_images = {rule.id for rule in verify.RULES if rule.profiles == (model.IMAGE,)}
    assert {"image.machine_id", "image.host_keys", "image.kubelet_state", "image.logs", "image.shell_history"} <= only_images
    assert not {"image.kernel_defaults", "image.missing_kubelet", "image.noexec"} & only_images


def test_an_error_in_a_rule_does_not_hide_the_others(tmp_path: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_machine: model.Machine) -> Any:
        raise ValueError("broken")

    broken = model.Rule("image.broken", model.ERROR, fail)
    monkeypatch.setattr(verify, "RULES", (broken, *verify.RULES))
    tree = clean("al2023")
    tree.files["/etc/cloud/cloud-init.disabled"] = ""
    found = verify.verify(tree.build(tmp_path / "root"), "image", ignore=["image.disk_space"])
    assert [one["rule"] for one in found.findings] == ["image.cloud_init_off"]
    assert mentions(found.problems, "image.broken", "ValueError")


def test_errors_come_first(tmp_path: Path) -> None:
    tree = clean("al2023")
    tree.files |= {"/var/lib/dnf/history.sqlite": "x", "/etc/cloud/cloud-init.disabled": ""}
    found = verify.verify(tree.build(tmp_path / "root"), "image", ignore=["image.disk_space"])
    assert [one["severity"] for one in found.findings] == ["error", "warning"]
