# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Amazon Linux 2 with strategy static: finished files, and a start that asks for no more than it needs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.families.test_al2 import CLUSTER, STATIC, files, text


def test_static_files_are_complete() -> None:
    laid = files(**STATIC)
    assert [path for path in laid if laid[path]["mode"] != "0644"] == [
        "/etc/nodebootstrap/bootstrap.sh", "/etc/nodebootstrap/node-facts", "/var/lib/kubelet/kubeconfig"
    ]  # fmt: skip
    unit = laid["/etc/systemd/system/kubelet.service"]["content"]
    assert "docker" not in unit and "After=containerd.service" in unit
    kubeconfig = yaml.load(laid["/var/lib/kubelet/kubeconfig"]["content"])
    assert kubeconfig["clusters"][0]["cluster"] == {"certificate-authority": "/etc/kubernetes/pki/ca.crt", "server": CLUSTER["endpoint"]}
    assert kubeconfig["users"][0]["user"]["exec"] == {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "args": ["token", "-i", "demo", "--region", "eu-west-1"],
        "command": "/usr/bin/aws-iam-authenticator",
    }
    assert laid["/etc/kubernetes/pki/ca.crt"]["content"] == "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
    assert text(**STATIC).endswith(
        "systemctl daemon-reload\nsystemctl enable containerd kubelet\nsystemctl restart containerd\nsystemctl start kubelet\n"
    )


def static_config(cluster: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files(cluster, **STATIC | fields)["/etc/kubernetes/kubelet/kubelet-config.json"]["content"])
    return found


def test_static_configuration_is_the_images_then_ours_then_the_users() -> None:
    own = {"evictionHard": {"memory.available": "1Gi"}, "readOnlyPort": 10255, "tlsCipherSuites": ["TLS_AES_128_GCM_SHA256"]}
    config = static_config(kubelet={"config": own})
    assert config["evictionHard"] == {"memory.available": "1Gi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"}
    assert config["readOnlyPort"] == 10255
    assert config["tlsCipherSuites"] == ["TLS_AES_128_GCM_SHA256"]
    assert config["kubeReserved"] == {"cpu": "70m", "memory": "574Mi", "ephemeral-storage": "1Gi"}
    assert (config["maxPods"], config["clusterDNS"], config["cgroupDriver"]) == (29, ["10.100.0.10"], "systemd")
    assert config["authentication"]["anonymous"] == {"enabled": False}
    assert len(static_config()["tlsCipherSuites"]) == 8


@pytest.mark.parametrize(("version", "expected"), [("1.26", (10, 20)), ("1.27", (None, None)), (None, (None, None))])
def test_static_api_limits_follow_the_version(version: str | None, expected: tuple[int | None, int | None]) -> None:
    config = static_config({"kubernetes_version": version})
    assert (config.get("kubeAPIQPS"), config.get("kubeAPIBurst")) == expected


def test_static_leaves_reserved_cgroups_out_beside_reserved_cpus() -> None:
    assert static_config()["kubeReservedCgroup"] == "/runtime"
    assert "kubeReservedCgroup" not in static_config(kubelet={"config": {"reservedSystemCPUs": "0-1"}})
    assert "systemReservedCgroup" not in static_config(kubelet={"flags": {"reserved-cpus": "0-1"}})


def kubelet_words(cluster: dict[str, Any] | None = None, **fields: Any) -> list[str]:
    unit = files(cluster, **STATIC | fields)["/etc/systemd/system/kubelet.service.d/50-nodebootstrap.conf"]["content"]
    return unit.rstrip("\n").rpartition("ExecStart=")[2].split(" ")


@pytest.mark.parametrize(
    ("version", "present", "absent"),
    [
        ("1.25", {"--cloud-provider=aws", "--container-runtime=remote"}, {"--provider-id=${PROVIDER_ID}"}),
        ("1.26", {"--cloud-provider=external", "--container-runtime=remote", "--hostname-override=${NODE_NAME}"}, {"--cloud-provider=aws"}),
        ("1.27", {"--cloud-provider=external", "--provider-id=${PROVIDER_ID}"}, {"--container-runtime=remote"}),
        (None, {"--cloud-provider=external"}, {"--container-runtime=remote"}),
    ],
)  # fmt: skip
def test_static_flags_follow_the_version(version: str | None, present: set[str], absent: set[str]) -> None:
    found = set(kubelet_words({"kubernetes_version": version}))
    assert present <= found
    assert not absent & found
    assert any(word.startswith("--pod-infra-container-image=") for word in found) == (version is not None)


def test_static_pause_image() -> None:
    default = "602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.10"
    assert f"--pod-infra-container-image={default}" in kubelet_words()
    own = "registry.example.com/pause:1"
    assert f"--pod-infra-container-image={own}" in kubelet_words(containerd={"pause_image": own})
    assert f'sandbox_image = "{own}"' in files(**STATIC, containerd={"pause_image": own})["/etc/containerd/config.toml"]["content"]


@pytest.mark.parametrize(
    ("region", "hostname_type", "name"),
    [
        ("us-east-1", "ip_name", "ip-$1-$2-$3-$4.ec2.internal"),
        ("eu-west-1", "ip_name", "ip-$1-$2-$3-$4.eu-west-1.compute.internal"),
        ("eu-west-1", "resource_name", "$instance_id.eu-west-1.compute.internal"),
        ("us-east-1", "resource_name", "$instance_id.ec2.internal"),
    ],
)
def test_static_node_name(region: str, hostname_type: str, name: str) -> None:
    laid = files({"region": region}, **STATIC | {"instance": {"type": "m5.large", "hostname_type": hostname_type}})
    assert f"\nname={name}\n" in laid["/etc/nodebootstrap/node-facts"]["content"]


def test_static_asks_for_no_more_than_it_needs() -> None:
    def tells(cluster: dict[str, Any] | None = None, **fields: Any) -> int:
        script = files(cluster, **STATIC, **fields)["/etc/nodebootstrap/node-facts"]["content"]
        return script.count("$(tell ") + script.count("$(ask ")

    ipv6 = {"service_cidr": "fd40::/108"}
    every = {"labels": {"a": "{instance_id}", "b": "{availability_zone}", "c": "{instance_lifecycle}"}}
    assert [tells(), tells(**every), tells(ipv6), tells(ipv6, **every)] == [2, 3, 4, 5]
