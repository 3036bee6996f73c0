# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that fit and machines that are refused."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine import preflight
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.observe import Membership
from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.plan import Cluster
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.errors import ApplyRefused
from ansible_collections.nodebootstrap.eks.plugins.module_utils._node.files import Change
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.live_plans import CLUSTER, typed_plan, unit

ENDPOINT = str(CLUSTER["endpoint"])
AL2 = {"ID": "amzn", "VERSION_ID": "2", "PRETTY_NAME": "Amazon Linux 2"}
AL2023 = {"ID": "amzn", "VERSION_ID": "2023", "PRETTY_NAME": "Amazon Linux 2023"}
UBUNTU = {"ID": "ubuntu", "VERSION_ID": "24.04", "PRETTY_NAME": "Ubuntu 24.04 LTS"}


def test_an_old_python_is_refused_with_a_fix(golden_message: GoldenMessages) -> None:
    with pytest.raises(ApplyRefused) as caught:
        preflight.check_python((3, 6, 8))
    golden_message(caught.value)
    assert mentions(caught.value.fix, "python3.8")
    preflight.check_python((3, 7, 0))


def test_only_root_and_only_with_systemd(tmp_path: Path, golden_message: GoldenMessages) -> None:
    with pytest.raises(ApplyRefused) as caught:
        preflight.check_system(uid=1000, systemd=str(tmp_path))
    golden_message(caught.value)
    with pytest.raises(ApplyRefused) as caught:
        preflight.check_system(uid=0, systemd=str(tmp_path / "none"))
    golden_message(caught.value)
    preflight.check_system(uid=0, systemd=str(tmp_path))


@pytest.mark.parametrize(("kind", "release"), [("al2", AL2), ("al2023", AL2023), ("ubuntu", UBUNTU)])
def test_the_right_machine_passes(kind: str, release: dict[str, str]) -> None:
    preflight.check_machine(typed_plan(kind), release)


@pytest.mark.parametrize(
    ("kind", "release", "found", "wanted", "fix"),
    [
        ("al2", AL2023, ["Amazon Linux 2023", "VERSION_ID=2023"], "Amazon Linux 2", "family: al2023"),
        ("al2023", AL2, ["VERSION_ID=2)"], "Amazon Linux 2023", "family: al2"),
        ("ubuntu", AL2, ["Amazon Linux 2"], "Ubuntu", "family: al2"),
        ("al2", UBUNTU, ["ID=ubuntu"], "Amazon Linux 2", "family: ubuntu"),
        ("al2", {}, ["ID=?"], "Amazon Linux 2", ""),
        ("al2", {"ID": "amzn", "VERSION_ID": "2022"}, ["VERSION_ID=2022"], "Amazon Linux 2", ""),
    ],
)
def test_the_wrong_machine_is_refused_with_both_names(
    kind: str, release: dict[str, str], found: list[str], wanted: str, fix: str, golden_message: GoldenMessages
) -> None:
    with pytest.raises(ApplyRefused) as caught:
        preflight.check_machine(typed_plan(kind), release)
    assert [word for word in found if word not in caught.value.cause] == []
    assert mentions(caught.value.cause, wanted) and mentions(caught.value.fix, fix)
    golden_message(caught.value)


def test_a_release_of_ubuntu_is_compared_where_one_is_asked_for(golden_message: GoldenMessages) -> None:
    wanted = typed_plan("ubuntu", ubuntu={"release": "22.04"})
    with pytest.raises(ApplyRefused) as caught:
        preflight.check_machine(wanted, UBUNTU)
    golden_message(caught.value)


def never() -> bool:
    raise AssertionError("no program has to be asked")


def test_a_node_whose_cluster_is_not_known_needs_take_over(golden_message: GoldenMessages) -> None:
    wanted, unknown = typed_plan("al2").cluster, Membership(None, "", "/k", "/k cannot be read")
    for cluster in (wanted, wanted._replace(endpoint="")):
        with pytest.raises(ApplyRefused) as caught:
            preflight.check_cluster(cluster, unknown, lambda: False)
        assert preflight.check_cluster(cluster, unknown, lambda: True) is True
    golden_message(caught.value)


def test_a_node_of_another_cluster_needs_take_over(golden_message: GoldenMessages) -> None:
    wanted = typed_plan("al2").cluster
    assert preflight.check_cluster(wanted, None, never) is False
    assert preflight.check_cluster(wanted, Membership(None, ENDPOINT.lower() + ":443/", "x"), never) is False
    assert preflight.check_cluster(wanted, Membership("demo", ENDPOINT, "x"), never) is False
    others = [Membership("other", ENDPOINT, "the manifest"), Membership(None, "https://other.example", "/var/lib/kubelet/kubeconfig")]
    for membership in others:
        with pytest.raises(ApplyRefused) as caught:
            preflight.check_cluster(wanted, membership, lambda: False)
        golden_message(caught.value)
        assert preflight.check_cluster(wanted, membership, lambda: True) is True


def test_for_a_removal_the_name_of_the_cluster_is_enough(golden_message: GoldenMessages) -> None:
    wanted = Cluster("demo", "")
    assert preflight.check_cluster(wanted, Membership("demo", ENDPOINT, "the manifest"), never) is False
    with pytest.raises(ApplyRefused) as caught:
        preflight.check_cluster(wanted, Membership("other", ENDPOINT, "the manifest"), lambda: False)
    golden_message(caught.value)


def test_units_that_the_image_lacks_are_named(golden_message: GoldenMessages) -> None:
    wanted = typed_plan("al2")
    units = {name: unit(name) for name in ("containerd.service", "kubelet.service", "sandbox-image.service")}
    preflight.check_units(wanted, units)
    # The plan brings this one itself.
    preflight.check_units(wanted, units | {"kubelet.service": unit("kubelet.service", load="not-found")})
    with pytest.raises(ApplyRefused) as caught:
        preflight.check_units(wanted, units | {"containerd.service": unit("containerd.service", load="not-found")})
    golden_message(caught.value)
    with pytest.raises(ApplyRefused) as caught:
        preflight.check_units(wanted, units | {"kubelet.service": unit("kubelet.service", load="masked")})
    golden_message(caught.value)


def test_a_change_that_does_not_fit_is_refused_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change = Change(str(tmp_path / "new/a"), b"x" * 5000, 0o644, 0, 0)
    real = os.statvfs(tmp_path)
    state = str(tmp_path / "state")
    preflight.check_file_systems([change], ["/nowhere/b"], state, True)

    def is_refused(word: str, access: bool = True, **fields: int) -> None:
        values = {name: getattr(real, name) for name in ("f_flag", "f_frsize", "f_bfree", "f_files", "f_ffree")} | fields
        monkeypatch.setattr(preflight.os, "statvfs", lambda path: SimpleNamespace(**values))
        monkeypatch.setattr(preflight.os, "access", lambda path, mode: access)
        with pytest.raises(ApplyRefused) as caught:
            preflight.check_file_systems([change], (), state, True)
        assert mentions(str(caught.value), str(tmp_path), word)

    is_refused("read-only", access=False, f_flag=os.ST_RDONLY)
    is_refused("chattr", access=False, f_flag=0)
    is_refused("bytes", f_frsize=4096, f_bfree=2)
    is_refused("inodes", f_files=10, f_ffree=0)
    monkeypatch.setattr(preflight.os, "statvfs", lambda path: SimpleNamespace(f_frsize=4096, f_bfree=3, f_files=0, f_ffree=0, f_flag=0))
    preflight.check_file_systems([change], (), state, False)
