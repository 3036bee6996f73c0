# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module cluster_info against moto's server, and against clients that answer as moto cannot."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from ansible.module_utils import basic
from botocore.stub import Stubber
from moto.eks.models import eks_backends
from moto.server import ThreadedMotoServer

from ansible_collections.nodebootstrap.eks.plugins.module_utils._aws import client as _aws
from ansible_collections.nodebootstrap.eks.plugins.modules import cluster_info
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions

REGION = "eu-west-1"
SECRET = "canary-of-a-secret-key"
KEYS = {"access_key": "AKIACANARYACCESSKEY0", "secret_key": SECRET, "session_token": "canary-of-a-token"}
NETWORKS = {
    "four": {"ipFamily": "ipv4", "serviceIpv4Cidr": "10.100.0.0/16"},
    "six": {"ipFamily": "ipv6", "serviceIpv6Cidr": "fd40:6404:f93b::/108"},
}


@pytest.fixture(autouse=True)
def no_credentials_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """moto's EKS with the clusters of NETWORKS. It keeps no IPv6 network of its own, so that is written into it."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    client = boto3.client("eks", region_name=REGION, endpoint_url=url, aws_access_key_id="x", aws_secret_access_key="x")
    for name, network in NETWORKS.items():
        asked = {key: value for key, value in network.items() if key != "serviceIpv6Cidr"}
        client.create_cluster(
            name=name,
            version="1.33",
            roleArn="arn:aws:iam::123456789012:role/eks",
            resourcesVpcConfig={"subnetIds": ["subnet-1"]},
            kubernetesNetworkConfig=asked,
        )
        eks_backends["123456789012"][REGION].clusters[name].kubernetes_network_config = network
    yield url
    for name in NETWORKS:
        client.delete_cluster(name=name)
    server.stop()


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], check: bool = False, **options: Any) -> dict[str, Any]:
    """What the module prints, in this process. Whatever it says, no secret is in it."""
    arguments = {"ANSIBLE_MODULE_ARGS": {**options, "_ansible_check_mode": check, "_ansible_remote_tmp": "tmp"}}
    monkeypatch.setattr(basic, "_ANSIBLE_ARGS", json.dumps(arguments).encode())
    monkeypatch.setattr(basic, "_ANSIBLE_PROFILE", "legacy", raising=False)
    with pytest.raises(SystemExit):
        cluster_info.main()
    printed = capsys.readouterr().out
    assert "canary" not in printed
    assert "CANARY" not in printed
    result: dict[str, Any] = json.loads(printed)
    assert "Traceback" not in result.get("msg", "")
    return result


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize(("name", "cidr"), [("four", "10.100.0.0/16"), ("six", "fd40:6404:f93b::/108")])
def test_a_cluster_of_either_address_family(monkeypatch: Any, capsys: Any, endpoint: str, name: str, cidr: str, check: bool) -> None:
    result = run(monkeypatch, capsys, check, name=name, region=REGION, endpoint_url=endpoint, **KEYS)
    assert (result["changed"], result["status"]) == (False, "ACTIVE")
    cluster = result["cluster"]
    assert cluster.pop("endpoint").startswith("https://")
    assert cluster.pop("certificate_authority")
    assert cluster == {"name": name, "service_cidr": cidr, "region": REGION, "kubernetes_version": "1.33"}


def test_credentials_and_region_of_a_profile(
    monkeypatch: Any, capsys: Any, endpoint: str, tmp_path: Path, golden_message: GoldenMessages
) -> None:
    (tmp_path / "config").write_text(
        f"[profile dev]\nregion = {REGION}\naws_access_key_id = a\naws_secret_access_key = b\n", encoding="utf-8"
    )
    assert run(monkeypatch, capsys, name="four", profile="dev", endpoint_url=endpoint)["cluster"]["region"] == REGION
    wrong = run(monkeypatch, capsys, name="four", profile="dew", endpoint_url=endpoint)
    assert mentions(wrong["msg"], "dew", "dev")
    golden_message(wrong["msg"])


@pytest.mark.parametrize("variable", ["AWS_REGION", "AWS_DEFAULT_REGION"])
def test_region_of_the_environment(monkeypatch: Any, capsys: Any, endpoint: str, variable: str) -> None:
    monkeypatch.setenv(variable, REGION)
    assert run(monkeypatch, capsys, name="four", endpoint_url=endpoint, **KEYS)["cluster"]["region"] == REGION


@pytest.mark.parametrize(
    "options",
    [
        {"name": "fuor"},
        {"region": "eu-west-2"},
        {"region": None},
        {"access_key": None, "secret_key": None, "session_token": None},
        {"endpoint_url": "nonsense"},
        {"region": "no region"},
        {"access_key": None, "session_token": None},
        {"profile": "dev"},
    ],
)
def test_what_is_wrong_is_said(
    monkeypatch: Any, capsys: Any, endpoint: str, options: dict[str, Any], golden_message: GoldenMessages
) -> None:
    asked = {"name": "four", "region": REGION, "endpoint_url": endpoint, **KEYS, **options}
    result = run(monkeypatch, capsys, **{key: value for key, value in asked.items() if value is not None})
    assert result["failed"]
    golden_message(result["msg"])


def test_no_server_answers(monkeypatch: Any, capsys: Any, golden_message: GoldenMessages) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://user:canary@127.0.0.1:{unused.getsockname()[1]}"
        arguments = {"name": "four", "region": REGION, **KEYS}
        with pytest.raises(cluster_info.AwsError) as refused:
            cluster_info.describe({**dict.fromkeys(cluster_info.SPECIFICATION), **arguments, "endpoint_url": url})
    golden_message(refused.value)
    assert "canary" not in str(refused.value)


def client_of(monkeypatch: pytest.MonkeyPatch) -> Stubber:
    """The module's next client, with answers that the test puts there."""
    client = boto3.client("eks", region_name=REGION, aws_access_key_id="x", aws_secret_access_key="x")
    monkeypatch.setattr(boto3.session.Session, "client", lambda *_arguments, **_options: client)
    stub = Stubber(client)
    stub.activate()
    return stub


