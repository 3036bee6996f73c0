# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of an upgrade: the two parts of the objects, versions before and after, and near misses of the rules."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import upgrade_plan
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems

PROVIDER = {"type": "CoreProvider", "name": "cluster-api", "version": "v1.14.0"}


def one(kind: str, name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "x/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def group(name: str, version: str, template: str, replicas: int | None = 1) -> dict[str, Any]:
    spec = {"version": version, "infrastructureRef": {"kind": "MachineTemplate", "name": template}}
    return one("MachineDeployment", name, **({} if replicas is None else {"replicas": replicas}), template={"spec": spec})


def plane(version: str, template: str) -> dict[str, Any]:
    reference = {"infrastructureRef": {"kind": "MachineTemplate", "name": template}}
    return one("KubeadmControlPlane", "c", version=version, replicas=1, machineTemplate={"spec": reference})


NETWORK = {"pods": {"cidrBlocks": ["10.1.0.0/16"]}}


def objects(version: str = "v1.35.2", **spec: Any) -> list[dict[str, Any]]:
    return [
        one("Cluster", "c", clusterNetwork=NETWORK, **spec),
        one("EtcdadmCluster", "c", infrastructureTemplate={"kind": "MachineTemplate", "name": "etcd"}),
        *(one("MachineTemplate", name) for name in ("t1", "t2", "etcd", "both")),
        plane(version, "t1"),
        group("c-md-0", version, "t2", None),
        group("c-md-1", version, "both"),
        one("Other", "c", ref={"kind": "MachineTemplate", "name": "both"}),
        one("MachineHealthCheck", "c-md-0"),
    ]


def live(version: str = "v1.34.1", **cluster: Any) -> dict[str, Any]:
    kept: dict[str, Any] = {"network": NETWORK, "endpoint": {}, "control_plane": {}, "infrastructure": {}, "external_etcd": False}
    return {
        "cluster": kept | cluster,
        "groups": [
            {"kind": "KubeadmControlPlane", "name": "c", "version": version, "replicas": 1, "templates": ["old"]},
            {"kind": "MachineDeployment", "name": "c-md-0", "version": version, "replicas": 7, "templates": ["t2"]},
            {"kind": "MachineDeployment", "name": "c-gone", "version": version, "replicas": 2, "templates": ["t2"]},
        ],
        "leftovers": ["MachineTemplate/n/old"],
        "providers": {"CoreProvider cluster-api": "v1.13.4"},
        "cert_manager": None,
    }


def test_workers_and_what_only_they_use_come_later() -> None:
    first = [f"{row['kind']}/{row['metadata']['name']}" for row in upgrade_plan.control_plane_part(objects())]
    assert first == ["Cluster/c", "EtcdadmCluster/c", "MachineTemplate/t1", "MachineTemplate/etcd", "MachineTemplate/both",
                     "KubeadmControlPlane/c", "Other/c"]  # fmt: skip


def test_the_plan_has_everything_that_changes_and_nothing_else() -> None:
    rows = upgrade_plan.rows(live(), objects(), [PROVIDER], "v1.20.2")
    assert {row["subject"]: (row["before"], row["after"]) for row in rows if row["changes"]} == {
        "control plane: Kubernetes": ("v1.34.1", "v1.35.2"),
        "control plane: templates": ("old", "t1"),
        "worker group c-md-0: Kubernetes": ("v1.34.1", "v1.35.2"),
        "worker group c-md-1: Kubernetes": (None, "v1.35.2"),
        "worker group c-md-1: machines": (None, 1),
        "worker group c-gone: Kubernetes": ("v1.34.1", None),
        "worker group c-gone: machines": (2, None),
        "Cluster API: CoreProvider cluster-api": ("v1.13.4", "v1.14.0"),
        "unused MachineTemplate old": ("exists", None),
    }
    assert "v1.34.1 -> v1.35.2" in upgrade_plan.page(rows) and "c-gone: machines: 2 -> none" in upgrade_plan.page(rows)


@pytest.mark.parametrize(
    ("before", "after", "is_refused"),
    [
        ("v1.34.1", "v1.34.1", False),
        ("v1.34.1", "v1.34.9", False),
        ("v1.34.9", "v1.35.0", False),
        ("v1.9.0", "v1.10.0", False),
        ("v1.34.1", "v1.36.0", True),
        ("v1.34.1", "v1.34.0", True),
        ("v1.34.1", "v1.33.9", True),
        ("v1.34.1", "v2.0.0", True),
    ],
)
def test_versions_go_on_by_at_most_one_minor(before: str, after: str, is_refused: bool) -> None:
    problems = Problems()
    upgrade_plan.check(live(before), objects(after), [PROVIDER], "v1.20.2", problems)
    assert {problem.rule for problem in problems} == ({"anywhere.upgrade_version"} if is_refused else set())


@pytest.mark.parametrize(
    ("cluster", "spec", "path"),
    [
        ({}, {}, None),
        # What the file does not say stays as the provider has chosen it.
        ({"endpoint": {"host": "10.0.0.1"}}, {}, None),
        ({"network": {**NETWORK, "serviceDomain": "cluster.local"}}, {}, None),
        ({"endpoint": {"host": "10.0.0.1"}}, {"controlPlaneEndpoint": {"host": "10.0.0.2"}}, "controlPlaneEndpoint.host"),
        ({"network": {"pods": {"cidrBlocks": ["10.2.0.0/16"]}}}, {}, "clusterNetwork.pods.cidrBlocks"),
        ({"external_etcd": True}, {}, "externalEtcdConfiguration"),
        ({}, {"managedExternalEtcdRef": {"name": "c"}}, "externalEtcdConfiguration"),
        ({"infrastructure": {"kind": "A", "name": "c"}}, {"infrastructureRef": {"kind": "B", "name": "c"}}, "infrastructureRef"),
    ],
)
def test_what_a_cluster_keeps_cannot_be_changed(cluster: dict[str, Any], spec: dict[str, Any], path: str | None) -> None:
    problems = Problems()
    upgrade_plan.check(live(**cluster), objects(**spec), [PROVIDER], "v1.20.2", problems)
    expected = [] if path is None else [f"anywhere.upgrade_immutable Cluster/c.{path}"]
    assert [f"{problem.rule} {problem.path}" for problem in problems] == expected
