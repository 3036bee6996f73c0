# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run takes in: manifests of other providers, external etcd, proxy, mirror, archives of images, the load balancer and packages."""

from __future__ import annotations

import io
import json
import os
import stat
import tarfile
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere import image_archives
from ansible_collections.nodebootstrap.eks.plugins.module_utils._anywhere.programs import AdminPrograms, StepFailed
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import cluster_plan, engine
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.observed import Step
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils import anywhere_programs as stand_in
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.anywhere_bed import Bed, repository
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters, rendered
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import vsphere_manifests as vsphere

PASSWORD = rendered.PASSWORD
ETCD = ("Cluster", "spec.externalEtcdConfiguration", {"count": 3})
ONE = ("Cluster", "spec.controlPlaneConfiguration.count", 1)
HARBOR = {"name": "harbor", "chart": "/srv/charts/harbor", "values": {"password": "password-of-harbor", "replicas": 2}}


@pytest.fixture
def bed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bed:
    monkeypatch.setattr(os, "fsync", lambda _handle: None)
    return Bed(tmp_path / stand_in.NAME)


def succeeded(result: dict[str, Any] | None) -> dict[str, Any]:
    assert result is not None and not result.get("failed"), result
    return result


def plan(bed: Bed, *changes: clusters.Change, **options: Any) -> cluster_plan.Plan:
    text = {"cluster_file": clusters.file("docker", ONE, *changes), "network_manifest": "", "haproxy_config": "frontend x\n"}
    return cluster_plan.plan_of(bed.options("create", **options), lambda _path, option: text[option])


# --- manifests of other providers --------------------------------------------------------------------------------------------------------


def with_vsphere(bed: Bed) -> dict[str, Any]:
    folder = repository(bed.folder.parent / "repository", *vsphere.FILES)
    texts = {"cluster_file": vsphere.cluster_file(), "manifests": vsphere.text()}
    return {"repository": folder, "providers": [vsphere.PROVIDER], "manifests": ["vsphere.yaml"], "node_images": [], "texts": texts}


def check_vsphere(bed: Bed) -> None:
    state = bed.state
    assert len(state["machines"]) == 5 == state["created"] and not state["lost"]
    target = state["halves"]["target"]["objects"]
    assert "VSphereCluster/dev" in target and target["Cluster/dev"]["spec"]["paused"] is False


def test_a_cluster_of_another_provider_is_created_from_its_manifests_and_deleted(bed: Bed) -> None:
    succeeded(bed.run("create", **with_vsphere(bed)))
    check_vsphere(bed)
    inits = [argv for argv in bed.state["log"] if argv[:2] == ["clusterctl", "init"]]
    assert inits and all("vsphere:v1.13.0" in argv and not any("docker:" in word for word in argv) for argv in inits)
    again = succeeded(bed.run("create", **with_vsphere(bed)))
    assert not again["changed"]
    succeeded(bed.run("delete", **with_vsphere(bed)))
    assert not bed.state["machines"] and bed.state["container"] is None
    assert not succeeded(bed.run("delete", **with_vsphere(bed)))["changed"]


@pytest.mark.parametrize("first", [3, 5, 9, 13, 17, 21, 25, 29, 33, 37, 47, 57, 67, 77])
def test_a_killed_creation_of_another_provider_is_finished_with_each_machine_made_once(bed: Bed, first: int) -> None:
    assert bed.run("create", kill_at=first, **with_vsphere(bed)) is None
    bed.world.controllers()
    succeeded(bed.run("create", **with_vsphere(bed)))
    check_vsphere(bed)


def test_machines_of_another_provider_are_not_forgotten_when_their_objects_are_gone(bed: Bed) -> None:
    bed.kill_when = lambda state: bool(state["machines"])
    assert bed.run("create", **with_vsphere(bed)) is None
    bed.kill_when, bed.state["container"], bed.state["halves"]["boot"] = (lambda _state: False), None, None
    result = bed.run("create", **with_vsphere(bed))
    assert result is not None and result["failed"] and not result["steps"]
    assert mentions(result["msg"], "clusterctl")


