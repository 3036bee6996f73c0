# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of a user's own user data or specification: they join, or the command says why not."""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.outputs.user_data import render
from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabError, user_nodes
from ansible_collections.nodebootstrap.eks.tests.lab.failing import another_authority
from ansible_collections.nodebootstrap.eks.tests.lab.joining import PATIENCE, group
from ansible_collections.nodebootstrap.eks.tests.lab.progress import docker
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions

pytestmark = pytest.mark.docker

NODECONFIG = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n"


@contextlib.contextmanager
def added(lab: Lab, wanted: user_nodes.Input) -> Iterator[user_nodes.Report]:
    report = user_nodes.add(lab, wanted, PATIENCE)
    try:
        yield report
    finally:
        user_nodes.remove(lab, report.name)


def test_a_node_of_user_data_joins_and_stays_until_it_is_removed(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "user-data"
    path.write_text(render(lab.cluster("1.30"), group("al2023")).document.text)
    with added(lab, user_nodes.read_user_data(path)) as report:
        assert report.joined, user_nodes.describe(report)
        shown = user_nodes.describe(report).splitlines()
        assert shown[1].split()[:2] == [report.name, "Ready"]
        assert "  example.com/pool=web" in shown and "  dedicated=web:NoSchedule" in shown
        assert [line.split()[:2] for line in shown if line.startswith("  Ready ")] == [["Ready", "True"]]
        assert user_nodes.names(lab) == [report.name]
        assert user_nodes.report(lab, report.name).joined
    assert user_nodes.names(lab) == []
    assert docker("inspect", report.name, check=False).returncode != 0
    with pytest.raises(LabError) as caught:
        user_nodes.report(lab, report.name)
    assert mentions(caught.value, report.name)


@pytest.mark.matrix
def test_a_node_that_does_not_join_is_diagnosed(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "node.yml"
    fields = {"certificate_authority": another_authority(), "kubernetes_version": "1.36"}
    path.write_text(json.dumps({"cluster": fields, "node_group": group("al2023-stand-in")}))
    with added(lab, user_nodes.read_spec(path, lab, as_written=True)) as report:
        assert (report.joined, report.node) == (False, None)
        assert report.check.result["cause"] == "wrong_certificate_authority"
        shown = user_nodes.describe(report).splitlines()
        for key in ("cause", "message", "fix"):
            assert f"  {key + ':':<10}{report.check.result[key]}" in shown


def test_the_lab_supplies_the_identity_of_the_cluster(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "node.yml"
    cluster = {"name": "other", "endpoint": "https://example.com", "kubernetes_version": "1.36"}
    path.write_text(json.dumps({"eks_node_cluster": cluster, "eks_node_groups": [{"family": "AmazonLinux2023", "max_pods": 7}]}))
    wanted = user_nodes.read_spec(path, lab)
    assert (wanted.family, wanted.kubelet) == ("al2023", "1.36")
    assert lab.state.endpoint in wanted.user_data and "example.com" not in wanted.user_data
    assert user_nodes.read_spec(path, lab, "1.30").kubelet == "1.30"
    assert "example.com" in user_nodes.read_spec(path, lab, as_written=True).user_data


@pytest.mark.parametrize(
    "encoded", [str.encode, lambda text: base64.b64encode(text.encode()), lambda text: gzip.compress(text.encode(), mtime=0)]
)
def test_user_data_may_be_encoded(tmp_path: Path, encoded: object) -> None:
    path = tmp_path / "user-data"
    assert callable(encoded)
    path.write_bytes(encoded(NODECONFIG))
    assert user_nodes.read_user_data(path) == ("al2023", NODECONFIG, user_nodes.DEFAULT_KUBELET)


def test_the_family_of_a_script_must_be_named(tmp_path: Path) -> None:
    path = tmp_path / "user-data"
    path.write_text("#!/bin/bash\n/etc/eks/bootstrap.sh demo\n")
    with pytest.raises(LabError) as caught:
        user_nodes.read_user_data(path)
    assert mentions(caught.value, "--family")
    assert user_nodes.read_user_data(path, "ubuntu", "1.36")[::2] == ("ubuntu", "1.36")
    with pytest.raises(LabError) as caught:
        user_nodes.read_user_data(path, "bottlerocket")
    assert mentions(caught.value, "bottlerocket")
    with pytest.raises(LabError) as caught:
        user_nodes.read_user_data(path, "al2", "1.29")
    assert mentions(caught.value, "1.29")


def test_a_specification_with_errors_starts_no_node(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "node.yml"
    for content in ([], {}, {"node_group": "web"}, {"node_group": {"family": "al2023", "max_podz": 3}}):
        path.write_text(json.dumps(content))
        with pytest.raises(LabError):
            user_nodes.read_spec(path, lab)
