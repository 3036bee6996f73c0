# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The public fields: what each takes, in which spellings. What each refuses is in the error table."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model import fields, values
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.plain import INVALID
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import CA

PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
OTHER_PEM = PEM.replace("MIIB", "MIIC")


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def checked(kind: Any, value: Any) -> tuple[Any, list[str]]:
    problems = Problems()
    return kind(value, "p", problems), [str(problem) for problem in problems]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("name", "demo-1_x", "demo-1_x"),
        ("endpoint", "https://abc.gr7.eu-west-1.eks.amazonaws.com", "https://abc.gr7.eu-west-1.eks.amazonaws.com"),
        ("endpoint", "https://[fd00::1]:443/", "https://[fd00::1]:443/"),
        ("certificate_authority", CA, CA),
        ("certificate_authority", encoded(PEM + PEM), encoded(PEM + PEM)),
        ("service_cidr", "fd40:6404:f93b::/108", "fd40:6404:f93b::/108"),
        ("dns_ips", "10.100.0.10", ["10.100.0.10"]),
        ("dns_ips", ["FD00:0::A"], ["fd00::a"]),
        ("region", "us-gov-west-1", "us-gov-west-1"),
        ("region", "eusc-de-east-1", "eusc-de-east-1"),
        ("kubernetes_version", "1.30", "1.30"),
        ("kubernetes_version", "v1.31.4-eks-abc", "v1.31.4-eks-abc"),
        ("outpost", True, True),
    ],
)
def test_facts_of_the_cluster(name: str, value: Any, expected: Any) -> None:
    assert checked(fields.CLUSTER[name], value) == (expected, [])


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("family", "AL2023", "al2023"),
        ("family", "amazonlinux2", "AmazonLinux2"),
        ("mode", "Managed", "managed"),
        ("labels", {"a": "", "example.com/b": "c", "d": "{instance_id}"}, {"a": "", "example.com/b": "c", "d": "{instance_id}"}),
        ("labels", {"a": "x-{availability_zone}"}, {"a": "x-{availability_zone}"}),
        ("taints", [{"key": "a", "effect": "noschedule"}], [{"key": "a", "effect": "NoSchedule"}]),
        ("max_pods", "110", 110),
        ("max_pods", "auto", "auto"),
        ("max_pods", {"mode": "eni", "reserved_enis": "1"}, {"mode": "eni", "reserved_enis": 1}),
        ("reserved", {"kube": "auto"}, {"kube": "auto"}),
        (
            "reserved",
            {"kube": {"cpu": 1, "memory": "1Gi"}, "system": {"cpu": 0.5}},
            {"kube": {"cpu": "1", "memory": "1Gi"}, "system": {"cpu": "0.5"}},
        ),
        ("kubelet", {"flags": {"v": 2, "a": True, "b": [1, "x"]}}, {"flags": {"v": "2", "a": "true", "b": ["1", "x"]}}),
        ("containerd", {"registry_mirrors": {"_default": "https://m"}}, {"registry_mirrors": {"_default": ["https://m"]}}),
        ("containerd", {"registry_mirrors": {"r:5000": ["http://m:80/x"]}}, {"registry_mirrors": {"r:5000": ["http://m:80/x"]}}),
        (
            "containerd",
            {"registry_mirrors": {"docker.io": {"url": "https://m", "capabilities": "pull", "ca": PEM}}},
            {"registry_mirrors": {"docker.io": [{"url": "https://m", "capabilities": ["pull"], "ca": [PEM]}]}},
        ),
        ("trust", f"# ours\n{PEM}", [PEM]),
        ("trust", [f"{PEM}{OTHER_PEM}", PEM.replace("\n", "\r\n")], [PEM, OTHER_PEM]),
        ("local_storage", {"strategy": "RAID0", "mount_path": "/mnt/x"}, {"strategy": "raid0", "mount_path": "/mnt/x"}),
        ("proxy", {"http": "http://p:3128", "no_proxy": "10.0.0.0/8"}, {"http": "http://p:3128", "no_proxy": ["10.0.0.0/8"]}),
        ("commands", {"pre": "a\nb"}, {"pre": ["a\nb"]}),
        ("commands", {"post": "a"}, {"post": [{"run": "a"}]}),
        (
            "commands",
            {"post": ["a", {"run": "b", "when": "Ready", "timeout": "60"}]},
            {"post": [{"run": "a"}, {"run": "b", "when": "ready", "timeout": 60}]},
        ),
        ("user_data", "", [""]),
        ("user_data", ["a", "b"], ["a", "b"]),
        ("windows", {"version": 2022, "edition": "Core"}, {"version": "2022", "edition": "core"}),
        ("windows", {"kube_proxy_extra_args": "--v=2"}, {"kube_proxy_extra_args": ["--v=2"]}),
        ("ubuntu", {"release": 24.04}, {"release": "24.04"}),
        ("ubuntu", {"release": "22.04"}, {"release": "22.04"}),
        ("instance", {"type": "m5.large", "vcpus": "2"}, {"type": "m5.large", "vcpus": 2}),
    ],
)
def test_fields_of_the_node_group(name: str, value: Any, expected: Any) -> None:
    assert checked(fields.NODE_GROUP[name], value) == (expected, [])


def test_a_field_that_is_null_is_not_given() -> None:
    everything = {name: None for name in fields.NODE_GROUP} | {"family": "al2023"}
    assert checked(fields.NODE_GROUP_KIND, everything) == ({"family": "al2023"}, [])


@pytest.mark.parametrize("value", ["-1", -1, "1 Gi", "1gb", "", True, None, [], "NaN", "1e1000"])
def test_what_is_no_quantity(value: Any) -> None:
    found, problems = checked(values.quantity, value)
    assert found is INVALID
    assert len(problems) == 1


def test_every_name_of_eksctl_means_a_family_and_what_it_implies() -> None:
    families = {name: family for name, (family, _unused) in fields.EKSCTL_FAMILIES.items()}
    assert families == {
        "AmazonLinux2": "al2",
        "AmazonLinux2023": "al2023",
        "Bottlerocket": "bottlerocket",
        "BottlerocketFips": "bottlerocket",
        **dict.fromkeys([f"Ubuntu{pro}{release}" for pro in ("", "Pro") for release in (2004, 2204, 2404, 2604)], "ubuntu"),
        **dict.fromkeys([f"WindowsServer{year}{kind}Container" for year in (2019, 2022, 2025) for kind in ("Core", "Full")], "windows"),
    }


@pytest.mark.parametrize("secret", ["https", "http"])
def test_no_message_repeats_a_proxy(secret: str) -> None:
    _unused, problems = checked(fields.NODE_GROUP["proxy"], {secret: "user:hunter22@proxy"})
    assert problems == [f"p.{secret}: is not a URL; allowed: a URL such as http://proxy.example.com:3128; fix: begin it with http://"]


@pytest.mark.parametrize("name", ["override", "user_data"])
def test_no_message_repeats_a_script(name: str) -> None:
    _unused, problems = checked(fields.NODE_GROUP[name], [["password: hunter22"]] if name == "user_data" else ["password: hunter22"])
    assert len(problems) == 1
    assert "hunter22" not in problems[0]