def test_files_that_the_repository_lacks_are_told_before_anything_is_created(bed: Bed) -> None:
    options = with_vsphere(bed)
    (Path(options["repository"]) / vsphere.FILES[0]).unlink()
    for check_mode in (True, False):
        result = bed.run("create", check_mode=check_mode, **options)
        assert result is not None and result["failed"] and mentions(result["msg"], vsphere.FILES[0])
    assert bed.state["moments"] == 0


def test_a_cluster_of_the_other_engine_is_not_touched(bed: Bed) -> None:
    bed.folder.mkdir()
    (bed.folder / "eksctl.json").write_text("{}", encoding="utf-8")
    for command in ("create", "delete"):
        result = bed.run(command)
        assert result is not None and result["failed"] and mentions(result["msg"], "eks_anywhere_engine", "eksctl")
    assert bed.state["moments"] == 0


# --- external etcd, load balancer, images of machines ----------------------------------------------------------------------------------


def test_external_etcd_is_rendered_with_its_providers(bed: Bed) -> None:
    found = plan(bed, ETCD, providers=vsphere.ETCDADM, etcd_version="3.5.21")
    by_kind = {one["kind"]: one for one in found.objects}
    etcd, templates = (
        by_kind["EtcdadmCluster"],
        {one["metadata"]["name"] for one in found.objects if one["kind"] == "DockerMachineTemplate"},
    )
    assert by_kind["Cluster"]["spec"]["managedExternalEtcdRef"]["name"] == etcd["metadata"]["name"] == "dev-etcd"
    assert etcd["spec"]["replicas"] == 3 and etcd["spec"]["etcdadmConfigSpec"]["cloudInitConfig"] == {"version": "3.5.21"}
    assert etcd["spec"]["infrastructureTemplate"]["name"] in templates
    external = by_kind["KubeadmControlPlane"]["spec"]["kubeadmConfigSpec"]["clusterConfiguration"]["etcd"]["external"]
    assert external["caFile"] == "/etc/kubernetes/pki/etcd/ca.crt"
    assert [one["name"] for one in found.providers if one["type"] == "BootstrapProvider"] == ["kubeadm", *engine.ETCDADM]
    assert any(path.endswith("bootstrap-etcdadm-controller/v1.0.16/bootstrap-components.yaml") for path in found.needed_files)


def test_endpoints_of_external_etcd_that_the_controllers_wrote_are_kept(bed: Bed) -> None:
    names = ("bootstrap-components.yaml", "metadata.yaml")
    more = [f"bootstrap-{one['name']}/{one['version']}/{name}" for one in vsphere.ETCDADM for name in names]
    options = {"repository": repository(bed.folder.parent / "repository", *more), "providers": vsphere.ETCDADM, "etcd_version": "3.5.21"}
    options["texts"] = {"cluster_file": clusters.file("docker", ONE, ETCD)}
    bed.kill_when = lambda state: len(state["machines"]) == 1
    assert bed.run("create", **options) is None
    bed.kill_when = lambda _state: False

    def endpoints(half: str) -> list[str]:
        plane = bed.state["halves"][half]["objects"]["KubeadmControlPlane/dev"]
        return plane["spec"]["kubeadmConfigSpec"]["clusterConfiguration"]["etcd"]["external"]["endpoints"]

    assert endpoints("boot") == ["https://placeholder:2379"]
    endpoints("boot")[:] = ["https://10.0.0.5:2379"]
    succeeded(bed.run("create", **options))
    assert endpoints("target") == ["https://10.0.0.5:2379"]
    assert not succeeded(bed.run("create", **options))["changed"]


@pytest.mark.parametrize("options", [{}, {"providers": vsphere.ETCDADM}, {"providers": vsphere.ETCDADM[:1], "etcd_version": "3.5.21"}])
def test_external_etcd_without_what_it_needs_is_refused(bed: Bed, options: dict[str, Any]) -> None:
    with pytest.raises(SpecError) as error:
        plan(bed, ETCD, **options)
    assert [problem.path for problem in error.value.problems] == ["Cluster/dev.spec.externalEtcdConfiguration"]


