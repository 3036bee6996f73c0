# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is rendered for the provider Docker: golden files, the same bytes each time, nothing dropped, no password outside of a Secret."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import tomllib
from hypothesis import given, settings

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import capi_manifests, clusterctl_config, engine, mirror_files
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.capi_machines import CapiOptions, NodeImage
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.validate import validate
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters, rendered
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.clusters import Change, Documents
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.rendered import (
    CASES,
    GOLDEN,
    OPTIONS,
    PASSWORD,
    PLANE,
    C,
)
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere.valid_clusters import valid_documents
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import rule_and_path

ALL_IMAGES = {f"1.{minor}": NodeImage(f"v1.{minor}.0", f"node:{minor}") for minor in range(28, 37)}


def objects(name: str) -> list[dict[str, Any]]:
    """The objects of a case."""
    return yaml.load_all(rendered.texts(name)["manifests.yaml"])


@pytest.mark.parametrize("name", CASES)
def test_golden_files(name: str) -> None:
    texts = rendered.texts(name)
    files = {str(path.relative_to(GOLDEN / name)).removesuffix(".txt") for path in (GOLDEN / name).rglob("*.txt")}
    assert files == set(texts), "run make golden and review the diff"
    for file, text in texts.items():
        assert (GOLDEN / name / f"{file}.txt").read_text(encoding="utf-8") == f"# rendered\n{text}", file


def test_every_golden_file_has_its_case() -> None:
    assert {path.name for path in Path(GOLDEN).iterdir()} == set(CASES)


@settings.get_profile("part")
@given(valid_documents(("docker",)))
def test_any_valid_cluster_is_rendered_the_same_each_time(documents: Documents) -> None:
    found = validate(clusters.dump(documents))
    cluster = found.cluster
    assert cluster is not None
    options = CapiOptions(ALL_IMAGES)
    text = capi_manifests.manifests(cluster, options)
    assert text == capi_manifests.manifests(cluster, options)
    names = [(one["kind"], one["metadata"]["name"]) for one in yaml.load_all(text)]
    assert len(names) == len(set(names))
    assert [kind for kind, _name in names].count("MachineDeployment") == len(cluster.workers)
    assert all(len(name) <= 253 for _kind, name in names)


def test_references_lead_to_objects() -> None:
    found = objects("everything")
    known = {(one["kind"], one["metadata"]["name"]) for one in found}

    def references(value: Any) -> list[dict[str, str]]:
        if isinstance(value, list):
            return [one for item in value for one in references(item)]
        if not isinstance(value, dict):
            return []
        own = [value] if set(value) == {"apiGroup", "kind", "name"} else []
        return own + [one for item in value.values() for one in references(item)]

    pointed = references(found)
    assert len(pointed) >= 6
    assert {(one["kind"], one["name"]) for one in pointed} <= known


def test_another_image_makes_another_template_and_nothing_else() -> None:
    old, new = ({f"{one['kind']}/{one['metadata']['name']}" for one in capi_manifests.objects(rendered.cluster(), options)} for options in (
        OPTIONS, dataclasses.replace(OPTIONS, node_images={"1.34": NodeImage("v1.34.3", "kindest/node:v1.34.3")}),
    ))  # fmt: skip
    assert {name.partition("/")[0] for name in old ^ new} == {"DockerMachineTemplate"}


def test_machines_have_the_socket_of_the_option() -> None:
    cluster, socket = rendered.cluster(), "/run/user/1000/docker.sock"
    found = list(capi_manifests.objects(cluster, dataclasses.replace(OPTIONS, docker_socket=socket)))
    mounts = [one["spec"]["template"]["spec"]["extraMounts"] for one in found if one["kind"] == "DockerMachineTemplate"]
    assert mounts and all(mount == [{"containerPath": "/var/run/docker.sock", "hostPath": socket}] for mount in mounts)


def test_the_autoscaler_owns_the_number_of_machines() -> None:
    deployments = {one["metadata"]["name"]: one for one in objects("everything") if one["kind"] == "MachineDeployment"}
    assert "replicas" not in deployments["dev-md-0"]["spec"]
    assert deployments["dev-old"]["spec"]["replicas"] == 0


