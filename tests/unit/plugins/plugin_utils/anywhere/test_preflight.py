# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight checks: every check with what makes it fail or warn, and with what does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.nodebootstrap.eks.plugins.doc_fragments.anywhere import ModuleDocFragment
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import cluster_file, preflight, preflight_network
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.check import CAPI, EKSCTL, FAILED, OK, SKIPPED, WARNING, Wanted
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import admin_machines, clusters
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.admin_machines import GIB, container

MIRROR = ("Cluster", "spec.registryMirrorConfiguration", {"endpoint": "registry.lan", "port": "5000", "caCertContent": clusters.CA})
PROXY = (
    "Cluster",
    "spec.proxyConfiguration",
    {"httpProxy": "http://proxy.lan:3128", "httpsProxy": "http://proxy.lan:3129", "noProxy": ["10.0.0.0/8"]},
)


def wanted(provider: str = "docker", engine: str = CAPI, *changes: clusters.Change, **more: Any) -> Wanted:
    cluster, found = cluster_file.read_cluster("dev.yaml", lambda _path, _option: clusters.file(provider, *changes))
    return Wanted(cluster, engine, "/srv/eks", cluster_file.boot_address(found), **more)


def results(want: Wanted, *changes: tuple[str, Any], skip: tuple[str, ...] = ()) -> dict[str, str]:
    return {one.name: one.result for one in preflight.check_all(admin_machines.facts(*changes), want, skip)}


@pytest.mark.parametrize("provider", clusters.PROVIDERS)
@pytest.mark.parametrize("engine", [CAPI, EKSCTL])
def test_a_healthy_machine_has_no_finding(provider: str, engine: str) -> None:
    found = results(wanted(provider, engine))
    assert not {name: result for name, result in found.items() if result in (FAILED, WARNING)}
    assert list(found) == [name for name in preflight.NAMES if name in found]
    assert len(found) >= 18


ROWS: list[tuple[str, str, list[tuple[str, Any]], list[tuple[str, Any]]]] = [
    ("tool_kind", FAILED, [("tools.kind.version", "0.26.9")], [("tools.kind.version", "0.27.0")]),
    ("tool_clusterctl", FAILED, [("tools.clusterctl.path", None)], [("tools.clusterctl.version", "1.13.0")]),
    ("tool_docker", WARNING, [("tools.docker.version", None)], [("tools.docker.version", "20.10.0")]),
    ("tool_kubectl", WARNING, [("tools.kubectl.version", "1.36.0")], [("tools.kubectl.version", "1.35.9")]),
    ("tool_helm", FAILED, [("tools.helm.version", "3.7.9")], [("tools.helm.version", "3.8.0")]),
    ("docker_daemon", FAILED, [("docker.problem", "Cannot connect to the Docker daemon")], []),
    ("docker_memory", WARNING, [("docker.memory", 6_199_999_999)], [("docker.memory", 6_200_000_000)]),
    ("memory", FAILED, [("memory.available", 4 * GIB - 1)], [("memory.available", 4 * GIB)]),
    ("memory", WARNING, [("memory", {})], []),
    ("disk_docker", FAILED, [("disks.docker.free_bytes", 10 * GIB - 1)], []),
    ("disk_docker", WARNING, [("disks.docker.free_bytes", 30 * GIB - 1)], [("disks.docker.free_bytes", 30 * GIB)]),
    ("disk_docker", FAILED, [("disks.docker.free_inodes", 49)], [("disks.docker.free_inodes", 50)]),
    ("disk_docker", WARNING, [("disks.docker", None)], [("disks.docker.inodes", 0)]),
    ("disk_work_dir", FAILED, [("disks.work_dir.free_bytes", GIB - 1)], [("disks.work_dir.free_bytes", GIB)]),
    ("inotify", FAILED, [("inotify.max_user_instances", 255)], [("inotify.max_user_instances", 513)]),
    ("inotify", FAILED, [("inotify.max_user_watches", 65535)], []),
    ("inotify", WARNING, [("inotify.max_user_instances", 256), ("inotify.max_user_watches", 65536)], []),
    ("inotify", WARNING, [("inotify.max_user_watches", None)], []),
    ("cgroup", WARNING, [("docker.cgroup_version", 1)], [("cgroup_version", 1)]),
    ("clock", FAILED, [("clock_synchronized", False)], []),
    ("clock", WARNING, [("clock_synchronized", None)], []),
    ("cluster_name", WARNING, [("containers", [container("dev-md-0", "dev")])], [("containers", [container("dev")])]),
    (
        "bootstrap_cluster",
        WARNING,
        [("containers", [container("x", "dev-eks-a-cluster")])],
        [("containers", [container("x", "dev-eks-a")])],
    ),
    ("other_clusters", WARNING, [("containers", [container("x", "dev-2")])], [("containers", [container("x", "dev")])]),
    ("tools_containers", WARNING, [("containers", [container("eksa_17")])], [("containers", [container("eksa_web")])]),
    ("kubeconfig", WARNING, [("files", {"dev/dev-eks-a-cluster.kubeconfig": 9})], [("files", {"dev/dev-eks-a-cluster.kubeconfig": 0})]),
    ("registries", FAILED, [("registries.0.problem", "timed out"), ("registries.0.kind", "silent")], []),
    ("registries", SKIPPED, [("registries", [])], []),
]


