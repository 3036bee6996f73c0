# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of nodeadm beyond the recorded rows (tests/oracle/test_nodeadm_files.py has those)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import tomlkit

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import kubelet
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.capacity import instance_shape
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig import containerd_files, predict, read
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

CLUSTER = {"name": "demo", "apiServerEndpoint": "https://a.example.com", "certificateAuthority": "QUJD", "cidr": "10.100.0.0/16"}
NODE = predict.Node(
    instance_id="i-0123456789abcdef0",
    private_dns_name="ip-10-0-0-5.eu-west-1.compute.internal",
    region="eu-west-1",
    availability_zone="eu-west-1a",
    ipv4="10.0.0.5",
    kubelet_version="1.34.2",
    containerd_version="2.1.5",
    vcpus=2,
    shape=instance_shape("m5.large"),
)


def predicted(node: predict.Node = NODE, cluster: dict[str, Any] | None = None, **spec: Any) -> predict.Prediction:
    return predict.predict({"cluster": CLUSTER | (cluster or {}), **spec}, node)


def config(prediction: predict.Prediction) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(prediction.files[predict.CONFIG_FILE])
    return found


def test_an_expression_that_only_cel_can_tell_leaves_the_file_open() -> None:
    prediction = predicted(kubelet={"maxPodsExpression": "size([1, 2])"})
    assert predict.CONFIG_FILE not in prediction.files
    assert prediction.unknown[predict.CONFIG_FILE] == "kubelet.maxPodsExpression: size() is not understood here"
    assert predict.ENVIRONMENT in prediction.files


def test_a_broken_expression_is_a_warning(golden_message: GoldenMessages) -> None:
    prediction = predicted(kubelet={"maxPodsExpression": "0"})
    assert config(prediction)["maxPods"] == 29
    assert len(prediction.warnings) == 1
    golden_message(prediction.warnings[0])


def test_an_unknown_type() -> None:
    prediction = predicted(replace(NODE, shape=None), kubelet={"maxPodsExpression": "max_pods - 1"})
    assert config(prediction)["maxPods"] == predict.PODS_OF_UNKNOWN_TYPES
    assert config(prediction)["kubeReserved"]["memory"] == "1465Mi"
    assert len(prediction.warnings) == 1


def test_cpus_are_the_machines() -> None:
    assert config(predicted(replace(NODE, vcpus=96)))["kubeReserved"]["cpu"] == "310m"


@pytest.mark.parametrize(
    ("vcpus", "memory_mib", "opens"),
    [(2, None, False), (4, None, True), (4, 7168, True), (4, 7167, False)],
)
def test_fast_image_pull_wants_a_large_machine(vcpus: int, memory_mib: int | None, opens: bool) -> None:
    prediction = predicted(replace(NODE, vcpus=vcpus, memory_mib=memory_mib), featureGates={"FastImagePull": True})
    assert (kubelet.CONTAINERD_CONFIG in prediction.unknown) is opens
    assert (predict.CONFIG_FILE in prediction.unknown) is opens


def test_toml_without_a_section_of_version_3_is_migrated_on_the_node() -> None:
    settings = {"config": "[debug]\nlevel = 'info'\n"}
    assert kubelet.CONTAINERD_CONFIG in predicted(containerd=settings).unknown
    older = predicted(replace(NODE, containerd_version="1.7.28"), containerd=settings)
    found = tomlkit.parse(older.files[kubelet.CONTAINERD_CONFIG]).unwrap()
    assert found["version"] == 2 and found["debug"] == {"level": "info"}


def test_broken_toml_stops_nodeadm() -> None:
    with pytest.raises(read.NodeConfigError) as failure:
        predicted(containerd={"config": "= 1"})
    assert failure.value.fatal


@pytest.mark.parametrize(
    "change",
    [
        {"name": ""},
        {"cidr": "10.100.0.0"},
        {"cidr": "10.100.0.0/255.255.0.0"},
        {"cidr": "10.100.0.0/33"},
        {"cidr": "fd00::/108"},
    ],
)
def test_what_stops_nodeadm(change: dict[str, Any], golden_message: GoldenMessages) -> None:
    with pytest.raises(read.NodeConfigError) as failure:
        predicted(cluster=change)
    golden_message(failure.value)
    assert failure.value.fatal


def test_a_version_that_is_none(golden_message: GoldenMessages) -> None:
    with pytest.raises(read.NodeConfigError) as caught:
        predicted(replace(NODE, kubelet_version="latest"))
    golden_message(caught.value)


@pytest.mark.parametrize("version", ["v1.34.2", "1.34.2-eks-abc1234", "1.34"])
def test_versions_as_programs_tell_them(version: str) -> None:
    assert predicted(replace(NODE, kubelet_version=version)).files == predicted().files


def test_values_of_environments_are_quoted_as_go_quotes() -> None:
    value = 'a"b\\c\a\b\f\n\r\t\v\x01\x7f\x85\u2028\U000e0001%é😀'
    prediction = predicted(instance={"environment": {"kubelet": {"A": value}}})
    assert prediction.files["/etc/systemd/system/kubelet.service.d/environment.conf"] == (
        '[Service]\nEnvironment="A=a\\"b\\\\c\\a\\b\\f\\n\\r\\t\\v\\x01\\x7f\\u0085\\u2028\\U000e0001%%é😀"\n'
    )


def test_the_input_stays_as_it_is() -> None:
    spec = {"cluster": dict(CLUSTER), "kubelet": {"config": {"evictionHard": {"memory.available": "1Gi"}}}}
    before = json.dumps(spec)
    first = predict.predict(spec, NODE)
    assert json.dumps(spec) == before and predict.predict(spec, NODE) == first


def test_versions_of_containerd() -> None:
    version_3 = 'version = 3\n[plugins."io.containerd.cri.v1.images"]\nx = 1\n'
    assert containerd_files.is_version_3(version_3) and not containerd_files.migrates(version_3, "2.0.0")
    assert containerd_files.migrates("x = 1", "v2.1.5") and not containerd_files.migrates("x = 1", "1.7.28")
    assert not containerd_files.migrates("", "2.1.5")
