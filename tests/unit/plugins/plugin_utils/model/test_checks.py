# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks across fields: what passes them, and which of them a fact that is missing switches off."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import Problem, Problems
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.checks import shows_secret
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.fields import FAMILIES
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.model.parse import parse
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.strategies import COMPLETE

PASSWORD = "export AWS_SECRET_ACCESS_KEY=" + "wJalr" + "XUtnFEMI/K7MDENG/bPxRfiCYEX" + "AMPLEKEY"


def paths(group: Any, **cluster: Any) -> list[str]:
    problems = Problems()
    parse(COMPLETE | cluster, group, problems)
    return sorted(problem.path for problem in problems)


def mime(body: str) -> str:
    encoded = base64.b64encode(body.encode()).decode()
    return (
        'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n--B\nContent-Type: text/x-shellscript\n'
        f"Content-Transfer-Encoding: base64\n\n{encoded}\n--B--\n"
    )


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("missing", "wanted"),
    [
        ({"name": None}, ["cluster.name"]),
        ({"endpoint": None}, ["cluster.endpoint"]),
        ({"certificate_authority": None}, ["cluster.certificate_authority"]),
        ({"service_cidr": None}, ["cluster.service_cidr"]),
        ({"region": None, "kubernetes_version": None}, []),
    ],
)
def test_required_facts(family: str, missing: dict[str, None], wanted: list[str]) -> None:
    assert paths({"family": family}, **missing) == wanted
    assert paths({"family": family, "mode": "managed_custom_ami"}, **missing) == wanted
    assert paths({"family": family, "mode": "managed"}, **missing) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_name_servers_replace_the_cidr_where_a_node_needs_no_more(family: str) -> None:
    wanted = ["cluster.service_cidr"] if family in ("al2023", "windows") else []
    assert paths({"family": family}, service_cidr=None, dns_ips=["10.0.0.9"]) == wanted


@pytest.mark.parametrize("family", ["al2", "ubuntu"])
def test_static_needs_the_region(family: str) -> None:
    group = {"family": family, "strategy": "static", "max_pods": 20, "instance": {"vcpus": 2}}
    assert paths(group, region=None) == ["cluster.region"]
    assert paths(group) == []


def test_a_fact_that_is_wrong_is_not_also_missing() -> None:
    assert paths({"family": "al2"}, name="?", service_cidr="?", endpoint="?") == [
        "cluster.endpoint",
        "cluster.name",
        "cluster.service_cidr",
    ]
    assert paths({"family": "al2"}, service_cidr=None, dns_ips=["?"]) == ["cluster.dns_ips[0]"]


def test_outposts() -> None:
    assert paths({"family": "al2"}, outpost=True, id="abc") == []
    assert paths({"family": "al2"}, outpost=True) == ["cluster.id"]
    assert paths({"family": "al2"}, id="abc") == ["cluster.id"]
    assert paths({"family": "al2"}, id="?", outpost=True) == ["cluster.id"]


@pytest.mark.parametrize(
    ("labels", "mode", "wanted"),
    [
        ({"node.kubernetes.io/instance-type": "x", "topology.kubernetes.io/zone": "x"}, "self_managed", []),
        ({"kubernetes.io/os": "linux", "example.com/x": "y", "plain": "z"}, "self_managed", []),
        ({"kubernetes.io/other": "x"}, "self_managed", ['node_group.labels["kubernetes.io/other"]']),
        ({"x.k8s.io/other": "x"}, "managed", ['node_group.labels["x.k8s.io/other"]']),
        ({"eks.amazonaws.com/x": "y"}, "self_managed", []),
        (
            {"eks.amazonaws.com/x": "y", "a.eks.amazonaws.com/x": "y", "myeks.amazonaws.com/x": "y"},
            "managed",
            ['node_group.labels["a.eks.amazonaws.com/x"]', 'node_group.labels["eks.amazonaws.com/x"]'],
        ),
    ],
)
def test_labels(labels: dict[str, str], mode: str, wanted: list[str]) -> None:
    assert paths({"family": "al2023", "mode": mode, "labels": labels}) == wanted


def test_taints() -> None:
    one = {"key": "a", "value": "x", "effect": "NoSchedule"}
    assert paths({"family": "al2023", "taints": [one, one | {"effect": "NoExecute"}]}) == []
    assert paths({"family": "al2023", "taints": [one, one | {"value": "y"}, one]}) == ["node_group.taints[1]", "node_group.taints[2]"]


@pytest.mark.parametrize(("version", "wanted"), [("1.26", []), ("1.27", ["node_group.kubelet.flags.container-runtime"]), (None, [])])
def test_flags_are_those_of_the_version(version: str | None, wanted: list[str]) -> None:
    group = {"family": "al2023", "kubelet": {"flags": {"container-runtime": "remote"}}}
    assert paths(group, kubernetes_version=version) == wanted