@pytest.mark.parametrize(
    ("name", "result", "changes", "near_miss"), ROWS, ids=[f"{row[0]}-{row[1]}-{index}" for index, row in enumerate(ROWS)]
)
def test_a_check_finds_its_problem_alone(
    name: str, result: str, changes: list[tuple[str, Any]], near_miss: list[tuple[str, Any]], golden_message: GoldenMessages
) -> None:
    checks = preflight.check_all(admin_machines.facts(*changes), wanted(), ())
    (found,) = [one for one in checks if one.name == name]
    assert found.result == result
    golden_message(f"{found.name}: {found.result}: {found.found}\n  {found.cure}")
    assert results(wanted(), *near_miss)[name] == OK


def test_every_check_has_a_row() -> None:
    # eksctl, ports and addresses need another cluster: see below.
    assert {*preflight.NAMES} - {row[0] for row in ROWS} == {"tool_eksctl", "tool_eksctl_anywhere", "ports", "addresses"}


def test_a_user_outside_of_the_docker_group_is_told_to_join_it(golden_message: GoldenMessages) -> None:
    changes = [("docker.problem", "permission denied while trying to connect"), ("user.in_docker_group", False)]
    checks = preflight.check_all(admin_machines.facts(*changes), wanted(), ())
    (found,) = [one for one in checks if one.name == "docker_daemon"]
    golden_message(f"{found.found}\n{found.cure}")
    # Without Docker, its containers and memory are unknown. They are not reported as fine.
    names = {"docker_memory", "cluster_name", "bootstrap_cluster", "other_clusters", "tools_containers"}
    assert {one.name for one in checks if one.result == SKIPPED and "Docker" in one.found} == names


def test_bare_metal_needs_its_ports_and_both_addresses() -> None:
    want = wanted("tinkerbell", EKSCTL, ports=(9000,))
    assert preflight_network.ports(want) == (80, 9000, 42113, 50061)
    assert preflight.request(want, ())["addresses"] == ["10.0.0.10", "10.0.0.11"]
    assert results(want, ("listening_ports", [22, 80]))["ports"] == FAILED
    assert results(want, ("listening_ports", [22, 8080]))["ports"] == OK
    assert results(want, ("addresses", {"10.0.0.10": 6443}))["addresses"] == FAILED
    assert results(wanted("docker"), ("addresses", {}))["addresses"] == results(wanted("docker"))["ports"] == SKIPPED


def test_eksctl_refuses_what_the_engine_capi_continues() -> None:
    want = wanted("docker", EKSCTL)
    changes: list[tuple[str, Any]] = [
        ("containers", [container("x", "dev-eks-a-cluster"), container("y", "dev")]),
        ("files", {"dev/dev-eks-a-cluster.kubeconfig": 9}),
    ]
    found = results(want, *changes)
    assert {name for name, result in found.items() if result == FAILED} == {"cluster_name", "bootstrap_cluster", "kubeconfig"}
    assert results(want, ("tools.eksctl-anywhere.path", None))["tool_eksctl_anywhere"] == FAILED
    assert "tool_kind" not in found