def test_the_configuration_of_the_load_balancer_is_applied_before_its_cluster_and_moves(bed: Bed) -> None:
    objects = plan(bed, haproxy_config="haproxy.cfg", preload_images=["cni:1"]).objects
    kinds = [one["kind"] for one in objects]
    config, docker = objects[kinds.index("ConfigMap")], objects[kinds.index("DockerCluster")]
    assert kinds.index("ConfigMap") < kinds.index("DockerCluster")
    assert config["data"] == {"value": "frontend x\n"} and config["metadata"]["namespace"] == docker["metadata"]["namespace"]
    assert "clusterctl.cluster.x-k8s.io/move" in config["metadata"]["labels"]
    assert docker["spec"]["loadBalancer"]["customHAProxyConfigTemplateRef"] == {"name": config["metadata"]["name"]}
    templates = [one for one in objects if one["kind"] == "DockerMachineTemplate"]
    assert [one["spec"]["template"]["spec"]["preLoadImages"] for one in templates] == [["cni:1"]] * 2
    succeeded(bed.run("create", haproxy_config="haproxy.cfg", texts={"haproxy_config": "frontend x\n"}))
    assert bed.state["halves"]["target"]["objects"]["ConfigMap/dev-haproxy"]["data"] == {"value": "frontend x\n"}


def test_inputs_of_the_engine_are_told_by_the_names_of_the_variables_and_with_all_other_problems(bed: Bed) -> None:
    with pytest.raises(SpecError) as error:
        plan(bed, bootstrap_image=None, repository=None, cluster_api_version=None, cert_manager_version=None, node_images=[])
    names = {"bootstrap_image", "repository", "cluster_api_version", "cert_manager_version"}
    assert {problem.path for problem in error.value.problems} == {*names, "Cluster/dev.spec.kubernetesVersion"}
    assert mentions(error.value, *(f"eks_anywhere_{name}" for name in names))


# --- proxy and mirror --------------------------------------------------------------------------------------------------------------------


def test_the_proxy_is_for_kind_and_clusterctl_and_near_addresses_do_not_use_it(bed: Bed) -> None:
    proxy = {"httpProxy": "http://proxy.lan:3128", "httpsProxy": "http://proxy.lan:3128", "noProxy": ["10.0.0.0/8"]}
    found = plan(bed, ("Cluster", "spec.proxyConfiguration", proxy)).environment
    assert found["HTTPS_PROXY"] == "http://proxy.lan:3128"
    assert {"10.0.0.0/8", "192.168.0.0/16", "10.96.0.0/12", "127.0.0.1", ".svc"} <= set(found["NO_PROXY"].split(","))
    assert plan(bed).environment == {}


def test_programs_get_the_variables_of_their_step_only(tmp_path: Path) -> None:
    programs = AdminPrograms(str(tmp_path))
    assert programs.with_variables({"NB_TEST_PROXY": "x"}).run(["sh", "-c", "echo $NB_TEST_PROXY"]) == "x\n"
    assert programs.run(["sh", "-c", "echo $NB_TEST_PROXY"]) == "\n"


def test_the_bootstrap_cluster_uses_the_mirror_with_its_certificate_authority(bed: Bed) -> None:
    mirror = ("Cluster", "spec.registryMirrorConfiguration", {**rendered.MIRROR, "authenticate": True})
    texts = {"cluster_file": clusters.file("docker", ONE, mirror)}
    options = {"registry_username": "robot", "registry_password": PASSWORD, "texts": texts}
    bed.kill_when = lambda state: state["container"] is not None and state["container"]["state"] == "running"
    assert bed.run("create", **options) is None
    config = yaml.load((bed.folder / "kind.yaml").read_text(encoding="utf-8"))
    mounts = {mount["containerPath"]: mount for mount in config["nodes"][0]["extraMounts"]}
    assert mounts["/etc/containerd/certs.d"]["hostPath"] == str(bed.folder / "certs.d")
    assert "config_path" in config["containerdConfigPatches"][0]
    files = {str(path.relative_to(bed.folder)): path for path in (bed.folder / "certs.d").rglob("*") if path.is_file()}
    assert set(files) == {"certs.d/mirror-ca.crt", "certs.d/public.ecr.aws/hosts.toml", "certs.d/registry.k8s.io/hosts.toml"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in files.values()} == {0o600}
    assert "skip_verify" not in files["certs.d/registry.k8s.io/hosts.toml"].read_text(encoding="utf-8")
    bed.kill_when = lambda _state: False
    succeeded(bed.run("create", **options))
    # The password does not stay when the bootstrap cluster is gone.
    assert not (bed.folder / "certs.d").exists()


