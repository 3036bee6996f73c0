# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The manifests of the user: what fits the file of the cluster is accepted, and every difference is told with both places."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import clusterctl_config, engine, user_manifests
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.capi_machines import CapiOptions
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.model import Cluster
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.validate import validate
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problem, Problems
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import vsphere_manifests as vsphere
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.clusters import DELETE, Change

PLANE = "manifests[0][KubeadmControlPlane/dev]"
WORKERS = "manifests[0][MachineDeployment/dev-md-0]"
CLUSTER = "manifests[0][Cluster/dev]"
INFRA = "manifests[0][VSphereCluster/dev]"


def cluster(text: str) -> Cluster:
    found = validate(text)
    assert not found.errors and found.cluster, found.errors
    return found.cluster


def problems_of(*changes: Change, file: str | None = None) -> list[Problem]:
    problems = Problems()
    found = user_manifests.read([vsphere.text(*changes)], problems)
    user_manifests.check(found, cluster(file or vsphere.cluster_file()), problems)
    return list(problems)


def test_manifests_that_fit_are_accepted_and_applied_with_their_namespace() -> None:
    assert problems_of() == []
    found = user_manifests.read([vsphere.text()], Problems())
    first, *others = user_manifests.objects(found)
    assert (first["kind"], first["metadata"]["name"]) == ("Namespace", "eksa-system")
    assert others == vsphere.objects()


@pytest.mark.parametrize(
    ("change", "path", "other"),
    [
        (("Cluster", "metadata.name", "other"), "manifests[0][Cluster/other].metadata.name", "Cluster/dev.metadata.name"),
        (("Cluster", "metadata.namespace", "default"), f"{CLUSTER}.metadata.namespace", "eksa-system"),
        (("Cluster", "spec.clusterNetwork.pods.cidrBlocks", ["10.0.0.0/16"]), f"{CLUSTER}.spec.clusterNetwork.pods.cidrBlocks", "pods"),
        (("Cluster", "spec.clusterNetwork.services", DELETE), f"{CLUSTER}.spec.clusterNetwork.services.cidrBlocks", "services"),
        (("VSphereCluster", "spec.controlPlaneEndpoint.host", "10.0.0.9"), f"{INFRA}.spec.controlPlaneEndpoint.host", "endpoint.host"),
        (("VSphereCluster", "spec.controlPlaneEndpoint", DELETE), f"{INFRA}.spec.controlPlaneEndpoint.host", "endpoint.host"),
        (("KubeadmControlPlane", "spec.replicas", 1), f"{PLANE}.spec.replicas", "controlPlaneConfiguration.count"),
        (("KubeadmControlPlane", "spec.version", "v1.33.1"), f"{PLANE}.spec.version", "kubernetesVersion"),
        (("KubeadmControlPlane", "spec.version", "v1.340.1"), f"{PLANE}.spec.version", "kubernetesVersion"),
        (("MachineDeployment", "spec.replicas", 3), f"{WORKERS}.spec.replicas", "workerNodeGroupConfigurations[0].count"),
        (("MachineDeployment", "spec.template.spec.version", DELETE), f"{WORKERS}.spec.template.spec.version", "kubernetesVersion"),
        (("MachineDeployment", "spec.clusterName", "x"), f"{WORKERS}.spec.clusterName", "metadata.name"),
        (("Cluster", "spec.controlPlaneRef.name", "x"), f"{CLUSTER}.spec.controlPlaneRef", "KubeadmControlPlane/x"),
        (
            ("KubeadmControlPlane", "spec.kubeadmConfigSpec.clusterConfiguration.etcd.external", {"endpoints": []}),
            f"{PLANE}.spec.kubeadmConfigSpec.clusterConfiguration.etcd.external",
            "externalEtcdConfiguration",
        ),
    ],
)
def test_every_difference_is_a_problem_with_both_places(change: Change, path: str, other: str) -> None:
    (problem,) = problems_of(change)
    assert (problem.rule, problem.path) == ("anywhere.manifest", path)
    assert other in str(problem)


def test_all_differences_are_told_at_once() -> None:
    found = problems_of(("KubeadmControlPlane", "spec.replicas", 1), ("MachineDeployment", "spec.replicas", 9))
    assert [problem.path for problem in found] == [f"{PLANE}.spec.replicas", f"{WORKERS}.spec.replicas"]