@pytest.mark.parametrize("is_continued", [None, False, True])
def test_what_a_run_made_is_refused_for_another_one_only(is_continued: bool | None) -> None:
    changes: list[tuple[str, Any]] = [
        ("containers", [container("x", "dev-eks-a-cluster"), container("y", "dev")]),
        ("files", {"dev/dev-eks-a-cluster.kubeconfig": 9}),
        ("memory.available", 1),
        ("disks.docker.free_bytes", GIB),
    ]
    found = results(wanted(is_continued=is_continued, ports=(22,)), *changes)
    machine = {"memory", "disk_docker", "ports"}
    expected = {None: machine, False: {*machine, "cluster_name", "bootstrap_cluster"}, True: set()}
    assert {name for name, result in found.items() if result == FAILED} == expected[is_continued]
    # A disk that is full stops a run that continues, too.
    assert results(wanted(is_continued=True), ("disks.docker.free_bytes", GIB - 1))["disk_docker"] == FAILED
    bare_metal = wanted("tinkerbell", is_continued=is_continued)
    assert results(bare_metal, ("addresses", {"10.0.0.10": 6443}))["addresses"] == (SKIPPED if is_continued else FAILED)


def test_helm_is_needed_for_packages_only_if_they_are_known() -> None:
    missing = ("tools.helm.path", None)
    assert [results(wanted(has_packages=known), missing)["tool_helm"] for known in (None, False, True)] == [FAILED, SKIPPED, FAILED]


def test_limits_of_inotify_only_warn_if_machines_are_elsewhere() -> None:
    assert results(wanted("vsphere"), ("inotify.max_user_instances", 128))["inotify"] == WARNING


def test_registries_are_those_of_the_cluster() -> None:
    def hosts(want: Wanted) -> list[dict[str, Any]]:
        return list(preflight.request(want, ())["registries"])

    assert [row["host"] for row in hosts(wanted())] == ["registry-1.docker.io", "quay.io", "registry.k8s.io"]
    assert [row["host"] for row in hosts(wanted(engine=EKSCTL))] == ["public.ecr.aws"]
    assert hosts(wanted("docker", CAPI, MIRROR)) == [{"host": "registry.lan:5000", "verify": True, "ca_cert": clusters.CA}]
    proxied = {"proxy": "http://proxy.lan:3129", "no_proxy": "10.0.0.0/8"}
    assert hosts(wanted("docker", EKSCTL, PROXY)) == [{"host": "public.ecr.aws", **proxied}]
    assert hosts(wanted(registries=())) == []
    assert hosts(wanted(registries=("a.lan",))) == [{"host": "a.lan"}]


@pytest.mark.parametrize("name", preflight.NAMES)
def test_every_check_can_be_skipped_by_name(name: str) -> None:
    want = wanted("tinkerbell", EKSCTL if "eksctl" in name else CAPI)
    broken = [("clock_synchronized", False), ("docker.problem", "no"), ("registries.0.problem", "no"), ("addresses.10.0.0.10", 22)][:3]
    assert results(want, *broken, skip=(name,))[name] == SKIPPED


def test_a_skipped_check_makes_no_connection() -> None:
    request = preflight.request(wanted("tinkerbell"), ("addresses", "registries"))
    assert request["addresses"] == request["registries"] == []


@pytest.mark.parametrize("kind", ["authority", "proxy", "dns"])
def test_the_cure_of_a_registry_depends_on_its_problem(kind: str, golden_message: GoldenMessages) -> None:
    changes = [("registries.0.problem", "no connection"), ("registries.0.kind", kind)]
    (found,) = [one for one in preflight.check_all(admin_machines.facts(*changes), wanted(), ()) if one.name == "registries"]
    golden_message(found.cure)


def test_the_report_shows_all_checks_and_the_worst_cure_first(golden_message: GoldenMessages) -> None:
    changes = [("cgroup_version", 1), ("docker.cgroup_version", 1), ("tools.helm.path", None)]
    golden_message(preflight.report(preflight.check_all(admin_machines.facts(*changes), wanted(), ("clock",))))


def test_a_file_with_errors_is_refused_with_all_of_them() -> None:
    changes = (("Cluster", "metadata.name", "x" * 40), ("Cluster", "spec.controlPlaneConfiguration.count", 2))
    with pytest.raises(SpecError) as caught:
        wanted("docker", CAPI, *changes)
    assert {problem.rule for problem in caught.value.problems} >= {"anywhere.name_too_long", "anywhere.replicas"}


def test_the_documentation_lists_every_check() -> None:
    top = Path(__file__).resolve().parents[5]
    page = (top / "docs/eks-anywhere.md").read_text(encoding="utf-8")
    assert [name for name in preflight.NAMES if f"`{name}`" not in page] == []
    options = yaml.safe_load(ModuleDocFragment.CHECKS)["options"]
    assert options["skip_checks"]["choices"] == list(preflight.NAMES)
