# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Other NodeConfigs on a node of Amazon Linux 2023: which value counts, and what people are told."""

from __future__ import annotations

import base64
import gzip

import pytest

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.live.overrides import disagreements
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.nodeconfig import merge, read
from ansible_collections.nodebootstrap.eks.tests.unit.messages import GoldenMessages, mentions

HEAD = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n"
PATH = "/etc/eks/nodeadm.d/50-nodebootstrap.yaml"
LATER = "/etc/eks/nodeadm.d/90-baked.yaml"
EARLIER = "/etc/eks/nodeadm.d/10-baked.yaml"
OURS = (
    HEAD
    + """spec:
  cluster: {name: demo, apiServerEndpoint: https://x, certificateAuthority: YWJj, cidr: 10.0.0.0/16}
  containerd:
    config: "[a]\\nb = 1\\n"
  instance: {environment: {default: {HTTP_PROXY: 'http://proxy:3128'}}}
  kubelet:
    config: {maxPods: 29, evictionHard: {memory.available: 100Mi}}
    flags: ['--node-labels=role=web,team=a', '--v=4', '--register-with-taints=a=b:NoSchedule']
"""
)


def said(spec: str, where: str = LATER) -> list[str]:
    return disagreements(OURS, PATH, {where: f"{HEAD}spec: {spec}\n"})


@pytest.mark.parametrize(
    ("spec", "key"),
    [
        ("{kubelet: {config: {maxPods: 5}}}", "spec.kubelet.config.maxPods (5)"),
        ("{kubelet: {config: {evictionHard: {memory.available: 1Gi}}}}", 'spec.kubelet.config.evictionHard["memory.available"] ("1Gi")'),
        ("{kubelet: {flags: ['--v=2']}}", 'flag --v ("2")'),
        ("{kubelet: {flags: ['--node-labels=team=b']}}", 'label team ("b")'),
        ("{kubelet: {flags: ['--register-with-taints=c:NoExecute']}}", 'flag --register-with-taints ("c:NoExecute")'),
        ("{cluster: {name: other}}", 'spec.cluster.name ("other")'),
        ('{containerd: {config: "[a]\\nb = 2\\n"}}', "spec.containerd.config.a.b (2)"),
        ("{instance: {environment: {default: {HTTP_PROXY: 'http://other'}}}}", 'spec.instance.environment.default.HTTP_PROXY ("http://other")'),
    ],
)  # fmt: skip
def test_whose_value_counts(spec: str, key: str, golden_message: GoldenMessages) -> None:
    (later,) = said(spec)
    golden_message(later)
    (earlier,) = said(spec, EARLIER)
    golden_message(earlier)
    (booted,) = said(spec, "user_data")
    golden_message(booted)
    assert all(mentions(sentence, f" {key}") for sentence in (later, earlier, booted))


@pytest.mark.parametrize(
    "spec",
    [
        "{kubelet: {config: {maxPods: 29}}}",
        "{kubelet: {config: {podPidsLimit: 5}}}",
        "{kubelet: {flags: ['--node-labels=other=x', '--v=4', '--allowed-unsafe-sysctls=a']}}",
        "{cluster: {name: ''}}",
        "{featureGates: {FastImagePull: true}}",
        '{containerd: {config: "[a]\\nc = 2\\n"}}',
        "{}",
    ],
)
def test_what_disagrees_with_nothing(spec: str) -> None:
    assert said(spec) == said(spec, EARLIER) == []


def test_the_same_as_nodeadms_merge_says() -> None:
    other = f"{HEAD}spec: {{kubelet: {{config: {{maxPods: 5}}}}, cluster: {{name: other}}}}\n"
    both = merge.merge([read.parse(OURS), read.parse(other)])["spec"]
    assert (both["kubelet"]["config"]["maxPods"], both["cluster"]["name"]) == (5, "other")
    assert len(disagreements(OURS, PATH, {LATER: other})) == 2


def test_which_files_count() -> None:
    other = f"{HEAD}spec: {{kubelet: {{config: {{maxPods: 5}}}}}}\n"
    ignored = ["/etc/eks/nodeadm.d/README", "/etc/eks/nodeadm.d/60-own.yaml", PATH, "/etc/eks/nodeadm.d/sub/a.yaml"]
    assert disagreements(OURS, PATH, dict.fromkeys(ignored, other), ["/etc/eks/nodeadm.d/60-own.yaml"]) == []
    assert len(disagreements(OURS, PATH, dict.fromkeys(["/etc/eks/nodeadm.d/99.JSON", LATER], other))) == 2


def test_user_data_in_every_wrapping() -> None:
    document = f"{HEAD}spec: {{kubelet: {{config: {{maxPods: 5}}}}}}\n"
    mime = (
        'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="x"\n\n--x\nContent-Type: text/x-shellscript\n\n#!/bin/sh\n'
        f"--x\nContent-Type: application/node.eks.aws\n\n{document}\n--x--\n"
    )
    packed = base64.b64encode(gzip.compress(mime.encode(), mtime=0)).decode()
    for text in (document, mime, packed):
        assert len(disagreements(OURS, PATH, {"user_data": text})) == 1
    for text in ("#!/bin/bash\ntrue\n", "#cloud-config\npackages: []\n", "", "no idea\x00"):
        assert disagreements(OURS, PATH, {"user_data": text}) == []


@pytest.mark.parametrize("text", ["a: [\n", "just words", f"{HEAD}spec: {{kubelet: {{flags: x}}}}\n", "apiVersion: v1\nkind: Pod\n"])
def test_what_nodeadm_cannot_read(text: str, golden_message: GoldenMessages) -> None:
    (sentence,) = disagreements(OURS, PATH, {LATER: text})
    assert sentence.startswith(f"{LATER} ")
    golden_message(sentence)


def test_secrets_are_not_repeated(golden_message: GoldenMessages) -> None:
    hidden = "{instance: {environment: {default: {HTTP_PROXY: 'http://me:hunter22@proxy'}}}}"
    (sentence,) = said(hidden)
    assert "hunter22" not in sentence
    assert mentions(sentence, "HTTP_PROXY")
    golden_message(sentence)
