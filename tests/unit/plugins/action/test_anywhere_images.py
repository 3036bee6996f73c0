# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action anywhere_images and its playbook in real runs, with a stand-in for clusterctl."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.tests.unit import ansible_runs
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils._anywhere_admin import programs
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.anywhere import clusters

PLAYBOOK = Path(__file__).resolve().parents[4] / "playbooks/eks_anywhere_images.yml"
LISTED = "quay.io/jetstack/cert-manager-controller:v1.20.2\nregistry.k8s.io/cluster-api/cluster-api-controller:v1.14.0"
PROVIDERS = "--core cluster-api:v1.14.0 --bootstrap kubeadm:v1.14.0 --control-plane kubeadm:v1.14.0 --infrastructure docker:v1.14.0"
ARGUMENTS = f"init list-images {PROVIDERS}"
CNI = """\
kind: DaemonSet
spec: {template: {spec: {initContainers: [{image: "cni/install:v1"}], containers: [{image: "cni/agent:v1"}, {image: "cni/agent:v1"}]}}}
---
kind: ConfigMap
data: {image: "not/listed:v1"}
"""
NAMESPACES = [{"registry": name, "namespace": f"/{name}"} for name in ("docker.io", "quay.io", "registry.k8s.io")]
MIRROR = {"endpoint": "registry.lan", "port": "5000", "caCertContent": clusters.CA, "ociNamespaces": NAMESPACES}


def images(folder: Path, text: str, *arguments: str, **variables: Any) -> subprocess.CompletedProcess[str]:
    """Run the playbook in C(folder) for a file with C(text)."""
    programs.script(folder / "bin", "clusterctl", {f"{ARGUMENTS}*": LISTED, f"{ARGUMENTS.replace('docker:v1.14.0', 'vsphere')}": LISTED})
    (folder / "dev.yaml").write_text(text, encoding="utf-8")
    (folder / "cni.yaml").write_text(CNI, encoding="utf-8")
    given = {"cluster_file": "dev.yaml", "cluster_api_version": "v1.14.0", "bootstrap_image": "kindest/node:v1.36.3"} | variables
    names = {f"eks_anywhere_{name}": value for name, value in given.items() if value is not None}
    settings = {"PATH": f"{folder / 'bin'}:/usr/bin:/bin"}
    inventory = ("-i", "localhost,", "-e", "ansible_connection=local")
    return ansible_runs.run(folder, "ansible-playbook", str(PLAYBOOK), *inventory, "-e", json.dumps(names), *arguments, settings=settings)


def test_the_list_has_every_image_once_with_its_name_in_the_mirror(tmp_path: Path) -> None:
    text = clusters.file("docker", ("Cluster", "spec.registryMirrorConfiguration", MIRROR))
    given = {"images_file": "images.txt", "image_manifests": ["cni.yaml"], "images": ["kindest/haproxy:v1"], "clusterctl_config": "/c.yaml"}
    for _run, changed in ((1, "changed=1"), (2, "changed=0")):
        done = images(tmp_path, text, **given)
        assert done.returncode == 0, done.stdout + done.stderr
        assert changed in done.stdout
    rows = [line.split() for line in (tmp_path / "images.txt").read_text(encoding="utf-8").splitlines()]
    assert rows == [
        ["docker.io/cni/agent:v1", "registry.lan:5000/docker.io/cni/agent:v1"],
        ["docker.io/cni/install:v1", "registry.lan:5000/docker.io/cni/install:v1"],
        ["docker.io/kindest/haproxy:v1", "registry.lan:5000/docker.io/kindest/haproxy:v1"],
        ["docker.io/kindest/node:v1.36.3", "registry.lan:5000/docker.io/kindest/node:v1.36.3"],
        [LISTED.splitlines()[0], f"registry.lan:5000/{LISTED.splitlines()[0]}"],
        [LISTED.splitlines()[1], f"registry.lan:5000/{LISTED.splitlines()[1]}"],
    ]
    assert [call for call in programs.calls(tmp_path / "bin") if not call.endswith("--config /c.yaml")] == []


def test_without_a_mirror_and_a_bootstrap_image(tmp_path: Path) -> None:
    done = images(tmp_path, clusters.file("vsphere"), "--check", bootstrap_image=None, images_file="images.txt")
    assert done.returncode == 0, done.stdout + done.stderr
    assert mentions(done.stdout + done.stderr, *LISTED.splitlines(), "bootstrap_image", "changed=0")
    assert not (tmp_path / "images.txt").exists()


@pytest.mark.parametrize(
    ("variables", "fact"),
    [
        ({"cluster_api_version": "v1.0.0"}, "64"),
        ({"images": ["nginx"]}, "images.options[0]"),
        ({"image_manifests": ["dev.yaml", "none.yaml"]}, "none.yaml"),
        ({"image_manifests": ["bad.yaml"]}, "manifests[0]"),
        ({"cluster_file": "none.yaml"}, "none.yaml"),
        ({"mirror": True}, "quay.io"),
    ],
)
def test_what_cannot_be_listed(variables: dict[str, Any], fact: str, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("a: [", encoding="utf-8")
    mirror = {**MIRROR, "ociNamespaces": NAMESPACES[:1]} if variables.pop("mirror", False) else MIRROR
    done = images(tmp_path, clusters.file("docker", ("Cluster", "spec.registryMirrorConfiguration", mirror)), **variables)
    assert done.returncode == 2
    assert mentions(done.stdout + done.stderr, fact)
    assert "Traceback" not in done.stdout + done.stderr
