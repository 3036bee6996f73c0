# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of an admin machine: what is done on each system, and what is refused before anything is done."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.admin_plan import admin_plan
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import problems_of

SUM = "0f5ab4b1b1a6e3b3b7e8a2d1f4c5968778695a4b3c2d1e0f0f1e2d3c4b5a6978"
KIND = {"name": "kind", "version": "0.33.0", "sha256": SUM, "url": "https://example.com/kind"}
HELM = {"name": "helm", "version": "v4.2.0", "sha256": SUM.upper(), "path": "helm.tar.gz", "member": "linux-amd64/helm"}
CORE = {"name": "cluster-api", "version": "v1.13.4", "components": "core.yaml", "metadata": "metadata.yaml"}
MACHINE: dict[str, Any] = {
    "docker": "install",
    "user": "admin",
    "work_dir": "~/eks-anywhere",
    "tools_dir": "/usr/local/bin",
    "tools": [KIND, HELM],
    "repository": "/srv/providers",
    "providers": [CORE, {"name": "cert-manager", "version": "v1.20.2", "components": "cert-manager.yaml"}],
}
UBUNTU = {
    "id": "ubuntu",
    "version_id": "24.04",
    "inotify": {"max_user_watches": 8192, "max_user_instances": 128},
}


def machine(**changes: Any) -> dict[str, Any]:
    """The description with other values. None removes a field."""
    return {name: value for name, value in (copy.deepcopy(MACHINE) | changes).items() if value is not None}


def system(**changes: Any) -> dict[str, Any]:
    """A machine with Ubuntu, with other values."""
    return UBUNTU | changes


def test_a_whole_plan() -> None:
    plan = admin_plan(machine(), system())
    assert plan["directories"] == [
        {"path": "~admin/eks-anywhere", "mode": "0700", "owner": "admin"},
        {"path": "/srv/providers", "mode": "0755", "owner": "admin"},
        {"path": "/srv/providers/cluster-api", "mode": "0755", "owner": "admin"},
        {"path": "/srv/providers/cluster-api/v1.13.4", "mode": "0755", "owner": "admin"},
        {"path": "/srv/providers/cert-manager", "mode": "0755", "owner": "admin"},
        {"path": "/srv/providers/cert-manager/v1.20.2", "mode": "0755", "owner": "admin"},
    ]
    assert {one["path"]: one["source"] for one in plan["files"]} == {
        "/srv/providers/cluster-api/v1.13.4/core-components.yaml": "core.yaml",
        "/srv/providers/cluster-api/v1.13.4/metadata.yaml": "metadata.yaml",
        "/srv/providers/cert-manager/v1.20.2/cert-manager.yaml": "cert-manager.yaml",
    }
    assert plan["tools"] == [KIND, HELM | {"version": "4.2.0", "sha256": SUM}]
    assert (plan["user"], plan["groups"], plan["tools_dir"]) == ("admin", ["docker"], "/usr/local/bin")


@pytest.mark.parametrize(
    ("name", "version", "manager", "package"),
    [
        ("ubuntu", "24.04", "ubuntu", "docker.io"),
        ("debian", "12", "ubuntu", "docker.io"),
        ("amzn", "2023", "al2023", "docker"),
        ("amzn", "2", "al2", "docker"),
        ("fedora", "43", "al2023", "moby-engine"),
    ],
)
def test_docker_of_each_system(name: str, version: str, manager: str, package: str) -> None:
    plan = admin_plan(machine(), system(id=name, version_id=version))
    assert (plan["package_family"], plan["packages"], plan["docker_service"]) == (manager, [package], "docker.service")
    assert not plan["checks_docker"]


@pytest.mark.parametrize("name", ["rhel", "rocky", "almalinux", "centos", "ol"])
def test_red_hat_needs_the_names_of_packages(name: str) -> None:
    facts = system(id=name, version_id="9.6")
    assert problems_of(admin_plan, machine(), facts) == [("anywhere.admin_machine", "admin_machine.docker")]
    plan = admin_plan(machine(docker_packages=["docker-ce", "containerd.io"]), facts)
    assert (plan["package_family"], plan["packages"]) == ("al2023", ["docker-ce", "containerd.io"])


