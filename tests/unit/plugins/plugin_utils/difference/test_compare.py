# Copyright (c) 2026, nodebootstrap.eks contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two versions of user data that mean the same have no difference, whatever their spelling; others have. No secret is in the result."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.difference.compare import Difference, differences
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.families.registry import resolve
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.formats.compression import gzip_bytes
from ansible_collections.nodebootstrap.eks.plugins.plugin_utils.readers.user_data import read
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.readers.test_any_input import PIECES
from ansible_collections.nodebootstrap.eks.tests.unit.plugins.plugin_utils.readers.test_foreign import (
    CA,
    DOCUMENTS,
    NODE_CONFIG,
    RENDERED,
    Foreign,
    multipart,
)


def plain(old: str | bytes, new: str | bytes) -> list[tuple[str, Any, Any]]:
    """The differences. The other way around, they are the same."""
    found = [(item.path, item.before, item.after) for item in differences(old, new)]
    swapped = [(item.path, item.after, item.before) for item in differences(new, old)]
    assert sorted(map(repr, found)) == sorted(map(repr, swapped))
    return found


def call(flags: str, options: str = "", before: str = "set -e\n") -> str:
    return f"#!/bin/bash\n{before}/etc/eks/bootstrap.sh shop {options} --kubelet-extra-args '{flags}'\n"


def config(kubelet: str, other: str = "") -> str:
    return f"{NODE_CONFIG}  kubelet:\n    {kubelet}\n{other}"


def script(*bodies: str) -> str:
    return multipart("B", *(("text/x-shellscript", body) for body in bodies))


ONE, TWO = "#!/bin/bash\necho one\n", "#!/bin/bash\necho two\n"
SAME = {
    "order of labels and flags": (call("--node-labels=a=b,c=d --max-pods=29"), call("--max-pods=29 --node-labels=c=d --node-labels=a=b")),
    "options of the shell": (call("--v=2"), call("--v=2", before="")),
    "order of taints": (
        call("--register-with-taints=a=b:NoSchedule,c:NoExecute"),
        call("--register-with-taints=c=:NoExecute,a=b:NoSchedule"),
    ),
    "the CIDR and its name server": (call("--v=2", "--service-ipv4-cidr 10.100.0.0/16"), call("--v=2", "--dns-cluster-ip 10.100.0.10")),
    "the last of several flags counts": (call("--v=1 --v=2"), call("--v=2")),
    "a flag and a field": (config("flags: [--pod-max-pids=100]"), config("config: {podPidsLimit: 100}")),
    "a flag with a map and a field": (
        config("flags: ['--eviction-hard=memory.available<100Mi']"),
        config("config: {evictionHard: {memory.available: 100Mi}}"),
    ),
    "a flag for reservations": (config("flags: ['--kube-reserved=cpu=100m']"), config("config: {kubeReserved: {cpu: '0.1'}}")),
    "feature gates": (config("flags: ['--feature-gates=A=true,B=false']"), config("config: {featureGates: {B: false, A: true}}")),
    "a flag for name servers": (config("flags: [--cluster-dns=10.100.0.10]"), config("config: {clusterDNS: [10.100.0.10]}")),
    "quantities": (config("config: {systemReserved: {memory: 1Gi}}"), config("config: {systemReserved: {memory: 1024Mi}}")),
    "durations": (config("config: {nodeStatusReportFrequency: 60s}"), config("config: {nodeStatusReportFrequency: 1m0s}")),
    "the order of keys": (config("config: {maxPods: 5, podPidsLimit: 9}"), config("config: {podPidsLimit: 9, maxPods: 5}")),
    "NodeConfigs in two parts": (
        config("config: {maxPods: 5}"),
        multipart(
            "B",
            ("application/node.eks.aws", NODE_CONFIG),
            ("application/node.eks.aws", "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {maxPods: 5}}}\n"),
        ),
    ),
    "JSON instead of YAML": (
        "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {maxPods: 5}}}\n",
        '{"kind": "NodeConfig", "apiVersion": "node.eks.aws/v1alpha1", "spec": {"kubelet": {"config": {"maxPods": 5}}}}',
    ),
    "the boundary": (script(ONE, TWO), script(ONE, TWO).replace("--B", "--other").replace('"B"', '"other"')),
    "MIME around one script": (script(ONE), ONE),
    "the character set": (script(ONE), script(ONE).replace("shellscript", 'shellscript; charset="us-ascii"')),
    "a transfer encoding": (
        script(ONE),
        script(ONE)
        .replace(ONE, base64.b64encode(ONE.encode()).decode() + "\n")
        .replace("\n\nI", "\nContent-Transfer-Encoding: base64\n\nI"),
    ),
    "the order of keys in cloud-config": (
        "#cloud-config\nhostname: a\nruncmd: [ls]\n",
        multipart("B", ("text/cloud-config", "#cloud-config\nruncmd:\n- ls\n"), ("text/cloud-config", "#cloud-config\nhostname: a\n")),
    ),
    "TOML": (
        '[settings.kubernetes]\ncluster-name = "shop"\nmax-pods = 5\n[settings.kubernetes.node-labels]\na = "b"\n',
        "[settings]\nkubernetes = {node-labels = {a = 'b'}, max-pods = 5, cluster-name = 'shop'}\n",
    ),
}


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME)
def test_another_spelling_is_no_difference(pair: tuple[str, str]) -> None:
    assert plain(*pair) == []


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_another_encoding_is_no_difference(document: Foreign) -> None:
    text = document.text if read(document.text).layers == () else read(document.text).document
    data = text.encode()
    packed = gzip_bytes(data)
    for other in (document.text, text.replace("\n", "\r\n"), base64.b64encode(data), packed, base64.b64encode(packed).decode()):
        assert differences(document.text, other) == []