def test_files_of_the_node_stay_in_the_work_folder(bed: Bed) -> None:
    bed.folder.mkdir()
    given = {"name": stand_in.BOOTSTRAP, "kubeconfig": str(bed.folder / "k"), "config": "", "timeout": 9.0, "state": "present"}
    with pytest.raises(StepFailed):
        bed.module("kind_cluster", **given, files={"certs.d/../../x": ""})
    assert not (bed.folder.parent / "x").exists() and bed.state["container"] is None


# --- archives of images ------------------------------------------------------------------------------------------------------------------


def archive(path: Path, name: str, content: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    data = json.dumps(content).encode()
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as tar:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        tar.addfile(member, io.BytesIO(data))


def test_archives_are_loaded_once_into_docker_and_into_the_bootstrap_cluster(bed: Bed) -> None:
    folder = bed.folder.parent / "images"
    archive(folder / "a.tar", "manifest.json", [{"RepoTags": ["node:1", "lb:1"]}])
    archive(folder / "b.tar.gz", "manifest.json", [{"RepoTags": ["capi:1"]}])
    succeeded(bed.run("create", images_dir=str(folder)))
    loads = [argv for argv in bed.state["log"] if "load" in argv]
    assert [argv[0] for argv in loads] == ["docker", "docker", "kind", "kind"]
    log = bed.state["log"]
    assert log.index(loads[1]) < next(i for i, argv in enumerate(log) if argv[:2] == ["kind", "create"]) < log.index(loads[2])
    given = {"images_dir": str(folder), "timeout": 9.0}
    assert bed.module("kind_images", **given) == {"changed": False, "archives": []}
    bed.state["images"]["docker"].remove("lb:1")
    assert bed.module("kind_images", True, **given) == {"changed": True, "archives": ["a.tar"]}


@pytest.mark.parametrize(
    ("name", "content", "images"),
    [
        ("manifest.json", [{"RepoTags": ["a:1"]}, {"RepoTags": None}], ["a:1"]),
        (
            "index.json",
            {"manifests": [{"annotations": {"io.containerd.image.name": "docker.io/library/a:1"}}, {}]},
            ["docker.io/library/a:1"],
        ),
        ("index.json", {"manifests": [{"annotations": {"org.opencontainers.image.ref.name": "1"}}]}, []),
    ],
)
def test_names_of_images_are_read_from_both_formats(tmp_path: Path, name: str, content: Any, images: list[str]) -> None:
    archive(tmp_path / "a.tar", name, content)
    assert image_archives.images_of(str(tmp_path / "a.tar")) == images


@pytest.mark.parametrize("content", [b"not a tar", b""])
def test_a_file_that_is_no_archive_is_named(bed: Bed, content: bytes) -> None:
    folder = bed.folder.parent / "images"
    folder.mkdir()
    (folder / "broken.tar").write_bytes(content)
    with pytest.raises(StepFailed) as error:
        bed.module("kind_images", images_dir=str(folder), timeout=9.0)
    assert mentions(error.value, "broken.tar")
    (folder / "broken.tar").unlink()
    with pytest.raises(StepFailed) as error:
        bed.module("kind_images", images_dir=str(folder), timeout=9.0)
    assert mentions(error.value, str(folder))


# --- packages ----------------------------------------------------------------------------------------------------------------------------


def test_packages_are_the_last_step_and_a_second_run_changes_nothing(bed: Bed) -> None:
    assert succeeded(bed.run("create", check_mode=True, packages=[HARBOR]))["steps"][-1] == Step.INSTALL_PACKAGES.value
    result = succeeded(bed.run("create", packages=[HARBOR]))
    assert result["steps"][-1] == Step.INSTALL_PACKAGES.value
    release = bed.state["releases"]["harbor"]
    assert (release["status"], release["chart"], release["values"]) == ("deployed", "harbor-1.0.0", HARBOR["values"])
    assert not any("password-of-harbor" in word for argv in bed.state["log"] for word in argv)
    assert "values-harbor.json" not in bed.files()
    again = succeeded(bed.run("create", packages=[HARBOR]))
    assert (again["changed"], again["steps"]) == (False, [])
    changed = succeeded(bed.run("create", packages=[{**HARBOR, "values": {"replicas": 3}}]))
    assert changed["steps"] == [Step.INSTALL_PACKAGES.value] and bed.state["releases"]["harbor"]["values"] == {"replicas": 3}


@pytest.mark.parametrize("is_upgrade", [False, True])
def test_a_killed_helm_is_cleaned_up_by_the_next_run(bed: Bed, is_upgrade: bool) -> None:
    succeeded(bed.run("create", packages=[{**HARBOR, "values": {}}] if is_upgrade else []))
    bed.kill_when = lambda state: state["releases"].get("harbor", {}).get("status", "").startswith("pending-")
    assert bed.run("create", packages=[HARBOR]) is None
    bed.kill_when = lambda _state: False
    result = succeeded(bed.run("create", packages=[HARBOR]))
    assert result["steps"] == [Step.INSTALL_PACKAGES.value]
    assert (bed.state["releases"]["harbor"]["status"], bed.state["releases"]["harbor"]["values"]) == ("deployed", HARBOR["values"])


def package(bed: Bed, check_mode: bool = False, **options: Any) -> dict[str, Any]:
    given = {"kubeconfig": str(bed.folder / "dev-eks-a-cluster.kubeconfig"), "namespace": "eksa-packages", "version": None, "timeout": 60.0}
    chart = {"name": "harbor", "chart": "oci://registry.lan/charts/harbor", "version": "2.1.0", "chart_values": {"a": "secret-of-a"}}
    return bed.module("capi_package", check_mode, **(given | chart | options))


def test_a_package_from_a_registry_and_its_check_mode(bed: Bed) -> None:
    succeeded(bed.run("create"))
    assert package(bed, True)["changed"] and not bed.state["releases"]
    done = package(bed)
    assert done["changed"] and "secret-of-a" not in str(done) and "harbor-2.1.0 deployed" in done["diff"]["after"]
    assert not package(bed)["changed"] and package(bed, version="2.2.0")["changed"]
    assert bed.state["releases"]["harbor"]["chart"] == "harbor-2.2.0"
    with pytest.raises(StepFailed) as error:
        package(bed, chart="/srv/charts/harbor", version="3.0.0")
    assert mentions(error.value, "1.0.0", "3.0.0")


def test_without_helm_nothing_is_created(bed: Bed, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = bed.programs()
    monkeypatch.setattr(type(programs), "missing", lambda _self, names=(): [name for name in names if name == "helm"])
    result = bed.run("create", packages=[HARBOR])
    assert result is not None and result["failed"] and mentions(result["msg"], "helm") and bed.state["moments"] == 0
    succeeded(bed.run("create"))


@pytest.mark.parametrize(
    ("rows", "paths"),
    [
        ([{**HARBOR, "chart": "bitnami/harbor"}], ["packages[0].chart"]),
        ([{**HARBOR, "chart": "oci://r/harbor"}], ["packages[0].version"]),
        ([{**HARBOR, "name": "Harbor"}], ["packages[0].name"]),
        ([{**HARBOR, "name": "--kube-token"}], ["packages[0].name"]),
        ([HARBOR, HARBOR], ["packages[1].name"]),
    ],
)
def test_a_package_that_helm_would_take_from_elsewhere_is_refused(bed: Bed, rows: list[dict[str, Any]], paths: list[str]) -> None:
    with pytest.raises(SpecError) as error:
        plan(bed, packages=rows)
    assert [problem.path for problem in error.value.problems] == paths
