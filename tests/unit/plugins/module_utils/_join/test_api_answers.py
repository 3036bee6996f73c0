# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows from what the API server answers, asked over real TLS."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.api_stand_in import NAME, Authority, a_node, serving, status
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.join_asking import Asking, cause, gives, program


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def pem(authority: Authority) -> Path:
    return authority.sign("server", ("127.0.0.1", "::1", "localhost"))


@pytest.fixture
def asking(tmp_path: Path, authority: Authority) -> Asking:
    return Asking(tmp_path, authority.path)


# --- answers -----------------------------------------------------------------------------------------------------------------------

FORBIDDEN = (
    f'nodes "b" is forbidden: User "system:node:a" cannot get resource "nodes" at the cluster scope: node \'a\' cannot read \'{NAME}\''
)


@pytest.mark.parametrize(
    ("answer", "name", "final", "words"),
    [
        (
            status(401, "Unauthorized"),
            "unauthorized",
            True,
            "either its cluster is not called demo, or the node's role is not mapped in it",
        ),
        (status(403, FORBIDDEN), "node_name_mismatch", True, f"calls its node {NAME}, and the cluster knows this identity as the node a"),
        (
            status(403, 'nodes is forbidden: User "stranger" cannot get'),
            "not_a_node",
            True,
            "takes this node for stranger, which is no node",
        ),
        (status(403, 'User "system:node:a" cannot get'), "not_a_node", True, "not for a member of the group system:nodes"),
        (status(403, 'User "system:anonymous" cannot get'), "not_a_node", True, "takes this node for nobody"),
        (status(404, f'nodes "{NAME}" not found'), "not_registered", False, f"has no Node {NAME} yet"),
        (status(500, "etcdserver: no leader"), "api_error", False, "answers 500: etcdserver: no leader"),
        (status(429, "Too many requests"), "api_error", False, "answers 429"),
        ((404, b"<html>404 page not found"), "api_error", False, "and not as an API server does"),
        ((200, b"\xff\xfe" * 1000), "api_error", False, "and not as an API server does"),
        ((200, b"[" * 100000), "api_error", False, "and not as an API server does"),
        ((200, b'{"kind": "Node", "metadata": 5, "spec": [], "status": null}'), "api_error", False, "and not as an API server does"),
        (a_node("another"), "api_error", False, "and not as an API server does"),
    ],
)
def test_answers(asking: Asking, pem: Path, answer: tuple[int, bytes], name: str, final: bool, words: str) -> None:
    with serving(pem, answer) as server:
        finding = cause(asking(server))
    assert (finding.cause, finding.final) == (name, final) and words in finding.message
    assert finding.evidence[0].startswith(f"{server.url} answers {answer[0]}")


def test_a_clock_that_is_wrong_explains_401(asking: Asking, pem: Path) -> None:
    for ahead, words in ((1200, "1200 s behind"), (-1200, "1200 s ahead of")):
        with serving(pem, status(401, "Unauthorized"), ahead=ahead) as server:
            finding = cause(asking(server))
        assert (finding.cause, finding.final) == ("clock_skew", True)
        assert abs(int("".join(filter(str.isdigit, finding.message[:40]))) - 1200) < 10 and words[5:] in finding.message
    with serving(pem, a_node(), ahead=1200) as server:
        assert asking(server)["node"]["ready"] == "True", "a node that joined is none of it"


def test_a_token_that_has_expired_explains_401(asking: Asking, pem: Path, tmp_path: Path) -> None:
    program(tmp_path, gives(expirationTimestamp="2026-01-01T00:00:00Z"))
    with serving(pem, status(401, "Unauthorized")) as server:
        finding = cause(asking(server))
    assert (finding.cause, finding.final) == ("token_expired", True) and "the token of get-token expired" in finding.message


def test_the_tags_of_the_instance_decide(asking: Asking, pem: Path) -> None:
    with serving(pem, status(401, "Unauthorized")) as server:
        found = asking(server)
    who = {"role": "node-role", "account": "111122223333", "region": "eu-central-1", "instance": "i-1"}
    other = cause(found, instance={**who, "clusters": {"aws:eks:cluster-name": "prod"}})
    assert (other.cause, other.final) == (
        "wrong_cluster_name",
        True,
    ) and "made for the cluster demo, and this instance belongs to prod" in other.message
    assert "tag aws:eks:cluster-name of this instance: prod" in other.evidence
    same = cause(found, instance={**who, "clusters": {"eks:cluster-name": "demo"}})
    assert same.cause == "unauthorized" and "the role node-role of account 111122223333 is not mapped in the cluster demo" in same.message
    neither = cause(found, instance={**who, "clusters": {}})
    assert "either its cluster is not called demo, or the role node-role" in neither.message
    assert (
        f"aws eks describe-cluster --name demo --region eu-central-1 --query cluster.endpoint tells: when it is not {server.url}"
        in neither.fix
    )


def test_a_tag_says_nothing_against_the_id_of_a_cluster_on_outposts(asking: Asking, pem: Path) -> None:
    """While kubelet asks for its certificate there, its program is given the cluster's ID."""
    with serving(pem, status(401, "Unauthorized")) as server:
        found = asking(server)
    kubelet = {"unit": "kubelet.service", "lines": [], "registers": True, "bootstraps": True}
    for tag in ("prod", "demo"):
        finding = cause(found, instance={"clusters": {"eks:cluster-name": tag}, "role": "node-role"}, kubelet=kubelet)
        assert (finding.cause, finding.final) == ("unauthorized", True)
        assert "either demo is not its cluster's ID, or the role node-role is not mapped in it" in finding.message
        assert "describe-cluster --query cluster.id" in finding.fix and "--name demo" not in finding.fix


@pytest.mark.parametrize("broken", ["a: &x {b: c}\n", "clusters: >-\n  a\n", "{{{"])
def test_a_kubeconfig_that_only_kubelet_can_read_is_not_final(
    asking: Asking, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    asking.user = {}
    found = asking("https://127.0.0.1:1")
    assert (cause(found).cause, cause(found).final) == ("bad_kubeconfig", True), "it names no credentials"
    (tmp_path / "kubeconfig").write_text(broken, encoding="utf-8")
    finding = cause(asking._api.ask(NAME))
    assert (finding.cause, finding.final) == ("bad_kubeconfig", False)
    assert finding.message.startswith(f"join_check cannot read kubelet's kubeconfig: {tmp_path}/kubeconfig cannot be read as YAML: line 1")