def test_groups_are_matched_by_name_and_none_is_left_over() -> None:
    missing, extra = problems_of(("MachineDeployment", "metadata.name", "pool"))
    assert (missing.path, extra.path) == ("manifests", "manifests[0][MachineDeployment/pool]")
    assert problems_of(("MachineDeployment", "metadata.name", "md-0")) == []


def test_the_infrastructure_is_that_of_the_datacenter() -> None:
    paths = {problem.path for problem in problems_of(("Cluster", "spec.infrastructureRef.kind", "NutanixCluster"))}
    assert f"{CLUSTER}.spec.infrastructureRef.kind" in paths


def test_the_autoscaler_owns_the_count_of_its_group() -> None:
    scaling = ("Cluster", "spec.workerNodeGroupConfigurations.0.autoscalingConfiguration", {"minCount": 1, "maxCount": 3})
    count = ("Cluster", "spec.workerNodeGroupConfigurations.0.count", DELETE)
    file = vsphere.cluster_file(scaling, count)
    minimum = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size"
    assert problems_of(("MachineDeployment", "metadata.annotations", {minimum: "1"}), file=file) == []
    assert [problem.rule for problem in problems_of(file=file)] == ["anywhere.manifest"]


def test_external_etcd_must_be_in_both() -> None:
    found = problems_of(file=clusters.file("vsphere"))
    assert {problem.path for problem in found} == {"manifests", f"{PLANE}.spec.kubeadmConfigSpec.clusterConfiguration.etcd.external"}


def test_external_etcd_in_the_manifests_alone_is_a_problem() -> None:
    etcd = {"apiVersion": "etcdcluster.cluster.x-k8s.io/v1beta1", "kind": "EtcdadmCluster", "metadata": {"name": "dev-etcd"}}
    problems = Problems()
    found = user_manifests.read([vsphere.text(), clusters.dump([etcd])], problems)
    user_manifests.check(found, cluster(vsphere.cluster_file()), problems)
    assert [problem.path for problem in problems] == ["manifests[1][EtcdadmCluster/dev-etcd]"]


@pytest.mark.parametrize(("text", "rule"), [("a: [", "input.unreadable_file"), ("a: 1", "input.wrong_type"), ("- a", "input.wrong_type")])
def test_what_is_not_an_object_is_refused(text: str, rule: str) -> None:
    problems = Problems()
    user_manifests.read([text], problems)
    assert [problem.rule for problem in problems] == [rule]


@pytest.mark.parametrize(("rows", "count"), [([], 1), ([{**vsphere.PROVIDER, "name": "nutanix"}], 1), ([vsphere.PROVIDER], 0)])
def test_the_infrastructure_provider_must_be_named_with_its_version(rows: list[dict[str, Any]], count: int) -> None:
    problems = Problems()
    releases = clusterctl_config.read_releases(rows, "providers", problems)
    engine.check_infrastructure(cluster(vsphere.cluster_file()), releases, problems)
    assert [problem.path for problem in problems] == ["providers"] * count


def test_docker_takes_no_manifests_and_others_need_them() -> None:
    problems = Problems()
    engine.check(cluster(clusters.file("docker")), CapiOptions({}), problems, has_manifests=True)
    assert [problem.path for problem in problems] == ["manifests"]
    problems = Problems()
    engine.check(cluster(vsphere.cluster_file()), CapiOptions({}), problems)
    assert [problem.rule for problem in problems] == ["anywhere.engine"]
    assert mentions(next(iter(problems)), "eks_anywhere_manifests", "eksctl")
    problems = Problems()
    engine.check(cluster(vsphere.cluster_file()), CapiOptions({}), problems, has_manifests=True)
    assert not list(problems)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"version": "1.13.0"}, "providers[0].version"),
        ({"version": "v1.13.0/../x"}, "providers[0].version"),
        ({"name": "../x"}, "providers[0].name"),
        ({"components": "a/b.yaml"}, "providers[0].components"),
        ({"type": "CoreProvider"}, "providers[0].name"),
    ],
)
def test_a_provider_cannot_lead_out_of_the_repository(change: dict[str, str], path: str) -> None:
    problems = Problems()
    clusterctl_config.read_releases([{**vsphere.PROVIDER, **change}], "providers", problems)
    assert [problem.path for problem in problems] == [path]