def test_a_password_is_only_in_a_secret_and_in_files_of_the_admin_machine() -> None:
    header = rendered.Credentials("robot", PASSWORD).header
    for one in objects("mirror-with-password"):
        text = yaml.dump(one)
        assert (header in text) == (one["kind"] == "Secret")
        assert PASSWORD not in text
    plane = next(one for one in objects("mirror-with-password") if one["kind"] == "KubeadmControlPlane")
    secret = next(one for one in objects("mirror-with-password") if one["kind"] == "Secret")
    keys = {file["contentFrom"]["secret"]["key"] for file in plane["spec"]["kubeadmConfigSpec"]["files"] if "contentFrom" in file}
    assert keys == set(secret["stringData"]) and len(keys) == 2
    assert secret["metadata"]["labels"]["clusterctl.cluster.x-k8s.io/move"] == ""
    cluster = rendered.cluster(*CASES["mirror-with-password"])
    assert cluster.mirror is not None
    files = mirror_files.mirror_files(cluster.mirror, OPTIONS.registry)
    assert {(file.is_secret, file.mode) for file in files} == {(True, "0600"), (False, "0644")}


@pytest.mark.parametrize(("name", "skips"), [("mirror", False), ("mirror-with-password", False), ("mirror-not-verified", True)])
def test_certificates_are_verified_unless_the_file_says_otherwise(name: str, skips: bool) -> None:
    for file, text in rendered.texts(name).items():
        if file.endswith("hosts.toml"):
            (host,) = tomllib.loads(text)["host"].values()
            assert host.get("skip_verify", False) is skips
            assert ("ca" in host) is not skips


def test_the_providers_have_the_names_and_types_of_the_configuration() -> None:
    rows = clusterctl_config.wanted(rendered.VERSIONS)
    assert [row["name"] for row in rows] == ["cluster-api", "kubeadm", "kubeadm", "docker"]
    assert {row["version"] for row in rows} == {"v1.13.4"}
    config = yaml.load(clusterctl_config.clusterctl_config("/r", rendered.VERSIONS, "registry.lan/x"))
    assert config["images"] == {"all": {"repository": "registry.lan/x"}}


@pytest.mark.parametrize(
    ("provider", "change", "path"),
    [
        ("vsphere", None, "spec.datacenterRef.kind"),
        ("docker", (C, "spec.externalEtcdConfiguration", {"count": 1}), "spec.externalEtcdConfiguration"),
        ("docker", (C, "spec.gitOpsRef", {"kind": "FluxConfig", "name": "f"}), "spec.gitOpsRef"),
        ("docker", (C, "spec.identityProviderRefs", [{"kind": "OIDCConfig", "name": "o"}]), "spec.identityProviderRefs"),
        ("docker", (C, "spec.managementCluster", {"name": "other"}), "spec.managementCluster.name"),
        ("docker", (C, f"{PLANE}.skipAdmissionForSystemResources", True), f"{PLANE}.skipAdmissionForSystemResources"),
        (
            "docker",
            (C, "spec.clusterNetwork.cniConfig.cilium", {"policyEnforcementMode": "always"}),
            "spec.clusterNetwork.cniConfig.cilium",
        ),
        (
            "docker",
            (C, "spec.registryMirrorConfiguration", {"endpoint": "r", "authenticate": True}),
            "spec.registryMirrorConfiguration.authenticate",
        ),
    ],
)
def test_what_the_engine_cannot_do_is_refused(provider: str, change: Change | None, path: str) -> None:
    found = validate(clusters.file(provider, *([] if change is None else [change])), "cluster")
    assert not found.errors and found.cluster
    problems = Problems()
    engine.check(found.cluster, dataclasses.replace(OPTIONS, registry=None, has_etcdadm=False), problems)
    assert [rule_and_path(problem) for problem in problems] == [f"anywhere.engine Cluster/dev.{path}"]


@pytest.mark.parametrize(
    ("images", "paths"),
    [
        ({"1.34": NodeImage("v1.34.2", "x"), "1.33": NodeImage("v1.33.0", "x")}, []),
        ({"1.34": NodeImage("v1.34.2", "x")}, ["spec.workerNodeGroupConfigurations[0].kubernetesVersion"]),
        ({"1.34": NodeImage("v1.35.2", "x"), "1.33": NodeImage("v1.33.0", "x")}, ["spec.kubernetesVersion"]),
    ],
)
def test_every_version_needs_its_node_image(images: dict[str, NodeImage], paths: list[str]) -> None:
    cluster = rendered.cluster((C, "spec.workerNodeGroupConfigurations.0.kubernetesVersion", "1.33"))
    problems = Problems()
    engine.check(cluster, CapiOptions(images), problems)
    assert [rule_and_path(problem) for problem in problems] == [f"anywhere.node_image Cluster/dev.{path}" for path in paths]


def test_every_golden_case_is_accepted_by_the_engine() -> None:
    for changes in CASES.values():
        problems = Problems()
        engine.check(rendered.cluster(*changes), OPTIONS, problems)
        assert not list(problems)
