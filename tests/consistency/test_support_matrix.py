# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of features in docs/capabilities.md and docs/families.md agree with the library, and name evidence that exists."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils import data
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.errors import SpecError
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats import yaml
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.consistency import evidence, project

FAMILIES = ("al2", "al2023", "ubuntu", "bottlerocket", "windows")
CLUSTER = yaml.load(project.text("examples/clusters/demo.yml"))["eks_node_cluster"]
EXPRESSIBLE = {"max_pods": 58, "instance": {"type": "m5.large"}}

Case = dict[str, Any]

_OWN_USER_DATA = {"bottlerocket": '[settings]\nmotd = "x"\n', "windows": "<powershell>\nGet-Date\n</powershell>\n"}
_MAX_PODS = {"windows": "windows_secondary_ip"}
_CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
_NODE_CONFIG = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {featureGates: {}}\n"


def each(*cases: Case) -> Callable[[str], Iterable[Case]]:
    """The same cases for every family. A case is node group fields; C(cluster) and C(encoding) in it stand apart."""
    return lambda family: cases


FEATURES: dict[str, Callable[[str], Iterable[Case]]] = {
    "`labels`, `taints`": each({"labels": {"role": "x"}, "taints": [{"key": "a", "effect": "NoSchedule"}]}),
    "label values known at boot": each({"labels": {"id": "{instance_id}"}}),
    "`max_pods`: a number, or EKS's formulas": lambda family: ({"max_pods": 58}, {"max_pods": {"mode": _MAX_PODS.get(family, "prefix")}}),
    "`reserved`: values, or `auto`": each({"reserved": {"kube": "auto"}, "max_pods": 58}, {"reserved": {"system": {"memory": "1Gi"}}}),
    "`kubelet.config`": each({"kubelet": {"config": {"podPidsLimit": 100}}}, {"kubelet": {"config": {"logging": {"format": "json"}}}}),
    "`kubelet.flags`": each({"kubelet": {"flags": {"v": 4}}}, {"kubelet": {"flags": {"exit-on-lock-contention": True}}}),
    "`containerd.config`": each({"containerd": {"config": {"debug": {"level": "info"}}}}),
    "`containerd.registry_mirrors`": each({"containerd": {"registry_mirrors": {"docker.io": ["https://mirror.example.com"]}}}),
    "mirrors with `ca`, `skip_verify`, `dial_timeout`": each(
        *(
            {"containerd": {"registry_mirrors": {"docker.io": {"url": "https://mirror.example.com", **own}}}}
            for own in ({"ca": "/etc/own.pem"}, {"skip_verify": True}, {"dial_timeout": "3s"})
        )
    ),
    "`containerd.pause_image`": each({"containerd": {"pause_image": "602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.10"}}),
    "`trust`": each({"trust": _CERTIFICATE}),
    "`local_storage`": each({"local_storage": {"strategy": "raid0"}}, {"local_storage": {"strategy": "mount"}}),
    "`proxy`": each(
        {"proxy": {"https": "http://p.example.com:1"}}, {"proxy": {"https": "http://p.example.com:1", "http": "http://q.example.com:1"}}
    ),
    "`commands.pre`": each({"commands": {"pre": ["x"]}}),
    "`commands.post`": each({"commands": {"post": ["x"]}}),
    "`commands.post` with `when: ready`": each({"commands": {"post": [{"run": "x", "when": "ready"}]}}),
    "`override`": lambda family: ({"override": _NODE_CONFIG if family == "al2023" else "x"},),
    "`user_data` of your own, merged": lambda family: ({"user_data": _OWN_USER_DATA.get(family, "#!/bin/sh\ntrue\n")},),
    "IPv6": each({"cluster": {"service_cidr": "fd40:6404:f93b::/108"}}),
    "several DNS addresses": each({"cluster": {"dns_ips": ["169.254.20.10", "10.100.0.10"]}}),
    "local clusters on Outposts": each({"cluster": {"outpost": True, "id": "5f0d2c1e-1111-4222-8333-444455556666"}}),
    "`strategy: static`": each({"strategy": "static"}),
    "`mode: managed`": each({"mode": "managed", "max_pods": None}),
    "compressed user data": each({"encoding": "gzip_base64"}),
}