@pytest.mark.parametrize("document", RENDERED.values(), ids=RENDERED)
def test_another_tool_is_no_difference(document: Foreign) -> None:
    first = read(document.text)
    spec, family = resolve(document.lacks | dict(first.cluster) | {"kubernetes_version": "1.32"}, dict(first.node_group))
    found = differences(document.text, family.user_data(spec).text)
    assert [item for item in found if item.path.removeprefix("cluster.") not in document.lacks] == []


UNKNOWN = "#!/bin/bash\nif true; then /etc/eks/bootstrap.sh shop; fi\n"
DIFFERENT = {
    "family": (call("--v=2"), config("flags: [--v=2]"), "family"),
    "a label": (call("--node-labels=a=1"), call("--node-labels=a=true"), "node_group.labels.a"),
    "a flag": (config("flags: [--v=1]"), config("flags: [--v=2]"), "node_group.kubelet.flags.v"),
    "a flag and another field": (
        config("flags: [--pod-max-pids=100]"),
        config("config: {podPidsLimit: 101}"),
        "node_group.kubelet.config.podPidsLimit",
    ),
    "the order of scripts": (script(ONE, TWO), script(TWO, ONE), "node_group.user_data[0]"),
    "a script": (script(ONE), script(ONE, TWO), "node_group.user_data[1]"),
    "a key of cloud-config": ("#cloud-config\na: 1\n", "#cloud-config\na: true\n", "node_group.user_data[0].a"),
    "a command": (call("--v=2"), call("--v=2", before="set -e\nls\n"), "node_group.commands.pre"),
    "an option without a field": (call("", "--mount-bpf-fs true"), call("", "--mount-bpf-fs false"), "parts[0]"),
    "the family of addresses": (call("--v=2"), call("--v=2", "--ip-family ipv6"), "parts[0]"),
    "variables of the call": (call("--v=2"), call("--v=2").replace("/etc/eks", "A=1 /etc/eks"), "parts[0]"),
    "the first line of a script": (
        call("--v=2", before="ls\n"),
        call("--v=2", before="ls\n").replace("bash\n", "bash -e\n", 1),
        "node_group.commands.pre",
    ),
    "a call in the background": (call("--v=2"), call("--v=2").rstrip() + " &\n", "parts[0]"),
    "a redirection of the call": (call("--v=2"), call("--v=2").rstrip() + " > /var/log/join 2>&1\n", "parts[0]"),
    "the shell of a script": (call("--v=2"), call("--v=2").replace("bash", "sh", 1), "parts[0].shell"),
    "commands after a call that fails": (call("--v=2") + "ls\n", call("--v=2", before="") + "ls\n", "parts[0].on_error"),
    "an option that is switched off": (
        call("--v=2") + "ls\n",
        call("--v=2", before="set -e\nset +o errexit\n") + "ls\n",
        "parts[0].on_error",
    ),
    "a conditional call": (UNKNOWN, UNKNOWN.replace("shop", "other"), "parts[0]"),
    "an unknown setting of nodeadm": (config("kublet: {a: 1}"), config("kublet: {a: 2}"), "parts[0].spec.kubelet"),
    "an unknown table of Bottlerocket": ("[settings]\n[x]\ny = 1\n", "[settings]\n[x]\ny = 2\n", "parts[0].x"),
    "text that nothing runs": ("one", "two", "parts[0]"),
    "a defect of MIME": (script(ONE), script(ONE).replace("--B--\n", ""), "document"),
}


