# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lab gives a node: a metadata service with faults, an identity, the stand-in for AWS, and no route to the internet."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from ansible_collections.nodebootstrap.eks.tests.lab import Lab, LabNode
from ansible_collections.nodebootstrap.eks.tests.lab.node import HOP_LIMIT
from ansible_collections.nodebootstrap.eks.tests.lab.progress import docker

pytestmark = pytest.mark.docker

IMDS = "http://169.254.169.254/latest"
FAULTS_FILE = "/etc/nodelab/imds-faults.json"
FAULTS = [
    {"path": "/latest/api/token", "method": "PUT", "status": 503, "times": 2},
    {"path": "/latest/meta-data/placement", "delay": 1.5, "times": 1},
    {"path": "/latest/meta-data/mac", "status": 0},
]


@pytest.fixture(scope="module")
def node(lab: Lab) -> Iterator[LabNode]:
    with lab.node("al2", faults=FAULTS) as made:
        made.wait_boot()
        yield made


def curl(node: LabNode, *words: str) -> tuple[str, float]:
    """Body and status, and the seconds it took."""
    done = node.exec(["curl", "-s", "-m", "60", "-w", "|%{http_code}|%{time_total}", *words])
    body, status, seconds = done.stdout.decode().rsplit("|", 2)
    return f"{status} {body}".strip(), float(seconds)


def test_the_metadata_service_misbehaves_as_told(node: LabNode) -> None:
    ask_token = ["-X", "PUT", "-H", "X-aws-ec2-metadata-token-ttl-seconds: 60", f"{IMDS}/api/token"]
    assert [curl(node, *ask_token)[0] for _unused in range(2)] == ["503", "503"]
    token = curl(node, *ask_token)[0].removeprefix("200 ")
    assert curl(node, f"{IMDS}/meta-data/instance-id")[0] == "401"
    header = ["-H", f"X-aws-ec2-metadata-token: {token}"]
    assert curl(node, *header, f"{IMDS}/meta-data/instance-id")[0] == f"200 {node.instance}"
    zone, slow = curl(node, *header, f"{IMDS}/meta-data/placement/availability-zone")
    assert (zone, slow >= 1.5) == ("200 eu-central-1a", True)
    assert curl(node, *header, f"{IMDS}/meta-data/placement/availability-zone")[0] == zone
    assert curl(node, *header, f"{IMDS}/meta-data/mac")[0] == "000"


def test_beyond_the_hop_limit_no_token_arrives(node: LabNode) -> None:
    before = node.read(FAULTS_FILE)
    node.write({FAULTS_FILE: json.dumps([HOP_LIMIT])})
    try:
        assert curl(node, "-m", "1", "-X", "PUT", "-H", "X-aws-ec2-metadata-token-ttl-seconds: 60", f"{IMDS}/api/token")[0] == "000"
        assert curl(node, f"{IMDS}/meta-data/instance-id")[0] == "401", "what needs no token is answered"
    finally:
        node.write({FAULTS_FILE: before})


def test_a_credential_is_good_for_its_cluster_alone(lab: Lab, node: LabNode) -> None:
    def status(*argv: str) -> int:
        credential = json.loads(node.exec(argv, check=True).stdout)
        header = f"Authorization: Bearer {credential['status']['token']}"
        return int(curl(node, "-k", "-o", "/dev/null", "-H", header, f"{lab.state.endpoint}/api/v1/nodes/{node.name}")[0])

    # 404: known and authorized, but there is no such Node yet.
    assert status("aws", "eks", "get-token", "--cluster-name", "demo", "--region", "eu-central-1") == 404
    assert status("aws-iam-authenticator", "token", "-i", "demo") == 404
    assert status("aws-iam-authenticator", "token", "-i", "other") == 401


def test_nodes_have_no_route_to_the_internet(lab: Lab, node: LabNode) -> None:
    inspected = docker("network", "inspect", "-f", "{{.Internal}}", lab.network.name).stdout.decode().strip()
    assert inspected == "true", "Docker forwards nothing from an internal network"
    done = node.exec(["systemctl", "show-environment"], check=True)
    assert f"AWS_ENDPOINT_URL={lab.state.aws}" in done.stdout.decode().splitlines()