@pytest.mark.parametrize(
    ("version", "refused", "newer"),
    [
        ("1.23", True, False),
        ("1.9", True, False),
        ("1.24", False, False),
        ("1.36", False, False),
        ("1.37", False, True),
        ("1.99", False, True),
    ],
)
def test_versions_that_the_collection_does_not_know(version: str, refused: bool, newer: bool) -> None:
    problems = Problems()
    spec = parse(COMPLETE | {"kubernetes_version": version}, {"family": "al2023"}, problems)
    assert [problem.rule for problem in problems] == (["cluster.version_too_old"] if refused else [])
    assert spec is not None
    expected = ["cluster.version_not_known"] if newer else []
    assert [[problem.rule for problem in found] for found in (spec.warnings, spec.unchecked)] == [expected, expected]


@pytest.mark.parametrize(("version", "wanted"), [("1.29", []), ("1.28", ["node_group.kubelet.config.imageMaximumGCAge"]), (None, [])])
def test_configuration_is_that_of_the_version(version: str | None, wanted: list[str]) -> None:
    assert paths({"family": "al2023", "kubelet": {"config": {"imageMaximumGCAge": "1h"}}}, kubernetes_version=version) == wanted


def test_one_complaint_for_a_value_that_has_a_field_of_its_own() -> None:
    config = {"maxPods": 0, "clusterDNS": ["x"], "kubeReserved": {"gpu": "1"}, "systemReserved": 7}
    where = "node_group.kubelet.config"
    assert paths({"family": "al2023", "kubelet": {"config": config}}) == [
        f"{where}.clusterDNS[0]",
        f"{where}.kubeReserved.gpu",
        f"{where}.maxPods",
        f"{where}.systemReserved",
    ]


@pytest.mark.parametrize(
    ("group", "version", "wanted"),
    [
        ({"family": "al2"}, "1.32", []),
        ({"family": "al2"}, "1.33", ["node_group.family"]),
        ({"family": "AmazonLinux2"}, "1.33", ["node_group.family"]),
        ({"family": "ubuntu"}, "1.33", []),
        ({"family": "ubuntu", "ubuntu": {"release": "20.04"}}, "1.29", []),
        ({"family": "ubuntu", "ubuntu": {"release": "20.04"}}, "1.30", ["node_group.ubuntu.release"]),
        ({"family": "Ubuntu2004"}, "1.30", ["node_group.family"]),
        ({"family": "windows", "windows": {"version": "2025"}}, "1.35", []),
        ({"family": "windows", "windows": {"version": "2025"}}, "1.34", ["node_group.windows.version"]),
        ({"family": "windows", "windows": {"version": "2025"}}, None, []),
    ],
)
def test_versions_of_a_family(group: dict[str, Any], version: str | None, wanted: list[str]) -> None:
    assert paths(group, kubernetes_version=version) == wanted


@pytest.mark.parametrize(
    ("group", "wanted"),
    [
        ({"commands": {"pre": ["true", PASSWORD]}}, ["node_group.commands.pre[1]"]),
        ({"override": PASSWORD}, ["node_group.override"]),
        ({"user_data": PASSWORD}, ["node_group.user_data[0]"]),
        ({"user_data": ["#!/bin/sh\n", base64.b64encode(PASSWORD.encode()).decode()]}, ["node_group.user_data[1]"]),
        ({"user_data": mime(f"#!/bin/sh\n{PASSWORD}\n")}, ["node_group.user_data[0]"]),
        ({"nodeadm": {"x": {"password": "hunter22"}}}, ["node_group.nodeadm.x.password"]),
        ({"proxy": {"https": "http://u:hunter22@p:1"}}, ["node_group.proxy.https"]),
        ({"commands": {"pre": ["echo $PASSWORD"]}}, []),
    ],
    ids=str,
)
def test_secrets(group: dict[str, Any], wanted: list[str]) -> None:
    assert paths({"family": "al2023"} | group) == wanted
    assert paths({"family": "al2023", "allow_secrets_in_user_data": True} | group) == []


@pytest.mark.parametrize(
    ("problem", "secret"),
    [
        (Problem("input.conflict", "a.b", "x", value=PASSWORD), True),
        (Problem("input.conflict", "a.password", "x", value="hunter22"), True),
        (Problem("input.conflict", "a.b", "x", value=[{"password": "hunter22"}]), True),
        (Problem("input.conflict", "a.b", "x", value="hunter22"), False),
        (Problem("input.conflict", "a.b", "x", value=7), False),
        (Problem("input.conflict", 'a["b/c"]', "x", value=None), False),
    ],
    ids=str,
)
def test_values_that_no_message_repeats(problem: Problem, secret: bool) -> None:
    assert shows_secret(problem) is secret