def test_an_unknown_system_can_only_have_its_own_docker() -> None:
    facts = system(id="sles")
    assert problems_of(admin_plan, machine(), facts) == [("anywhere.admin_machine", "admin_machine.docker")]
    assert problems_of(admin_plan, machine(docker_packages=["docker"]), facts) == [("anywhere.admin_machine", "admin_machine.docker")]
    plan = admin_plan(machine(docker="check"), facts)
    assert (plan["packages"], plan["docker_service"], plan["checks_docker"]) == ([], None, True)


def test_higher_limits_are_kept() -> None:
    facts = system(inotify={"max_user_watches": 1048576, "max_user_instances": 128})
    found = admin_plan(machine(), facts)["sysctl"]
    assert found["limits"] == {"max_user_watches": 1048576, "max_user_instances": 512}
    assert found["content"].splitlines()[1:] == ["fs.inotify.max_user_watches = 1048576", "fs.inotify.max_user_instances = 512"]
    # The second run reads what the first one set.
    assert admin_plan(machine(), system(inotify=found["limits"]))["sysctl"] == found


def test_own_limits_may_be_text_of_a_template() -> None:
    found = admin_plan(machine(inotify={"max_user_instances": "1024"}), system())["sysctl"]
    assert "fs.inotify.max_user_instances = 1024\n" in found["content"]


def test_root_needs_no_group() -> None:
    plan = admin_plan(machine(user=None), system())
    assert (plan["user"], plan["groups"], plan["directories"][0]["path"]) == ("root", [], "~root/eks-anywhere")


def test_a_provider_of_your_own_has_the_name_of_clusterctl() -> None:
    rows = [CORE | {"name": name} for name in ("infrastructure-vsphere", "bootstrap-etcdadm", "infrastructure-docker")]
    files = [one["path"] for one in admin_plan(machine(providers=rows), system())["files"] if "metadata" not in one["path"]]
    assert files == [
        "/srv/providers/infrastructure-vsphere/v1.13.4/infrastructure-components.yaml",
        "/srv/providers/bootstrap-etcdadm/v1.13.4/bootstrap-components.yaml",
        "/srv/providers/infrastructure-docker/v1.13.4/infrastructure-components-development.yaml",
    ]


