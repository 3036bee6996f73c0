# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of images: merged to one, and looked up in a registry mirror."""

from __future__ import annotations

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere import image_list
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.image_list import Image
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.manifest_images import images_of
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.anywhere.model import Mirror
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.problem_list import rule_and_path

DIGEST = "sha256:" + "a" * 64
MIRROR = Mirror("m", "registry.lan", "5000", (("public.ecr.aws", "/eks/"), ("docker.io", "")), "", False, False)


def merged(**lists: list[str]) -> list[Image]:
    """The images of lists that are valid."""
    problems = Problems()
    found = image_list.merge(lists, problems)
    assert not list(problems)
    return list(found)


def test_lists_are_merged_by_the_whole_name_and_sorted() -> None:
    found = merged(
        clusterctl=["registry.k8s.io/cluster-api/core:v1", " 'nginx:1' ", "", "# a comment"],
        kind=["docker.io/library/nginx:1", "kindest/node:v1.36.3@" + DIGEST],
    )
    assert [(image.name, image.sources) for image in found] == [
        (f"docker.io/kindest/node:v1.36.3@{DIGEST}", ("kind",)),
        ("docker.io/library/nginx:1", ("clusterctl", "kind")),
        ("registry.k8s.io/cluster-api/core:v1", ("clusterctl",)),
    ]


@pytest.mark.parametrize(
    ("name", "registry", "repository"),
    [
        ("localhost:5000/a:1", "localhost:5000", "a"),
        ("registry.lan:5000/a/b-c__d.e:1", "registry.lan:5000", "a/b-c__d.e"),
        ("registry:5000/a:1", "registry:5000", "a"),
        ("[fd00::1]:5000/a:1", "[fd00::1]:5000", "a"),
        ("a/b:1", "docker.io", "a/b"),
        ("index.docker.io/nginx:1", "docker.io", "library/nginx"),
        ("registry-1.docker.io/a/b:1", "docker.io", "a/b"),
        (f"quay.io/a@{DIGEST}", "quay.io", "a"),
    ],
)
def test_the_parts_of_a_name(name: str, registry: str, repository: str) -> None:
    (image,) = merged(one=[name])
    assert (image.registry, image.repository) == (registry, repository)


@pytest.mark.parametrize("line", ["nginx", "registry.lan/a", "A/b:1", "a b:1", "a:", "a@sha256:1", "https://x/a:1", "a//b:1"])
def test_a_line_without_an_image_is_reported(line: str) -> None:
    problems = Problems()
    assert image_list.merge({"list": ["ok:1", line]}, problems)
    assert [rule_and_path(problem) for problem in problems] == ["anywhere.image images.list[1]"]


def test_names_in_a_mirror() -> None:
    images = merged(one=["public.ecr.aws/a/b:1", "nginx:1", "quay.io/x:1", "quay.io/y:1"])
    assert [image_list.in_mirror(image, MIRROR) for image in images] == [
        "registry.lan:5000/library/nginx:1",
        "registry.lan:5000/eks/a/b:1",
        None,
        None,
    ]
    problems = Problems()
    image_list.check_mirror(images, MIRROR, problems)
    assert [rule_and_path(problem) for problem in problems] == ["anywhere.unmirrored m.ociNamespaces"]


POD = "kind: Pod\nspec:\n  containers:\n  - image: ghcr.io/kube-vip/kube-vip:v1\n"
INDENTED = POD.replace("\n", "\n      ")


@pytest.mark.parametrize(
    ("text", "images"),
    [
        ("spec: {volumes: [{name: a, image: {reference: 'a/models:v1'}}, {name: b, configMap: {name: c}}, x]}", ("a/models:v1",)),
        ("kind: DockerMachineTemplate\nspec: {template: {spec: {customImage: 'kindest/node:v1.36.3'}}}", ("kindest/node:v1.36.3",)),
        (f"files:\n  - path: /etc/kubernetes/manifests/kube-vip.yaml\n    content: |\n      {INDENTED}", ("ghcr.io/kube-vip/kube-vip:v1",)),
        (f"files:\n  - path: /etc/other.yaml\n    content: |\n      {INDENTED}", ()),
        ("files: [{path: /etc/kubernetes/manifests/a.yaml, content: 'a: ['}]", ()),
        (
            "kind: List\nitems:\n- spec: {template: {spec: {initContainers: [{image: 'a:1'}], containers: [{image: 'b:1'}]}}}",
            ("a:1", "b:1"),
        ),
        ("spec: {versions: [{schema: {properties: {containers: {type: array}, image: {type: string}}}}]}", ()),
        ("spec: {containers: [{image: ''}, {image: 5}, {}, null]}", ()),
    ],
)
def test_images_of_manifests(text: str, images: tuple[str, ...]) -> None:
    assert images_of(text, "manifests[0]") == images