@pytest.mark.parametrize("row", DIFFERENT.values(), ids=DIFFERENT)
def test_another_meaning_is_a_difference_with_its_path(row: tuple[str, str, str]) -> None:
    assert row[2] in [path for path, _before, _after in plain(row[0], row[1])]


def test_a_certificate_is_shown_as_its_fingerprint() -> None:
    other = base64.b64encode(base64.b64decode(CA).replace(b"MIIB", b"MIIC")).decode()
    [(path, before, after)] = plain(NODE_CONFIG, NODE_CONFIG.replace(CA, other))
    assert path == "cluster.certificate_authority"
    assert before != after
    assert all(text.startswith("certificate with SHA-256 fingerprint ") for text in (before, after))


SECRET = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEYa1"
WITH_SECRET = {
    "a script": (ONE, f"{ONE}export AWS_SECRET_ACCESS_KEY={SECRET}\n"),
    "a cloud-config": ("#cloud-config\n", f"#cloud-config\nusers:\n- {{name: a, passwd: {SECRET}}}\n"),
    "a key in cloud-config": ("#cloud-config\n", f"#cloud-config\npassword: {SECRET}\n"),
    "a setting of Bottlerocket": (
        "[settings]\n",
        f"[settings.container-registry]\ncredentials = [{{registry = 'a', auth = '{SECRET}'}}]\n",
    ),
    "containerd": (config("flags: [--v=1]"), config("flags: [--v=1]", f"  containerd: {{config: \"[a.auth]\\npassword = '{SECRET}'\"}}\n")),
    "text that is not understood": (UNKNOWN, f"{UNKNOWN}aws configure set aws_secret_access_key {SECRET}\n"),
    "an environment": (NODE_CONFIG, f"{NODE_CONFIG}  instance: {{environment: {{default: {{MY_TOKEN: {SECRET}}}}}}}\n"),
    "an option of a command": (ONE, f"{ONE}configure --aws-secret-access-key {SECRET}\n"),
    "a proxy": (NODE_CONFIG, f"{NODE_CONFIG}  instance: {{environment: {{default: {{HTTPS_PROXY: 'http://a:{SECRET}@proxy:1'}}}}}}\n"),
}


@pytest.mark.parametrize("pair", WITH_SECRET.values(), ids=WITH_SECRET)
def test_a_secret_is_not_shown(pair: tuple[str, str]) -> None:
    found = plain(*pair)
    assert found
    assert SECRET not in repr(found)


def check(found: list[Difference]) -> None:
    assert all(item.path and item.before != () for item in found)


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_arbitrary_bytes(one: bytes, other: bytes) -> None:
    check(differences(one, other))
    assert differences(one, one) == []


edits = st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 60), st.one_of(st.sampled_from(PIECES), st.text(max_size=5))), max_size=4)


@given(st.sampled_from([document.text for document in DOCUMENTS.values()]), edits)
def test_damaged_documents(text: str, changes: list[tuple[int, int, str]]) -> None:
    damaged = text
    for number, removed, added in changes:
        at = number % (len(damaged) + 1)
        damaged = damaged[:at] + added + damaged[at + removed :]
    check(differences(text, damaged))
    assert differences(damaged, damaged) == []
