# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Credentials: kubeconfigs, credential programs, and tokens for EKS."""

from __future__ import annotations

import base64
import datetime
import json
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes import credentials
from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes.client import KubernetesClient
from ansible_collections.nodebootstrap.eks.plugins.module_utils._kubernetes.errors import KubernetesError
from ansible_collections.nodebootstrap.eks.tests.unit.messages import mentions
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.api_stand_in import Authority
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.module_utils.kubernetes_stand_in import SECRET, kubeconfig, serving

ENDPOINT = "https://ABC.gr7.eu-west-1.eks.amazonaws.com"


@pytest.fixture(autouse=True)
def empty_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("KUBECONFIG", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)


def refusal(options: dict[str, Any], cluster: dict[str, Any] | None = None) -> str:
    with pytest.raises(KubernetesError) as caught:
        credentials.load(options, cluster)
    assert SECRET not in str(caught.value)
    return str(caught.value)


def test_the_file_of_the_option_of_the_variable_and_of_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home" / ".kube"
    home.mkdir(parents=True)
    kubeconfig(home / "config", "http://home")
    assert credentials.load({}).server == "http://home"
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'missing'}:{kubeconfig(tmp_path / 'variable', 'http://variable')}")
    assert credentials.load({}).server == "http://variable"
    assert credentials.load({"kubeconfig": str(kubeconfig(tmp_path / "option", "http://option"))}).server == "http://option"
    assert mentions(refusal({"kubeconfig": str(tmp_path / "away")}), "away", "kubeconfig")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"users: [{{token: {SECRET}", ["YAML"]),
        ("", ["kubeconfig"]),
        ("[1]", ["kubeconfig"]),
        (f'{{"contexts": [{{"name": "a"}}], "users": [{{"user": {{"token": "{SECRET}"}}}}]}}', ["kubeconfig"]),
        ('{"contexts": [{"name": "prod", "context": {}}], "current-context": "prd"}', ["prd", "prod"]),
        ('{"contexts": [], "clusters": []}', ["no context"]),
        ('{"contexts": [{"name": "a", "context": {"cluster": "x", "user": "y"}}], "current-context": "a"}', ["cluster x", "server"]),
    ],
)
def test_a_broken_kubeconfig(tmp_path: Path, text: str, words: list[str]) -> None:
    (tmp_path / "config").write_text(text)
    assert mentions(refusal({"kubeconfig": str(tmp_path / "config")}), *words)


def test_another_endpoint_is_refused_and_the_right_context_is_named(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "config", "https://other.example")
    assert mentions(
        refusal({"kubeconfig": str(path)}, {"endpoint": ENDPOINT, "name": "web"}), "cluster.endpoint", "update-kubeconfig --name web"
    )
    content = json.loads(path.read_text())
    content["contexts"].append({"name": "right", "context": {"cluster": "right", "user": "me"}})
    content["clusters"].append({"name": "right", "cluster": {"server": ENDPOINT.lower() + ":443/"}})
    path.write_text(json.dumps(content))
    assert mentions(refusal({"kubeconfig": str(path)}, {"endpoint": ENDPOINT}), "context", " right")
    assert credentials.load({"kubeconfig": str(path), "context": "right"}, {"endpoint": ENDPOINT}).server == ENDPOINT.lower() + ":443"


def exec_user(tmp_path: Path, status: dict[str, Any], code: int = 0) -> dict[str, Any]:
    answer = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}
    script = tmp_path / "program.py"
    script.write_text(
        f"import pathlib, sys\npath = pathlib.Path({str(tmp_path / 'calls')!r})\n"
        f"path.write_text((path.read_text() if path.exists() else '') + 'x')\n"
        f"if {code}: sys.exit('the session of {SECRET * 0}sso ended, password={SECRET}')\nprint({json.dumps(answer)!r})\n"
    )
    return {"exec": {"apiVersion": answer["apiVersion"], "command": sys.executable, "args": [str(script)], "interactiveMode": "Never"}}


def test_a_credential_program_gives_the_token_and_when_it_expires(tmp_path: Path) -> None:
    expires = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0) + datetime.timedelta(minutes=14)
    user = exec_user(tmp_path, {"token": "made", "expirationTimestamp": expires.strftime("%Y-%m-%dT%H:%M:%SZ")})
    found = credentials.load({"kubeconfig": str(kubeconfig(tmp_path / "config", "http://a", user))})
    assert found.headers == {"Authorization": "Bearer made"}
    assert found.expires is not None and expires.timestamp() - 60 <= found.expires < expires.timestamp()


