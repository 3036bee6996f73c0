# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The finding that follows from answers of the API server over real TLS."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._join.model import Instance
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.api_stand_in import NAME, Authority, a_node, serving, status
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.join_request import Request, diagnose, prints, program


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def pem(authority: Authority) -> Path:
    return authority.sign("server", ("127.0.0.1", "::1", "localhost"))


@pytest.fixture
def request_node(tmp_path: Path, authority: Authority) -> Request:
    return Request(tmp_path, authority.path)


# --- answers -----------------------------------------------------------------------------------------------------------------------

FORBIDDEN = (
    f'nodes "b" is forbidden: User "system:node:a" cannot get resource "nodes" at the cluster scope: node \'a\' cannot read \'{NAME}\''
)


@pytest.mark.parametrize(
    ("answer", "cause", "final"),
    [
        (status(401, "Unauthorized"), "unauthorized", True),
        (status(403, FORBIDDEN), "node_name_mismatch", True),
        (status(403, 'nodes is forbidden: User "stranger" cannot get'), "not_a_node", True),
        (status(403, 'User "system:node:a" cannot get'), "not_a_node", True),
        (status(403, 'User "system:anonymous" cannot get'), "not_a_node", True),
        (status(404, f'nodes "{NAME}" not found'), "not_registered", False),
        (status(500, "etcdserver: no leader"), "api_error", False),
        (status(429, "Too many requests"), "api_error", False),
        ((404, b"<html>404 page not found"), "api_error", False),
        ((200, b"\xff\xfe" * 1000), "api_error", False),
        ((200, b"[" * 100000), "api_error", False),
        ((200, b'{"kind": "Node", "metadata": 5, "spec": [], "status": null}'), "api_error", False),
        (a_node("another"), "api_error", False),
    ],
)
def test_answers(
    request_node: Request, pem: Path, answer: tuple[int, bytes], cause: str, final: bool, golden_message: GoldenMessages
) -> None:
    with serving(pem, answer) as server:
        result = request_node(server)
    finding = diagnose(result)
    assert (finding.cause, finding.final) == (cause, final)
    assert mentions(finding.evidence[0], server.url, answer[0])
    golden_message("\n".join((finding.message, finding.fix, *finding.evidence)), SERVER=server.url)
    is_status = answer[1].startswith(b'{"kind": "Status"')
    assert result.is_kubernetes is is_status and (result.message != "") is is_status


def test_a_wrong_clock_explains_401(request_node: Request, pem: Path) -> None:
    for ahead in (1200, -1200):
        with serving(pem, status(401, "Unauthorized"), ahead=ahead) as server:
            result = request_node(server)
        finding = diagnose(result)
        assert (finding.cause, finding.final) == ("clock_skew", True)
        assert result.clock_skew is not None and abs(result.clock_skew + ahead) < 60
        assert finding.evidence[1].endswith(f"{result.clock_skew:+.0f} s")
    with serving(pem, a_node(), ahead=1200) as server:
        result = request_node(server)
    assert result.node is not None and result.node.ready == "True", "the node joined all the same"


def test_an_expired_token_explains_401(request_node: Request, pem: Path, tmp_path: Path, golden_message: GoldenMessages) -> None:
    program(tmp_path, prints(expirationTimestamp="2026-01-01T00:00:00Z"))
    with serving(pem, status(401, "Unauthorized")) as server:
        finding = diagnose(request_node(server))
    assert (finding.cause, finding.final) == ("token_expired", True)
    golden_message(f"{finding.message}\n{finding.fix}", SERVER=server.url)


def test_the_tags_of_the_instance_decide(request_node: Request, pem: Path, golden_message: GoldenMessages) -> None:
    with serving(pem, status(401, "Unauthorized")) as server:
        result = request_node(server)
    instance = Instance({}, "node-role", "111122223333", "eu-central-1")
    other = diagnose(result, instance._replace(clusters={"aws:eks:cluster-name": "prod"}))
    assert (other.cause, other.final) == ("wrong_cluster_name", True)
    assert "tag aws:eks:cluster-name of this instance: prod" in other.evidence
    for clusters in ({"eks:cluster-name": "demo"}, {}):
        finding = diagnose(result, instance._replace(clusters=clusters))
        assert finding.cause == "unauthorized" and mentions(finding.message, "node-role", "111122223333")
        # Only without a tag the name of the cluster is in doubt.
        assert mentions(finding.fix, "--name demo --region eu-central-1", server.url) is not bool(clusters)
        golden_message(f"{finding.message}\n{finding.fix}", SERVER=server.url)


def test_a_tag_says_nothing_about_the_id_of_a_cluster_on_outposts(request_node: Request, pem: Path, golden_message: GoldenMessages) -> None:
    """While kubelet requests its certificate there, its program gets the ID of the cluster."""
    with serving(pem, status(401, "Unauthorized")) as server:
        result = request_node(server)
    for tag in ("prod", "demo"):
        finding = diagnose(result, Instance({"eks:cluster-name": tag}, "node-role"), is_bootstrapping=True)
        assert (finding.cause, finding.final) == ("unauthorized", True)
        assert mentions(finding.fix, "--query cluster.id") and "--name demo" not in finding.fix
        golden_message(f"{finding.message}\n{finding.fix}", SERVER=server.url)


@pytest.mark.parametrize("broken", ["a: &x {b: c}\n", "clusters: >-\n  a\n", "{{{"])
def test_a_kubeconfig_that_only_kubelet_can_read_is_not_final(
    request_node: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str, golden_message: GoldenMessages
) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    request_node.user = {}
    finding = diagnose(request_node("https://127.0.0.1:1"))
    assert (finding.cause, finding.final) == ("bad_kubeconfig", True), "it contains no credentials"
    (tmp_path / "kubeconfig").write_text(broken, encoding="utf-8")
    finding = diagnose(request_node.client.request_node(NAME))
    assert (finding.cause, finding.final) == ("bad_kubeconfig", False)
    assert mentions(finding.message, f"{tmp_path}/kubeconfig", "line 1")
    golden_message(finding.message)
