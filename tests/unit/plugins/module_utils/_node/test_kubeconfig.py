# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubeconfigs without a YAML reader."""

from __future__ import annotations

import builtins
import json
from typing import Any

import pytest
import yaml

from ansible_collections.nodebootstrap.eks.plugins.module_utils._node import kubeconfig as kubeconfigs
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.kubelet import kubeconfig as of_the_library
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages

SERVER = "https://0123.gr7.eu-central-1.eks.amazonaws.com"
ARGS = ["eks", "get-token", "--cluster-name", "demo", "--region", "eu-central-1"]

FORMS = [
    json.dumps(of_the_library(SERVER, "aws", ARGS)),
    yaml.safe_dump(of_the_library(SERVER, "aws", ARGS)),
    yaml.safe_dump(of_the_library(SERVER, "aws", ARGS), default_flow_style=None),
    f"""---
# bootstrap.sh filled in the server
apiVersion: v1
kind: Config
clusters:
- cluster:
    certificate-authority: /etc/kubernetes/pki/ca.crt
    server: {SERVER}   # the endpoint
  name: kubernetes
contexts:
- context: {{cluster: kubernetes, user: kubelet}}
  name: kubelet
current-context: "kubelet"
users:
  -
    name: 'kubelet'
    user:
      exec:
        apiVersion: client.authentication.k8s.io/v1beta1
        command: aws
        args: [eks, get-token, "--cluster-name", 'demo', --region, eu-central-1]
""",
]


def unreadable(*_unused: Any, **_unuseds: Any) -> Any:
    raise ImportError("no PyYAML")


@pytest.mark.parametrize("text", FORMS)
def test_every_form_of_a_kubeconfig(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", lambda name, *rest: unreadable() if name == "yaml" else original(name, *rest))
    found = kubeconfigs.read(text, "/var/lib/kubelet/kubeconfig")
    assert (found.server, found.host, found.port) == (SERVER, SERVER[8:], 443)
    assert found.user["exec"]["args"] == ARGS and found.user["exec"]["command"] == "aws"
    assert found.file(found.cluster["certificate-authority"]) == "/etc/kubernetes/pki/ca.crt"
    assert found.file("pki/x.pem") == "/var/lib/kubelet/pki/x.pem"


@pytest.mark.parametrize(
    "document",
    [
        [1],
        {},
        {"current-context": "a", "contexts": [{"name": "b", "context": {}}]},
        {"current-context": "a", "contexts": [{"name": "a", "context": {"cluster": "k"}}], "clusters": 5},
    ],
)
def test_kubeconfigs_without_a_name(document: Any, golden_message: GoldenMessages) -> None:
    with pytest.raises(kubeconfigs.Unusable) as caught:
        kubeconfigs.read(json.dumps(document), "/k")
    golden_message(caught.value)


def test_servers(golden_message: GoldenMessages) -> None:
    for server, expected in (
        ("https://a.example.com:8443/prefix/", ("a.example.com", 8443, "/prefix")),
        ("https://[fd00::1]", ("fd00::1", 443, "")),
        ("https://[fd00::1]:6443", ("fd00::1", 6443, "")),
        ("https://10.0.0.1:6443", ("10.0.0.1", 6443, "")),
    ):
        found = kubeconfigs.read(json.dumps(of_the_library(server, "aws", [])), "/k")
        assert (found.host, found.port, found.path) == expected
    for server in ("http://a", "https://a:b@c", "https://a\r\nX: y", "https://", "https://a:99999", 5, None):
        with pytest.raises(kubeconfigs.Unusable) as caught:
            kubeconfigs.read(json.dumps(of_the_library(server, "aws", [])), "/k")
        golden_message(caught.value)


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("clusters:\n- cluster:\n    server: https://a.example\n", "https://a.example"),
        ("    server: 'https://a.example:443/'  # x\n", "https://a.example:443/"),
        ('{"clusters": [{"cluster": {\n"server": "https://a.example"}}]}', "https://a.example"),
        ("    server: MASTER_ENDPOINT\n", None),
        ("#   server: https://a.example\n", None),
        (json.dumps(of_the_library("https://a.example", "aws", [])).replace("/", "\\/"), "https://a.example"),
        ("", None),
    ],
)
def test_the_server_of_a_kubeconfig(text: str, server: str | None) -> None:
    assert kubeconfigs.find_server(text) == server


def test_the_server_of_the_current_context() -> None:
    names = ("old", "new")
    entries = [{"name": name, "cluster": {"server": f"https://{name}.example"}} for name in names]
    contexts = [{"name": name, "context": {"cluster": name, "user": "u"}} for name in names]
    document = {"current-context": "new", "clusters": entries, "contexts": contexts, "users": [{"name": "u", "user": {}}]}
    assert kubeconfigs.find_server(json.dumps(document)) == "https://new.example"
