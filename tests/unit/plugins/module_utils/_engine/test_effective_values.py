# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings in files that programs of the image write: another order or comment is not a difference, another value is."""

from __future__ import annotations

import pytest

from ansible_collections.nodebootstrap.eks.plugins.module_utils._engine.effective_values import CONTENT, parse

CONFIG = "/etc/kubernetes/kubelet/kubelet-config.json"
TOML = "/etc/containerd/config.toml"
ENVIRONMENT = "/etc/eks/kubelet/environment"
DROP_IN = "/etc/systemd/system/kubelet.service.d/10-kubelet-args.conf"
KUBECONFIG = "/var/lib/kubelet/kubeconfig"

SAME = [
    (CONFIG, '{"maxPods": 29, "a": {"b": 1}}', '{\n "a": {"b": 1},\n "maxPods": 29}\n'),
    (TOML, 'version = 2\n[a]\nx = "1"\n[b]\ny = [\n  "p", # why\n  "q",\n]\n', '# new\nversion=2\n[b]\ny = ["p","q"]\n[a]\n\tx = \'1\'\n'),
    (TOML, '[plugins."io.cri".runc]\noptions = { A = "x", B = true }\n', "[plugins.'io.cri'.runc]\noptions = {  A = \"x\", B = true }\n"),
    (TOML, "[[a]]\nx = 1\n[[a]]\nx = 2\n", "[[ a ]]\nx = 1 # one\n\n[[a]]\nx=2\n"),
    (TOML, 'a = """\n# text\n"""\nb = 1\n', 'b = 1\na = """\n# text\n"""\n'),
    (ENVIRONMENT, "A=on\nNODEADM_KUBELET_ARGS=--max-pods=5 --node-labels=a=b,c=d",
     "NODEADM_KUBELET_ARGS='--node-labels=c=d --node-labels a=b --max-pods 5'\n# x\nA=on\n"),
    (DROP_IN, "[Service]\nEnvironment='KUBELET_ARGS=--node-ip=1.2.3.4 --v=2'\n",
     "# x\n[Service]\nEnvironment=\"KUBELET_ARGS=--v=2 \\\n --node-ip=1.2.3.4\"\n"),
    (DROP_IN, "[Service]\nA=1\n[Unit]\nB=2\n", "[Unit]\nB=2\n\n[Service]\nA = 1\n"),
    (KUBECONFIG, "kind: Config\nclusters:\n- name: k\n  cluster:\n    server: https://x\n",
     '{"clusters": [{"cluster": {"server": "https://x"}, "name": "k"}], "kind": "Config"}'),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text", "other"), SAME)
def test_another_order_is_no_difference(path: str, text: str, other: str) -> None:
    found = parse(path, text.encode())
    assert found == parse(path, other.encode()) and CONTENT not in found


DIFFERENT = [
    (CONFIG, '{"maxPods": 29}', '{"maxPods": 30}', "maxPods"),
    (CONFIG, '{"clusterDNS": ["1.2.3.4", "1.2.3.5"]}', '{"clusterDNS": ["1.2.3.5", "1.2.3.4"]}', "clusterDNS"),
    (CONFIG, '{"a": true}', '{"a": 1}', "a"),
    (TOML, '[plugins."io.cri"]\nsandbox = "a"\n', '[plugins."io.cri"]\nsandbox = "b"\n', 'plugins."io.cri".sandbox'),
    (TOML, "[a]\nx = 1\n", "[b]\nx = 1\n", "a.x"),
    (TOML, "a = '# 1'\n", "a = '# 2'\n", "a"),
    (ENVIRONMENT, "NODEADM_KUBELET_ARGS=--max-pods=5", "NODEADM_KUBELET_ARGS=--max-pods=5 --max-pods=6", "NODEADM_KUBELET_ARGS.--max-pods"),
    (
        ENVIRONMENT,
        "NODEADM_KUBELET_ARGS=--node-labels=a=b",
        "NODEADM_KUBELET_ARGS=--node-labels=a=c",
        "NODEADM_KUBELET_ARGS.--node-labels.a",
    ),
    (ENVIRONMENT, "NODEADM_KUBELET_ARGS=--cluster-dns=1,2", "NODEADM_KUBELET_ARGS=--cluster-dns=2,1", "NODEADM_KUBELET_ARGS.--cluster-dns"),
    (DROP_IN, "[Service]\nExecStart=\nExecStart=/a\n", "[Service]\nExecStart=/a\nExecStart=\n", "Service.ExecStart"),
    (KUBECONFIG, "clusters:\n- name: k\n  cluster:\n    server: https://x\n", "clusters:\n- name: k\n  cluster:\n    server: https://y\n",
     "clusters.k.cluster.server"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text", "other", "name"), DIFFERENT)
def test_another_value_is_one(path: str, text: str, other: str, name: str) -> None:
    before, after = parse(path, text.encode()), parse(path, other.encode())
    assert before.get(name) is not after.get(name) and name in before
    assert str(before[name]) != str(after.get(name))


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/etc/kubernetes/pki/ca.crt", b"-----BEGIN CERTIFICATE-----\n"),
        (CONFIG, b"{broken"),
        (CONFIG, b"[1]"),
        (TOML, b"a = [1\n"),
        (TOML, b"no assignment\n"),
        (TOML, b'"a" b = 1\n'),
        (DROP_IN, b"[Service]\nnothing\n"),
        (DROP_IN, b"[Service]\nEnvironment='open\n"),
        (ENVIRONMENT, b"nothing\n"),
        (KUBECONFIG, b"a: [\n"),
        ("/etc/any", b"\xff\x00"),
        (CONFIG, b"\xff\x00"),
        (TOML, b"\xff = 1"),
    ],
)
def test_what_cannot_be_parsed_has_a_digest(path: str, content: bytes) -> None:
    found = parse(path, content)
    assert list(found) == [CONTENT] and found != parse(path, content + b" ")