def described(**fields: Any) -> dict[str, Any]:
    return {"cluster": {"name": "four", "version": "1.33", "status": "ACTIVE", **fields}}


def test_a_local_cluster_on_outposts(monkeypatch: Any, capsys: Any) -> None:
    outpost = {"outpostArns": ["arn:aws:outposts:eu-west-1:1:outpost/op-1"], "controlPlaneInstanceType": "m5.large"}
    stub = client_of(monkeypatch)
    stub.add_response("describe_cluster", described(id="5f0d2c1e", outpostConfig=outpost), {"name": "four"})
    result = run(monkeypatch, capsys, name="four", region=REGION, **KEYS)
    assert result["cluster"] == {"name": "four", "region": REGION, "kubernetes_version": "1.33", "id": "5f0d2c1e", "outpost": True}


@pytest.mark.parametrize(("status", "joins"), [("ACTIVE", True), ("UPDATING", True), ("CREATING", False), ("DELETING", False)])
@pytest.mark.parametrize("required", [True, False])
def test_status(monkeypatch: Any, capsys: Any, status: str, joins: bool, required: bool, golden_message: GoldenMessages) -> None:
    stub = client_of(monkeypatch)
    stub.add_response("describe_cluster", described(status=status), {"name": "four"})
    result = run(monkeypatch, capsys, name="four", region=REGION, require_active=required, **KEYS)
    if joins or not required:
        assert result["status"] == status
        assert result["cluster"] == {"name": "four", "region": REGION, "kubernetes_version": "1.33"}
    else:
        golden_message(result["msg"])


@pytest.mark.parametrize("code", ["AccessDeniedException", "ExpiredTokenException", "UnrecognizedClientException", "ServerException"])
def test_refusals_of_eks(monkeypatch: Any, capsys: Any, code: str, golden_message: GoldenMessages) -> None:
    client_of(monkeypatch).add_client_error("describe_cluster", code, "because")
    message = run(monkeypatch, capsys, name="four", region=REGION, **KEYS)["msg"]
    assert mentions(message, f"({code}: because)")
    golden_message(message)


def test_not_found_without_the_permission_to_list(monkeypatch: Any, capsys: Any, golden_message: GoldenMessages) -> None:
    stub = client_of(monkeypatch)
    stub.add_client_error("describe_cluster", "ResourceNotFoundException", "no")
    stub.add_client_error("list_clusters", "AccessDeniedException", "no")
    message = run(monkeypatch, capsys, name="four", region=REGION, **KEYS)["msg"]
    golden_message(message)


def test_a_region_that_does_not_exist(golden_message: GoldenMessages) -> None:
    session = boto3.session.Session(region_name="eu-wset-1")
    message = _aws.explain_unreachable(session.client("eks"), session, None, "EKS")
    golden_message(message)


def test_boto3_is_missing(monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr(cluster_info, "BOTO3_ERROR", "ImportError")
    assert "(boto3)" in run(monkeypatch, capsys, name="four")["msg"]