def works(family: str, case: Case, **more: Any) -> bool:
    """Whether the library renders a case."""
    group = {"name": "x", "family": family, "instance": {"type": "m5.large"}, **more, **case}
    cluster = {**CLUSTER, **group.pop("cluster", {})}
    encoding = group.pop("encoding", "plain")
    if group.get("strategy") == "static":
        group = EXPRESSIBLE | group
    if family == "windows" and group.get("mode") == "managed":
        del group["instance"]
    try:
        render(cluster, {key: value for key, value in group.items() if value is not None}, encoding)
    except SpecError:
        return False
    return True


def cell(family: str, cases: Iterable[Case], **more: Any) -> str:
    """yes, no, partly, or static: only with that strategy."""
    found = {works(family, case, **more) for case in cases}
    if found != {False}:
        return "partly" if len(found) == 2 else "yes"
    static = family in ("al2", "ubuntu") and more.get("mode") != "managed" and all(works(family, case, strategy="static") for case in cases)
    return "static" if static else "no"


def table(page: str, heading: str) -> list[list[str]]:
    """The rows of the first table below a heading, as cells, without head and rule."""
    below = project.text(page).split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)
    assert rows
    return [[one.strip() for one in row.strip("|").split(" | ")] for row in rows[0].splitlines()[2:]]


def verified_cell(name: str, family: str, word: str) -> str:
    """The cell of a feature on a family, with how it was verified."""
    return word if word == "no" else f"{word}, {evidence.verified(name, family)}"


def test_what_each_family_can() -> None:
    expected = [
        [name, *(verified_cell(name, family, cell(family, list(cases(family)))) for family in FAMILIES)] for name, cases in FEATURES.items()
    ]
    assert [row[:6] for row in table("docs/capabilities.md", "What each family supports")] == expected


def test_evidence_exists() -> None:
    assert set(evidence.EVIDENCE) <= set(FEATURES)
    for test in sorted({test for tests in evidence.EVIDENCE.values() for test in tests}):
        file, _colons, name = test.partition("::")
        source = project.text(file)
        assert f"\ndef {name}(" in source, f"{test} does not exist"
        assert file.startswith("tests/lab/") or "pytestmark = pytest.mark.docker" in source, f"{file} starts no node"


def test_what_is_not_supported_has_no_evidence() -> None:
    rows = table("docs/capabilities.md", "What each family supports")
    without = {(row[0], family) for row in rows for family, word in zip(FAMILIES, row[1:6], strict=True) if word == "no"}
    shown = {(name, family) for name, tests in evidence.EVIDENCE.items() for families in tests.values() for family in families}
    assert not without & shown


def test_what_a_managed_group_can() -> None:
    families = [family for family in FAMILIES if family != "ubuntu"]
    rows = table("docs/families.md", "Managed node groups")
    expected = [
        [name, *(cell(family, list(FEATURES[name](family)), mode="managed") for family in families)] for name in (row[0] for row in rows)
    ]
    assert [row[:5] for row in rows] == expected


def test_every_no_has_a_reason() -> None:
    without = [
        row[0]
        for row in table("docs/capabilities.md", "What each family supports")
        if any(not word.startswith("yes") for word in row[1:6]) and not row[6].strip("| ")
    ]
    assert without == []


@pytest.mark.parametrize("name", [name for name in data.kubernetes_versions()["families"] if name != "ubuntu" and name != "windows"])
def test_versions_of_families(name: str) -> None:
    row = data.kubernetes_versions()["families"][name]
    words = [
        word for bound, word in (("since", "from 1.{}"), ("until", "up to 1.{}")) if bound in row for word in [word.format(row[bound])]
    ]
    assert [row["name"], " ".join(words) or "all"] in [found[:2] for found in table("docs/families.md", "Kubernetes versions")]