def test_an_expired_token_is_made_again(tmp_path: Path) -> None:
    user = exec_user(tmp_path, {"token": "made", "expirationTimestamp": "2020-01-01T00:00:00Z"})
    with serving() as server:
        server.answer(200, {})
        api = KubernetesClient({"kubeconfig": str(kubeconfig(tmp_path / "config", server.url, user))})
        api.get("/version")
        api.get("/version")
    assert len((tmp_path / "calls").read_text()) == 3


def test_a_credential_program_that_fails(tmp_path: Path) -> None:
    user = exec_user(tmp_path, {}, code=1)
    assert mentions(refusal({"kubeconfig": str(kubeconfig(tmp_path / "config", "http://a", user))}), "user me", "sso ended")


def test_a_credential_program_that_is_missing(tmp_path: Path) -> None:
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/nowhere/aws-iam-authenticator"}}
    assert mentions(refusal({"kubeconfig": str(kubeconfig(tmp_path / "config", "http://a", user))}), "aws-iam-authenticator")


def test_client_certificates_in_the_kubeconfig_leave_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(credentials.tempfile, "tempdir", str(temporary))
    authority = Authority(tmp_path / "pki")
    pem = authority.sign("me").read_bytes()
    data = base64.b64encode(pem).decode()
    user = {"client-certificate-data": data, "client-key-data": data}
    authority_data = {"certificate-authority-data": base64.b64encode(authority.path.read_bytes()).decode()}
    path = kubeconfig(tmp_path / "config", "https://a.example", user, **authority_data)
    for _again in range(2):
        context = credentials.load({"kubeconfig": str(path)}).context
        assert context is not None and len(context.get_ca_certs()) == 1
    assert list(temporary.iterdir()) == []


# --- AWS


def cluster(tmp_path: Path, **more: Any) -> dict[str, Any]:
    authority = base64.b64encode(Authority(tmp_path / "pki").path.read_bytes()).decode()
    return {"name": "web", "endpoint": ENDPOINT, "certificate_authority": authority, "region": "eu-west-1", **more}


def aws(**more: str) -> dict[str, Any]:
    return {"access_key": "AKIAEXAMPLE", "secret_key": SECRET, **more}


def test_without_a_kubeconfig_aws_credentials_make_a_token(tmp_path: Path) -> None:
    before = time.time()
    found = credentials.load(aws(), cluster(tmp_path))
    kind, token = found.headers["Authorization"].split(" ")
    assert (kind, found.server, found.context is not None) == ("Bearer", ENDPOINT, True)
    assert found.expires is not None and before < found.expires <= before + 15 * 60
    assert SECRET not in token
    head, _dot, encoded = token.partition(".")
    assert head == "k8s-aws-v1" and "=" not in encoded
    url = urlsplit(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode())
    query = {name: values[0] for name, values in parse_qs(url.query).items()}
    assert (url.scheme, url.hostname) == ("https", "sts.eu-west-1.amazonaws.com")
    assert (query["Action"], query["Version"], query["X-Amz-Expires"]) == ("GetCallerIdentity", "2011-06-15", "60")
    assert set(query["X-Amz-SignedHeaders"].split(";")) == {"host", "x-k8s-aws-id"}


def test_the_token_is_bound_to_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    session = boto3.session.Session("AKIAEXAMPLE", SECRET, region_name="eu-west-1")

    def signature(name: str) -> str:
        url = base64.urlsafe_b64decode(credentials.eks_token(session, name).partition(".")[2] + "===").decode()
        return parse_qs(urlsplit(url).query)["X-Amz-Signature"][0]

    assert signature("web") != signature("other")


def test_a_cluster_on_an_outpost_is_named_by_its_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named: list[str] = []
    monkeypatch.setattr(credentials, "eks_token", lambda _session, name: named.append(name) or "t")
    credentials.load(aws(), cluster(tmp_path, id="5f0d2c1e", outpost=True))
    assert named == ["5f0d2c1e"]


@pytest.mark.parametrize("name", ["name", "endpoint", "certificate_authority"])
def test_what_the_cluster_lacks_is_named(tmp_path: Path, name: str) -> None:
    assert mentions(refusal(aws(), cluster(tmp_path, **{name: None})), f"cluster.{name}", "kubeconfig")


def test_a_wrong_authority(tmp_path: Path) -> None:
    assert mentions(refusal(aws(), cluster(tmp_path, certificate_authority="bm9uZQ==")), "cluster.certificate_authority")


def test_a_context_without_a_kubeconfig_is_refused(tmp_path: Path) -> None:
    assert mentions(refusal({"context": "a"}, cluster(tmp_path)), "context", "kubeconfig")