A, CHECKED, TOOL, PROVIDER = "anywhere.admin_machine", "admin_machine", "admin_machine.tools[0]", "admin_machine.providers[0]"
BAD: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
    ({"doker": "install"}, [("input.unknown_field", "admin_machine.doker")]),
    ({"docker": "installed"}, [("input.unknown_value", "admin_machine.docker")]),
    ({"docker_packages": ["docker.io; reboot"]}, [(A, "admin_machine.docker_packages[0]")]),
    ({"docker_packages": ["-y"]}, [(A, "admin_machine.docker_packages[0]")]),
    ({"docker": "check", "docker_packages": ["docker-ce"]}, [("input.conflict", "admin_machine.docker_packages")]),
    ({"user": "Admin User"}, [(A, "admin_machine.user")]),
    ({"user": "../root"}, [(A, "admin_machine.user")]),
    ({"work_dir": "eks"}, [(A, "admin_machine.work_dir")]),
    ({"work_dir": "/"}, [(A, "admin_machine.work_dir")]),
    ({"work_dir": "~/../x"}, [(A, "admin_machine.work_dir")]),
    ({"work_dir": "~bob/eks"}, [(A, "admin_machine.work_dir")]),
    ({"work_dir": "/srv/a\nb"}, [(A, "admin_machine.work_dir")]),
    ({"work_dir": ""}, [("input.missing_field", "admin_machine.work_dir")]),
    ({"tools_dir": None}, [("input.missing_field", "admin_machine.tools_dir")]),
    ({"inotify": {"max_user_watches": -1}}, [("input.out_of_range", "admin_machine.inotify.max_user_watches")]),
    ({"inotify": {"max_user_watches": "many"}}, [("input.out_of_range", "admin_machine.inotify.max_user_watches")]),
    ({"inotify": {"max_user_watches": 2**31}}, [("input.out_of_range", "admin_machine.inotify.max_user_watches")]),
    ({"inotify": {"watches": 1}}, [("input.unknown_field", "admin_machine.inotify.watches")]),
    ({"tools": [KIND | {"name": "knid"}]}, [(A, f"{TOOL}.name")]),
    ({"tools": [KIND | {"name": "docker"}]}, [(A, f"{TOOL}.name")]),
    ({"tools": [KIND, KIND]}, [(A, "admin_machine.tools[1].name")]),
    ({"tools": [KIND | {"version": "0.33"}]}, [(A, f"{TOOL}.version")]),
    ({"tools": [KIND | {"version": "latest"}]}, [(A, f"{TOOL}.version")]),
    ({"tools": [KIND | {"version": "0.20.0"}]}, [(A, f"{TOOL}.version")]),
    ({"tools": [KIND | {"sha256": SUM[:-1]}]}, [(A, f"{TOOL}.sha256")]),
    ({"tools": [KIND | {"sha256": "g" * 64}]}, [(A, f"{TOOL}.sha256")]),
    ({"tools": [{"name": "kind", "version": "0.33.0", "url": "https://example.com/kind"}]}, [("input.missing_field", f"{TOOL}.sha256")]),
    ({"tools": [KIND | {"path": "kind"}]}, [("input.conflict", f"{TOOL}.path")]),
    ({"tools": [KIND | {"url": None}]}, [("input.missing_field", f"{TOOL}.url")]),
    ({"tools": [KIND | {"url": "example.com/kind"}]}, [("anywhere.url", f"{TOOL}.url")]),
    ({"tools": [KIND | {"url": "ftp://example.com/kind"}]}, [("anywhere.url", f"{TOOL}.url")]),
    ({"tools": [KIND | {"url": "https://me:word@example.com/kind"}]}, [("anywhere.url", f"{TOOL}.url")]),
    ({"tools": [KIND | {"url": "https://example.com/kind?X-Amz-Signature=1"}]}, [("anywhere.url", f"{TOOL}.url")]),
    ({"tools": [KIND | {"url": "https://[example.com/kind"}]}, [("anywhere.url", f"{TOOL}.url")]),
    ({"tools": [KIND | {"member": "x/kind"}]}, [("input.conflict", f"{TOOL}.member")]),
    ({"tools": [KIND | {"url": "https://example.com/kind.zip"}]}, [(A, f"{TOOL}.url")]),
    ({"providers": [CORE | {"version": "1.13.4"}]}, [(A, f"{PROVIDER}.version")]),
    ({"providers": [CORE | {"version": "v1/../.."}]}, [(A, f"{PROVIDER}.version")]),
    ({"providers": [CORE | {"name": "capi"}]}, [(A, f"{PROVIDER}.name")]),
    ({"providers": [CORE | {"name": "infrastructure-../x"}]}, [(A, f"{PROVIDER}.name")]),
    ({"providers": [CORE, CORE]}, [(A, "admin_machine.providers[1]")]),
    ({"providers": [CORE | {"metadata": None}]}, [("input.missing_field", f"{PROVIDER}.metadata")]),
    ({"providers": [CORE | {"name": "cert-manager"}]}, [(A, f"{PROVIDER}.metadata")]),
    ({"providers": [CORE | {"components": ""}]}, [("input.missing_field", f"{PROVIDER}.components")]),
    ({"repository": None}, [("input.missing_field", "admin_machine.repository")]),
]


@pytest.mark.parametrize(("changes", "expected"), BAD, ids=[str(sorted(changes.items()))[:60] for changes, _expected in BAD])
def test_bad_input_is_refused(changes: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert problems_of(admin_plan, machine(**changes), system()) == expected


def test_all_problems_are_reported_at_once() -> None:
    found = problems_of(admin_plan, machine(user="A", work_dir="x", tools=[KIND | {"sha256": "1", "version": "2"}]), system(id="sles"))
    assert sorted(path for _rule, path in found) == sorted([
        "admin_machine.docker", f"{TOOL}.sha256", f"{TOOL}.version", "admin_machine.user", "admin_machine.work_dir"
    ])  # fmt: skip


@pytest.mark.parametrize("junk", [None, 1, "x", [], [1], {"tools": 1}, {"tools": [1]}, {"providers": [[]]}, {"inotify": []}, {"user": []}])
def test_any_value_is_reported_and_never_raised(junk: Any) -> None:
    assert problems_of(admin_plan, junk, system())
    assert problems_of(admin_plan, machine(), junk)
    if isinstance(junk, dict):
        assert problems_of(admin_plan, machine(**junk), system())


def test_a_password_is_not_repeated() -> None:
    with pytest.raises(SpecError) as caught:
        admin_plan(machine(tools=[KIND | {"url": "https://me:hunter2@example.com/kind"}]), system())
    assert "hunter2" not in str(caught.value)
